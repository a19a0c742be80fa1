"""PD control: values and rotations that follow a target with a settle time and a damping ratio."""

from . import offsets
from .integrators import step_limit
from .tracking import track, track_quaternion

__all__ = ["offsets", "step_limit", "track", "track_quaternion"]
