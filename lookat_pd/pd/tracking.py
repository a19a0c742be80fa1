"""The PD controller: follow a goal with the settle time and damping that an animator chose.

The state obeys x'' = k_p (g - x) - k_d x' with k_p = (2 pi / settle_time)^2 and k_d = 2 damping_ratio 2 pi /
settle_time. The settle time is nominal: a critically damped step has 1.4 % left when it is over.
Source: Kawachi et al., Square Enix, CEDEC 2024; Stable PD: Tan, Liu, Turk 2011.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument, StabilityWarning
from ..message import Message
from ..rotation import Array
from . import one_rotation
from .integrators import INTEGRATORS, check_integrator, make_step, step_limit
from .recurrences import recurrence
from .second_order import CLAMPED_STEP, Step, apply, check_tuning, stable_substeps, substeps

__all__ = ["step_limit", "track", "track_quaternion"]


def track(
    target: ArrayLike,
    dt: float,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike = 1.0,
    *,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    integrator: str = "exact",
    max_speed: ArrayLike | None = None,
    max_step: float | None = None,
    feed_forward: float = 0.0,
) -> tuple[Array, Array]:
    """Follow `target` (F, ...), sampled every `dt` seconds and linear between samples; every element is followed alone.

    settle_time [s] and damping_ratio broadcast against target[0]. x0, v0: state at the first sample (default
    target[0] and 0). integrator: "exact" (any step), "stable" (Stable PD) or "euler"; the last two take the goal at
    the start of each step, are divided into steps of at most `max_step` seconds, and where dt is not stable into stable
    ones with a StabilityWarning. max_speed [units/s]: bound on |v| of each element. feed_forward in [0, 1]: share of
    the goal's velocity that is fed forward.

    Returns (x, v), each (F, ...), in units and units per second. Raises InvalidArgument.
    """
    target = checks.animated("target", target)
    if target.ndim < 1 or not len(target):
        raise InvalidArgument("The target needs at least one sample along its first axis.")
    dt = _check(dt, settle_time, damping_ratio, integrator, max_speed, max_step)
    feed_forward = checks.fraction("feed-forward", feed_forward)
    shape = target.shape[1:]
    settle_time, damping_ratio = (
        checks.like(name, value, *shape)
        for name, value in (("settle time", settle_time), ("damping ratio", damping_ratio))
    )
    x = target[0] if x0 is None else checks.like("x0", x0, *shape)
    v = np.zeros(shape) if v0 is None else checks.like("v0", v0, *shape)
    start = np.stack((x, v), axis=-1)
    count = _count(dt, settle_time, damping_ratio, integrator, max_step, clamped=max_speed is not None)
    goals = np.stack((target[:-1], np.diff(target, axis=0) / dt), axis=-1)
    if max_speed is None:
        step = make_step(dt, settle_time, damping_ratio, integrator, feed_forward=feed_forward, count=count)
        states = recurrence(step.transition, apply(step.response, goals), start)
    else:
        single = make_step(dt / count, settle_time, damping_ratio, integrator, feed_forward=feed_forward)
        states = _track_clamped(single, goals, start, dt / count, count, _speeds(max_speed, shape))
    return states[..., 0], states[..., 1]


def _track_clamped(step: Step, goals: Array, start: Array, h: float, count: int, max_speed: Array) -> Array:
    states, state = [start], start
    for goal in goals:
        for n in range(count):
            state = limit_speed(step(state, goal + n * h * _shift(goal)), state, h, max_speed)
        states.append(state)
    return np.stack(states)


def track_vector(
    target: Array,
    dt: float,
    settle_time: float,
    damping_ratio: float,
    max_speed: float,
    *,
    x0: Array,
    v0: Array,
    integrator: str = "exact",
    feed_forward: float = 0.0,
) -> tuple[Array, Array]:
    """Follow points `target` (F, n) as `track` does, but never faster than `max_speed` [units/s] in any direction.

    Returns (x, v), each (F, n). Raises InvalidArgument.
    """
    dt = _check(dt, settle_time, damping_ratio, integrator, max_speed, None, alone=True)
    feed_forward = checks.fraction("feed-forward", feed_forward)
    target = checks.animated("target", target)
    count = _count(dt, settle_time, damping_ratio, integrator, None, clamped=True)
    h = dt / count
    step = make_step(h, settle_time, damping_ratio, integrator, feed_forward=feed_forward)
    state = np.stack((x0, v0), axis=-1)
    states = [state]
    for before, after in pairwise(target):
        slope = (after - before) / dt
        for n in range(count):
            last, state = state, step(state, np.stack((before + n * h * slope, slope), axis=-1))
            speed = np.linalg.norm(state[:, 1])
            if speed > max_speed:
                v = state[:, 1] * (max_speed / speed)
                state = np.stack((last[:, 0] + h * v, v), axis=-1)
        states.append(state)
    path = np.stack(states)
    return path[..., 0], path[..., 1]


def _shift(goal: Array) -> Array:
    """Per second, what moves the start of a linear goal (..., 2) along its slope."""
    return np.stack((goal[..., 1], np.zeros_like(goal[..., 1])), axis=-1)


def limit_speed(state: Array, before: Array, h: float, max_speed: ArrayLike) -> Array:
    """`state` (..., 2) after a step of h seconds from `before`; where |v| was too high, clamp v and redo x with it."""
    v = np.clip(state[..., 1], -np.asarray(max_speed), max_speed)
    x = np.where(v == state[..., 1], state[..., 0], before[..., 0] + h * v)
    return np.stack((x, v), axis=-1)


def track_quaternion(
    target: ArrayLike,
    dt: float,
    settle_time: float,
    damping_ratio: float = 1.0,
    *,
    q0: ArrayLike | None = None,
    w0: ArrayLike | None = None,
    method: str = "geodesic",
    integrator: str = "exact",
    max_speed: float | None = None,
    max_angle: float | None = None,
) -> Array:
    """Follow rotations `target` (F, ..., 4), sampled every `dt` seconds, and return rotations of that shape.

    q0 (..., 4), w0 (..., 3) [rad/s, own frame]: state at the first sample (default target[0] and 0). method:
    "geodesic" drives log(q^-1 goal), along the shorter arc, with the angular velocity as state; "component" runs the
    controller on the four components, goal and state in one hemisphere, and normalises (as in FINAL FANTASY XVI; it
    leaves the great circle by 0.3 degrees for a turn of 60). max_speed [rad/s]; max_angle [rad]: bound on the angle
    from identity, where it is met the velocity that points outward is dropped. Raises InvalidArgument.
    """
    return quaternion_states(
        target,
        dt,
        settle_time,
        damping_ratio,
        q0=q0,
        w0=w0,
        method=method,
        integrator=integrator,
        max_speed=max_speed,
        max_angle=max_angle,
    )[0]


def quaternion_states(
    target: ArrayLike,
    dt: float,
    settle_time: float,
    damping_ratio: float = 1.0,
    *,
    q0: ArrayLike | None = None,
    w0: ArrayLike | None = None,
    method: str = "geodesic",
    integrator: str = "exact",
    max_speed: float | None = None,
    max_angle: float | None = None,
    feed_forward: float = 0.0,
) -> tuple[Array, Array]:
    """As `track_quaternion`: the rotations (F, ..., 4) and their angular velocities (F, ..., 3) [rad/s, own frame].

    feed_forward in [0, 1]: share of the goal's velocity that is fed forward. Raises InvalidArgument.
    """
    target = checks.animated("target", target)
    if target.ndim < 2 or target.shape[-1] != 4 or not len(target):
        raise InvalidArgument("Target rotations must have shape (F, ..., 4), not {shape}.", shape=target.shape)
    if np.any(np.linalg.norm(target, axis=-1) < 1e-9):
        raise InvalidArgument("A target rotation is a quaternion of length 0; give unit quaternions.")
    checks.check_method(method, ("geodesic", "component"))
    dt = _check(dt, settle_time, damping_ratio, integrator, max_speed, None, alone=True)
    if max_angle is not None:
        max_angle = checks.number("largest angle", max_angle, 0.0)
    target = rotation.normalize(target)
    shape = target.shape[1:]
    q = target[0] if q0 is None else np.broadcast_to(checks.quaternions("q0", checks.like("q0", q0, *shape)), shape)
    w = checks.like("w0", 0.0 if w0 is None else w0, *shape[:-1], 3)
    count = _count(dt, settle_time, damping_ratio, integrator, None, clamped=True)
    feed_forward = checks.fraction("feed-forward", feed_forward)
    step = make_step(dt / count, settle_time, damping_ratio, integrator, feed_forward=feed_forward)
    follow = _follow_geodesic if method == "geodesic" else _follow_components
    states = list(follow(target, q, w, _Steps(step, dt / count, count, max_speed, max_angle)))
    return np.stack([state[0] for state in states]), np.stack([state[1] for state in states])


@dataclass(frozen=True)
class _Steps:
    """The `count` equal steps of `length` seconds from one sample to the next, and the limits that hold in each."""

    one: Step
    length: float
    count: int
    max_speed: float | None
    max_angle: float | None


def _follow_geodesic(target: Array, q: Array, w: Array, steps: _Steps) -> Iterator[tuple[ArrayLike, ArrayLike]]:
    h, count, max_speed, max_angle = steps.length, steps.count, steps.max_speed, steps.max_angle
    if q.ndim == 1 and max_angle is None:
        yield from one_rotation.follow(target, q, w, steps.one, h, count, max_speed)
        return
    q, w = limit_angle(q, w, max_angle)
    yield q, w
    for before, after in pairwise(target):
        rate = rotation.log(rotation.multiply(rotation.inverse(before), after)) / (h * count)
        for n in range(count):
            goal = rotation.multiply(before, rotation.exp(rate * n * h))
            error = rotation.log(rotation.multiply(rotation.inverse(q), goal))
            moved = steps.one(np.stack((np.zeros_like(w), w), axis=-1), np.stack((error, rate), axis=-1))
            turn, w = moved[..., 0], moved[..., 1]
            if max_speed is not None:
                speed = np.linalg.norm(w, axis=-1, keepdims=True)
                w = w * np.minimum(1.0, max_speed / np.maximum(speed, 1e-300))
                turn = np.where(speed > max_speed, h * w, turn)
            q, w = limit_angle(rotation.normalize(rotation.multiply(q, rotation.exp(turn))), w, max_angle)
        yield q, w


def _follow_components(target: Array, q: Array, w: Array, steps: _Steps) -> Iterator[tuple[Array, Array]]:
    h, count, max_speed, max_angle = steps.length, steps.count, steps.max_speed, steps.max_angle
    q, w = limit_angle(q, w, max_angle)
    state, rate = q, _component_rate(q, w)
    yield q, w
    for before, after in pairwise(target):
        before = _same_hemisphere(before, state)
        slope = (_same_hemisphere(after, before) - before) / (h * count)
        for n in range(count):
            moved = steps.one(np.stack((state, rate), axis=-1), np.stack((before + n * h * slope, slope), axis=-1))
            last, state, rate = state, moved[..., 0], moved[..., 1]
            if max_speed is not None:
                # Between two rotations the state runs inside the unit sphere, where it turns faster than it moves.
                inside = np.minimum(np.linalg.norm(last, axis=-1, keepdims=True), 1.0)
                speed = 2.0 * np.linalg.norm(rate, axis=-1, keepdims=True) / np.maximum(inside, 1e-300)
                rate = rate * np.minimum(1.0, max_speed / np.maximum(speed, 1e-300))
                state = np.where(speed > max_speed, last + h * rate, state)
            if max_angle is not None:
                unit = rotation.normalize(state)
                clamped, w = limit_angle(unit, _angular_velocity(unit, rate), max_angle)
                hit = np.any(clamped != unit, axis=-1, keepdims=True)
                state, rate = np.where(hit, clamped, state), np.where(hit, _component_rate(clamped, w), rate)
        unit = rotation.normalize(state)
        yield unit, _angular_velocity(unit, rate)


def _same_hemisphere(q: Array, reference: Array) -> Array:
    return np.where(np.sum(q * reference, axis=-1, keepdims=True) < 0.0, -q, q)


def _component_rate(q: Array, w: Array) -> Array:
    return 0.5 * rotation.multiply(q, np.concatenate((np.zeros_like(w[..., :1]), w), axis=-1))


def _angular_velocity(q: Array, rate: Array) -> Array:
    return 2.0 * rotation.multiply(rotation.inverse(q), rate)[..., 1:]


def limit_angle(q: Array, w: Array, max_angle: float | None) -> tuple[Array, Array]:
    """Hold rotations q (..., 4) within max_angle [rad] of identity and drop what of w (..., 3) points outward."""
    if max_angle is None:
        return q, w
    v = rotation.log(q)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    over = angle > max_angle
    axis = rotation.normalize(v)
    sign = np.where(q[..., :1] < 0.0, -1.0, 1.0)
    clamped = sign * rotation.exp(axis * np.minimum(angle, max_angle))
    outward = np.maximum(np.sum(w * axis, axis=-1, keepdims=True), 0.0)
    return np.where(over, clamped, q), np.where(over, w - outward * axis, w)


def _check(
    dt: float,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike,
    integrator: str,
    max_speed: ArrayLike | None,
    max_step: float | None,
    *,
    alone: bool = False,
) -> float:
    """The time step. alone: settle time, damping ratio and largest speed are one number each."""
    check_integrator(integrator)
    check_tuning(settle_time, damping_ratio)
    for name, value in (("settle time", settle_time), ("damping ratio", damping_ratio), ("speed limit", max_speed)):
        if alone and value is not None and (shape := checks.numbers(name, value).shape):
            raise checks.shape_error(name, (), shape)
    dt = checks.time_step(dt)
    if max_speed is not None and not np.all(checks.numbers("speed limit", max_speed) > 0.0):
        raise InvalidArgument(
            "The speed limit must be above 0, not {max_speed}; omit it for no limit.",
            max_speed=checks.shown(max_speed),
        )
    if max_step is not None:
        checks.number("longest step", max_step, checks.SHORTEST_STEP)
    return dt


def _speeds(max_speed: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Largest speeds for all elements; infinite where there is none."""
    return checks.like("speed limit", np.minimum(checks.numbers("speed limit", max_speed), checks.LARGEST), *shape)


def _count(
    dt: float,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike,
    integrator: str,
    max_step: float | None,
    *,
    clamped: bool,
) -> int:
    """Substeps in a step of dt seconds."""
    if INTEGRATORS[integrator].is_exact:
        return substeps(dt, min(CLAMPED_STEP, max_step or CLAMPED_STEP)) if clamped else 1
    pairs = np.broadcast_arrays(np.asarray(settle_time, float), np.asarray(damping_ratio, float))
    limit = min(step_limit(t, z, integrator) for t, z in zip(*(p.ravel() for p in pairs), strict=True))
    count = 1 if max_step is None else substeps(dt, max_step)
    if dt / count >= limit:
        count = stable_substeps(dt, limit)
        warnings.warn(
            Message(
                "A step of {dt:.4g} s is not stable with the {integrator} integrator (limit "
                "{limit:.4g} s); it is divided into {count}.",
                dt=dt,
                integrator=integrator,
                limit=limit,
                count=count,
            ),
            StabilityWarning,
            stacklevel=3,
        )
    return count
