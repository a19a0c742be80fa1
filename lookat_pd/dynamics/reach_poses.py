"""The first motion of a reach: minimum jerk of the hand or of the joints through the fixed positions."""

from collections.abc import Callable, Sequence

import numpy as np

from .. import rotation
from ..curves import smooth_step
from ..errors import InvalidArgument, OutOfReach
from ..ik import Limits
from ..rotation import Array
from .arm import Arm
from .paths import drift, minimum_jerk

HIT = 1e-5
"""Tolerance [m] at the goal."""
_ALIGNED = 1e-4
"""Tolerance [rad] of the orientation at the goal."""
_LAST_STEPS = 50
"""Largest number of final steps from the pose of inverse kinematics to the goal."""
_JUMP = 1.0
"""A larger rotation [rad] between two samples is a switch to another pose with the same position of the hand."""


def first_motion(
    arm: Arm, fixed: list[tuple[int, Array]], h: float, steps: int, names: Sequence[str]
) -> tuple[Array, list[tuple[int, Array]], Array]:
    """The path (N + 1, 3 k) of the hands in the initial motion, the fixed positions with those of hands that are free
    there, and that motion (N + 1, a, 4).

    The path is the minimum-jerk path through the fixed positions. If the joints cannot follow it, each joint moves with
    minimum jerk to a pose with the hand at the fixed position, which gives another path.
    """
    begin = arm.points(arm.rest)
    distance = float(lengths(fixed[-1][1] - begin).max())
    if distance < HIT and len(fixed) == 1:
        raise InvalidArgument("The effector is already at its goal; move the goal.")
    for _, place in fixed:
        away = np.nan_to_num(arm.beyond(place), nan=-np.inf)
        farthest = int(np.argmax(away))
        beyond = float(away[farthest])
        if beyond > HIT and arm.count > 1:
            raise OutOfReach(
                "The goal of hand '{hand}' is out of reach by {distance:.3g} m; move it closer, or choose a longer "
                "chain.",
                hand=names[farthest],
                distance=beyond,
            )
        if beyond > HIT:
            raise OutOfReach(
                "The goal is out of reach by {distance:.3g} m; move it closer, or choose a longer chain.",
                distance=beyond,
            )
    path = straight(arm, fixed, h, np.zeros(len(begin)))
    fixed = [(sample, np.where(np.isnan(place), path[sample], place)) for sample, place in fixed]
    poses = [arm.rest]
    for sample, place in fixed:
        poses.append(solved(arm, poses[-1], place, oriented=sample == steps))
    _check_orientation(arm, poses[-1], fixed[-1][1])
    led, off = arm.follow(joined(arm, direct(poses, fixed, rotation.slerp), fixed, h), path)
    if off <= arm.near and not jumps(led):
        return path, fixed, led
    # A hinge or limits may block the path although its end is within reach.
    free = joined(arm, direct(poses, fixed, arm.between), fixed, h)
    points = arm.points(free)
    missed = max(float(lengths(points[sample] - place).max()) for sample, place in fixed)
    if missed <= HIT and (off > arm.near or not jumps(free)):
        return points, fixed, free
    if off > max(arm.near, HIT):
        raise InvalidArgument(
            "The effector misses its goal by {missed:.3g} m; choose a goal within the limits of the joints.",
            missed=missed,
        )
    return path, fixed, led


def straight(arm: Arm, fixed: list[tuple[int, Array]], h: float, speed: Array) -> Array:
    """The minimum-jerk paths (N + 1, 3 k) of the hands, each through its own fixed positions, with these velocities
    (3 k,) in the end."""
    begin, start = arm.points(arm.rest), arm.place(arm.rest)[1] @ arm.outside[0].ravel()
    last, paths = fixed[-1][0], []
    for n in range(arm.count):
        own = slice(3 * n, 3 * n + 3)
        passed = [(sample, place[own]) for sample, place in fixed if not np.isnan(place[own]).any()]
        times = h * np.array([0, *(sample for sample, _ in passed)])
        points = np.stack([begin[own], *(place for _, place in passed)])
        paths.append(minimum_jerk(times, points, h * np.arange(last + 1), (start[own], speed[own])))
    return np.concatenate(paths, axis=1)


