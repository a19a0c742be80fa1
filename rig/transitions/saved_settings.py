"""Settings of transitions in files of earlier versions."""

from ..animation.former_defaults import Saved, handlers, scenes

NAME = "lookat_pd_transition"
_LATER = ({"method": "INERTIAL"}, {"key_mode": "EVERY_FRAME"})
"""Settings whose defaults each version has changed, with their former values."""
VERSION = len(_LATER)

_stamp, _keep_as_saved, register, unregister = handlers(Saved(NAME, scenes, _LATER))
