"""Settings of transitions in files of earlier versions."""

import bpy
from bpy.app.handlers import persistent

from ..animation import former_defaults
from ..animation.stored_settings import stored

NAME = "lookat_pd_transition"
_LATER = ({"method": "INERTIAL"}, {"key_mode": "EVERY_FRAME"})
"""Settings whose defaults each version has changed, with their former values."""
VERSION = len(_LATER)


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
        if settings is not None:
            former_defaults.keep(settings, _LATER)


register, unregister = former_defaults.handlers(_stamp, _keep_as_saved)
