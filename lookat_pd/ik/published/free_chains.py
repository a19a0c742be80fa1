"""Damped least squares for a batch of free chains: see `free_chain`."""

from dataclasses import dataclass

import numpy as np

from ... import rotation
from ...rotation import Array
from .. import arithmetic, unfolding
from ..arithmetic import Vector
from ..iteration import SECOND_LOOKS, STALLED, Outcome
from . import free_chain

_CHUNK = 1_000
"""Chains that are iterated together: their arrays stay in the cache."""
_FEW = 0.4
"""Finished chains are removed from the arrays when they are more than this fraction."""
_NARROW = 200
"""Fewer chains are summed by numpy's cumulative sum."""


def run(
    offsets: Array, start: Array, target: Array, *, iterations: int, tolerance: float, history: bool = False
) -> Outcome:
    """Iterate as `iteration.run` does.

    offsets: (n, 3, 1 or m). start: (n, 4, 1 or m), local. target: (3, m), in the frame of the first joint's rotation.
    history: whether to keep the errors of all iterations.
    """
    count = target.shape[-1]
    if count == 1:
        return free_chain.alone(offsets, start, target, iterations, tolerance, history=history)
    parts = []
    for first in range(0, max(count, 1), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        parts.append(
            _together(_of(offsets, chunk), _of(start, chunk), target[:, chunk], iterations, tolerance, history)
        )
    return parts[0] if len(parts) == 1 else _joined(parts)


def _joined(parts: list[Outcome]) -> Outcome:
    """The chains of several outcomes one after the other."""
    rows = max(len(part.history) for part in parts)
    history = [np.concatenate([part.history[min(n, len(part.history) - 1)] for part in parts]) for n in range(rows)]
    return Outcome(
        np.concatenate([part.poses for part in parts], axis=-1),
        np.concatenate([part.iterations for part in parts]),
        history,
        np.concatenate([part.cost for part in parts]),
    )


def _together(
    offsets: Array, start: Array, target: Array, iterations: int, tolerance: float, keep_history: bool
) -> Outcome:
    """Several chains, as arrays."""
    n, count = len(offsets), target.shape[-1]
    lengths = np.sqrt(np.sum(offsets * offsets, axis=1))
    reach, far = lengths.sum(axis=0), np.sqrt(_dot(target, target))
    floor = np.maximum(np.maximum(far - reach, 2.0 * lengths.max(axis=0) - reach - far), 0.0) + tolerance
    size = np.maximum(reach, free_chain.SHORTEST)
    scaled = offsets / size
    chains = _Chains.at(scaled, start, target / size, np.broadcast_to(floor / size, (count,)))
    first = chains.error.copy()
    turns, least = np.empty((4, n, count)), first.copy()
    used, history, look = np.zeros(count, dtype=int), [least.copy()], True
    chains = chains.taken(chains.error >= chains.goal)
    for iteration in range(1, iterations + 1):
        if not len(chains.number):
            break
        stuck = chains.are_on_line() & (chains.error >= chains.goal) if look else np.zeros(0, dtype=bool)
        if stuck.any():
            chains.store(turns, least, stuck)
            at = chains.number[stuck]
            task = free_chain.task(_of(offsets, at), target[:, at], single=False)
            chains.place(stuck, _of(scaled, at), unfolding.unfolded(task, _local(chains.turns[..., stuck])))
        before = chains.error
        used[chains.number[before >= chains.goal]] = iteration
        chains.step()
        if iteration % free_chain.UNIT_EVERY == 0:
            chains.turns /= np.sqrt(_dot(chains.turns, chains.turns))
        if keep_history:
            history.append(history[-1].copy())
            history[-1][chains.number] = chains.error
        look = iteration in SECOND_LOOKS and bool(np.any(chains.error > STALLED * before))
        done = chains.error < chains.goal
        if np.count_nonzero(done) > _FEW * len(done):
            chains.store(turns, least, done)
            chains = chains.taken(~done)
    chains.store(turns, least, True)
    poses = np.empty((n, 4, count))
    improved = least < first
    if improved.all():
        _local(turns, poses)
    else:
        poses[:] = start
        poses[..., improved] = _local(turns[..., improved])
    return Outcome(poses, used, [size * row for row in history], size * least)


def _of(values: Array, at: Array | slice) -> Array:
    """Those (..., k) of some chains, of values (..., 1 or m)."""
    return values if values.shape[-1] == 1 else values[..., at]


@dataclass
class _Chains:
    """k chains of a batch: their numbers in it, orientations (4, n, k), bones (3, n, k), targets (3, k), the errors
    (k,) at which they are finished, the remaining vectors (3, k) and errors (k,), and the squares (k,) of the
    damping."""

    number: Array
    turns: Array
    bones: Array
    target: Array
    goal: Array
    remaining: Array
    error: Array
    damping: Array
    room: "_Room"
    """Memory for the arrays of a step."""

    @classmethod
    def at(cls, offsets: Array, start: Array, target: Array, goal: Array) -> "_Chains":
        """All chains of a batch, in their first poses."""
        n, count = len(offsets), target.shape[-1]
        turns, bones, room = _Room.of(n, count)
        turns[:], bones[:] = _forwards(offsets, start)
        remaining = target - bones.sum(axis=1)
        error, damping = np.sqrt(_dot(remaining, remaining)), np.full(count, free_chain.FIRST / n**2)
        return cls(np.arange(count), turns, bones, target, goal, remaining, error, damping, room)

    def taken(self, keep: Array) -> "_Chains":
        """Only some of the chains."""
        if keep.all():
            return self
        turns, bones, room = _Room.of(self.turns.shape[1], int(np.count_nonzero(keep)))
        np.compress(keep, self.turns, axis=-1, out=turns)
        np.compress(keep, self.bones, axis=-1, out=bones)
        return _Chains(
            self.number[keep],
            turns,
            bones,
            self.target[:, keep],
            self.goal[keep],
            self.remaining[:, keep],
            self.error[keep],
            self.damping[keep],
            room,
        )

    def place(self, at: Array, offsets: Array, pose: Array) -> None:
        """Set the poses (n, 4, len(at)) of some of the chains."""
        self.turns[..., at], self.bones[..., at] = _forwards(offsets, pose)
        self.remaining[:, at] = self.target[:, at] - self.bones[..., at].sum(axis=1)
        self.error[at] = np.sqrt(np.sum(self.remaining[:, at] ** 2, axis=0))

    def store(self, turns: Array, least: Array, which: Array | bool) -> None:
        """Store orientations and errors of some chains where they are better than those of the batch."""
        better = which & (self.error < least[self.number])
        if better.any():
            at = self.number[better]
            turns[..., at], least[at] = self.turns[..., better], self.error[better]

    def are_on_line(self) -> Array:
        """As `_is_on_line` (k,)."""
        square = _dot(self.target, self.target)
        least, near = unfolding.STRAIGHT**2 * square, square <= unfolding.NO_DISTANCE**2
        # Most chains have their middle off the line.
        aside = _cross(self.bones[:, : (self.bones.shape[1] + 1) // 2].sum(axis=1), self.target)
        on_line = _dot(aside, aside) <= least
        if on_line.any():
            aside = _cross(_sums(self.bones), self.target[:, None])
            on_line = _dot(aside, aside).max(axis=0) <= least
        return on_line | near

    def step(self) -> None:
        """As `_step`; chains that are finished, or would not improve, stay as they are."""
        room = self.room
        arms = _sums(self.bones[:, ::-1], room.first[:, ::-1])[:, ::-1]
        x, y, z = arms
        pairs = (x, x), (y, y), (z, z), (x, y), (y, z), (z, x)
        xx, yy, zz, xy, yz, zx = (np.add.reduce(np.multiply(*pair, out=room.product)) for pair in pairs)
        part = np.minimum(1.0, free_chain.LARGEST_STEP / np.maximum(self.error, 1e-300))
        ex, ey, ez = part * self.remaining
        force, stiff = free_chain.force(xx, yy, zz, xy, yz, zx, (ex, ey, ez), self.damping)
        half = _cross(_sums(arms, room.second), force, room.first, room.product)
        moved, ends = room.turns, room.bones
        np.subtract(self.turns[0], _dot(half, self.turns[1:]), out=moved[0])
        np.multiply(half, self.turns[0], out=moved[1:])
        moved[1:] += self.turns[1:]
        moved[1:] += _cross(half, self.turns[1:], room.second, room.product)
        _cross(half, self.bones, ends, room.product)
        ends += _cross(half, ends, room.second, room.product)
        ends *= 2.0 / (1.0 + _dot(half, half))
        ends += self.bones
        remaining = self.target - ends.sum(axis=1)
        error = np.sqrt(_dot(remaining, remaining))
        worse = error >= self.error
        easier = np.maximum(free_chain.EASIER * self.damping, free_chain.LEAST / len(x) ** 2)
        harder = np.minimum(np.maximum(free_chain.HARDER * self.damping, stiff), free_chain.MOST / len(x) ** 2)
        self.damping = np.where(worse, harder, easier)
        worse |= self.error < self.goal
        same = np.flatnonzero(worse)
        if len(same):
            for new, old in ((moved, self.turns), (ends, self.bones), (remaining, self.remaining), (error, self.error)):
                new[..., same] = old[..., same]
        room.turns, room.bones = self.turns, self.bones
        self.turns, self.bones, self.remaining, self.error = moved, ends, remaining, error


@dataclass
class _Room:
    """Arrays that a step of k chains writes into: turns (4, n, k) and bones (3, n, k) after the step, and what is
    needed in between. The system takes as long to give new memory for them as the arithmetic takes."""

    turns: Array
    bones: Array
    first: Array
    second: Array
    product: Array

    @classmethod
    def of(cls, n: int, count: int) -> tuple[Array, Array, "_Room"]:
        """Orientations and bones of chains, and their room: one piece of memory, which is found again by the next."""
        parts = np.split(np.empty((21, n, count)), np.cumsum((4, 3, 4, 3, 3, 3)))
        turns, bones, moved, ends, first, second, product = parts
        return turns, bones, cls(moved, ends, first, second, product[0])


def _forwards(offsets: Array, pose: Array) -> tuple[Array, Array]:
    """As `free_chain.forward`: orientations (4, n, k) and bones (3, n, k) of offsets (n, 3, 1 or k) and poses (n, 4, 1
    or k)."""
    if pose.shape[-1] == offsets.shape[-1] == 1:
        shared = free_chain.forward(offsets[..., 0].tolist(), pose[..., 0].tolist())
        turns, bones = (np.array(part).T[..., None] for part in shared)
        return turns, bones
    turns = np.empty((4, len(pose), pose.shape[-1]))
    turns[:, 0] = pose[0]
    for joint in range(1, len(pose)):
        turns[:, joint] = arithmetic.multiply(tuple(turns[:, joint - 1]), tuple(pose[joint]))
    w, x, y, z = turns
    a, b, c = offsets.transpose(1, 0, 2)
    return turns, np.stack(arithmetic.rotate((w, x, y, z), (a, b, c)))


def _local(turns: Array, out: Array | None = None) -> Array:
    """Rotations (n, 4, k) relative to the joint before, for orientations (4, n, k) of any lengths."""
    result = np.empty((turns.shape[1], 4, turns.shape[2])) if out is None else out
    result[0] = turns[:, 0]
    result[1:] = rotation.multiply(rotation.inverse(turns[:, :-1].T), turns[:, 1:].T).T.swapaxes(0, 1)
    result /= np.sqrt(np.add.reduce(result * result, axis=1))[:, None]
    return result


def _sums(values: Array, out: Array | None = None) -> Array:
    """The sums (3, n, k) of the first values (3, n, k); of many, faster than a cumulative sum along such an axis."""
    result = np.empty(values.shape) if out is None else out
    if values.shape[-1] < _NARROW:
        return np.cumsum(values, axis=1, out=result)
    result[:, 0] = values[:, 0]
    for joint in range(1, values.shape[1]):
        np.add(result[:, joint - 1], values[:, joint], out=result[:, joint])
    return result


def _dot(a: Array, b: Array) -> Array:
    """The inner products (...) of vectors or quaternions (3 or 4, ...); those of einsum may differ in the last digit
    from one call to the next, with the place of the arrays in memory."""
    total = a[0] * b[0]
    for one, other in zip(a[1:], b[1:], strict=True):
        total += one * other
    return total


def _cross(a: Array, b: Array | Vector, out: Array | None = None, product: Array | None = None) -> Array:
    """The cross products (3, n, k) of vectors (3, n, k). product: room for (n, k)."""
    result = np.empty(a.shape) if out is None else out
    product = np.empty(a.shape[1:]) if product is None else product
    for first, second, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[second], b[third], out=result[first])
        np.multiply(a[third], b[second], out=product)
        result[first] -= product
    return result
