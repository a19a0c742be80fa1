"""A chain that is on the line to its target is bent first: this pose is singular for every solver."""

import numpy as np

from ..rotation import Array
from . import arithmetic
from .arithmetic import Vector
from .batches import packed, unpacked
from .task import Pose, Task

STRAIGHT = 1e-4
"""Tolerance of the joints' distance from the line, as a fraction of the length of the chain."""
_MOST_BEND = 0.3
"""Largest bend [rad] of one joint."""
NO_DISTANCE = 1e-9
"""Distance of a target from the root, as a fraction of the length of the chain, that gives no direction."""


def unfolded(task: Task, start: Array) -> Array:
    """Poses (n, 4, m) with those bent that are on the line to their target.

    The bend brings the effector to about the distance of the target, towards the side that limits restrict least.
    """
    if task.single and _is_off(task, unpacked(start, task.single)):
        return start
    places = np.concatenate(
        (np.zeros((1, 3, task.count)), packed(task.places(unpacked(start, task.single)), task.count))
    )
    reach = np.broadcast_to(sum(task.lengths), (task.count,))
    far = np.linalg.norm(task.data["target"], axis=0)
    line = np.where(far > NO_DISTANCE * reach, task.data["target"], places[-1])
    longest = np.argmax(np.linalg.norm(places, axis=1), axis=0)
    line = np.where(
        np.linalg.norm(line, axis=0) > NO_DISTANCE * reach, line, places[longest, :, np.arange(task.count)].T
    )
    line = line / np.maximum(np.linalg.norm(line, axis=0), 1e-300)
    stuck = (_off(places, line) < STRAIGHT * reach) & (reach > 0.0)
    if not np.any(stuck):
        return start
    n = len(start)
    bend = np.sqrt(24.0 * np.clip(1.0 - far / np.maximum(reach, 1e-300), 0.0, 1.0)) / n
    bend = np.clip(bend, 1e-3, _MOST_BEND)
    side = _square_to(start, line)
    result, most = start.copy(), np.zeros(task.count)
    for axis in (side, np.cross(line, side, axis=0), -side, -np.cross(line, side, axis=0))[: 4 if task.limited else 1]:
        bent = _bent(task, start, axis, bend)
        ends = packed(task.places(unpacked(bent, task.single)), task.count)
        off = _off(ends, line)
        better = stuck & (off > 1.01 * most)
        result[..., better], most = bent[..., better], np.where(better, off, most)
    return result


def _is_off(task: Task, pose: Pose) -> bool:
    """Whether a joint of a single chain is clearly off the line to the target, as most are."""
    reach, far = sum(task.lengths), arithmetic.length(task.xp, task.target)
    if far <= NO_DISTANCE * reach:
        return False
    most = STRAIGHT * reach * far
    return any(arithmetic.length(task.xp, arithmetic.cross(p, task.target)) > most for p in task.places(pose))


def _off(places: Array, line: Array) -> Array:
    """Largest distance (m,) of positions (n, 3, m) from a line through the origin."""
    return np.max(np.linalg.norm(np.cross(places, line[None], axis=1), axis=1), axis=0)


def _square_to(start: Array, line: Array) -> Array:
    """A direction (3, m) perpendicular to the line, near the X axis of the first joint, the usual bend axis."""
    w, x, y, z = start[0]
    across = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    along = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    across = np.where(np.abs(np.sum(across * line, axis=0)) < 0.9, across, along)
    across = across - np.sum(across * line, axis=0) * line
    return across / np.linalg.norm(across, axis=0)


def _bent(task: Task, start: Array, axis: Array, bend: Array) -> Array:
    """Each joint rotated by `bend` (m,) about an axis (3, m), within its limits."""
    xp, pose = task.xp, unpacked(start, task.single)
    vector, accumulated = tuple(unpacked(axis * bend, task.single)), arithmetic.NO_TURN
    result: Pose = []
    for n, q in enumerate(pose):
        here: Vector = arithmetic.rotate_back(accumulated, vector)
        result.append(task.eased(n, q, arithmetic.multiply(arithmetic.turn(xp, here), q)))
        accumulated = arithmetic.multiply(accumulated, q)
    return packed(result, task.count)
