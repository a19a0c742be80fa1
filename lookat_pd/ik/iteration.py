"""The loop around every solver: finished chains are removed, and the best pose of each chain is kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rotation import Array
from . import arithmetic, unfolding
from .arithmetic import Number
from .batches import packed, unpacked
from .task import Pose, Task, last_orientation

Step = Callable[[Task, Pose], Pose]
Unfold = Callable[[Task, Array], Array]

OVERSHOOT = 100.0
"""Largest overshoot, as a factor of the distance to the target, for slow convergence."""
_GROWTH = 2.0
_QUICK = 0.5
"""An iteration that removes more than this fraction of the error needs no overshoot."""
_FADE = 0.5
"""Fraction of the iterations in which soft objectives apply with decreasing weight; the rest brings the effector to its
target."""
SECOND_LOOKS = (4, 8, 16, 32, 64)
"""Iterations after which a chain that is on the line to its target is bent, as at the start."""
_AT_REST = 5e-4
"""Rotation [rad] of the joints in one iteration below which a chain that settles is finished."""
PATIENCE = 40
"""The number of iterations after which chains that settle are finished by other means."""
STALLED = 0.9
"""... if the last iteration left more than this fraction of the error."""


@dataclass(frozen=True)
class Outcome:
    """What the iterations of a batch of m chains have come to."""

    poses: Array
    """(n, 4, m), the best pose of each chain."""
    iterations: Array
    """(m,) numbers of iterations."""
    history: list[Array]
    """The costs (m,) at the start and after each iteration."""
    cost: Array
    """(m,) costs of the poses."""


def run(
    task: Task,
    start: Array,
    step: Step,
    *,
    iterations: int,
    tolerance: float,
    overshoots: bool = False,
    settles: bool = False,
    unfolded: Unfold = unfolding.unfolded,
) -> Outcome:
    """Iterate from `start` (n, 4, m); the result is no worse.

    A chain is finished when its cost is below the tolerance, or that close to the smallest value possible for its
    lengths; one that settles, when its joints are at rest as well.
    """
    first = _first(task, start, unfolded) if iterations else start
    least = np.array(task.cost(unpacked(start, task.single)), ndmin=1)
    active, best, used = np.arange(task.count), start.copy(), np.zeros(task.count, dtype=int)
    floor, history, cost = task.least_cost() + tolerance, [least.copy()], least.copy()
    fade = int(_FADE * iterations) if any(objective.is_soft for objective in task.objectives) else 0
    remaining = np.full(task.count, bool(fade))
    if iterations and _bends(task):
        # A chain that is already at its target must still bend in the right direction.
        remaining |= ~_as_good(task, first, best, least, floor)
    active, first, cost = _kept(task, remaining | (least >= floor), active, first, cost)
    if not len(active):
        return Outcome(best, used, history, least)
    pose, factor = unpacked(first, task.single), unpacked(np.ones(len(active)), task.single)
    before = task.cost(pose)
    for iteration in range(1, iterations + 1):
        task.pull = 1.0 - (iteration - 1) / fade if iteration <= fade else 0.0
        task.iteration = iteration
        old = pose
        pose, now = _ahead(task, step, pose, before, factor) if overshoots else _taken(task, step, pose)
        if iteration - PATIENCE * settles in SECOND_LOOKS and task.xp.some(now > STALLED * before):
            pose = unpacked(unfolded(task, packed(pose, len(active))), task.single)
            now = task.cost(pose)
        factor = _next_factor(task, factor, before, now) if overshoots else factor
        before, cost = now, np.atleast_1d(now)
        used[active] = iteration
        # While soft objectives apply, the nearest pose is not the best one.
        better = (cost < least[active]) | (iteration <= fade) | (settles & (cost < floor[active]))
        if np.any(better):
            at = active[better]
            best[..., at] = packed(pose, len(active))[..., better]
            least[at] = cost[better]
        history.append(history[-1].copy())
        history[-1][active] = cost
        keep = (cost >= floor[active]) | (settles and _largest_change(task, old, pose) > _AT_REST)
        if iteration > fade and not np.all(keep):
            now_packed, factors = packed(pose, len(active)), np.array(factor, ndmin=1)
            active, remaining, cost, factors = _kept(task, keep, active, now_packed, cost, factors)
            if not len(active):
                break
            pose, factor, before = (unpacked(a, task.single) for a in (remaining, factors, cost))
    # Soft objectives may have moved the effector away: keep the start if that was not recovered.
    worse = least > np.maximum(history[0], floor)
    best[..., worse], least[worse] = start[..., worse], history[0][worse]
    return Outcome(best, used, history, least)


def _bends(task: Task) -> bool:
    """Whether an objective decides to which side the chains bend."""
    return any(objective.is_bend for objective in task.objectives)


def _first(task: Task, start: Array, unfolded: Unfold) -> Array:
    """The poses (n, 4, m) with which the iterations begin."""
    if not _bends(task):
        return unfolded(task, start)
    bent = _aimed(task, unfolded(task, _aimed(task, start)))
    return packed(task.finished(unpacked(bent, task.single), unpacked(start, task.single)), task.count)


def _as_good(task: Task, first: Array, best: Array, least: Array, floor: Array) -> Array:
    """Which chains (m,) are no worse in the pose with which they begin; it is kept among the best ones."""
    turned = np.array(task.cost(unpacked(first, task.single)), ndmin=1)
    as_good = turned <= np.maximum(least, floor)
    best[..., as_good], least[as_good] = first[..., as_good], turned[as_good]
    return as_good


def _taken(task: Task, step: Step, pose: Pose) -> tuple[Pose, Number]:
    """The poses after an iteration, and their costs."""
    pose = task.finished(step(task, pose), pose)
    return pose, task.cost(pose)


def _ahead(task: Task, step: Step, old: Pose, before: Number, factor: Number) -> tuple[Pose, Number]:
    """The same of an iteration whose target is farther away by a factor; the old ones where that is too far."""
    target = task.target
    task.target = arithmetic.add(task.effector(old), arithmetic.scaled(task.displacement(old), factor))
    pose = task.finished(step(task, old), old)
    task.target = target
    now = task.cost(pose)
    too_far = (now > before) & (factor > 1.0)
    if task.xp.some(too_far):
        pose = _chosen(task, too_far, old, pose)
        now = task.cost(pose)
    return pose, now


def _aimed(task: Task, start: Array) -> Array:
    """Poses (n, 4, m) with the first joint turned so that the effector is on the line to its target.

    From there a chain that is bent in a plane stays in it, so that its bend is to the same side for all targets.
    """
    pose = unpacked(start, task.single)
    base = task.turned(0, pose[0], task.effector(pose), task.target)
    return packed([base, *pose[1:]], task.count)


def _kept(task: Task, keep: Array, *values: Array) -> tuple[Array, ...]:
    """The task and arrays (..., m) without the chains that are finished."""
    if np.all(keep):
        return values
    if np.any(keep):
        task.take(keep)
    return tuple(value[..., keep] for value in values)


def _largest_change(task: Task, one: Pose, other: Pose) -> Array:
    """The largest rotation (m,) [rad] of a joint between two poses, if it is small."""
    change = packed(one, task.count) - packed(other, task.count)
    return 2.0 * np.linalg.norm(change, axis=1).max(axis=0)


def _chosen(task: Task, condition: Number, one: Pose, other: Pose) -> Any:
    """For each chain `one` where the condition holds, else `other`."""
    where = task.xp.where
    return [tuple(where(condition, a, b) for a, b in zip(p, q, strict=True)) for p, q in zip(one, other, strict=True)]


def _next_factor(task: Task, factor: Number, before: Number, now: Number) -> Number:
    """The overshoot beyond the target in the next iteration.

    If an iteration removes the fraction s of the error, one that aims 1/s times as far would remove all of it in the
    linear case. Near full reach s is small, and plain iterations would converge slowly.
    """
    xp = task.xp
    gained = (before - now) / (before + (before == 0.0))
    wanted = xp.minimum(factor / xp.maximum(gained, 1e-6), xp.minimum(_GROWTH * factor, OVERSHOOT))
    quick = (gained > _QUICK) & (factor <= 1.0)
    return xp.where((gained <= 0.0) | quick, 1.0, xp.maximum(wanted, 1.0))


def wristed(step: Step) -> Step:
    """A solver that first sets the orientation of the last joint, then solves the others for its position."""

    def work(task: Task, pose: Pose) -> Pose:
        if len(pose) == 1:
            return _oriented(task, pose)
        pose = _oriented(task, pose)
        hand = arithmetic.rotate(last_orientation(pose), task.offsets[-1])
        shorter = task.without_last(arithmetic.subtract(task.target, hand))
        return _oriented(task, [*step(shorter, pose[:-1]), pose[-1]])

    return work


def _oriented(task: Task, pose: Pose) -> Pose:
    """The last joint rotated to its target orientation within its limits."""
    above = last_orientation(pose[:-1]) if len(pose) > 1 else arithmetic.NO_TURN
    wanted = arithmetic.multiply(arithmetic.inverse(above), task.orientation or arithmetic.NO_TURN)
    return [*pose[:-1], task.eased(len(pose) - 1, pose[-1], wanted)]
