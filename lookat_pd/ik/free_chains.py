"""Damped least squares for a batch of free chains: see `free_chain`."""

from dataclasses import dataclass, fields

import numpy as np

from ..rotation import Array
from . import arithmetic, free_chain, unfolding
from .iteration import SECOND_LOOKS, STALLED, Outcome

_CHUNK = 1_000
"""Chains that are iterated together: their arrays stay in the cache."""
_FEW = 0.4
"""Finished chains are removed from the arrays when they are more than this fraction."""


def run(
    offsets: Array, start: Array, target: Array, *, iterations: int, tolerance: float, history: bool = False
) -> Outcome:
    """Iterate as `iteration.run` does.

    offsets: (n, 3, 1 or m). start: (n, 4, 1 or m), local. target: (3, m), in the frame of the first joint's rotation.
    history: whether to keep the errors of all iterations.
    """
    count = target.shape[-1]
    if count == 1:
        return free_chain.alone(offsets, start, target, iterations, tolerance)
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
    poses, least = np.empty((n, 4, count)), chains.error.copy()
    poses[:] = start
    used, history, look = np.zeros(count, dtype=int), [least.copy()], True
    chains = chains.taken(chains.error >= chains.goal)
    for iteration in range(1, iterations + 1):
        if not len(chains.number):
            break
        stuck = chains.are_on_line() & (chains.error >= chains.goal) if look else np.zeros(0, dtype=bool)
        if stuck.any():
            chains.store(poses, least, stuck)
            at = chains.number[stuck]
            task = free_chain.task(_of(offsets, at), target[:, at], single=False)
            chains.place(stuck, _of(scaled, at), unfolding.unfolded(task, chains.local(stuck)))
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
            chains.store(poses, least, done)
            chains = chains.taken(~done)
    chains.store(poses, least, True)
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

    @classmethod
    def at(cls, offsets: Array, start: Array, target: Array, goal: Array) -> "_Chains":
        """All chains of a batch, in their first poses."""
        turns, bones = _forwards(offsets, start)
        remaining = target - bones.sum(axis=1)
        count, n = target.shape[-1], len(offsets)
        turns, bones = np.broadcast_to(turns, (4, n, count)), np.broadcast_to(bones, (3, n, count))
        error, damping = np.sqrt(_dot(remaining, remaining)), np.full(count, free_chain.FIRST / n**2)
        return cls(np.arange(count), turns, bones, target, goal, remaining, error, damping)

    def taken(self, keep: Array) -> "_Chains":
        """Only some of the chains."""
        if keep.all():
            return self
        return _Chains(**{field.name: getattr(self, field.name)[..., keep] for field in fields(self)})

    def place(self, at: Array, offsets: Array, pose: Array) -> None:
        """Set the poses (n, 4, len(at)) of some of the chains."""
        self.turns, self.bones = self.turns.copy(), self.bones.copy()
        self.turns[..., at], self.bones[..., at] = _forwards(offsets, pose)
        self.remaining[:, at] = self.target[:, at] - self.bones[..., at].sum(axis=1)
        self.error[at] = np.sqrt(np.sum(self.remaining[:, at] ** 2, axis=0))

    def store(self, poses: Array, least: Array, which: Array | bool) -> None:
        """Store poses and errors of some chains where they are better than those of the batch."""
        better = which & (self.error < least[self.number])
        if better.any():
            at = self.number[better]
            poses[..., at], least[at] = self.local(better), self.error[better]

    def local(self, which: Array) -> Array:
        """Rotations (n, 4, m) relative to the joint before, of some chains."""
        turns = self.turns[..., which]
        result = np.empty((turns.shape[1], 4, turns.shape[2]))
        result[0] = turns[:, 0]
        relative = arithmetic.multiply(arithmetic.inverse(tuple(turns[:, :-1])), tuple(turns[:, 1:]))
        for part, values in enumerate(relative):
            result[1:, part] = values
        return result / np.sqrt(np.sum(result * result, axis=1))[:, None]

    def are_on_line(self) -> Array:
        """As `_is_on_line` (k,)."""
        far = np.sqrt(_dot(self.target, self.target))
        aside = _cross(_sums(self.bones), self.target[:, None])
        most = _dot(aside, aside).max(axis=0)
        return (most <= (unfolding.STRAIGHT * far) ** 2) | (far <= unfolding.NO_DISTANCE)

    def step(self) -> None:
        """As `_step`; chains that are finished, or would not improve, stay as they are."""
        arms = _sums(self.bones[:, ::-1])[:, ::-1]
        x, y, z = arms
        xx, yy, zz, xy, yz, zx = (np.sum(product, axis=0) for product in (x * x, y * y, z * z, x * y, y * z, z * x))
        part = np.minimum(1.0, free_chain.LARGEST_STEP / np.maximum(self.error, 1e-300))
        ex, ey, ez = part * self.remaining
        force, stiff = free_chain.force(xx, yy, zz, xy, yz, zx, (ex, ey, ez), self.damping)
        half = _cross(_sums(arms), np.stack(force)[:, None])
        moved = np.empty(self.turns.shape)
        np.subtract(self.turns[0], _dot(half, self.turns[1:]), out=moved[0])
        np.multiply(half, self.turns[0], out=moved[1:])
        moved[1:] += self.turns[1:]
        moved[1:] += _cross(half, self.turns[1:])
        ends = _cross(half, self.bones)
        ends += _cross(half, ends)
        ends *= 2.0 / (1.0 + _dot(half, half))
        ends += self.bones
        remaining = self.target - ends.sum(axis=1)
        error = np.sqrt(_dot(remaining, remaining))
        worse = error >= self.error
        easier = np.maximum(free_chain.EASIER * self.damping, free_chain.LEAST / len(arms[0]) ** 2)
        harder = np.minimum(np.maximum(free_chain.HARDER * self.damping, stiff), free_chain.MOST / len(arms[0]) ** 2)
        self.damping = np.where(worse, harder, easier)
        worse |= self.error < self.goal
        same = np.flatnonzero(worse)
        if len(same):
            for new, old in ((moved, self.turns), (ends, self.bones), (remaining, self.remaining), (error, self.error)):
                new[..., same] = old[..., same]
        self.turns, self.bones, self.remaining, self.error = moved, ends, remaining, error


def _forwards(offsets: Array, pose: Array) -> tuple[Array, Array]:
    """As `_forward`: orientations (4, n, k) and bones (3, n, k) of offsets (n, 3, 1 or k) and poses (n, 4, 1 or k)."""
    turns = np.empty((4, len(pose), pose.shape[-1]))
    turns[:, 0] = pose[0]
    for joint in range(1, len(pose)):
        turns[:, joint] = arithmetic.multiply(tuple(turns[:, joint - 1]), tuple(pose[joint]))
    w, x, y, z = turns
    a, b, c = offsets.transpose(1, 0, 2)
    return turns, np.stack(arithmetic.rotate((w, x, y, z), (a, b, c)))


def _sums(values: Array) -> Array:
    """The sums (3, n, k) of the first values (3, n, k), faster than a cumulative sum along such an axis."""
    result = np.empty(values.shape)
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


def _cross(a: Array, b: Array) -> Array:
    """The cross products (3, n, k) of vectors (3, n, k)."""
    result, product = np.empty(a.shape), np.empty(a.shape[1:])
    for first, second, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[second], b[third], out=result[first])
        np.multiply(a[third], b[second], out=product)
        result[first] -= product
    return result
