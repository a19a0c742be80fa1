"""Hits: an impulse on a bone, after which the body returns to its animation.

An impulse p at a point with the Jacobian J changes the velocities of the joints by M(q)^-1 J^T p: a bone gives way by
its inertia and by that of all that it moves. Muscles resist in addition: with stiffness s, M has s times its own blocks
of each joint added on the diagonal, as rotors at the joints would. Without them a body is as limp as a rag doll, and
bones beside the one that is hit turn against it. Under the torques M (-omega^2 e - 2 zeta omega e') the offsets e of
the joints decay each by itself, so that the motion has a closed form: e(t) is the velocity times the impulse response
of the controller with that settle time. A force that rises and falls linearly during a contact time has a closed form,
too, of the same impulse. The offsets of several hits add up. A joint at its largest angle is a stop, which passes on
what it does not take. The engine is not needed.

Source: Allen, Chu, Shapiro, Faloutsos, On the Beat! Timing and Tension for Dynamic Characters, SCA 2007, for tracking
by torques that know the inertia; Featherstone, Rigid Body Dynamics Algorithms, 2008, section 11.7, for impulses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import LONGEST_STEP, SHORTEST_STEP, exactly, number, numbers, shown, time_step
from ..curves import smooth_step
from ..errors import InvalidArgument
from ..ik import Limits
from ..pd import second_order
from ..rotation import Array
from . import body_checks
from .body import Body
from .hit_stops import Stop, stopped

ENDS = 2.0
"""Settle times after which an offset has ended; during the last one it is faded out."""
LARGEST_ANGLE = float(np.radians(60.0))
"""Default of the largest angle [rad] by which hits turn a joint."""
_NO_AXIS = 1e-9
_BRIEF = 5e-4
"""Half of a contact time [s] below which there is none: the differences lose digits, and no frame shows it."""
_SPARE = 1e-4
"""Fraction of the largest angle that the first of several hits leaves to the others."""
_STRONGEST = 1e6
"""An impulse that is more times as strong as one that turns a joint by the largest angle does the same as that."""
_ROUNDS = 8
"""How often times at which a joint is beyond its stop are added."""
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
) -> HitResponse:
    """A body that follows an animation (F, n, 4), one pose every `dt` seconds, and is hit.

    settle_time: [s], as of all controllers. contact: [s], how long each hit pushes; at most the settle time counts.
    stiffness: one number or (n,), 0 or more, resistance of the muscles to the
    hits. hinges: (n, 3), the axis about which a joint turns, in its frame, 0 for ball joints. largest_angle: [rad], by
    which the hits turn any joint at most; it is then a stop, beside which the others move on. limits: of the joints,
    which then stop at their ends. Raises InvalidArgument.
    """
    given, animated = animated, body_checks.quaternions("animation", animated, len(body))
    if animated.ndim != 3 or not len(animated):
        raise InvalidArgument(
            "The animation must have the shape (F, {count}, 4), not {shape}.", count=len(body), shape=animated.shape
        )
    dt = time_step(dt)
    settle_time = number("settle time", settle_time, SHORTEST_STEP, LONGEST_STEP)
    damping_ratio = number("damping ratio", damping_ratio, 0.0, second_order.MOST_DAMPING)
    contact = number("contact time", contact, 0.0, LONGEST_STEP)
    largest = numbers("largest angle", largest_angle)
    if largest.ndim or not 0.0 < largest <= np.pi:
        raise InvalidArgument(
            "The largest angle must be above 0° and at most 180°, not {angle}°.", angle=shown(np.degrees(largest))
        )
    times = dt * np.arange(len(animated))
    velocities, factors = np.zeros((len(hits), len(body), 3)), np.ones(len(hits))

    def offsets_at(moments: Array, count: int) -> Array:
        """The offsets (..., n, 3) by the first `count` hits at these times (...)."""
        total = np.zeros((*np.shape(moments), len(body), 3))
        for k in range(count):
            passed = moments - float(hits[order[k]].time)
            size = impulse_response(passed, settle_time, damping_ratio, contact)
            total += size[..., None, None] * velocities[order[k]]
        return total

    order = np.argsort([_time(hit, times[-1]) for hit in hits], kind="stable")
    for count, k in enumerate(order):
        time = float(hits[k].time)
        pose = rotation.multiply(_between(animated, time / dt), rotation.exp(offsets_at(np.array(time), count)))
        checked = time + settle_time * _SAMPLES
        rising = impulse_response(checked - time, settle_time, damping_ratio, contact)
        # Later hits find a little room in all joints.
        room = float(largest) * (1.0 - _SPARE * (1.0 - count / len(hits)))
        system = _system(body, pose, hits[k], stiffness, hinges)
        velocities[k], factors[k] = _stopped(system, offsets_at(checked, count), rising, room)
    offsets = offsets_at(times, len(hits))
    moved = np.any(offsets != 0.0, axis=-1)
    rotations = rotation.multiply(animated, rotation.exp(offsets))
    if limits is not None:
        rotations = np.where(moved[..., None], limits.clamp(rotations), rotations)
    return HitResponse(np.where(moved[..., None], rotations, given), offsets, velocities, factors)


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
    if not (isinstance(hit.joint, int | np.integer) and 0 <= hit.joint < n):
        raise InvalidArgument(
            "The joint of a hit must be a number from 0 to {last}, not {joint}.", last=n - 1, joint=shown(hit.joint)
        )
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


def _stopped(system: tuple[Array, Array, Array], before: Array, rising: Array, largest: float) -> tuple[Array, float]:
    """The change of velocity (n, 3) with which no joint turns by more than the largest angle [rad], and the part of it
    that is left where the hit is, along its impulse.

    system: masses, impulse and directions. before: offsets (t, n, 3) by other hits. rising: (t,) [s], the offset by a
    velocity of 1.
    """
    masses, pushed, free = system
    freely, n = np.linalg.solve(masses, pushed), before.shape[1]
    v, stops, placed = freely, [], set()
    # Beyond that, all joints are at their ends.
    most = _STRONGEST * _allowed(before, rising[:, None, None] * (free.T @ v).reshape(n, 3), largest)
    given = pushed * min(1.0, most)
    for _ in range(_ROUNDS):
        angles = np.linalg.norm(before + rising[:, None, None] * (free.T @ v).reshape(n, 3), axis=-1)
        worst = np.argmax(angles, axis=0)
        new = [
            (int(worst[j]), j) for j in range(n) if angles[worst[j], j] > largest and (int(worst[j]), j) not in placed
        ]
        if not new:
            break
        placed |= set(new)
        stops += [Stop(before[t, j], float(rising[t]), free.T[3 * j : 3 * j + 3]) for t, j in new]
        v = stopped(masses, given, stops, largest)
    turned = (free.T @ v).reshape(n, 3)
    # What the stops leave out is next to nothing.
    last = _allowed(before, rising[:, None, None] * turned, largest) if stops else 1.0
    work = float(pushed @ freely)
    left = min(1.0, last * float(pushed @ v) / work) if stops and work > 0.0 else 1.0
    return last * turned, max(left, 0.0)


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


def impulse_response(passed: ArrayLike, settle_time: float, damping_ratio: float = 1.0, contact: float = 0.0) -> Array:
    """The offset [s] a time (...) [s] after the begin of a unit impulse that takes the time `contact` [s]: 0 before it
    and after ENDS settle times. Without contact time, the velocity changes by 1 at once."""
    passed, omega = np.asarray(passed, dtype=float), 2.0 * np.pi / settle_time
    clipped = np.clip(passed, 0.0, ENDS * settle_time)
    half = 0.5 * min(contact, settle_time)
    if half < _BRIEF:
        response = second_order.free_decay(clipped, omega, damping_ratio)[..., 0, 1]
    else:
        # A triangle is the second difference of a ramp.
        begun, middle, ended = (_ramp_response(clipped - n * half, omega, damping_ratio) for n in range(3))
        response = (begun - 2.0 * middle + ended) / half**2
    fade = smooth_step(np.clip(clipped / settle_time - 1.0, 0.0, ENDS - 1.0) / (ENDS - 1.0))[0]
    return np.where((passed <= 0.0) | (passed >= ENDS * settle_time), 0.0, (1.0 - fade) * response)


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


def _allowed(before: Array, added: Array, largest: float) -> float:
    """The largest factor up to 1 with which `added` (t, n, 3) keeps the angles of `before` (t, n, 3) within `largest`,
    as far as they are."""
    a, b = np.sum(added * added, axis=-1), np.sum(before * added, axis=-1)
    room = np.maximum(largest**2 - np.sum(before * before, axis=-1), 0.0)
    # The positive root of a f^2 + 2 b f = room, without cancellation.
    root = np.sqrt(b * b + a * room)
    moves, opposed = a > 0.0, b <= 0.0
    above = np.where(opposed, root - b, room)
    below = np.where(moves, np.where(opposed, a, b + root), 1.0)
    return float(min(1.0, np.min(np.where(moves, above / below, 1.0))))
