"""Hits: an impulse on a bone, after which the body returns to its animation.

An impulse p at a point with the Jacobian J changes the velocities of the joints by M(q)^-1 J^T p: a bone gives way by
its inertia and by that of all that it moves. Muscles resist in addition: with stiffness s, M has s times its own blocks
of each joint added on the diagonal, as rotors at the joints would. Without them a body is as limp as a rag doll, and
bones beside the one that is hit turn against it. Under the torques M (-omega^2 e - 2 zeta omega e') the offsets e of
the joints decay each by itself, so that the motion has a closed form: e(t) is the velocity times the impulse response
of the controller with that settle time. A force that rises and falls linearly during a contact time has a closed form,
too, of the same impulse. The offsets of several hits add up. A joint at its largest angle is a stop, which passes on
what it does not take. The engine is not needed.

As published, all joints move at once, and each has a largest angle of its own. In a body the blow travels: with a time
to travel, joints begin the later the more joints are between them and the bone that is hit, so that they are farthest
one after the other; and what the joints of a line turn together is at most the largest angle, too.

Source: Allen, Chu, Shapiro, Faloutsos, On the Beat! Timing and Tension for Dynamic Characters, SCA 2007, for tracking
by torques that know the inertia; Featherstone, Rigid Body Dynamics Algorithms, 2008, section 11.7, for impulses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..checks import LONGEST_STEP, SHORTEST_STEP, exactly, number, numbers, shown, time_step
from ..curves import smooth_step
from ..errors import InvalidArgument
from ..ik import Limits
from ..pd import second_order
from ..rotation import Array
from . import body_checks
from .bend_ranges import BendRanges
from .body import Body
from .hit_turns import JointLines, held, part_within

ENDS = 2.0
"""Settle times after which an offset has ended; during the last one it is faded out."""
LARGEST_ANGLE = float(np.radians(60.0))
"""Default of the largest angle [rad] by which hits turn a joint."""
_NO_AXIS = 1e-9
_BRIEF = 5e-4
"""Half of a contact time [s] below which there is none: the differences lose digits, and no frame shows it."""
_SPARE = 1e-4
"""Fraction of the largest angle that the first of several hits leaves to the others."""
_NEAR = 1.5
"""Number of joints between a joint and the one that is hit at which the blow has taken half of its time."""
_FEW = 64
"""Number of times at which what joints turn together is measured."""
_SAMPLES = np.linspace(0.0, ENDS, 4097)[1:]
"""Settle times at which the largest angle is checked, whatever the frame rate."""


@dataclass(frozen=True)
class Hit:
    """An impulse."""

    time: float
    """Time [s] after the first pose."""
    joint: int
    """Index of the joint whose bone is hit."""
    point: ArrayLike
    """(3,) [m], in the frame of that joint."""
    impulse: ArrayLike
    """(3,) [N s], in the frame of the root."""


@dataclass(frozen=True)
class HitResponse:
    """The motion of a body that is hit k times."""

    rotations: Array
    """(F, n, 4) local rotations."""
    offsets: Array
    """(F, n, 3), the angles [rad] by which the joints deviate from the animation without limits, in their own
    frames."""
    velocities: Array
    """(k, n, 3) [rad/s], the change of velocity by each hit."""
    factors: Array
    """(k,), the part of the velocity in the direction of each impulse that the largest angle leaves to the point that
    is hit, 1 for all."""


def respond(
    body: Body,
    animated: ArrayLike,
    dt: float,
    hits: Sequence[Hit],
    *,
    settle_time: float,
    damping_ratio: float = 1.0,
    contact: float = 0.0,
    stiffness: ArrayLike = 0.0,
    hinges: ArrayLike | None = None,
    largest_angle: float = LARGEST_ANGLE,
    limits: Limits | None = None,
    travel: float | None = None,
    ranges: ArrayLike | None = None,
    bends: BendRanges | None = None,
) -> HitResponse:
    """A body that follows an animation (F, n, 4), one pose every `dt` seconds, and is hit.

    settle_time: [s], as of all controllers. contact: [s], how long each hit pushes; at most the settle time counts.
    stiffness: one number or (n,), 0 or more, resistance of the muscles to the
    hits. hinges: (n, 3), the axis about which a joint turns, in its frame, 0 for ball joints. largest_angle: [rad], by
    which the hits turn any joint at most; it is then a stop, beside which the others move on. limits: of the joints,
    which then stop at their ends. travel: [s], that the blow takes to joints that are far away; the largest angle is
    then that of all joints of a line together, too. None: as published. ranges: (n,) [rad], by which single joints turn
    at most, where that is less. bends: how far hinges bend, to whose ends they come softly. Raises InvalidArgument.
    """
    given, animated = animated, _animation(animated, len(body))
    dt, largest = time_step(dt), _largest(largest_angle)
    stiffer = _stiffer(ranges, largest, len(body))
    times = dt * np.arange(len(animated))
    swings = _Swings.of(
        body,
        sorted(range(len(hits)), key=lambda k: _time(hits[k], times[-1])),
        hits,
        number("settle time", settle_time, SHORTEST_STEP, LONGEST_STEP),
        number("damping ratio", damping_ratio, 0.0, second_order.MOST_DAMPING),
        number("contact time", contact, 0.0, LONGEST_STEP),
        None if travel is None else number("time to travel", travel, 0.0, LONGEST_STEP),
    )
    for count, k in enumerate(swings.order):
        time = float(hits[k].time)
        pose = rotation.multiply(_between(animated, time / dt), rotation.exp(swings.at(np.array(time), count)))
        checked = time + swings.settle_time * _SAMPLES
        # Later hits find a little room in all joints.
        room = largest * (1.0 - _SPARE * (1.0 - count / len(hits)))
        system = _system(body, pose, hits[k], stiffness, hinges)
        lines = None if travel is None else JointLines.of(body, pose)
        before, rising = swings.at(checked, count), swings.rising(checked, k)
        swings.velocities[k], swings.factors[k] = held(system, before, rising, room, stiffer, lines)
        if lines is not None:
            few = checked[:: len(checked) // _FEW]
            poses = np.stack([_between(animated, time / dt) for time in few])
            part = part_within(body, poses, swings.at(few, count), swings.at(few, count + 1), room)
            swings.velocities[k], swings.factors[k] = part * swings.velocities[k], part * swings.factors[k]
    offsets = swings.at(times, len(hits))
    moved = np.any(offsets != 0.0, axis=-1)[..., None]
    rotations = _bounded(rotation.multiply(animated, rotation.exp(offsets)), moved, limits, bends)
    return HitResponse(np.where(moved, rotations, given), offsets, swings.velocities, swings.factors)


def _animation(given: ArrayLike, count: int) -> Array:
    """The poses (F, n, 4) of an animation. Raises InvalidArgument."""
    animated = body_checks.quaternions("animation", given, count)
    if animated.ndim != 3 or not len(animated):
        raise InvalidArgument(
            "The animation must have the shape (F, {count}, 4), not {shape}.", count=count, shape=animated.shape
        )
    return animated


def _largest(angle: float) -> float:
    largest = numbers("largest angle", angle)
    if largest.ndim or not 0.0 < largest <= np.pi:
        raise InvalidArgument(
            "The largest angle must be above 0° and at most 180°, not {angle}°.", angle=shown(np.degrees(largest))
        )
    return float(largest)


def _stiffer(ranges: ArrayLike | None, largest: float, count: int) -> Array:
    """How much more than it turns the angle of each joint counts, (n,). Raises InvalidArgument."""
    if ranges is None:
        return np.ones(count)
    given = exactly("ranges of the joints", ranges, count)
    if np.any(given <= 0.0):
        raise InvalidArgument("The range of each joint must be above 0°.")
    return np.maximum(largest / given, 1.0)


def _bounded(rotations: Array, moved: NDArray[np.bool_], limits: Limits | None, bends: BendRanges | None) -> Array:
    """Rotations (F, n, 4) within what the joints can do. moved: (F, n, 1), by hits."""
    if bends is not None:
        rotations = bends.soften(rotations)
    return rotations if limits is None else np.where(moved, limits.clamp(rotations), rotations)


@dataclass(frozen=True)
class _Swings:
    """How the n joints swing after h hits."""

    order: Sequence[int]
    """The hits, in order of time."""
    times: Array
    """(h,) [s]."""
    settle_time: float
    damping_ratio: float
    contact: float
    delays: Array
    """(h, n) [s], until a hit comes to a joint."""
    velocities: Array
    """(h, n, 3) [rad/s]."""
    factors: Array
    """(h,), the part of each hit that is left by stops."""

    @classmethod
    def of(
        cls,
        body: Body,
        order: Sequence[int],
        hits: Sequence[Hit],
        settle_time: float,
        damping_ratio: float,
        contact: float,
        travel: float | None,
    ) -> "_Swings":
        delays = np.zeros((len(hits), len(body)))
        if travel is not None:
            for hit, delay in zip(hits, delays, strict=True):
                delay[:] = travel * _far(body, _struck(body, hit))
        times, still = np.array([float(hit.time) for hit in hits]), np.zeros((*delays.shape, 3))
        return cls(order, times, settle_time, damping_ratio, contact, delays, still, np.ones(len(hits)))

    def rising(self, moments: Array, hit: int) -> Array:
        """The share (..., n) of its speeds that a hit has turned the joints by [s], at these times (...)."""
        passed = np.asarray(moments)[..., None] - self.times[hit]
        return impulse_response(passed, self.settle_time, self.damping_ratio, self.contact, self.delays[hit])

    def at(self, moments: Array, count: int) -> Array:
        """The offsets (..., n, 3) by the first `count` hits at these times (...)."""
        total = np.zeros((*np.shape(moments), *self.velocities.shape[1:]))
        for hit in self.order[:count]:
            total += self.rising(moments, hit)[..., None] * self.velocities[hit]
        return total


def velocity_change(
    body: Body, pose: ArrayLike, hit: Hit, stiffness: ArrayLike = 0.0, hinges: ArrayLike | None = None
) -> Array:
    """The change M^-1 J^T p of the velocities of the joints (n, 3) [rad/s] by a hit in a pose (n, 4), in the frames of
    the joints. stiffness, hinges: as of `respond`. Raises InvalidArgument."""
    masses, pushed, free = _system(body, pose, hit, stiffness, hinges)
    return (free.T @ np.linalg.solve(masses, pushed)).reshape(len(body), 3)


def _system(
    body: Body, pose: ArrayLike, hit: Hit, stiffness: ArrayLike, hinges: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """The mass matrix (m, m) with muscles, the generalized impulse (m,), and the directions (m, 3 n) of the degrees of
    freedom. Raises InvalidArgument."""
    n = len(body)
    _struck(body, hit)
    resistance = body_checks.not_negative("stiffness", stiffness, n, body.called)
    point, impulse = exactly("point of the hit", hit.point, 3), exactly("impulse", hit.impulse, 3)
    orientations, places = body.forward(pose)
    at = places[hit.joint] + rotation.rotate(orientations[hit.joint], point)
    pushed = rotation.rotate(rotation.inverse(orientations), rotation.cross(at - places, impulse))
    pushed = (pushed * body.ancestors[hit.joint][:, None]).reshape(-1)
    masses = body.mass_matrix(pose)
    masses += np.repeat(resistance, 3) * masses * np.kron(np.eye(n), np.ones((3, 3)))
    free = _freedoms(n, hinges)
    return free @ masses @ free.T, free @ pushed, free


def _struck(body: Body, hit: Hit) -> int:
    """The joint whose bone is hit. Raises InvalidArgument."""
    if not (isinstance(hit.joint, int | np.integer) and 0 <= hit.joint < len(body)):
        raise InvalidArgument(
            "The joint of a hit must be a number from 0 to {last}, not {joint}.",
            last=len(body) - 1,
            joint=shown(hit.joint),
        )
    return int(hit.joint)


def _far(body: Body, joint: int) -> Array:
    """How far joints are from another one, (n,), from 0 to 1, by the number of joints between them."""
    ancestors = body.ancestors
    depth = ancestors.sum(axis=1)
    # Joints of different trees are joined by what these hang on.
    shared = ancestors @ ancestors[joint]
    between = depth + depth[joint] - 2.0 * shared
    return between / (between + _NEAR)


def _freedoms(n: int, hinges: ArrayLike | None) -> Array:
    """The directions (m, 3 n) in which n joints may turn."""
    axes = np.zeros((n, 3)) if hinges is None else exactly("hinges", hinges, n, 3)
    rows = []
    for joint, axis in enumerate(axes):
        size = float(np.linalg.norm(axis))
        for own in np.eye(3) if size < _NO_AXIS else axis[None] / size:
            row = np.zeros((n, 3))
            row[joint] = own
            rows.append(row.reshape(-1))
    return np.array(rows)


def impulse_response(
    passed: ArrayLike,
    settle_time: float,
    damping_ratio: float = 1.0,
    contact: float = 0.0,
    delay: ArrayLike = 0.0,
) -> Array:
    """The offset [s] a time (...) [s] after the begin of a unit impulse that takes the time `contact` [s]: 0 before it
    and after ENDS settle times. Without contact time, the velocity changes by 1 at once. delay: (...) [s], that the
    impulse takes to get there."""
    since, omega = np.asarray(passed, dtype=float), 2.0 * np.pi / settle_time
    passed = since - np.asarray(delay, dtype=float)
    clipped = np.clip(passed, 0.0, ENDS * settle_time)
    half = 0.5 * min(contact, settle_time)
    if half < _BRIEF:
        response = second_order.free_decay(clipped, omega, damping_ratio)[..., 0, 1]
    else:
        # A triangle is the second difference of a ramp.
        begun, middle, ended = (_ramp_response(clipped - n * half, omega, damping_ratio) for n in range(3))
        response = (begun - 2.0 * middle + ended) / half**2
    fade = smooth_step(np.clip(since / settle_time - 1.0, 0.0, ENDS - 1.0) / (ENDS - 1.0))[0]
    return np.where((passed <= 0.0) | (since >= ENDS * settle_time), 0.0, (1.0 - fade) * response)


def _ramp_response(passed: Array, omega: float, damping_ratio: float) -> Array:
    """The offset a time (...) [s] after the begin of an acceleration that grows by 1 per second; 0 before."""
    passed, drag = np.maximum(passed, 0.0), 2.0 * damping_ratio * omega
    state = second_order.free_decay(passed, omega, damping_ratio)
    left = 1.0 - state[..., 0, 0]
    return (passed - (drag * left - state[..., 1, 0]) / omega**2) / omega**2


def _time(hit: Hit, last: float) -> float:
    time = numbers("time of the hit", hit.time)
    if time.ndim or not 0.0 <= time <= last:
        raise InvalidArgument(
            "A hit must be within the animation, from 0 to {last:g} s, not at {time}.", last=last, time=shown(hit.time)
        )
    return float(time)


def _between(poses: Array, at: float) -> Array:
    """The pose (n, 4) at a place in frames."""
    low = min(int(at), len(poses) - 1)
    return rotation.slerp(poses[low], poses[min(low + 1, len(poses) - 1)], at - low)
