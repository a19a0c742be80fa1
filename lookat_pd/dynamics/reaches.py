"""Reaching for a goal in a given time, with as little change of torque as people do.

The cost is half the integral of the squared torque changes, sum over joints. Source: Uno, Kawato, Suzuki, 1989.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import LARGEST, LATEST, SHORTEST_STEP, check_memory, check_method, number, time_step, whole
from ..errors import InvalidArgument
from ..ik import Limits
from ..ik.joint_checks import same_joints
from ..progress import drained
from ..rotation import Array
from . import body_checks, effort
from .arm import Arm
from .arms import NUMBERS, together
from .body import Body
from .engine import finished
from .obstacles import Obstacles
from .optimal import optimized
from .reach_poses import by_joints, joined, straight
from .reach_search import Best, Search, again, improved, raced
from .reach_starts import detours, starts
from .reach_task import Hand, ReachTask, arm_of, planned, steps_of
from .reach_timing import timed
from .smoothing import smoothed
from .splines import Spline

METHODS = ("smoothing", "optimal")
_MOST_PASSES = 100_000
_WEAKEST = 1e-9
_BRIEF = 1e-3
"""Time [s] within which limits stop a velocity."""


@dataclass(frozen=True)
class Reach:
    """What `reach` found, over F frames."""

    times: Array
    """(F,) times [s]."""
    rotations: Array
    """(F, n, 4) local rotations."""
    path: Array
    """(F, 3) [m], of the hand."""
    torques: Array
    """(F, n, 3) [N m]."""
    cost: float
    """Cost of this motion."""
    costs: Array
    """Costs of each pass of the search that found it, the minimum-jerk path first, infinite where it misses the
    goal."""
    minimum_jerk: Array
    """(F, 3), the minimum-jerk path."""
    clearance: float | None = None
    """The smallest distance [m] of the arm from an obstacle, negative within one; None without obstacles."""
    apart: Array | None = None
    """(F,) [m], the smallest distances between the arms of two hands, negative where they are within each other; None
    if they do not avoid each other."""


@dataclass(frozen=True)
class _Conditions:
    """Under which hands reach, as of `reach` and `reach_together`."""

    gravity: ArrayLike
    damping: ArrayLike
    limits: Limits | None
    strength: ArrayLike | None
    obstacles: Obstacles | None
    velocities: ArrayLike | None
    peaks: tuple[float, float] | None
    thickness: float = 0.0


def reaching(
    body: Body,
    start: ArrayLike,
    goal: ArrayLike,
    duration: float,
    dt: float,
    *,
    effector: int | tuple[int, ArrayLike],
    method: str = "optimal",
    passes: int = 50,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    damping: ArrayLike = 0.0,
    via: Sequence[tuple[float, ArrayLike]] = (),
    limits: Limits | None = None,
    strength: ArrayLike | None = None,
    obstacles: Obstacles | None = None,
    velocities: ArrayLike | None = None,
    goal_velocity: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    approach: ArrayLike | None = None,
    peaks: tuple[float, float] | None = None,
) -> Generator[float, bool | None, Reach]:
    """The motion from the pose start (n, 4) to one with the hand at goal (3,) [m] after `duration` [s].

    The hand is the origin of the joint `effector`, which only its ancestors move; a pair (joint, point (3,)) gives
    another point in the frame of the joint, such as the end of its bone. All other joints keep their pose. Frames are
    `dt` seconds apart from 0 on; the last is at the duration where that is a multiple of dt.

    method: "smoothing" averages the torques of the motion repeatedly, at most `passes` times, and keeps the best
    motion; "optimal" minimizes the cost itself, in at most `passes` iterations from the better of two starts: the
    minimum-jerk path or, because an arm that is almost straight cannot follow that smoothly, minimum jerk of the
    joints. Neither is ever worse than the hand's minimum-jerk path. The cost is half the integral over
    time of |rate of torque|^2, over all joints. gravity: (3,) [m/s^2]. damping:
    (n,) or one number [N m s/rad], friction in the joints. via: times [s] and positions (3,) of waypoints. limits: of
    the joints. strength: (n,), the torque that counts as 1. obstacles: what the bones of the arm go around, without a
    promise: `clearance` says whether they did. The result may then cost more than the minimum-jerk path through them.
    velocities: (n, 3) [rad/s] of the joints at the start, each in its own frame; goal_velocity: (3,) [m/s] of the goal
    on arrival, which the hand then has, too. None: at rest. With goal_velocity the pose on arrival is that of a reach
    to a goal at rest. orientation: (4,) of the joint `effector` on arrival, in the frame of the roots; the joint then
    turns, too, and the pose on arrival is the nearest one. approach: (3,) [m], the last part of the path, in a straight
    line to the goal. These four need the method "optimal". peaks: fractions of the duration between which the hand is
    fastest, as people are; None: where that costs least.

    Yields the completed fraction; sending True ends it with the best motion so far. `reach` takes the same arguments
    and returns the Reach directly. Raises InvalidArgument and, with "smoothing", EngineMissing.
    """
    hand = Hand(effector, goal, goal_velocity, orientation, approach, via=via)
    if method != "optimal" and any(
        given is not None for given in (velocities, hand.goal_velocity, hand.orientation, hand.approach)
    ):
        raise InvalidArgument(
            "The method smoothing has no velocities, orientation or approach; use optimal, or leave them out."
        )
    under = _Conditions(gravity, damping, limits, strength, obstacles, velocities, peaks)
    result = yield from _reaching(body, start, [hand], duration, dt, method, passes, under)
    return replace(result, path=result.path[:, 0], minimum_jerk=result.minimum_jerk[:, 0])


reach = drained("reach", reaching)


def reaching_together(
    body: Body,
    start: ArrayLike,
    hands: Sequence[Hand],
    duration: float,
    dt: float,
    *,
    passes: int = 50,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    damping: ArrayLike = 0.0,
    limits: Limits | None = None,
    strength: ArrayLike | None = None,
    obstacles: Obstacles | None = None,
    velocities: ArrayLike | None = None,
    thickness: float = 0.0,
    peaks: tuple[float, float] | None = None,
) -> Generator[float, bool | None, Reach]:
    """The motion from the pose start (n, 4) to one with each of k hands at its goal after `duration` [s], with little
    change of torque of all joints that move one of them.

    Joints above several hands, such as those of the trunk, are found once, for all of these. A hand may be at its goal
    already: it stays there in the end. thickness: radius [m] of the arms, which then keep apart, without a promise:
    `apart` says whether they did; 0 lets them pass through each other. The other arguments are those of `reach` with
    the method "optimal". The path and the minimum_jerk path of the Reach are (F, k, 3).

    Yields the completed fraction; sending True ends it with the best motion so far. `reach_together` takes the same
    arguments and returns the Reach directly. Raises InvalidArgument.
    """
    hands = list(hands)
    if not hands:
        raise InvalidArgument("There is no hand that reaches; give at least one.")
    thick = number("thickness of the arms", thickness, 0.0, LARGEST)
    under = _Conditions(gravity, damping, limits, strength, obstacles, velocities, peaks, thick)
    return (yield from _reaching(body, start, hands, duration, dt, "optimal", passes, under))


reach_together = drained("reach_together", reaching_together)


def _reaching(
    body: Body,
    start: ArrayLike,
    hands: Sequence[Hand],
    duration: float,
    dt: float,
    method: str,
    passes: int,
    under: _Conditions,
) -> Generator[float, bool | None, Reach]:
    """A reach of one hand or of several; the paths are (F, k, 3)."""
    n = len(body)
    duration, dt = body_checks.positive("duration", duration, "s"), body_checks.positive("time between frames", dt, "s")
    duration, dt = number("duration", duration, SHORTEST_STEP, LATEST), time_step(dt)
    check_method(method, METHODS)
    passes = whole("number of passes", passes, 0, _MOST_PASSES)
    check_memory(NUMBERS * n * (duration / dt + 1.0))
    same_joints(under.limits, n)
    start = body_checks.quaternions("start", start, n)
    if start.ndim != 2:
        raise InvalidArgument("The shape of the start must be ({count}, 4), not {shape}.", count=n, shape=start.shape)
    settled = (
        body_checks.gravity(under.gravity),
        body_checks.not_negative("damping", under.damping, n, body.called),
        1.0 / strengths(under.strength, body),
        under.limits,
    )
    arm = together([arm_of(body, start, hand, settled) for hand in hands])
    if under.velocities is not None:
        arm = replace(arm, before=_possible(arm, checks.exactly("velocities", under.velocities, n, 3)))
    around = Obstacles.none() if under.obstacles is None else under.obstacles
    task = planned(arm, hands, duration, steps_of(hands, duration, dt), around, under.thickness)
    arm, path, h = task.arm, task.path, task.h
    costs = [effort.cost(arm, task.motion, h, rough=True)]
    best = Best(task.clear, task.motion, costs[0], task.line, arm)
    chases = bool(np.any(task.speed))
    end = 0.5 if chases else 1.0
    if method == "optimal":
        best, stop = yield from _cheapest(task, best, costs, passes, end)
    else:
        work = smoothed(arm, task.motion, h, task.given, passes)
        best, stop = yield from improved(best, work, costs, passes, 0.0, end)
    if chases:
        reached = best.motion
        arm, path, best = _chasing(arm, best, task.given, task.speed, h)
        costs = [best.cost]
        begun = joined(replace(arm, before=None), reached, task.fixed, h)
        best = best.better(begun, effort.cost(arm, begun, h, rough=True))
        work = optimized(arm, begun, h, task.given, 1 if stop else passes, task.clear, [task.steps], task.line)
        best, _ = yield from improved(best, work, costs, passes, 0.5, 1.0)
    if under.peaks is not None and not any(hand.via for hand in hands):
        best = timed(best, h, under.peaks, costs[0])
    return finished(_sampled(arm, best, path, costs, duration, dt, h))


def _cheapest(
    task: ReachTask, best: Best, costs: list[float], passes: int, end: float
) -> Generator[float, bool | None, tuple[Best, bool]]:
    """The best motion of searches for the least cost, and whether they were stopped; adds the costs of their passes.

    end: the completed fraction at the end.
    """
    arm, fixed, h, clear = task.arm, task.fixed, task.h, task.clear
    plain = starts(arm, task.motion, fixed, h)
    kept = [task.steps] if arm.is_oriented else []

    def search(begun: Array, most: int) -> Search:
        return optimized(arm, begun, h, task.given, most, clear, kept, task.line)

    # Half of the passes are for a second search, from minimum jerk to the pose that the first one ends in.
    first = -(-passes // 2) if arm.swings else passes
    halfway = end * first / max(passes, 1)
    best, stop = yield from raced(best, [search(begun, first) for begun in plain], costs, first, halfway)
    if arm.swings and not stop:
        work = search(by_joints(arm, best.motion, fixed, h), passes - first)
        best, stop = yield from again(best, work, costs, passes - first, halfway, end)
    if clear is not None and not stop and not (best.is_clear and all(map(clear.is_clear, plain))):
        for begun in detours(arm, task.motion, plain, fixed, h, clear):
            best, stop = yield from improved(best, search(begun, passes), costs, passes, 0.0, end)
            if stop or best.is_clear:
                break
    return best, stop


def _possible(arm: Arm, velocities: Array) -> Array:
    """The velocities (a, 3) of the moving joints, of those (n, 3) of all, that their limits and locks allow."""
    turned = rotation.multiply(arm.rest, rotation.exp(_BRIEF * velocities[arm.joints]))
    return rotation.log(rotation.multiply(rotation.inverse(arm.rest), arm.clamped(turned))) / _BRIEF


def _chasing(
    arm: Arm, best: "Best", fixed: list[tuple[int, Array]], speed: Array, h: float
) -> tuple[Arm, Array, "Best"]:
    """The arm that afterwards follows a goal with a velocity (3,), from the last pose of the best motion. Also the
    minimum-jerk path of its hand and the motion along it, as far as it can follow."""
    pose = best.motion[-1]
    beside = [arm.held(pose, fixed[-1][1] + step * speed) for step in (-h, h)]
    back, ahead = (rotation.log(rotation.multiply(rotation.inverse(pose), other)) for other in beside)
    after = (ahead - back) / (2.0 * h)
    arm = replace(arm, after=after)
    path = straight(arm, fixed, h, speed)
    led, off = arm.follow(best.motion, path)
    if off > arm.near:
        led = best.motion
        path = arm.points(led)
    return arm, path, replace(best, motion=led, cost=effort.cost(arm, led, h, rough=True), arm=arm)


def _sampled(arm: Arm, best: Best, path: Array, costs: list[float], duration: float, dt: float, h: float) -> Reach:
    times = dt * np.arange(int(np.floor(duration / dt + 1e-6)) + 1)

    shown, w, dw = effort.moving(effort.curve(arm, best.motion, h), times)
    shown = arm.clamped(shown)
    apart = None if best.clear is None else best.clear.apart(best.motion)
    return Reach(
        times,
        arm.whole(shown),
        arm.points(shown).reshape(len(times), arm.count, 3),
        effort.inverse(arm, shown, w, dw),
        best.cost,
        np.array(costs),
        Spline.through(0.0, h, path, resting=True).at(times)[0].reshape(len(times), arm.count, 3),
        None if best.clear is None else best.clear.least(best.motion),
        None if apart is None else np.interp(times, h * np.arange(len(apart)), apart),
    )


def strengths(strength: ArrayLike | None, body: Body) -> Array:
    """The strengths (n,) of joints; None for equal ones. Raises InvalidArgument."""
    result = body_checks.not_negative("strength", 1.0 if strength is None else strength, len(body), body.called)
    if np.any(result < _WEAKEST):
        joint = int(np.argmax(result < _WEAKEST))
        raise InvalidArgument("The strength of joint {joint} must be above 0; 1 is normal.", joint=body.called[joint])
    return result
