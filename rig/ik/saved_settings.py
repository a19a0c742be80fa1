"""Settings of inverse kinematics in files of earlier versions: scenes for chains, armatures with effectors for
bodies."""

from ..animation.former_defaults import Saved, armatures, handlers, scenes

_LATER = ({"soft_reach": 0.0},)
"""Settings that each version did not have yet, and the values with which it solved."""
VERSION = len(_LATER)

_stamp, _keep_as_saved, register, unregister = handlers(
    Saved("lookat_pd_ik", scenes, _LATER),
    Saved("lookat_pd_ik_body", armatures, _LATER, is_made=lambda settings: len(settings.effectors) > 0),
)
