"""The iterations of `full_body`: Gauss-Newton steps of a batch of poses, each until it stands still."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .body_problem import STIFF_ROOT, Problem
from .body_system import Relaxation, System

_EASY, _SLOWING = 0.01, 1.15
"""Factor of the damping in the first iteration, and its growth in each. It depends on nothing else, so that the result
is smooth in time."""
_LARGEST_STEP = 0.4
"""[rad], of one joint in one iteration; also the largest movement of the root, in lengths of a mean bone."""
_BLOCKED = 0.05
"""A coordinate that limits reduce by more than this fraction is fixed, and the others take its part."""
_LEAST_ALIKE, _ALIKE = 0.5, 0.9
"""Cosines of the angle between two ways, up to which and from which on the rest of the way is extrapolated not at all
and fully."""
_LARGE_PART = 0.7
"""Fraction of the way back in one iteration, below which the movement in this counts as if it were this fraction."""
_MOST_RATIO, _LARGEST_REST = 0.8, 0.1
"""Largest ratio of two ways, and largest rest [rad] of a joint."""


@dataclass
class Poses:
    """Some poses of a problem."""

    which: Array
    """(a,) indices of the poses."""
    pose: Array
    """(4, n, a) local rotations."""
    displacement: Array
    """(3, a) displacement of the root."""
    gain: Array
    """(a, 1), the fraction of the way back to the initial pose in the last iteration."""
    first: Array
    """(a,), the largest movement of a joint in the first iteration."""
    last: Array
    """(a,), the largest movement of a joint in the last iteration."""
    stopped: Array
    """(a,), whether limits reduced `last`."""
    iterations: Array
    """(a,) numbers of iterations."""

    @classmethod
    def of(cls, which: Array, pose: Array, displacement: Array, gain: Array | None = None) -> "Poses":
        """Before the first iteration; without gain, that of poses of which nothing is known."""
        count = len(which)
        gain = Relaxation.of(count, 0).gain if gain is None else gain
        last, stopped = np.full(count, np.inf), np.zeros(count, dtype=bool)
        return cls(which, pose, displacement, gain, np.zeros(count), last, stopped, np.zeros(count, dtype=int))

    def some(self, part: Array) -> "Poses":
        """A part of them."""
        return Poses(
            self.which[part],
            self.pose[..., part],
            self.displacement[..., part],
            self.gain[part],
            self.first[part],
            self.last[part],
            self.stopped[part],
            self.iterations[part],
        )


def iterate(problem: Problem, poses: Poses, iterations: int, tolerance: float, *, near: bool = False) -> None:
    """Solve poses where they are, each until no joint moves by more than the tolerance, or for so many iterations.

    Where these do not suffice, the rest of the way is extrapolated. near: whether the poses are near their objectives,
    so that priorities do not matter.
    """
    rows = np.arange(len(poses.which))
    if not len(rows):
        return
    data = problem.some(poses.which)
    matrix = problem.space(len(rows))
    relaxation = Relaxation.of(len(rows), len(problem.used), poses.gain)
    here, moved, ways = poses.pose, poses.displacement, []
    held = np.zeros((len(problem.hinges), len(rows)), dtype=bool)
    for iteration in range(iterations):
        ease, before, back = _EASY * _SLOWING**iteration, here, moved
        step = BodyStep(problem, here, moved, data, matrix[: len(rows)], ease, relaxation, held, near)
        here, moved, held, size = step.pose, step.displacement, step.held, step.size
        poses.iterations[rows] += 1
        if not iteration:
            poses.first[:] = size
        going = size > tolerance
        if iteration >= iterations - 2 > 0 and going.any():
            ways = [*ways, _way(before, here, back, moved)]
        if len(ways) == 2 and iteration == iterations - 1:
            end, shift = _at_the_end(problem, here, moved, data, *ways)
            here, moved = np.where(going, end, here), np.where(going, shift, moved)
        if going.all() and iteration < iterations - 1:
            continue
        poses.pose[..., rows], poses.displacement[..., rows] = here, moved
        poses.last[rows], poses.stopped[rows], poses.gain[rows] = size, step.stopped, relaxation.gain
        rows, here, moved, ways = rows[going], here[..., going], moved[..., going], [way[going] for way in ways]
        if not len(rows):
            return
        data, relaxation, held = problem.some(poses.which[rows]), relaxation.take(going), held[:, going]


def _way(before: Array, here: Array, back: Array, moved: Array) -> Array:
    """The way (a, d) of poses and displacements in one iteration."""
    turns = rotation.log(rotation.multiply(rotation.inverse(before.T), here.T))
    return np.concatenate((turns.reshape(len(turns), -1), (moved - back).T), axis=-1)


def _at_the_end(
    problem: Problem, pose: Array, displacement: Array, data: dict[str, Array], first: Array, last: Array
) -> tuple[Array, Array]:
    """Poses and displacements at the end of ways (a, d) of which the first and the last iteration made two parts: that
    of a geometric series (Aitken), as far as both have the same direction; none that is farther from its objectives,
    as near the end of the reach, where what is extrapolated may be the way back alone."""
    sizes = np.sqrt(np.einsum("ad,ad->a", first, first) * np.einsum("ad,ad->a", last, last))
    along = np.einsum("ad,ad->a", first, last)
    alike = np.clip((along / np.maximum(sizes, 1e-300) - _LEAST_ALIKE) / (_ALIKE - _LEAST_ALIKE), 0.0, 1.0)
    ratio = np.clip(along / np.maximum(np.einsum("ad,ad->a", first, first), 1e-300), 0.0, _MOST_RATIO) * alike
    rest = last * (ratio / (1.0 - ratio))[:, None]
    rest *= np.minimum(1.0, _LARGEST_REST / np.maximum(np.abs(rest).max(axis=-1, keepdims=True), 1e-300))
    turns = rest[:, :-3].reshape(len(rest), -1, 3)
    end = rotation.normalize(rotation.multiply(pose.T, rotation.exp(turns))).T
    end, shift = problem.allowed(end, pose, data)[0], displacement + rest[:, -3:].T
    nearer = problem.squares(end, shift, data) <= problem.squares(pose, displacement, data)
    return np.where(nearer, end, pose), np.where(nearer, shift, displacement)


class BodyStep:
    """One iteration: pose (4, n, m), displacement (3, m) of the root, size: (m,), the largest movement of a joint,
    stopped: (m,), whether limits reduced it, and held: (h, m), which hinges are at their end.

    Hinges at their end are left out of the equations of the next iteration until they are to turn back, so that few
    iterations have to be solved twice; what such a hinge would turn counts as movement.
    """

    def __init__(
        self,
        problem: Problem,
        pose: Array,
        displacement: Array,
        data: dict[str, Array],
        matrix: Array,
        ease: float,
        relaxation: Relaxation,
        held: Array,
        near: bool = False,
    ) -> None:
        """matrix: space for the Jacobian, as of `Problem.space`. held: as of the iteration before. near: as of
        `iterate`."""
        self.problem, self._before, self._start, self._data = problem, pose, displacement, data
        self._turning = problem.turning(pose, data)
        state = problem.state(pose, displacement, data, self._turning)
        values = problem.residuals(state, data, matrix)
        center = None if problem.balance is None else problem.balance_rows(state, data, matrix)
        z = problem.coordinates(data["start"], pose, displacement, self._turning)
        system = System(matrix, values, z, problem.levels, data["weights"].T, ease, center, relaxation, near)
        self.held = held
        if held.any():
            axes, at = self._axes, problem.hinges
            ends = np.einsum("mrch,mhc->mrh", matrix[..., at], axes), np.einsum("mch,mhc->mh", z[..., at], axes)
            system = system.held(slice(None), self._ends(held))
            system.ends = ends
        way, after, wish = system.solve(data)
        ends = self._move(way)
        self.stopped = np.zeros(len(self.size), dtype=bool)
        if problem.limited or (ends & ~held).any():
            self._hold(system, way, after, ends)
        # A small part of the way back says little about how far it is.
        self.size = self.size / np.minimum(after.gain[:, 0] / _LARGE_PART, 1.0)
        if held.any():
            wish = wish.T * problem.inwards(self.pose, data)
            back = held & (wish > 0.0)
            self.held = self.held & ~back
            self.size = np.maximum(self.size, np.where(back, wish, 0.0).max(axis=0))
        relaxation.put(slice(None), after)

    def _move(self, way: Array) -> Array:
        """Take a step (m, 3, n + 1); returns which hinges (h, m) are at their end."""
        turn = way[..., :-1].transpose(1, 2, 0)
        if self._turning is not None:
            turn = self._turning.vectors(turn)
        move = way[..., -1].T * STIFF_ROOT**0.5
        moved = rotation.length(move.T)
        largest = np.maximum(rotation.length(turn.T).max(axis=1), moved)
        factor = np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
        turned = rotation.normalize(rotation.multiply(self._before.T, rotation.exp((factor * turn).T))).T
        self.pose, ends = self.problem.allowed(turned, self._before, self._data)
        self.displacement, self.size = self._start + factor * move, factor * largest
        return ends

    def _hold(self, system: System, way: Array, after: Relaxation, ends: Array) -> None:
        """Take the step again, with what limits and the ends of hinges (h, m) stop held where that is."""
        problem = self.problem
        made = problem.coordinates(self._before, self.pose, self.displacement - self._start, self._turning)[..., :-1]
        blocked = _stopped(problem, way[..., :-1], made)
        self.stopped = blocked.any(axis=(1, 2, 3))
        some = self.stopped | (ends & ~self.held).any(axis=0)
        self.held = self.held | ends
        if self.held.any():
            at = problem.hinges
            blocked[:, at] = np.where(self.held.T[..., None, None], self._ends(self.held)[:, at], blocked[:, at])
        if some.any():
            less = system.held(some, blocked[some], made[some])
            way[some], part, _ = less.solve({name: array[..., some] for name, array in self._data.items()})
            after.put(some, part)
            self._move(way)
        moved = rotation.length((self.displacement - self._start).T)
        self.size = np.maximum(rotation.distance(self.pose.T, self._before.T).max(axis=1), moved)

    @property
    def _axes(self) -> Array:
        """The axes (m or 1, h, 3) of the hinges in the directions of their coordinates."""
        axes, problem = np.asarray(self.problem.hinge.hinges), self.problem
        return axes[None] if self._turning is None else self._turning.directions(axes, problem.hinges)

    def _ends(self, held: Array) -> Array:
        """The projections (m, n, 3, 3) on the coordinates of hinges (h, m) that are held."""
        along = self._axes[..., None] * self._axes[..., None, :]
        blocked = np.zeros((held.shape[1], len(self.problem.used), 3, 3))
        blocked[:, self.problem.hinges] = np.where(held.T[..., None, None], along, 0.0)
        return blocked


def _stopped(problem: Problem, way: Array, made: Array) -> Array:
    """The projections (m, n, 3, 3) on the coordinates that a limit fixes, in a step (m, 3, n) of which only a part is
    made."""
    count, _, n = way.shape
    fixed = np.zeros((count, n, 3, 3))
    if problem.limited:
        stopped = np.abs(made - way) > _BLOCKED * np.abs(way) + 1e-12
        limited = np.array([joint is not None for joint in problem.limits])
        axes = np.arange(3)
        fixed[:, :, axes, axes] = (stopped & limited).swapaxes(1, 2)
    return fixed
