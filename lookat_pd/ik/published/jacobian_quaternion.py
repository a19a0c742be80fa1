"""Damped least squares on rotation vectors: every joint may turn about any axis, from any pose, without gimbal lock."""

from ..task import Pose, Task
from . import least_squares


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    return least_squares.step(task, pose, euler=False)