def _check_orientation(arm: Arm, pose: Array, goal: Array) -> None:
    """Raise InvalidArgument where a last pose (a, 4) is not at the goal (3,) in the orientation of the arm."""
    if not arm.is_oriented:
        return
    away = arm.misaligned(pose)
    if away > _ALIGNED:
        raise InvalidArgument(
            "The effector misses the orientation of its goal by {angle:.3g} degrees; rotate the goal, or allow more "
            "joints.",
            angle=np.degrees(away),
        )
    missed = float(lengths(arm.points(pose) - goal).max())
    if missed > HIT:
        raise InvalidArgument(
            "In the orientation of its goal the effector misses it by {missed:.3g} m; rotate the goal, move it closer, "
            "or choose a longer chain.",
            missed=missed,
        )


def by_joints(arm: Arm, motion: Array, fixed: list[tuple[int, Array]], h: float) -> Array:
    """The motion (N + 1, a, 4) in which each joint has minimum jerk between the poses of a motion at the fixed
    samples."""
    poses = [motion[0], *(motion[sample] for sample, _ in fixed)]
    return joined(arm, direct(poses, fixed, arm.between), fixed, h)


def joined(arm: Arm, motion: Array, fixed: list[tuple[int, Array]], h: float) -> Array:
    """A motion (N + 1, a, 4) that is at rest at both ends, with the velocities of the arm there instead, and within its
    limits."""
    return arm.clamped(rotation.multiply(motion, rotation.exp(_joining(arm, fixed, h))))


def _joining(arm: Arm, fixed: list[tuple[int, Array]], h: float) -> Array:
    """Rotation vectors (N + 1, a, 3) that give a motion to the fixed positions, at rest at both ends, the velocities of
    the arm there."""
    last = fixed[-1][0]
    return drift(arm.outside, last, h, (fixed[0][0], last - (fixed[-2][0] if len(fixed) > 1 else 0)))


def direct(poses: Sequence[Array], fixed: list[tuple[int, Array]], blend: Callable[..., Array]) -> Array:
    """The motion (N + 1, a, 4) in minimum jerk from pose to pose (a, 4), each reached at its sample and at rest.

    blend: gives the poses (m, a, 4) at fractions (m, 1) between two poses.
    """
    parts, since = [poses[0][None]], 0
    for (sample, _), before, after in zip(fixed, poses[:-1], poses[1:], strict=True):
        part = smooth_step(np.arange(1, sample - since + 1) / (sample - since))[0]
        parts.append(blend(before, after, part[:, None]))
        since = sample
    return np.concatenate(parts)


def jumps(motion: Array) -> bool:
    """Whether a joint of a motion (N + 1, a, 4) switches to another pose from one sample to the next."""
    turned = rotation.distance(motion[:-1], motion[1:])
    return bool(turned.max() > _JUMP)


def solved(arm: Arm, pose: Array, place: Array, *, oriented: bool) -> Array:
    """The nearest pose (a, 4) of the moving joints with the hand at a position, and in its orientation on arrival if it
    is to be `oriented`."""
    locked = np.ones((len(arm.body), 3), dtype=bool)
    locked[arm.joints] = False
    given = arm.limits
    limits = Limits(
        locks=locked if given is None else locked | np.asarray(given.locks),
        minimum=None if given is None else given.minimum,
        maximum=None if given is None else given.maximum,
        rest=None if given is None else given.rest,
    )
    posed = arm.posed(pose, place, limits, oriented=oriented)[arm.joints]
    # At limits and near full stretch that is only approximate; these steps remove the remaining error.
    if not (oriented and arm.is_oriented):
        return arm.follow(posed[None], place[None], _LAST_STEPS)[0][0]
    return arm.held(posed, place, _LAST_STEPS)


def lengths(vectors: Array) -> Array:
    """The lengths (..., k) of vectors (..., 3 k)."""
    return np.linalg.norm(vectors.reshape(*vectors.shape[:-1], -1, 3), axis=-1)
