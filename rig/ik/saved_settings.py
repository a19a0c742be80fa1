"""Settings of inverse kinematics in files of earlier versions."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..animation import former_defaults
from ..animation.stored_settings import stored

_BODY = "lookat_pd_ik_body"
_LATER = ({"soft_reach": 0.0},)
"""Settings that each version did not have yet, and the values with which it solved."""
VERSION = len(_LATER)


@persistent
def _stamp(*_: object) -> None:
    """Let settings say which of them they know when the file is saved."""
    for item, settings in _all():
        if not _comes_from_library(item):
            settings.version = VERSION


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let files that were saved before later settings existed solve as they did; new files start as they are."""
    if not bpy.data.filepath:
        return
    for _item, settings in _all():
        former_defaults.keep(settings, _LATER)


def _comes_from_library(item: bpy.types.ID) -> bool:
    """Whether the settings of an override are those of the linked original, which may be of an earlier version."""
    original = item.override_library.reference if item.override_library else None
    return original is not None and _has_effectors(stored(original, _BODY))


def _has_effectors(settings: Any) -> bool:
    return settings is not None and len(settings.effectors) > 0


def _all() -> Iterator[tuple[bpy.types.ID, Any]]:
    """What can be edited in the file, with its settings: scenes for chains, armatures with effectors for bodies."""
    for scene in bpy.data.scenes:
        if scene.is_editable and (settings := stored(scene, "lookat_pd_ik")) is not None:
            yield scene, settings
    for item in bpy.data.objects:
        if item.is_editable and _has_effectors(settings := stored(item, _BODY)):
            yield item, settings


register, unregister = former_defaults.handlers(_stamp, _keep_as_saved)
