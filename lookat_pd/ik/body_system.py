"""The linear equations of an iteration of `full_body`: residuals reduced by priority, and the way back to the initial
pose.

All matrices that are inverted are as large as the number of residuals, not of joints: a step is a combination of the
rows of the Jacobian. Sources: Nakamura and Hanafusa 1986; Siciliano and Slotine 1991; Sugihara 2011; the relaxation,
Irons and Tuck 1969.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..rotation import Array
from . import support
from .batches import batch_front

_GAIN, _LEAST_GAIN, _MOST_GAIN = 0.7, 0.2, 2.0
"""Fraction of the way back to the initial pose in one iteration: at first, as 1 would overshoot where rotations are
large; and its range near the objectives."""
_NEAR = 0.03
"""Sum of the residuals that is near."""
_SLOW = 50.0
"""How much the remaining error slows this way down, as a factor of the damping: what is out of reach comes first."""
_DAMPING = 1.0
"""Square of the damping for an error of a mean bone's length, as a factor of the squares of the residuals' changes."""
_SINGULAR = 1e-6
"""Square of the smallest singular values of the null spaces, in lengths of a mean bone."""
_EXACT, _LEAST = 1e-8, 1e-4
"""As `_SINGULAR`, but between priorities, and the smallest damping: their ratio is what a lower priority may take from
a higher one on the same joints."""
_SOFTEST = 1e-3
"""Smallest weight that has an effect."""


@dataclass
class Relaxation:
    """The fraction of the way back to the initial pose that each of m poses goes in one iteration. Near the objectives
    the gain is that of Irons and Tuck (1969), under which the last two ways back cancel as far as they can: it is close
    to 1 for small rotations, and for large ones small enough that the iteration does not overshoot."""

    gain: Array
    """(m, 1), the fraction."""
    back: Array
    """(m, d), the way back in the last iteration, 0 where it is unknown."""
    held: Array
    """(m, n + 2), whether a coordinate of each joint was fixed, and whether the balance held the centre of mass at a
    point or an edge: only ways back with the same of these are compared."""

    @classmethod
    def of(cls, count: int, joints: int, gain: Array | None = None) -> "Relaxation":
        """Before the first iteration. gain: (m, 1), by default that for poses far from the objectives."""
        gain = np.full((count, 1), _GAIN) if gain is None else gain.copy()
        return cls(gain, np.zeros((count, 3 * joints + 3)), np.zeros((count, joints + 2), dtype=bool))

    def take(self, some: Array | slice) -> "Relaxation":
        return Relaxation(self.gain[some], self.back[some], self.held[some])

    def put(self, some: Array | slice, other: "Relaxation") -> None:
        self.gain[some], self.back[some], self.held[some] = other.gain, other.back, other.held

    def after(self, back: Array, error: Array, held: Array) -> "Relaxation":
        """For a way back (m, d) on which some coordinates are fixed, at a sum of residuals (m, 1)."""
        change = back - self.back
        along = -np.einsum("md,md->m", self.back, change)[:, None]
        square = np.einsum("md,md->m", change, change)[:, None]
        best = np.clip(self.gain * along / np.maximum(square, 1e-300), _LEAST_GAIN, _MOST_GAIN)
        known = self.back.any(axis=1, keepdims=True)
        same = (held == self.held).all(axis=1, keepdims=True)
        gain = np.where(error < _NEAR, np.where(same, best, np.minimum(self.gain, _GAIN)), _GAIN)
        return Relaxation(np.where(known, gain, self.gain), back, held)


@dataclass(frozen=True)
class Levels:
    """The priorities of rows."""

    order: Array | None
    """(r,), the rows in the order of their priority; None if there is only one."""
    steps: list[slice]
    """Rows of each priority in this order."""
    mean: Array
    """(r, r), which averages over the rows of an objective, in the same order."""
    balance: slice
    """The two rows of a balance, the last ones."""

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int]]) -> "Levels":
        """For the priority and the objective of each row."""
        priorities, objectives = np.array(rows).T
        order = np.argsort(priorities, kind="stable")
        priorities, objectives = priorities[order], objectives[order]
        ends = np.flatnonzero(np.diff(priorities, prepend=-1)).tolist()
        steps = [slice(*pair) for pair in pairwise((*ends, len(rows)))]
        same = (objectives[:, None] == objectives).astype(float)
        several = order if len(steps) > 1 else None
        return cls(several, steps, same / same.sum(axis=-1), slice(len(rows) - 2, len(rows)))


@dataclass
class System:
    """The linear equations of one iteration."""

    matrix: Array
    """(m, r, 3, n + 1) for residuals (m, r)."""
    values: Array
    z: Array
    """(m, 3, n + 1), the coordinates."""
    levels: Levels
    """Priorities of the rows."""
    weights: Array
    """(m, r) weights of the rows."""
    ease: float
    """Factor of the damping."""
    center: Array | None
    """(m, 2) centre of mass, if there is a balance."""
    relaxation: Relaxation
    near: bool = False
    """Whether all objectives are almost reached, so that they are solved at once."""
    kept: Array | None = None
    """(m, 3, n + 1), a part of the step that is fixed, or None."""
    blocked: Array | None = None
    """(m, n), the joints whose part is fixed."""
    ends: tuple[Array, Array] | None = None
    """Columns (m, r, h) of the Jacobian for turns of the hinges that are left out, and their coordinates (m, h), or
    None."""

    def held(self, some: Array | slice, blocked: Array, made: Array | None = None) -> "System":
        """The system of some poses (m,) without the blocked coordinates (s, n, 3, 3), which move as `made` (s, 3, n),
        or not at all."""
        matrix, z, center, rest = self.matrix[some], self.z[some], self.center, self.values[some].copy()
        kept = None
        if center is not None:
            center = center[some]
        if made is not None:
            kept = np.zeros(z.shape)
            kept[..., :-1] = np.einsum("mjcd,mdj->mcj", blocked, made)
            moved = np.einsum("mrcj,mcj->mr", matrix, kept)
            rest -= moved
            if center is not None:
                center = center + moved[:, self.levels.balance]
        if center is not None:
            rest[:, self.levels.balance] = 0.0
        fixed = blocked.any(axis=(2, 3))
        joints = np.flatnonzero(fixed.any(axis=0))
        part = blocked[:, joints]
        matrix[..., joints] -= np.einsum("mrcj,mjcd->mrdj", matrix[..., joints], part)
        z[..., joints] -= np.einsum("mjcd,mdj->mcj", part, z[..., joints])
        relaxation = self.relaxation.take(some)
        return System(
            matrix, rest, z, self.levels, self.weights[some], self.ease, center, relaxation, self.near, kept, fixed
        )

    def solve(self, data: dict[str, Array]) -> tuple[Array, Relaxation, Array]:
        """The step (m, 3, n + 1), the relaxation after it, and what the hinges that are left out would turn (m, h)."""
        count, rows = self.values.shape
        matrix, z = self.matrix.reshape(count, rows, -1), self.z.reshape(count, -1)
        gram = matrix @ np.swapaxes(matrix, -1, -2)
        along = matrix @ z[..., None]
        if self.ends is not None:
            along = np.concatenate((along, self.ends[0]), axis=-1)
        error = np.abs(self.values).sum(axis=-1, keepdims=True)
        held = np.zeros(self.relaxation.held.shape, dtype=bool)
        if self.blocked is not None:
            held[:, :-2] = self.blocked

        def step(
            some: Array | slice, values: Array, weights: Array, across: Array | None = None
        ) -> tuple[Array, Relaxation, Array]:
            rows, square, way = matrix[some], gram[some], along[some]
            if across is not None:
                rows, square, way = self._across(across, rows, square, way)
            forces = self._forces(square, way, values, weights)
            ways = np.swapaxes(rows, -1, -2) @ forces[..., :2]
            back = ways[..., 1] - z[some]
            relaxation = self.relaxation.take(some).after(back, error[some], held[some])
            # As small as the steps of objectives out of reach.
            gain = relaxation.gain / (1.0 + _SLOW * self.ease * error[some])
            return ways[..., 0] + gain * back, relaxation, self._wish(some, forces, way[..., 1:])

        balance = self.levels.balance
        if self.center is None:
            change, relaxation, wish = step(slice(None), self.values, self.weights)
            return self._whole(change), relaxation, wish
        weights = self.weights.copy()
        weights[:, balance] = 0.0
        change, relaxation, wish = step(slice(None), self.values, weights)
        polygon, some = batch_front(data["polygon"]), np.arange(count)
        # Where the centre of mass leaves the polygon, it is held at the edge, along which it moves freely; where it
        # would still leave, beyond a corner, it is held at a point.
        for may_slide in (True, False):
            moved = (matrix[some, balance] @ change[some, :, None])[..., 0]
            place = self.center[some] + moved
            out = support.outside(place, polygon[some])
            far = np.linalg.norm(out, axis=-1)
            leaves = far > 1e-9
            if not leaves.any():
                break
            some, moved, place, out = some[leaves], moved[leaves], place[leaves], out[leaves]
            across = out / far[leaves, None]
            across = np.stack((across, np.stack((-across[:, 1], across[:, 0]), axis=-1)), axis=-2)
            values, weights = self.values[some], self.weights[some]
            values[:, balance] = (across @ (moved + out)[..., None])[..., 0]
            slides = may_slide & ~support.is_corner(polygon[some], place + out)
            weights[slides, balance.stop - 1] = 0.0
            held[some, -1], held[some, -2] = slides, ~slides
            change[some], part, wish[some] = step(some, values, weights, across)
            relaxation.put(some, part)
        return self._whole(change), relaxation, wish

    def _wish(self, some: Array | slice, forces: Array, columns: Array) -> Array:
        """What each of the hinges that are left out would turn (m, h) in the step of these forces (m, r, 2 + h), if it
        alone was free; only its sign is exact."""
        if self.ends is None:
            return np.zeros((len(forces), 0))
        towards, back = np.einsum("mrh,mrk->kmh", columns, forces[..., :2])
        # Where no other joint can do what a hinge does, as in a straight limb, its way back is that of the objectives.
        alone = 1.0 + np.einsum("mrh,mrh->mh", columns, forces[..., 2:])
        return towards + (back - self.ends[1][some]) / alone

    def _whole(self, found: Array) -> Array:
        """A step (m, d) with the part that is fixed, as (m, 3, n + 1)."""
        found = found.reshape(self.z.shape)
        return found if self.kept is None else found + self.kept

    def _across(self, turns: Array, rows: Array, square: Array, way: Array) -> tuple[Array, Array, Array]:
        """Rows (m, r, d), their products (m, r, r) and ways along them (m, r, k) with those of the balance turned by
        matrices (m, 2, 2)."""
        rows, square, way, balance = rows.copy(), square.copy(), way.copy(), self.levels.balance
        rows[:, balance] = turns @ rows[:, balance]
        square[:, balance] = turns @ square[:, balance]
        square[:, :, balance] = square[:, :, balance] @ np.swapaxes(turns, -1, -2)
        way[:, balance] = turns @ way[:, balance]
        return rows, square, way

    def _forces(self, gram: Array, along: Array, values: Array, weights: Array) -> Array:
        """The combinations (m, r, 1 + k) of the rows whose sums are the step towards the objectives, and what keeps
        ways along them (m, r, k), the first of which leads back to the initial pose, from the objectives."""
        hard = weights >= 1.0
        if self.near:
            both = np.concatenate((values[..., None], along), axis=-1)
            if not hard.all():
                both, gram = both * hard[..., None], gram * (hard[:, :, None] & hard[:, None, :])
            return _solved(gram, _SINGULAR, both)
        forces = np.empty((*values.shape, 1 + along.shape[-1]))
        forces[..., 1:] = self._back(gram, along, values, weights, hard)
        if not hard.all():
            values = np.where(hard, values, 0.0)
            gram = np.where(hard[:, :, None] & hard[:, None, :], gram, 0.0)
        order = self.levels.order
        if order is None:
            forces[..., 0] = self._towards(gram, values)
        else:
            forces[:, order, 0] = self._towards(gram[:, order[:, None], order], values[:, order])
        return forces

    def _towards(self, gram: Array, values: Array) -> Array:
        """The combinations (m, r) of the rows that reduce residuals (m, r), by priority."""
        # Row k of `spans` are the rows of the Jacobian that make up row k in the null space of those before, and
        # `inner` are their products.
        inner, spans = gram, np.zeros(0)
        if len(self.levels.steps) > 1:
            inner, spans = gram.copy(), np.zeros(gram.shape)
            np.einsum("mii->mi", spans)[:] = 1.0
        combination = np.zeros((*values.shape, 1))
        for mine in self.levels.steps:
            square, want = inner[:, mine, mine], values[:, mine, None]
            error = np.abs(want).sum(axis=1)
            # The same for the rows of an objective.
            even = np.diagonal(square, axis1=-2, axis2=-1) @ self.levels.mean[mine, mine]
            damping = _DAMPING * self.ease * error * even + _LEAST
            until, later = slice(mine.stop), slice(mine.stop, None)
            if mine.start == 0:
                combination[:, mine] = _solved(square, damping, want)
            else:
                own = spans[:, mine, until]
                y = _solved(square, damping, want - gram[:, mine] @ combination)
                combination[:, until] += np.swapaxes(own, -1, -2) @ y
            if mine.stop < len(gram[0]):
                crossed = inner[:, mine, later]
                less = np.swapaxes(_solved(square, _EXACT, crossed), -1, -2)
                both = less @ crossed
                spans[:, later, until] -= less @ spans[:, mine, until]
                inner[:, later, later] += less @ square @ np.swapaxes(less, -1, -2) - both - np.swapaxes(both, -1, -2)
        return combination[..., 0]

    @staticmethod
    def _back(gram: Array, along: Array, values: Array, weights: Array, hard: Array) -> Array:
        """The forces (m, r, k) that keep ways from the objectives, and those of weights below 1, which are balanced
        against the first of them."""
        if hard.all():
            return _solved(gram, _SINGULAR, along)
        soft = ~hard & (weights > _SOFTEST)
        rows = hard | soft
        square = np.where(rows[:, :, None] & rows[:, None, :], gram, 0.0)
        w = np.where(soft, weights, 1.0)
        want = np.where(rows[..., None], along, 0.0)
        want[..., 0] += np.where(soft, values, 0.0)
        return _solved(square, ((1.0 - w) / w) ** 2 + _SINGULAR, want)


def _solved(square: Array, damping: Array | float, right: Array) -> Array:
    """The solutions for matrices (m, k, k) with a damping on their diagonals."""
    diagonal = np.einsum("mii->mi", square)
    before = diagonal.copy()
    diagonal += damping
    found = np.linalg.solve(square, right)
    diagonal[:] = before
    return found
