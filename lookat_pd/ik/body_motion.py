"""Whole bodies whose poses follow each other in time: some are solved by themselves, those between them from a guess.

The pose that `full_body` finds is a fixed point of its iteration: the smallest rotations that reach the objectives.
From a guess near this point, one or two iterations lead there instead of six. The guess is interpolated between solved
poses by polynomials, as rotation vectors from the initial poses, from the coarse to the fine. It counts
only if it is as near as one expects. Where guesses between poses twice as far apart were right within the tolerance,
one that meets its objectives needs no iteration. Poses are solved by themselves where the guess is not near: where the
objectives or the initial pose jump, which may change the branch, the way in which limbs are bent; and where the result
depends on all iterations, because objectives are out of reach or have a weight below 1, or limits stop a joint.
"""

from collections.abc import Iterator

import numpy as np

from .. import rotation
from ..rotation import Array
from .body_iteration import Poses, iterate
from .body_problem import Problem

_APART = 8
"""Poses from one that is solved by itself to the next."""
_NODES = 6, 4
"""Poses from which one is interpolated: at first, and where that is not near, as beside a jump."""
_NEAR = 0.02
"""Largest first movement [rad] of a joint from a guess that is near."""
_FEW = 4
"""Iterations in which a near guess leads to its fixed point."""
_REACHED = 1e-3
"""Largest residual of what is reached, in lengths of a mean bone."""
_MET = 0.1
"""Largest residual of a guess that needs no iteration, as a factor of the tolerance."""


