"""No snaps where a target is smooth: the rotations of a chain over time, made continuous.

The nearest pose is not continuous everywhere: where a target passes opposite to the animated pose or the line of a
straight chain, another pose becomes the nearest one. There the rotations are first averaged over a growing time and
solved again. Where this does not help, because the mean of two poses is like neither of them, each frame continues the
one before: from that pose, its joints move towards the nearest pose only as fast as `_APPROACH` allows. All frames
reach their targets as before. The second is numerical continuation: Allgower and Georg 1990.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.rotation import Array

LARGEST_SPEED = 1.4
"""Largest rotation of a joint from frame to frame, as a factor of what is needed."""
_APPROACH = 0.3
"""Largest rotation from frame to frame towards the nearest pose, as a factor of what is needed."""
_ON_COURSE = 1.1
"""Largest rotation to the nearest pose of the next frame that counts as following the target, likewise."""
_SPREADS = (2, 4, 8, 16, 32, 64)
"""Numbers of frames over which the rotations at a snap are spread, one after the other until it is gone."""
_WIDEST = 100_000
"""Largest number of frames to each side for smoothing."""
_NEARLY_NOTHING = 1e-7
"""A rotation [rad] that counts as none."""

Solve = Callable[[Array, Array], ik.IKSolution]
"""A function from poses (k, n, 4) to start from, and the indices (k,) of their frames, to the solution."""


@dataclass(frozen=True)
class Course:
    """A chain over F frames."""

    start: Array
    """(F, n, 4), its animated pose."""
    needed: float
    """Largest rotation [rad] of a joint from a frame to the next that animation and target need."""
    solve: Solve
    """Solves some frames."""
    allowed: Callable[[Array, Array], Array]
    """Gives the pose (k, n, 4) near another one that is within the limits, of the frames with these indices (k,)."""

    def turns(self, pose: Array) -> Array:
        """Rotations (F, n, 4) from the animated pose, without changes of sign."""
        return rotation.align_hemisphere(rotation.multiply(rotation.inverse(self.start), pose))

    def snaps(self, pose: Array) -> Array:
        """(F - 1,) whether a joint turns too far from a frame to the next one."""
        return _steps(pose) > LARGEST_SPEED * self.needed


def needed(start: Array, target: Array, upper: Array, lower: Array) -> float:
    """The largest rotation [rad] of a joint from a frame to the next that animation and target need.

    start: (F, n, 4), the animated pose. target: (F, 3), from the base in the frame of its parent. upper, lower: (F,),
    lengths of the chain above and below its middle joint, as animated. That is the sum of the animated rotation, of the
    angle of the target around the base, and of the bend of the middle joint by the law of cosines.
    """
    if len(start) < 2:
        return 0.0
    turned = rotation.angle_between(target[1:], target[:-1])
    cosine = (upper**2 + lower**2 - np.sum(target * target, axis=-1)) / np.maximum(2.0 * upper * lower, 1e-300)
    bent = np.abs(np.diff(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return max(float((_steps(start) + turned + bent).max()), _NEARLY_NOTHING)


def removing_snaps(course: Course, solution: ik.IKSolution) -> Generator[float, None, ik.IKSolution]:
    """The solution, where needed spread over time: no joint turns much faster than animation and target need. Yields
    the completed fraction."""
    if len(course.start) < 3:
        return solution
    strict = replace(course, needed=min(course.needed, _least(course, solution)))
    if not strict.snaps(solution.rotations).any():
        return solution
    yield 0.1
    spread = yield from subrange(_spread(strict, solution), 0.1, 0.3)
    if not course.snaps(spread.rotations).any():
        return spread
    continued = yield from subrange(continuing_from_before(course, solution), 0.3, 0.8)
    continued = yield from subrange(_spread(course, continued), 0.8, 1.0)
    return min((solution, spread, continued), key=lambda one: float(_steps(one.rotations).max()))


without_snaps = drained("without_snaps", removing_snaps)


def _least(course: Course, found: ik.IKSolution) -> float:
    """As `needed`, by the solver: the animated rotation and the smallest one that follows the target from the frame
    before. A solution with snaps may need more than `needed` says, a chain of many joints less."""
    turns = rotation.multiply(rotation.inverse(course.start), found.rotations)
    follow = rotation.multiply(course.start[1:], turns[:-1])
    least = course.solve(follow, np.arange(1, len(follow) + 1))
    each = rotation.distance(course.start[1:], course.start[:-1]) + rotation.distance(least.rotations, follow)
    return max(float(each.max()), _NEARLY_NOTHING)


def _spread(course: Course, solution: ik.IKSolution) -> Generator[float, None, ik.IKSolution]:
    """The solution with the rotations around snaps averaged over a growing time, and solved again from there. Yields
    the completed fraction."""
    every = np.arange(len(course.start))
    for n, width in enumerate(_SPREADS):
        too_fast = course.snaps(solution.rotations)
        if not too_fast.any():
            break
        turns = course.turns(solution.rotations)
        box = np.ones(2 * min(width, (len(turns) - 1) // 2) + 1)
        near = np.convolve(np.append(too_fast, False), box, "same") > 0.5
        share = np.convolve(near, box / len(box), "same")
        smooth = rotation.slerp(turns, rotation.normalize(averaged(turns, float(width))), share[:, None])
        solution = course.solve(course.allowed(rotation.multiply(course.start, smooth), every), every)
        yield (n + 1) / len(_SPREADS)
    return solution


def continuing_from_before(course: Course, solution: ik.IKSolution) -> Generator[float, None, ik.IKSolution]:
    """The solution in which each frame continues the one before. Yields the completed fraction."""
    wanted = rotation.multiply(rotation.inverse(course.start), solution.rotations)
    rotations, error, iterations = solution.rotations.copy(), solution.error.copy(), solution.iterations.copy()
    last = wanted[0]
    for frame in range(1, len(wanted)):
        away = rotation.log(rotation.multiply(rotation.inverse(last), wanted[frame]))
        far = float(np.linalg.norm(away, axis=-1).max())
        if far <= _ON_COURSE * course.needed:
            last = wanted[frame]
            continue
        part = min(1.0, _APPROACH * course.needed / far)
        nearer = rotation.multiply(last, rotation.exp(part * away))
        index = np.array([frame])
        pose = course.allowed(rotation.multiply(course.start[frame], nearer)[None], index)
        solved = course.solve(pose, index)
        rotations[frame], error[frame], iterations[frame] = solved.rotations[0], solved.error[0], solved.iterations[0]
        last = rotation.multiply(rotation.inverse(course.start[frame]), rotations[frame])
        yield frame / len(wanted)
    return ik.IKSolution(rotations, error, iterations, solution.orientation_error, solution.history)


continued_from_before = drained("continued_from_before", continuing_from_before)


def averaged(turns: Array, width: float) -> Array:
    """Gaussian means over time of (F, n, 4) with that width in frames; the ends are extended."""
    whole = min(int(np.ceil(1.5 * width)), _WIDEST)
    bell = np.exp(-0.5 * (np.arange(-whole, whole + 1) / max(0.5 * width, 1e-6)) ** 2)
    bell /= bell.sum()
    # Beyond all frames there are only the ends.
    half = min(whole, len(turns))
    ends = float(bell[: whole - half].sum())
    padded = np.concatenate((np.repeat(turns[:1], half, 0), turns, np.repeat(turns[-1:], half, 0)))
    result = np.broadcast_to(ends * (turns[:1] + turns[-1:]), turns.shape).copy()
    for k, weight in enumerate(bell[whole - half : whole + half + 1]):
        result += weight * padded[k : k + len(turns)]
    return result


def _steps(pose: Array) -> Array:
    """The largest rotation (F - 1,) [rad] of a joint from each frame to the next."""
    return rotation.distance(pose[1:], pose[:-1]).max(axis=-1)
