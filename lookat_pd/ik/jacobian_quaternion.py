"""Damped least squares on rotation vectors: every joint may turn about any axis, from any pose, without gimbal lock."""

from . import jacobian
from .task import Pose, Task


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    return jacobian.step(task, pose, euler=False)
