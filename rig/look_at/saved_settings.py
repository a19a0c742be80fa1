"""Settings of look-ats in files of earlier versions."""

import bpy
from bpy.app.handlers import persistent

from ..animation.stored_settings import stored

VERSION = 1
_LATER = {"weight_pitch": 0.0, "torso_more": 0.0}
"""Settings of the body that look-ats of version 0 did not have, and the values with which these move as they did."""


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let look-ats that were saved before later settings existed move as they did."""
    for item in bpy.data.objects:
        if item.type != "ARMATURE" or item.pose is None or not item.is_editable:
            continue
        for bone in item.pose.bones:
            settings = stored(bone, "lookat_pd")
            if settings is not None and settings.exists and settings.version < VERSION:
                for name, value in _LATER.items():
                    if not settings.body.is_property_set(name):
                        setattr(settings.body, name, value)
                settings.version = VERSION


def register() -> None:
    bpy.app.handlers.load_post.append(_keep_as_saved)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_keep_as_saved)
