"""What hands are to do in a reach: where they are at which samples, and the motion from which the search begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..ik import Limits
from ..rotation import Array
from . import body_checks
from .arm import Arm
from .arms import effector_point
from .body import Body
from .obstacles import Clearance, Obstacles
from .optimal import ApproachLine
from .reach_poses import HIT, first_motion, lengths

_STEPS = 32
"""Steps of a motion, independent of dt; the frames are sampled from a smooth curve through them."""
_LEAST_STEPS, _MOST_STEPS = 24, 40
"""Steps between two fixed positions of a motion with waypoints, which are at samples."""


@dataclass(frozen=True)
class Hand:
    """One of several hands that reach together: effector, goal, goal_velocity, orientation, approach and via are as for
    `reach`."""

    effector: int | tuple[int, ArrayLike]
    goal: ArrayLike
    goal_velocity: ArrayLike | None = None
    orientation: ArrayLike | None = None
    approach: ArrayLike | None = None
    name: str = ""
    """Name in messages."""
    via: Sequence[tuple[float, ArrayLike]] = ()


@dataclass(frozen=True)
class ReachTask:
    """What hands are to do in a number of steps."""

    arm: Arm
    steps: int
    h: float
    """Seconds of a step."""
    speed: Array
    """(3 k,) [m/s], of the goals."""
    given: list[tuple[int, Array]]
    """Samples and positions (3 k,) that are given, as `_fixed` has them."""
    line: ApproachLine | None
    """Along which the hands come to their goals."""
    path: Array
    """The minimum-jerk path."""
    fixed: list[tuple[int, Array]]
    """Samples and poses that are given."""
    motion: Array
    """The motion along the path, or as near to it as it can be."""
    clear: Clearance | None
    """What is gone around."""


def steps_of(hands: Sequence[Hand], duration: float, dt: float) -> int:
    """The number of steps of a motion."""
    is_approached = any(hand.approach is not None for hand in hands)
    frames = int(np.floor(duration / dt + 1e-6))
    is_multiple = abs(frames * dt - duration) < 1e-6 * duration
    passed = {float(time) for hand in hands for time, _ in hand.via}
    most = _MOST_STEPS * (1 + len(passed) + is_approached)
    if passed:
        return frames * int(np.ceil(_LEAST_STEPS / frames)) if is_multiple and 0 < frames <= most else most
    return most if is_approached else _STEPS


def planned(
    arm: Arm, hands: Sequence[Hand], duration: float, steps: int, around: Obstacles, thickness: float
) -> ReachTask:
    """The task of hands, with their minimum-jerk path. Raises InvalidArgument."""
    speed = np.concatenate([_of_three("velocity of the goal", hand.goal_velocity) for hand in hands])
    goal = np.concatenate([checks.exactly("goal", hand.goal, 3) for hand in hands])
    h = duration / steps
    given = _fixed(hands, goal, duration, h, steps)
    line = None
    if any(hand.approach is not None for hand in hands):
        approach = np.concatenate([_of_three("approach", hand.approach) for hand in hands])
        given, line = _approached(arm, given, approach, speed, h)
    path, fixed, motion = first_motion(arm, given, h, steps, [hand.name or str(n) for n, hand in enumerate(hands)])
    clear = None
    if len(around) or (thickness > 0.0 and arm.pairs):
        clear = Clearance(arm, around, steps, motion, h, thickness)
    return ReachTask(arm, steps, h, speed, given, line, path, fixed, motion, clear)


def arm_of(body: Body, start: Array, hand: Hand, settled: tuple[Array, Array, Array, Limits | None]) -> Arm:
    """The arm of a hand. settled: gravity, damping, weights and limits. Raises InvalidArgument."""
    joint, point = effector_point(hand.effector, len(body))
    turned = None if hand.orientation is None else body_checks.quaternions("orientation", _four(hand.orientation))
    arm = Arm(body, start, joint, point, *settled, orientation=turned)
    if not arm.joints:
        raise InvalidArgument(
            "No joint moves the effector at the origin of joint {joint}; choose a joint further "
            "down the chain, or a point on its bone.",
            joint=body.called[joint],
        )
    return arm


def _of_three(name: str, values: ArrayLike | None) -> Array:
    """Three numbers; None for zeros. Raises InvalidArgument."""
    return np.zeros(3) if values is None else checks.exactly(name, values, 3)


def _approached(
    arm: Arm, fixed: list[tuple[int, Array]], approach: Array, speed: Array, h: float
) -> tuple[list[tuple[int, Array]], ApproachLine]:
    """The fixed positions with the begins of the lines (3 k,) along which the hands come to their goals, and the lines.

    speed: (3 k,) of the goals.
    """
    sizes = lengths(approach)
    if np.any(sizes < HIT):
        raise InvalidArgument("The approach has no length; enter a vector in metres, or leave it out.")
    since, begin = 0, arm.points(arm.rest)
    for sample, place in fixed[:-1]:
        since, begin = sample, np.where(np.isnan(place), begin, place)
    last, goal = fixed[-1]
    # Parts of equal jerk take times in proportion to the cube roots of their lengths.
    way, end = (float(np.cbrt(lengths(line).max())) for line in (goal - approach - begin, approach))
    first = since + int(np.clip(round((last - since) * way / (way + end)), 1, last - since - 2))
    places = goal - h * (last - np.arange(last + 1.0))[:, None] * speed
    line = ApproachLine(first, places, approach.reshape(-1, 3) / sizes[:, None])
    return [*fixed[:-1], (first, places[first] - approach), fixed[-1]], line


def _four(values: ArrayLike) -> Array:
    return checks.exactly("orientation", values, 4)


def _fixed(hands: Sequence[Hand], goal: Array, duration: float, h: float, steps: int) -> list[tuple[int, Array]]:
    """Samples and positions (3 k,) of the waypoints, not a number for hands that are free at that sample, and, last, of
    the goals."""
    by_sample: dict[int, Array] = {}
    for n, hand in enumerate(hands):
        before = 0
        for time, place in hand.via:
            if not (np.isfinite(time) and 0.0 < time < duration):
                raise InvalidArgument(
                    "A waypoint is at {time} s, but must be between 0 and {duration:g} s; change its time.",
                    time=time,
                    duration=duration,
                )
            sample = round(time / h)
            if not before < sample < steps:
                raise InvalidArgument(
                    "The waypoints must be in order of time and at different times; change their times."
                )
            places = by_sample.setdefault(sample, np.full(len(goal), np.nan))
            places[3 * n : 3 * n + 3] = checks.exactly("via", place, 3)
            before = sample
    return [*sorted(by_sample.items(), key=lambda item: item[0]), (steps, goal)]
