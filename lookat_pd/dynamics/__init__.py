"""Limbs that have weight: mass properties, the equations of motion, motion between keys, reaching.

Units are metres, kilograms, seconds and radians; quaternions are w, x, y, z.
"""

from .body import Body, RootMotion
from .engine import available, reason
from .forward import Trajectory, simulate
from .hits import Hit, HitResponse, respond
from .interpolation import Interpolation, interpolate, interpolating, key_velocities
from .obstacles import Obstacles
from .path_tracking import track_path, track_paths
from .pose_to_pose import connect, connecting
from .reaches import (
    METHODS,
    Hand,
    Reach,
    reach,
    reach_together,
    reaching,
    reaching_together,
)

__all__ = [
    "METHODS",
    "Body",
    "Hand",
    "Hit",
    "HitResponse",
    "Interpolation",
    "Obstacles",
    "Reach",
    "RootMotion",
    "Trajectory",
    "available",
    "connect",
    "connecting",
    "interpolate",
    "interpolating",
    "key_velocities",
    "reach",
    "reach_together",
    "reaching",
    "reaching_together",
    "reason",
    "respond",
    "simulate",
    "track_path",
    "track_paths",
]