class BodyInTime:
    """The solution of a problem: pose (4, n, m), displacement (3, m), iterations (m,), and, as of `Problem.errors`,
    errors (m, k) and unbalanced (m,)."""

    def __init__(self, problem: Problem) -> None:
        self.problem, count = problem, problem.count
        self.pose, self.displacement = problem.data["start"].copy(), np.zeros((3, count))
        self.iterations = np.zeros(count, dtype=int)
        self.errors, self.unbalanced = problem.errors(np.arange(count), self.pose, self.displacement)
        self._vectors = np.zeros((3, *self.pose.shape[1:]))
        self._gain = np.ones((count, 1))
        # First movements from the last guesses, none of other poses.
        self._first = np.full(count, np.nan)
        # Whether a pose is the fixed point; one that meets its objectives from the start is.
        self._fixed = np.ones(count, dtype=bool)

    def solve(self, iterations: int, tolerance: float, *, in_time: bool) -> None:
        """All poses. iterations, tolerance: as of `iterate`. in_time: from guesses where they are near."""
        active = self.problem.undone(self.errors, self.unbalanced)
        self._fixed[active] = False
        if not in_time:
            self._plainly(active, iterations, tolerance)
            return
        count = self.problem.count
        undone, known = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        undone[active] = True
        coarse, *levels = _levels(count)
        known[coarse] = True
        self._plainly(np.flatnonzero(known & undone), iterations, tolerance)
        # Beside poses that give no guess all are solved by themselves, together.
        after = np.clip(np.searchsorted(coarse, active), 1, max(len(coarse) - 1, 1))
        beside = ~(self._fixed[coarse[after - 1]] & self._fixed[coarse[np.minimum(after, len(coarse) - 1)]])
        alone = active[beside & ~known[active]]
        self._plainly(alone, iterations, tolerance)
        known[alone], undone[alone] = True, False
        for level in levels:
            wanted = level[undone[level]]
            first, self._first = self._first, np.full(count, np.nan)
            for nodes in _NODES:
                near = self._guess(wanted, np.flatnonzero(known), nodes, first, min(_FEW, iterations), tolerance)
                wanted = wanted[~near]
            self._plainly(wanted, iterations, tolerance)
            known[level] = True

    def _plainly(self, wanted: Array, iterations: int, tolerance: float) -> None:
        """Solve poses (a,) by themselves."""
        if not len(wanted):
            return
        poses = Poses.of(wanted, self.problem.first_pose(wanted), np.zeros((3, len(wanted))))
        iterate(self.problem, poses, iterations, tolerance)
        self._take(poses, poses.last <= tolerance)

    def _guess(self, wanted: Array, known: Array, count: int, first: Array, iterations: int, tolerance: float) -> Array:
        """Solve poses (a,) from so many between which they are; returns for which this was near. first: (m,), of the
        guesses before these."""
        if not len(wanted):
            return np.zeros(0, dtype=bool)
        nodes, weights = _interpolation(wanted, known, count)
        near = self._fixed[nodes].all(axis=-1) & ~self.problem.is_soft(wanted)
        which, nodes, weights = wanted[near], nodes[near], weights[near]
        if not len(which):
            return near
        data = self.problem.some(which)
        turns = rotation.exp(_combined(self._vectors, nodes, weights).T)
        pose, ends = self.problem.allowed(rotation.multiply(data["start"].T, turns).T, data["start"], data)
        displacement = _combined(self.displacement, nodes, weights)
        poses = Poses.of(which, pose, displacement, self._gain[nodes].mean(axis=1))
        poses.first = np.fmax.reduce(first[nodes], axis=1)
        good = self._meets(poses, ends, tolerance)
        if not good.all():
            rest = poses.some(~good)
            iterate(self.problem, rest, iterations, tolerance, near=True)
            close = (rest.first < _NEAR) & (rest.last <= tolerance)
            self._take(rest.some(close), close[close])
            self._first[rest.which[close]] = rest.first[close]
            good[~good] = close & self._fixed[rest.which]
        near[near] = good
        return near

    def _meets(self, poses: Poses, ends: Array, tolerance: float) -> Array:
        """Keep those of some guesses that need no iteration; returns which (a,). first: of poses, the largest movement
        from the guesses between which they are. ends: of hinges (h, a)."""
        which, problem = poses.which, self.problem
        met = (poses.first <= tolerance) & ~ends.any(axis=0) & (not problem.limited)
        if met.any():
            some = poses.some(met)
            errors = problem.errors(some.which, some.pose, some.displacement)
            fine = problem.missed(some.which, *errors) <= _MET * tolerance
            met[met] = fine
            self._keep(some.some(fine), errors[0][fine], errors[1][fine])
            self._first[which[met]], self._fixed[which[met]] = poses.first[met], True
        return met

    def _take(self, poses: Poses, still: Array) -> None:
        """Keep poses (a,); still: whether their iterations ended."""
        which, problem = poses.which, self.problem
        errors, unbalanced = problem.errors(which, poses.pose, poses.displacement)
        self._keep(poses, errors, unbalanced)
        missed = problem.missed(which, errors, unbalanced)
        self._fixed[which] = still & (missed < _REACHED) & ~poses.stopped & ~problem.is_soft(which)

    def _keep(self, poses: Poses, errors: Array, unbalanced: Array) -> None:
        """Keep poses (a,) with their errors."""
        which, start = poses.which, self.problem.data["start"][..., poses.which]
        self.pose[..., which], self.displacement[..., which] = poses.pose, poses.displacement
        self.iterations[which], self._gain[which] = poses.iterations, poses.gain
        turns = rotation.multiply(rotation.inverse(start.T), poses.pose.T)
        self._vectors[..., which] = rotation.log(turns).T
        self.errors[which], self.unbalanced[which] = errors, unbalanced


def _levels(count: int) -> Iterator[Array]:
    """The poses (a,) that are solved together, from the coarse to the fine: each one once."""
    apart = _APART
    while apart > 1 and count - 1 <= (max(_NODES) - 2) * apart:
        apart //= 2
    known = np.zeros(count, dtype=bool)
    while apart:
        some = np.arange(count) % apart == 0
        some[-1:] = True
        yield np.flatnonzero(some & ~known)
        known |= some
        apart //= 2


def _interpolation(wanted: Array, known: Array, count: int) -> tuple[Array, Array]:
    """The poses (a, count) from which others (a,) are interpolated, and their weights: Lagrange's polynomials."""
    after = np.searchsorted(known, wanted)
    first = np.clip(after - count // 2, 0, len(known) - count)
    nodes = known[first[:, None] + np.arange(count)]
    apart = (nodes[:, :, None] - nodes[:, None]) + np.eye(count)
    factors = (wanted[:, None, None] - nodes[:, None]) / apart
    factors[:, np.arange(count), np.arange(count)] = 1.0
    return nodes, factors.prod(axis=-1)


def _combined(values: Array, nodes: Array, weights: Array) -> Array:
    """The sums (..., a) of values (..., m) at nodes (a, k) with these weights."""
    total = values.take(nodes[:, 0], axis=-1) * weights[:, 0]
    for node, weight in zip(nodes.T[1:], weights.T[1:], strict=True):
        total += values.take(node, axis=-1) * weight
    return total
