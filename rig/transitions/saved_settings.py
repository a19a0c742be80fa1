"""Settings of transitions in files of earlier versions."""

import bpy
from bpy.app.handlers import persistent

from ..animation.stored_settings import stored

NAME = "lookat_pd_transition"
VERSION = 1
_LATER = ({"method": "INERTIAL"},)
"""Settings whose defaults each version has changed, with their former values."""


@persistent
def _stamp(*_: object) -> None:
    """Say which defaults settings have when the file is saved."""
    for scene in bpy.data.scenes:
        settings = stored(scene, NAME) if scene.is_editable else None
        # Those that keep older values have them set.
        if settings is not None and settings.version < VERSION:
            settings.version = VERSION


@persistent
def _keep_as_saved(*_: object) -> None:
    """Let settings that were saved when defaults were others keep those."""
    for scene in bpy.data.scenes:
        settings = stored(scene, NAME) if scene.is_editable else None
        if settings is None or settings.version >= VERSION:
            continue
        for name, value in (pair for later in _LATER[settings.version :] for pair in later.items()):
            if not settings.is_property_set(name):
                setattr(settings, name, value)
        settings.version = VERSION


def register() -> None:
    bpy.app.handlers.save_pre.append(_stamp)
    bpy.app.handlers.load_post.append(_keep_as_saved)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(_keep_as_saved)
    bpy.app.handlers.save_pre.remove(_stamp)
