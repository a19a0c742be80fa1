"""The iterations of `full_body`: Gauss-Newton steps of a batch of poses, each until it stands still."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .body_freedom import TurningAxes
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
    """Some poses of a problem. which: (a,), their indices. pose: (4, n, a). displacement: (3, a) of the root. gain:
    (a, 1), the fraction of the way back to the initial pose in the last iteration. first, last: (a,), the largest
    movement of a joint in the first and the last one. stopped: (a,), whether limits reduced that. iterations: (a,)."""

    which: Array
    pose: Array
    displacement: Array
    gain: Array
    first: Array
    last: Array
    stopped: Array
    iterations: Array

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
    for iteration in range(iterations):
        ease, before, back = _EASY * _SLOWING**iteration, here, moved
        here, moved, size, stopped = step(problem, here, moved, data, matrix[: len(rows)], ease, relaxation, near)
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
        poses.last[rows], poses.stopped[rows], poses.gain[rows] = size, stopped, relaxation.gain
        rows, here, moved, ways = rows[going], here[..., going], moved[..., going], [way[going] for way in ways]
        if not len(rows):
            return
        data, relaxation = problem.some(poses.which[rows]), relaxation.take(going)


def _way(before: Array, here: Array, back: Array, moved: Array) -> Array:
    """The way (a, d) of poses and displacements in one iteration."""
    turns = rotation.log(rotation.multiply(rotation.inverse(before.T), here.T))
    return np.concatenate((turns.reshape(len(turns), -1), (moved - back).T), axis=-1)


def _at_the_end(
    problem: Problem, pose: Array, displacement: Array, data: dict[str, Array], first: Array, last: Array
) -> tuple[Array, Array]:
    """Poses and displacements at the end of ways (a, d) of which the first and the last iteration made two parts: that
    of a geometric series (Aitken), as far as both have the same direction."""
    sizes = np.sqrt(np.einsum("ad,ad->a", first, first) * np.einsum("ad,ad->a", last, last))
    along = np.einsum("ad,ad->a", first, last)
    alike = np.clip((along / np.maximum(sizes, 1e-300) - _LEAST_ALIKE) / (_ALIKE - _LEAST_ALIKE), 0.0, 1.0)
    ratio = np.clip(along / np.maximum(np.einsum("ad,ad->a", first, first), 1e-300), 0.0, _MOST_RATIO) * alike
    rest = last * (ratio / (1.0 - ratio))[:, None]
    rest *= np.minimum(1.0, _LARGEST_REST / np.maximum(np.abs(rest).max(axis=-1, keepdims=True), 1e-300))
    turns = rest[:, :-3].reshape(len(rest), -1, 3)
    found = rotation.normalize(rotation.multiply(pose.T, rotation.exp(turns))).T
    return problem.allowed(found, pose, data)[0], displacement + rest[:, -3:].T


def step(
    problem: Problem,
    pose: Array,
    displacement: Array,
    data: dict[str, Array],
    matrix: Array,
    ease: float,
    relaxation: Relaxation,
    near: bool = False,
) -> tuple[Array, Array, Array, Array]:
    """One iteration: poses, displacements of the root, the largest movement (m,) of a joint, and whether limits (m,)
    reduced it. matrix: space for the Jacobian, as of `Problem.space`. near: as of `iterate`."""
    turning = None if problem.freedom is None else problem.freedom.at(pose)
    state = problem.state(pose, displacement, data, turning)
    values = problem.residuals(state, data, matrix)
    center = None if problem.balance is None else problem.balance_rows(state, data, matrix)
    z = problem.coordinates(data["start"], pose, displacement, turning)
    system = System(matrix, values, z, problem.levels, data["weights"].T, ease, center, relaxation, near)
    way, after = system.solve(data)
    found, shift, size, ends = _moved(problem, pose, displacement, way, data, turning)
    stopped = np.zeros(len(size), dtype=bool)
    if problem.limited or ends.any():
        made = problem.coordinates(pose, found, shift - displacement, turning)[..., :-1]
        blocked = _stopped(problem, way[..., :-1], made)
        stopped = blocked.any(axis=(1, 2, 3))
        if ends.any():
            _fix_ends(problem, blocked, ends, turning)
        some = blocked.any(axis=(1, 2, 3))
        if some.any():
            again = system.held(some, blocked[some], made[some])
            less, part = again.solve({name: array[..., some] for name, array in data.items()})
            way[some] = less + again.kept
            after.put(some, part)
            found, shift, size, _ = _moved(problem, pose, displacement, way, data, turning)
        moved = np.linalg.norm(shift - displacement, axis=0)
        size = np.maximum(rotation.distance(found.T, pose.T).max(axis=1), moved)
    relaxation.put(slice(None), after)
    # A small part of the way back says little about how far it is.
    return found, shift, size / np.minimum(after.gain[:, 0] / _LARGE_PART, 1.0), stopped


def _moved(
    problem: Problem, pose: Array, displacement: Array, way: Array, data: dict[str, Array], turning: TurningAxes | None
) -> tuple[Array, Array, Array, Array]:
    """Poses and displacements after a step (m, 3, n + 1), the largest movement (m,) of a joint if nothing stops it, and
    which hinges (h, m) are at their end."""
    turn = way[..., :-1].transpose(1, 2, 0)
    if turning is not None:
        turn = turning.vectors(turn)
    move = way[..., -1].T * STIFF_ROOT**0.5
    moved = np.linalg.norm(move, axis=0)
    largest = np.maximum(rotation.length(turn.T).max(axis=1), moved)
    factor = np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))
    found = rotation.normalize(rotation.multiply(pose.T, rotation.exp((factor * turn).T))).T
    found, ends = problem.allowed(found, pose, data)
    return found, displacement + factor * move, factor * largest, ends


def _stopped(problem: Problem, way: Array, made: Array) -> Array:
    """The projections (m, n, 3, 3) on the coordinates that a limit fixes, in a step (m, 3, n) of which only a part is
    made."""
    count, _, n = way.shape
    found = np.zeros((count, n, 3, 3))
    if problem.limited:
        stopped = np.abs(made - way) > _BLOCKED * np.abs(way) + 1e-12
        limited = np.array([joint is not None for joint in problem.limits])
        axes = np.arange(3)
        found[:, :, axes, axes] = (stopped & limited).swapaxes(1, 2)
    return found


def _fix_ends(problem: Problem, blocked: Array, ends: Array, turning: TurningAxes | None) -> None:
    """Add the coordinates of hinges (h, m) at their end to such projections."""
    along = problem.hinge.along
    if turning is not None and turning.bases is not None:
        along = turning.in_bases(along, problem.hinges)
    blocked[:, problem.hinges] = np.where(ends.T[..., None, None], along, blocked[:, problem.hinges])
