"""The loop around every solver: what is finished drops out, and the best pose of each chain is kept."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..rotation import Array
from . import arithmetic
from .arithmetic import Number, Vector
from .task import Pose, Task, last_orientation, packed, unpacked

Step = Callable[[Task, Pose], Pose]

OVERSHOOT = 100.0
"""Most times its distance from the target that the effector is sent ahead where iterations gain little."""
_GROWTH = 2.0
_QUICK = 0.5
"""An iteration that gains more than this part of the error needs no overshoot."""
_FADE = 0.5
"""Part of the iterations in which soft goals count, less and less; the rest brings the effector to its target."""


@dataclass(frozen=True)
class Outcome:
    """poses: (n, 4, m), the best of each chain. moved: (3, m), how far the base went. iterations: (m,). history: the
    costs (m,) at the start and after each iteration."""

    poses: Array
    moved: Array
    iterations: Array
    history: list[Array]


def run(
    task: Task,
    start: Array,
    step: Step,
    *,
    iterations: int,
    tolerance: float,
    overshoots: bool,
    mobility: float = 0.0,
) -> Outcome:
    """Iterate from `start` (n, 4, m); the result is no worse.

    A chain is finished when its cost is below the tolerance, or so near to the least that its lengths allow.
    """
    first = _begun(task, start) if iterations else start
    least = np.array(task.cost(unpacked(start, task.single)), ndmin=1)
    best, moved, used = start.copy(), np.zeros((3, task.count)), np.zeros(task.count, dtype=int)
    floor, history = task.least_cost() + tolerance, [least.copy()]
    active, gone, cost = np.arange(task.count), np.zeros((3, task.count)), least.copy()
    fade = int(_FADE * iterations) if task.goals is not None else 0
    if task.pole is None and not fade:
        active, first, gone, cost = _kept(task, least >= floor, active, first, gone, cost)
    pose, factor = unpacked(first, task.single), unpacked(np.ones(len(active)), task.single)
    before = unpacked(np.array(task.cost(pose), ndmin=1), task.single) if len(active) else 0.0
    for iteration in range(1, iterations + 1):
        if not len(active):
            break
        task.pull = 1.0 - (iteration - 1) / fade if iteration <= fade else 0.0
        target = task.target
        if overshoots:
            effector = task.effector(pose)
            task.target = arithmetic.add(effector, arithmetic.scaled(arithmetic.subtract(target, effector), factor))
        pose = task.finished(step(task, pose), pose)
        task.target = target
        if mobility:
            way = arithmetic.scaled(arithmetic.subtract(target, task.effector(pose)), mobility)
            task.shift(way)
            gone = gone + packed(way, len(active))
        now = task.cost(pose)
        if overshoots:
            factor = _next_factor(task, factor, before, now)
        before, cost = now, np.atleast_1d(now)
        used[active] = iteration
        # While soft goals count, the nearest pose is not the one that is looked for.
        better = (cost < least[active]) | (iteration <= fade)
        if np.any(better):
            at = active[better]
            best[..., at] = packed(pose, len(active))[..., better]
            least[at], moved[:, at] = cost[better], gone[:, better]
        history.append(history[-1].copy())
        history[-1][active] = cost
        keep = cost >= floor[active]
        if iteration > fade and not np.all(keep):
            now_packed, factors = packed(pose, len(active)), np.array(factor, ndmin=1)
            active, left, gone, cost, factors = _kept(task, keep, active, now_packed, gone, cost, factors)
            pose, factor, before = (
                (unpacked(a, task.single) for a in (left, factors, cost)) if len(active) else (pose, factor, before)
            )
    return Outcome(best, moved, used, history)


def _kept(task: Task, keep: Array, *values: Array) -> tuple[Array, ...]:
    """The task and arrays (..., m) without the chains that are finished."""
    if np.any(keep) and not np.all(keep):
        task.take(keep)
    return tuple(value[..., keep] for value in values)


def _begun(task: Task, start: Array) -> Array:
    """The poses from which iterations begin."""
    first = unfolded(task, start)
    if task.pole is None:
        return first
    return packed(task.finished(unpacked(first, task.single), unpacked(start, task.single)), task.count)


def _next_factor(task: Task, factor: Number, before: Number, now: Number) -> Number:
    """How far beyond the target the effector is sent next.

    Where an iteration takes away the part s of the error, one that aims 1/s times as far takes away all of it, were it
    linear. Near full reach s is small, and plain iterations would be many.
    """
    xp = task.xp
    gained = (before - now) / (before + (before == 0.0))
    wanted = xp.minimum(factor / xp.maximum(gained, 1e-6), xp.minimum(_GROWTH * factor, OVERSHOOT))
    quick = (gained > _QUICK) & (factor <= 1.0)
    return xp.where((gained <= 0.0) | quick, 1.0, xp.maximum(wanted, 1.0))


def wristed(step: Step, weight: float) -> Step:
    """A solver that gives the last joint the wanted orientation and moves the others for it.

    With a weight below 1 it is a compromise: all joints go for the target, then the last one is turned that part of
    the way.
    """

    def work(task: Task, pose: Pose) -> Pose:
        if len(pose) == 1 or weight < 1.0:
            return _oriented(task, step(task, pose), weight)
        pose = _oriented(task, pose, 1.0)
        hand = arithmetic.rotate(last_orientation(pose), task.offsets[-1])
        shorter = task.without_last(arithmetic.subtract(task.target, hand))
        return _oriented(task, [*step(shorter, pose[:-1]), pose[-1]], 1.0)

    return work


def _oriented(task: Task, pose: Pose, weight: float) -> Pose:
    """The last joint turned towards the wanted orientation."""
    above = last_orientation(pose[:-1]) if len(pose) > 1 else arithmetic.NO_TURN
    wanted = arithmetic.multiply(arithmetic.inverse(above), task.orientation or arithmetic.NO_TURN)
    if weight < 1.0:
        way = arithmetic.rotation_vector(task.xp, arithmetic.multiply(arithmetic.inverse(pose[-1]), wanted))
        wanted = arithmetic.multiply(pose[-1], arithmetic.turn(task.xp, arithmetic.scaled(way, weight)))
    return [*pose[:-1], task.eased(len(pose) - 1, pose[-1], wanted)]


def unfolded(task: Task, start: Array) -> Array:
    """Poses (n, 4, m) to begin with: a chain that lies on the line to its target is bent a little.

    On that line no solver knows where to bend. Bent is by as much as brings the effector about as far as the target
    is, to the side where limits let it bend most.
    """
    places = np.concatenate(
        (np.zeros((1, 3, task.count)), packed(task.places(unpacked(start, task.single)), task.count))
    )
    reach = np.broadcast_to(sum(task.lengths), (task.count,))
    far = np.linalg.norm(task.data["target"], axis=0)
    line = np.where(far > 1e-9 * reach, task.data["target"], places[-1])
    longest = np.argmax(np.linalg.norm(places, axis=1), axis=0)
    line = np.where(np.linalg.norm(line, axis=0) > 1e-9 * reach, line, places[longest, :, np.arange(task.count)].T)
    line = line / np.maximum(np.linalg.norm(line, axis=0), 1e-300)
    stuck = (_off(places, line) < _STRAIGHT * reach) & (reach > 0.0)
    if not np.any(stuck):
        return start
    n = len(start)
    bend = np.sqrt(24.0 * np.clip(1.0 - far / np.maximum(reach, 1e-300), 0.0, 1.0)) / n
    bend = np.clip(bend, 1e-3, 0.3)
    side = _square_to(start, line)
    result, most = start.copy(), np.zeros(task.count)
    limited = any(limits is not None for limits in task.limits)
    for axis in (side, np.cross(line, side, axis=0), -side, -np.cross(line, side, axis=0))[: 4 if limited else 1]:
        bent = _bent(task, start, axis, bend)
        ends = packed(task.places(unpacked(bent, task.single)), task.count)
        off = _off(ends, line)
        better = stuck & (off > 1.01 * most)
        result[..., better], most = bent[..., better], np.where(better, off, most)
    return result


_STRAIGHT = 1e-4
"""Part of a chain's length by which its joints may be off a line for them to count as lying on it."""


