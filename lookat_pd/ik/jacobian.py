"""Damped least squares for a chain, for both Jacobian solvers."""

import numpy as np

from . import damped
from .batches import batch_back, batch_front, packed, unpacked
from .damped import DampedTree
from .task import Pose, Task


def step(task: Task, pose: Pose, *, euler: bool) -> Pose:
    """One iteration of `damped.step` for the residuals of all objectives."""
    count, here = task.count, batch_front(packed(pose, task.count))
    offsets = batch_front(packed(task.offsets, count))
    bone = np.maximum(np.mean(np.linalg.norm(offsets, axis=-1), axis=-1), 1e-300)
    heads = np.concatenate((np.zeros((count, 1, 3)), offsets[:, :-1]), axis=1)
    body = DampedTree(range(-1, len(pose) - 1), heads, task.limits)
    if "damping" not in task.data:
        task.data["damping"] = damped.first_damping(bone)
    moved, task.data["damping"] = damped.step(
        body,
        [residual for objective in task.objectives for residual in objective.residuals(task, offsets, bone)],
        here,
        task.data["damping"],
        locked=task.data.get("locked"),
        euler=euler,
        bone=bone,
    )
    return unpacked(batch_back(moved), task.single)
