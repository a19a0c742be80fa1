"""Damped least squares on Euler angles in the order XYZ: the original method; near gimbal lock a joint loses an
axis."""

from . import jacobian
from .task import Pose, Task


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    return jacobian.step(task, pose, euler=True)