def _off(places: Array, line: Array) -> Array:
    """Largest distance (m,) of places (n, 3, m) from a line through the origin."""
    return np.max(np.linalg.norm(np.cross(places, line[None], axis=1), axis=1), axis=0)


def _square_to(start: Array, line: Array) -> Array:
    """A direction (3, m) square to the line: near the first joint's X axis, about which bones usually bend."""
    w, x, y, z = start[0]
    across = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    along = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    across = np.where(np.abs(np.sum(across * line, axis=0)) < 0.9, across, along)
    across = across - np.sum(across * line, axis=0) * line
    return across / np.linalg.norm(across, axis=0)


def _bent(task: Task, start: Array, axis: Array, bend: Array) -> Array:
    """Each joint turned by `bend` (m,) about an axis (3, m), as far as it is allowed."""
    xp, pose = task.xp, unpacked(start, task.single)
    vector, carried = tuple(unpacked(axis * bend, task.single)), arithmetic.NO_TURN
    result: Pose = []
    for n, q in enumerate(pose):
        here: Vector = arithmetic.rotate_back(carried, vector)
        result.append(task.eased(n, q, arithmetic.multiply(arithmetic.turn(xp, here), q)))
        carried = arithmetic.multiply(carried, q)
    return packed(result, task.count)
