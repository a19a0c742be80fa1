"""Whole bodies whose poses follow each other in time: some are solved by themselves, those between them from a guess.

The pose that `full_body` finds is a fixed point of its iteration: the smallest rotations that reach the objectives.
From a guess near this point, one or two iterations lead there instead of six. The guess is interpolated between solved
poses by cubic polynomials, as rotation vectors from the initial poses, from the coarse to the fine. It counts only if
it is as near as one expects. Poses are solved by themselves where it is not: where the objectives or the initial pose
jump, which may change the branch, the way in which limbs are bent; and where the result depends on all iterations,
because objectives are out of reach or have a weight below 1, or limits stop a joint.
"""

from collections.abc import Iterator

import numpy as np

from .. import rotation
from ..rotation import Array
from .body_iteration import Poses, iterate
from .body_problem import Problem

_APART = 8
"""Poses from one that is solved by itself to the next."""
_NODES = 4
"""Poses from which one is interpolated."""
_NEAR = 0.02
"""Largest first movement [rad] of a joint from a guess that is near."""
_FEW = 4
"""Iterations in which a near guess leads to its fixed point."""
_REACHED = 1e-3
"""Largest residual of what is reached, in lengths of a mean bone."""


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
        # Whether a pose is the fixed point; one that meets its objectives from the start is.
        self._fixed = np.ones(count, dtype=bool)

    def solve(self, iterations: int, tolerance: float, *, in_time: bool) -> None:
        """All poses. iterations, tolerance: as of `iterate`. in_time: from guesses where they are near."""
        active = self.problem.undone(self.errors, self.unbalanced)
        self._fixed[active] = False
        if not in_time:
            self._plainly(active, iterations, tolerance)
            return
        known, *levels = _levels(self.problem.count)
        self._plainly(np.intersect1d(known, active), iterations, tolerance)
        # Beside poses that give no guess all are solved by themselves, together.
        after = np.clip(np.searchsorted(known, active), 1, max(len(known) - 1, 1))
        beside = ~(self._fixed[known[after - 1]] & self._fixed[known[np.minimum(after, len(known) - 1)]])
        alone = np.setdiff1d(active[beside], known)
        self._plainly(alone, iterations, tolerance)
        known = np.union1d(known, alone)
        for level in levels:
            wanted = np.setdiff1d(np.intersect1d(level, active), alone)
            near = self._guess(wanted, known, min(_FEW, iterations), tolerance)
            self._plainly(wanted[~near], iterations, tolerance)
            known = np.union1d(known, level)

    def _plainly(self, wanted: Array, iterations: int, tolerance: float) -> None:
        """Solve poses (a,) by themselves."""
        if not len(wanted):
            return
        poses = Poses.of(wanted, self.problem.first_pose(wanted), np.zeros((3, len(wanted))))
        iterate(self.problem, poses, iterations, tolerance)
        self._take(poses, poses.last <= tolerance)

    def _guess(self, wanted: Array, known: Array, iterations: int, tolerance: float) -> Array:
        """Solve poses (a,) from those between which they are; returns for which this was near."""
        nodes, weights = _interpolation(wanted, known)
        near = self._fixed[nodes].all(axis=-1) & ~self.problem.is_soft(wanted)
        which, nodes, weights = wanted[near], nodes[near], weights[near]
        if not len(which):
            return near
        vectors = _combined(self._vectors, nodes, weights)
        data = self.problem.some(which)
        pose = rotation.multiply(data["start"].T, rotation.exp(vectors.T)).T
        pose = self.problem.allowed(pose, data["start"], data)[0]
        displacement = _combined(self.displacement, nodes, weights)
        poses = Poses.of(which, pose, displacement, self._gain[nodes].mean(axis=1))
        iterate(self.problem, poses, iterations, tolerance, near=True)
        good = (poses.first < _NEAR) & (poses.last <= tolerance)
        if not good.any():
            return near & False
        self._take(poses.some(good), good[good])
        good[good] = self._fixed[which[good]]
        near[near] = good
        return near

    def _take(self, poses: Poses, still: Array) -> None:
        """Keep poses (a,); still: whether their iterations ended."""
        which, problem = poses.which, self.problem
        self.pose[..., which], self.displacement[..., which] = poses.pose, poses.displacement
        self.iterations[which], self._gain[which] = poses.iterations, poses.gain
        start = problem.data["start"][..., which]
        turns = rotation.multiply(rotation.inverse(start.T), poses.pose.T)
        self._vectors[..., which] = rotation.log(turns).T
        errors, unbalanced = problem.errors(which, poses.pose, poses.displacement)
        self.errors[which], self.unbalanced[which] = errors, unbalanced
        missed = problem.missed(which, errors, unbalanced)
        self._fixed[which] = still & (missed < _REACHED) & ~poses.stopped & ~problem.is_soft(which)


def _levels(count: int) -> Iterator[Array]:
    """The poses (a,) that are solved together, from the coarse to the fine: each one once."""
    apart = _APART if count > _NODES * _APART else 1
    known = np.zeros(count, dtype=bool)
    while apart:
        some = np.arange(count) % apart == 0
        some[-1:] = True
        yield np.flatnonzero(some & ~known)
        known |= some
        apart //= 2


def _interpolation(wanted: Array, known: Array) -> tuple[Array, Array]:
    """The poses (a, k) from which others (a,) are interpolated, and their weights: Lagrange's polynomials."""
    after = np.searchsorted(known, wanted)
    first = np.clip(after - _NODES // 2, 0, len(known) - _NODES)
    nodes = known[first[:, None] + np.arange(_NODES)]
    away = (wanted[:, None] - nodes).astype(float)
    weights = np.ones(nodes.shape)
    for k in range(_NODES):
        for other in range(_NODES):
            if other != k:
                weights[:, k] *= away[:, other] / (nodes[:, k] - nodes[:, other])
    return nodes, weights


def _combined(values: Array, nodes: Array, weights: Array) -> Array:
    """The sums (..., a) of values (..., m) at nodes (a, k) with these weights."""
    total = values[..., nodes[:, 0]] * weights[:, 0]
    for node, weight in zip(nodes.T[1:], weights.T[1:], strict=True):
        total += values[..., node] * weight
    return total
