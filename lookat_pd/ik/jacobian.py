"""Damped least squares for a chain: what both Jacobian solvers share."""

import numpy as np

from ..rotation import Array
from . import damped
from .batches import batch_back, batch_front, packed, unpacked
from .damped import Body, Want
from .task import Pose, Task


def step(task: Task, pose: Pose, *, euler: bool) -> Pose:
    """One iteration of `damped.step` for the effector, its orientation and the soft goals."""
    count, here = task.count, batch_front(packed(pose, task.count))
    offsets = batch_front(packed(task.offsets, count))
    bone = np.maximum(np.mean(np.linalg.norm(offsets, axis=-1), axis=-1), 1e-300)
    heads = np.concatenate((np.zeros((count, 1, 3)), offsets[:, :-1]), axis=1)
    body = Body(range(-1, len(pose) - 1), heads, task.limits)
    if "damping" not in task.data:
        task.data["damping"] = damped.first_damping(bone)
    moved, task.data["damping"] = damped.step(
        body,
        _wants(task, offsets, bone),
        here,
        task.data["damping"],
        locked=task.data.get("locked"),
        euler=euler,
        bone=bone,
    )
    return unpacked(batch_back(moved), task.single)


def _wants(task: Task, offsets: Array, bone: Array) -> list[Want]:
    data = {name: batch_front(values) for name, values in task.data.items()}
    last = offsets.shape[1] - 1
    wants = [Want(last, offsets[:, last], data["target"], 1.0, data.get("orientation"), bone)]
    if task.pull and "goals" in data:
        nothing = np.zeros((task.count, 3))
        wants += [
            Want(n, nothing, data["goals"][:, n], task.pull * strength)
            for n, strength in enumerate(task.strengths)
            if n and strength
        ]
    return wants
