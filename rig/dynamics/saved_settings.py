"""Settings of dynamics in files of earlier versions, which mean what they meant then."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..animation import former_defaults
from ..animation.stored_settings import stored

_SCENES = ({"between": "TENSION", "timing": "COST"}, {"point": "AUTO", "soft_reach": 0.0})
_HITS = ({"joints": "PUBLISHED"}, {"joints": "SUCCESSION"})
"""Settings that each version did not have yet, and the values with which motion is as it was."""


@persistent
def _stamp(*_: object) -> None:
    """Let settings say which version they are of when the file is saved."""
    for settings, later in _all():
        settings.version = len(later)


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let files that were saved before later settings existed go on as they did; new files start as they are."""
    if not bpy.data.filepath:
        return
    for settings, later in _all():
        former_defaults.keep(settings, later)


def _all() -> Iterator[tuple[Any, former_defaults.Later]]:
    """The settings in the file that can be edited, with what came later; of hits those that somebody has made."""
    for scene in bpy.data.scenes:
        settings = stored(scene, "lookat_pd_dynamics") if scene.is_editable else None
        if settings is not None:
            yield settings, _SCENES
    for item in bpy.data.objects:
        settings = stored(item, "lookat_pd_hits") if item.is_editable and item.type == "ARMATURE" else None
        if settings is not None and (len(settings.hits) or _is_made(settings)):
            yield settings, _HITS


def _is_made(settings: Any) -> bool:
    """Whether a setting was changed; a group alone is there as soon as a panel has shown it, which a library override
    would store."""
    return any(
        settings.is_property_set(prop.identifier)
        for prop in settings.bl_rna.properties
        if prop.identifier != "rna_type" and not prop.is_readonly
    )


register, unregister = former_defaults.handlers(_stamp, _keep_as_saved)
