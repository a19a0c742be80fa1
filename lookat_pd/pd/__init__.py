"""PD control: values and rotations that follow a target with a settle time and a damping ratio."""

from .integrators import step_limit
from .tracking import track, track_quaternion

__all__ = ["step_limit", "track", "track_quaternion"]
