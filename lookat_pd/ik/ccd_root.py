"""Cyclic coordinate descent from the root to the tip.

The same turns as in `ccd`, in the other order: the large joints go first, and a few sweeps are enough where tip to root
takes dozens, because no joint winds up the end of the chain before the rest has moved.
"""

from . import arithmetic
from .task import Pose, Task


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
