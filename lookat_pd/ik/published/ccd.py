"""Cyclic coordinate descent from the tip to the root: the original order.

Each joint in turn makes the shortest rotation that brings the effector onto the line to the target. Source: Wang and
Chen, 1991.
"""

from .. import arithmetic
from ..task import Pose, Task


def step(task: Task, pose: Pose) -> Pose:
    """One sweep over the joints."""
    goals = [task.target]
    for n in range(len(pose) - 1):
        inside = arithmetic.rotate_back(pose[n], goals[n])
        goals.append(arithmetic.subtract(inside, task.offsets[n]))
    result = list(pose)
    arm = task.offsets[-1]
    for n in range(len(pose) - 1, -1, -1):
        # Target and effector seen from the joint, in the frame of its parent: the ancestors do not matter.
        result[n] = task.turned(n, pose[n], arithmetic.rotate(pose[n], arm), goals[n])
        if n:
            arm = arithmetic.add(task.offsets[n - 1], arithmetic.rotate(result[n], arm))
    return result
