"""Cyclic coordinate descent from the root to the tip.

The same rotations as in `ccd`, in the opposite order: the large joints turn first. A few sweeps are sufficient where
tip to root takes dozens, because the end of the chain does not curl up before the rest has moved.
"""

from .. import arithmetic
from ..task import Pose, Task


def step(task: Task, pose: Pose) -> Pose:
    """One sweep over the joints."""
    arms = [task.offsets[-1]]
    for n in range(len(pose) - 1, 0, -1):
        arms.append(arithmetic.add(task.offsets[n - 1], arithmetic.rotate(pose[n], arms[-1])))
    goal, result = task.target, []
    for n, q in enumerate(pose):
        q = task.turned(n, q, arithmetic.rotate(q, arms[-1 - n]), goal)
        result.append(q)
        goal = arithmetic.subtract(arithmetic.rotate_back(q, goal), task.offsets[n])
    return result
