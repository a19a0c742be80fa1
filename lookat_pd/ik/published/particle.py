"""Particles at the joints with distance constraints of the bone lengths.

The particle of the root is pinned, that of the effector is at the target, and others may be moved towards their own
goals. Each bone moves the particles at its ends by (P1 - P0) (1/2 - d / (2 |P1 - P0|)), with its length d. Then the
bones are fitted to the particles. Source: Hecker et al., "Real-time motion retargeting to highly varied user-created
morphologies", 2008.
"""

from .. import arithmetic
from ..arithmetic import Vector
from ..task import Pose, Task
from . import ccd_root
from .fabrik import drawn

RELAXATIONS = 4
"""Sweeps over the chain, forward and back, in one iteration."""


def step(task: Task, pose: Pose) -> Pose:
    """Move and relax the particles, then fit the bones to them."""
    return _step(task, pose, RELAXATIONS)


def published(task: Task, pose: Pose) -> Pose:
    """The same with one sweep from the effector to the root in each iteration."""
    return _step(task, pose, 0)


def _step(task: Task, pose: Pose, relaxations: int) -> Pose:
    places = drawn(task, [arithmetic.ORIGIN, *task.places(pose)])
    places[-1] = task.target
    down, up = range(len(pose) - 1, -1, -1), range(1, len(pose))
    for n in down if not relaxations else (*down, *up) * relaxations:
        _relax(task, places, n)
    fitted = task.fit(pose, places[1:])
    return ccd_root.step(task, fitted) if task.limited else fitted


def _relax(task: Task, places: list[Vector], n: int) -> None:
    """Restore the length of bone n by moving both ends, or the other end if one is pinned."""
    xp, displacement = task.xp, arithmetic.subtract(places[n + 1], places[n])
    size = arithmetic.length(xp, displacement)
    part = 0.5 - 0.5 * task.lengths[n] / (size + (size == 0.0))
    first, last = n == 0, n + 1 == len(task)
    if first and last:
        return
    displacement = arithmetic.scaled(displacement, 2.0 * part if first or last else part)
    if not first:
        places[n] = arithmetic.add(places[n], displacement)
    if not last:
        places[n + 1] = arithmetic.subtract(places[n + 1], displacement)
