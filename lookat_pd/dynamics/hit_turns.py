"""How far a hit may turn joints, and lines of joints together: at most by the largest angle, at which they stop."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .body import Body
from .hit_stops import Stop, stopped

_STRONGEST = 1e6
"""An impulse that is more times as strong as one that turns a joint by the largest angle does the same as that."""
_HALVINGS = 12
_ROUNDS = 8
"""How often times at which a joint is beyond its stop are added."""


@dataclass(frozen=True)
class JointLines:
    """The lines of joints from the roots to each joint: what the joints of a line turn together."""

    turned: Array
    """(n, 3, 3), orientations of the joints, in the frame of the root."""
    ancestors: Array
    """(n, n)."""

    @classmethod
    def of(cls, body: Body, pose: Array) -> "JointLines":
        return cls(rotation.to_matrix(body.forward(pose)[0]), body.ancestors)

    def sums(self, offsets: Array) -> Array:
        """The rotation vectors (..., n, 3) of lines, in the frame of the root, for small offsets (..., n, 3)."""
        turns = np.einsum("nij,...nj->...ni", self.turned, offsets)
        return np.einsum("jn,...ni->...ji", self.ancestors, turns)

    def rows(self, line: int, rising: Array, free: Array) -> Array:
        """What velocities (m,) of the degrees of freedom make of one line, (3, m). rising: (n,)."""
        n = len(rising)
        weights = (self.ancestors[line] * rising)[:, None, None] * self.turned
        return np.einsum("nij,njm->im", weights, free.T.reshape(n, 3, -1))


def part_within(body: Body, poses: Array, before: Array, after: Array, largest: float) -> float:
    """The part of what a hit adds to offsets (t, n, 3) with which no line of joints turns by more than the largest
    angle [rad]. poses: (t, n, 4) of the animation."""
    stands = body.forward(poses)[0]

    def angle(part: float) -> float:
        turned = rotation.exp(before + part * (after - before))
        return float(rotation.distance(stands, body.forward(rotation.multiply(poses, turned))[0]).max())

    low, high = 0.0, 1.0
    if angle(high) <= largest:
        return 1.0
    most = max(largest, angle(low))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if angle(middle) <= most else (low, middle)
    return low


def held(
    system: tuple[Array, Array, Array],
    before: Array,
    rising: Array,
    largest: float,
    stiffer: Array,
    lines: JointLines | None = None,
) -> tuple[Array, float]:
    """The change of velocity (n, 3) with which no joint, and no line of joints, turns by more than the largest angle
    [rad], and the part of it that is left where the hit is, along its impulse.

    system: masses, impulse and directions. before: offsets (t, n, 3) by other hits. rising: (t, n) [s], the offsets by
    velocities of 1. stiffer: (n,), how much more than it turns the angle of a joint counts.
    """
    masses, pushed, free = system
    freely, n = np.linalg.solve(masses, pushed), before.shape[1]
    v, stops, placed = freely, [], set()

    def all_of(offsets: Array) -> Array:
        own = stiffer[:, None] * offsets
        return own if lines is None else np.concatenate((own, lines.sums(offsets)), axis=-2)

    def added(v: Array) -> Array:
        return all_of(rising[..., None] * (free.T @ v).reshape(n, 3))

    def stop(t: int, j: int) -> Stop:
        if lines is not None and j >= n:
            return Stop(given_before[t, j], 1.0, lines.rows(j - n, rising[t], free))
        return Stop(given_before[t, j], float(stiffer[j] * rising[t, j]), free.T[3 * j : 3 * j + 3])

    given_before = all_of(before)
    # Beyond that, all joints are at their ends.
    most = _STRONGEST * _allowed(given_before, added(v), largest)
    given = pushed * min(1.0, most)
    for _ in range(_ROUNDS):
        angles = np.linalg.norm(given_before + added(v), axis=-1)
        worst = np.argmax(angles, axis=0)
        new = [(int(t), j) for j, t in enumerate(worst) if angles[t, j] > largest and (int(t), j) not in placed]
        if not new:
            break
        placed |= set(new)
        stops += [stop(t, j) for t, j in new]
        v = stopped(masses, given, stops, largest)
    turned = (free.T @ v).reshape(n, 3)
    # What the stops leave out is next to nothing.
    last = _allowed(given_before, added(v), largest) if stops else 1.0
    work = float(pushed @ freely)
    left = min(1.0, last * float(pushed @ v) / work) if stops and work > 0.0 else 1.0
    return last * turned, max(left, 0.0)


def _allowed(before: Array, added: Array, largest: float) -> float:
    """The largest factor up to 1 with which `added` (t, n, 3) keeps the angles of `before` (t, n, 3) within `largest`,
    as far as they are."""
    a, b = np.sum(added * added, axis=-1), np.sum(before * added, axis=-1)
    room = np.maximum(largest**2 - np.sum(before * before, axis=-1), 0.0)
    # The positive root of a f^2 + 2 b f = room, without cancellation.
    root = np.sqrt(b * b + a * room)
    moves, opposed = a > 0.0, b <= 0.0
    above = np.where(opposed, root - b, room)
    below = np.where(moves, np.where(opposed, a, b + root), 1.0)
    return float(min(1.0, np.min(np.where(moves, above / below, 1.0))))
