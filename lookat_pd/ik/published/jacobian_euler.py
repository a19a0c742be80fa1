"""Damped least squares on Euler angles in the order XYZ: the original method; near gimbal lock a joint loses an
axis."""

from ..task import Pose, Task
from . import least_squares


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    return least_squares.step(task, pose, euler=True)
