"""Settings of look-ats in files of earlier versions."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..animation.stored_settings import stored

VERSION = 2
_LATER = (
    {"body.weight_pitch": 0.0, "body.torso_more": 0.0},
    {"stabilize": 0.0},
)
"""Settings that look-ats of each version did not have yet, and the values with which these move as they did."""


@persistent
def _stamp(*_: object) -> None:
    """Let look-ats that scripts made say which settings they know when the file is saved."""
    for item, settings in _look_ats():
        if not settings.exists and item.override_library is None:
            settings.version = VERSION


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let look-ats that were saved before later settings existed move as they did."""
    for _item, settings in _look_ats():
        # Those that scripts made said nothing in earlier versions, and moved as of version 1.
        known = settings.version if settings.exists else max(settings.version, 1)
        for path, value in (pair for later in _LATER[known:] for pair in later.items()):
            *group, name = path.split(".")
            owner = getattr(settings, group[0]) if group else settings
            if not owner.is_property_set(name):
                setattr(owner, name, value)
        if settings.version < VERSION:
            settings.version = VERSION


def _look_ats() -> Iterator[tuple[bpy.types.Object, Any]]:
    """The settings of all look-ats in the file that can be edited, and their armatures."""
    for item in bpy.data.objects:
        if item.type != "ARMATURE" or item.pose is None or not item.is_editable:
            continue
        for bone in item.pose.bones:
            settings = stored(bone, "lookat_pd")
            if settings is not None and (settings.exists or settings.target is not None):
                yield item, settings


def register() -> None:
    bpy.app.handlers.save_pre.append(_stamp)
    bpy.app.handlers.load_post.append(_keep_as_saved)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_keep_as_saved)
    bpy.app.handlers.save_pre.remove(_stamp)
