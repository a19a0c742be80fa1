"""Settings of look-ats in files of earlier versions, which move as they did."""

import numpy as np

from ..animation.former_defaults import Saved, bones, handlers

_LATER = (
    {"body.weight_pitch": 0.0, "body.torso_more": 0.0},
    {"stabilize": 0.0},
    {"head_speed": 0.0, "let_go_angle": 0.0},
    {"aim_from": "BONE", "head_roll": float(np.pi)},
    {"aim_from": "EYES"},
    {"body.breathing_chest": 0.0, "stabilize": 0.9},
)
"""Settings that look-ats of each version did not have yet, and the values with which these move as they did."""
VERSION = len(_LATER)


_stamp, _keep_as_saved, register, unregister = handlers(
    Saved(
        "lookat_pd",
        bones,
        _LATER,
        is_made=lambda settings: settings.exists or settings.target is not None,
        # Those that scripts make said nothing in earlier versions, and moved as of version 1.
        says_version=lambda settings: settings.exists,
        first=1,
    )
)
