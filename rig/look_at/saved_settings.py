"""Settings of look-ats in files: those of earlier versions, and those on library overrides."""

import bpy
from bpy.app.handlers import persistent

VERSION = 1
_LATER = {"weight_pitch": 0.0, "torso_more": 0.0}
"""Settings of the body that look-ats of version 0 did not have, and the values with which these move as they did."""


@persistent
def _touch_overrides(*_: object) -> None:
    """Let library overrides keep their look-ats when the file is saved.

    Blender 5 makes a group of settings when it is first looked at. Where the override has the group and the linked
    armature does not, or the other way round, it saves something that it cannot load: so both get it.
    """
    for item in bpy.data.objects:
        if item.type == "ARMATURE" and item.override_library and item.override_library.reference:
            for owner in (item, item.override_library.reference):
                for bone in owner.pose.bones if owner.pose else ():
                    settings = bone.lookat_pd
                    _ = settings.exists, settings.body.mover, settings.eyes.use


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let look-ats that were saved before later settings existed move as they did."""
    for item in bpy.data.objects:
        if item.type != "ARMATURE" or item.pose is None or not item.is_editable:
            continue
        for bone in item.pose.bones:
            settings = bone.lookat_pd
            if settings.exists and settings.version < VERSION:
                for name, value in _LATER.items():
                    if not settings.body.is_property_set(name):
                        setattr(settings.body, name, value)
                settings.version = VERSION


def register() -> None:
    bpy.app.handlers.save_pre.append(_touch_overrides)
    bpy.app.handlers.load_post.append(_keep_as_saved)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_keep_as_saved)
    bpy.app.handlers.save_pre.remove(_touch_overrides)
