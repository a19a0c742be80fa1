"""The motions from which the optimum of a reach is sought."""

from collections.abc import Generator, Sequence

import numpy as np

from .. import rotation
from ..rotation import Array
from . import effort
from .arm import Arm
from .obstacles import Clearance
from .paths import minimum_jerk
from .reach_poses import HIT, by_joints, direct, jumps, lengths, solved

_ELBOWS = 16
"""Number of sides on which the elbow may be at the goal."""
_SIDES = 24
"""Number of sides on which the elbow may begin the search."""
_DEEP = 0.01
"""Depth [m] within an obstacle that counts as much as twice the cost."""
_TRIES = 3
"""Number of further starts that are tried until the result is clear of obstacles."""
_SAME = 1e-6
"""Largest angle [rad] between two starts that count as one."""


def starts(arm: Arm, motion: Array, fixed: list[tuple[int, Array]], h: float) -> list[Array]:
    """The motions to start from if nothing is in the way: minimum jerk of the hand, and of the joints.

    In an arm that swings, the elbow goes to the side on which minimum jerk of the joints costs least: a search keeps
    the side on which it begins.
    """
    if arm.swings and arm.count == 1 and not arm.is_oriented:
        return [_best_elbow(arm, motion, fixed, h)]
    joints = by_joints(arm, motion, fixed, h)
    # The first one keeps the velocity of the hand, and not that of each joint.
    if arm.is_moving or rotation.distance(joints, motion).max() < _SAME:
        return [joints]
    return sorted((motion, joints), key=lambda start: effort.cost(arm, start, h))


def _best_elbow(arm: Arm, motion: Array, fixed: list[tuple[int, Array]], h: float) -> Array:
    """The cheapest motion (N + 1, a, 4) in minimum jerk of the joints to a pose of the hand at the goal that has the
    elbow on any side."""
    goal, angles = fixed[-1][1], 2.0 * np.pi * np.arange(1, _SIDES) / _SIDES
    ends = [arm.clamped(arm.swivelled(motion[-1], goal, [angle])) for angle in angles]
    ends = [motion[-1], *(end for end in ends if lengths(arm.points(end) - goal).max() <= HIT)]
    found = np.stack([by_joints(arm, np.concatenate((motion[:-1], end[None])), fixed, h) for end in ends])
    return found[np.argmin(np.sum(effort.changes(arm, found, h) ** 2, axis=(-2, -1)))]


def detours(
    arm: Arm, motion: Array, plain: Sequence[Array], fixed: list[tuple[int, Array]], h: float, clear: Clearance
) -> list[Array]:
    """The motions to start from if the result of those that are `plain` is within an obstacle, the most promising
    first."""
    sample, places = clear.detours(plain[0])
    starts = [*_elbows(arm, motion, fixed, h), *_around(arm, fixed, len(motion) - 1, sample, places)]
    order = sorted(starts, key=lambda start: (1.0 + (clear.depth(start) / _DEEP) ** 2) * effort.cost(arm, start, h))
    return order[:_TRIES]


def _elbows(arm: Arm, motion: Array, fixed: list[tuple[int, Array]], h: float) -> Generator[Array]:
    """Motions (N + 1, a, 4) to the goal with the elbows on other sides: the last pose is rotated about the lines from
    the shoulders to the hands, of one hand, or of all hands alternately."""
    signs = [*np.eye(arm.count), (-1.0) ** np.arange(arm.count)]
    for sign in signs[: 1 if arm.count == 1 else None]:
        for angle in 2.0 * np.pi * np.arange(1, _ELBOWS) / _ELBOWS:
            turned = motion.copy()
            turned[-1] = arm.clamped(arm.swivelled(motion[-1], fixed[-1][1], angle * sign))
            away = float(lengths(arm.points(turned[-1]) - fixed[-1][1]).max())
            if away > HIT or arm.is_oriented:
                turned[-1] = solved(arm, turned[-1], fixed[-1][1], oriented=True)
            yield by_joints(arm, turned, fixed, h)


def _around(
    arm: Arm, fixed: list[tuple[int, Array]], steps: int, sample: int, places: Sequence[Array]
) -> Generator[Array]:
    """Motions (N + 1, a, 4) through the fixed positions and one place at a sample, as far as the arm can follow."""
    begin, taken = arm.points(arm.rest), [at for at, _ in fixed]
    for place in places:
        through = fixed if sample in taken else sorted([*fixed, (sample, place)], key=lambda item: item[0])
        times = np.array([0, *(at for at, _ in through)], dtype=float)
        path = minimum_jerk(times, np.stack([begin, *(at for _, at in through)]), np.arange(steps + 1.0))
        poses = [arm.rest]
        for at, there in through:
            poses.append(solved(arm, poses[-1], there, oriented=at == steps))
        led, off = arm.follow(direct(poses, through, rotation.slerp), path)
        if off <= arm.near and not jumps(led):
            yield led
            continue
        free = arm.clamped(direct(poses, through, arm.between))
        ends = arm.points(free)
        if max(float(np.linalg.norm(ends[at] - there)) for at, there in fixed) <= HIT:
            yield free
