"""Offsets that let something animated follow a goal in place and orientation, switched on and off.

The controller never follows the animated motion, which it would lag behind, but the offset between it and the goal; the
followed offset is added to the animated motion. Where there is no goal, the animated motion itself is what is followed,
and the offset is the lag behind it. While it is off, the goal is the animation, that is an offset of nothing.
Source: Kawachi et al., Square Enix, CEDEC 2024.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array
from .tracking import quaternion_states, track, track_vector


@dataclass(frozen=True)
class Controller:
    """How a goal is followed. settle_time [s]."""

    settle_time: float = 0.6
    damping_ratio: float = 1.0
    integrator: str = "exact"
    max_speed: float | None = None
    max_turn: float | None = None
    """`max_speed` [units/s] and `max_turn` [rad/s]: [units/s] None for no limit."""
    feed_forward: float = 0.0


def position_offsets(
    animated: ArrayLike, goals: ArrayLike | None, on: ArrayLike, dt: float, controller: Controller
) -> Array:
    """Offsets (F, 3) that are added to positions `animated` (F, 3), sampled every `dt` seconds.

    goals: (F, 3) positions to be at, None to follow `animated` itself. on: (F,) whether the goal is followed; it starts
    at the goal, at rest, where it is on at first. Raises InvalidArgument.
    """
    dt = checks.time_step(dt)
    animated, on = _motion("positions", animated, 3), _switch(on)
    goals = None if goals is None else _motion("goals", goals, 3)
    _check_lengths(animated, goals, on)
    velocities = np.gradient(animated, dt, axis=0) if len(animated) > 1 else np.zeros_like(animated)
    result, x, v = np.zeros_like(animated), np.zeros(3), np.zeros(3)
    if on[0] and goals is not None:
        x = goals[0] - animated[0]
    for first, last, follows in _spans(on):
        part = slice(first, last + 1)
        base, rate = np.zeros_like(animated[part]), np.zeros_like(animated[part])
        goal = base
        if follows and goals is not None:
            goal = goals[part] - animated[part]
        elif follows:
            base, rate, goal = animated[part], velocities[part], animated[part]
        xs, vs = _track(goal, x + base[0], v + rate[0], dt, controller)
        result[part], x, v = xs - base, xs[-1] - base[-1], vs[-1] - rate[-1]
    return result


def rotation_offsets(
    animated: ArrayLike, goals: ArrayLike | None, on: ArrayLike, dt: float, controller: Controller
) -> Array:
    """Local offsets (F, 4), multiplied on the right of orientations `animated` (F, 4); otherwise as
    `position_offsets`."""
    dt = checks.time_step(dt)
    animated, on = checks.quaternions("orientations", _motion("orientations", animated, 4)), _switch(on)
    goals = None if goals is None else checks.quaternions("goals", _motion("goals", goals, 4))
    _check_lengths(animated, goals, on)
    rates = _rates(animated, dt)
    result, q, w = rotation.identity(len(animated)), np.array(rotation.IDENTITY), np.zeros(3)
    if on[0] and goals is not None:
        q = rotation.multiply(rotation.inverse(animated[0]), goals[0])
    for first, last, follows in _spans(on):
        part = slice(first, last + 1)
        base, rate = rotation.identity(last + 1 - first), np.zeros((last + 1 - first, 3))
        goal = base
        if follows and goals is not None:
            goal = rotation.multiply(rotation.inverse(animated[part]), goals[part])
        elif follows:
            base, rate, goal = animated[part], rates[part], animated[part]
        # The velocity of what is followed, in the frame that the offset turns to.
        start = w + rotation.rotate(rotation.inverse(q), rate[0])
        qs, ws = quaternion_states(
            goal,
            dt,
            controller.settle_time,
            controller.damping_ratio,
            q0=rotation.multiply(base[0], q),
            w0=start,
            integrator=controller.integrator,
            max_speed=controller.max_turn,
            feed_forward=controller.feed_forward,
        )
        offsets = rotation.multiply(rotation.inverse(base), qs)
        result[part], q = offsets, offsets[-1]
        w = ws[-1] - rotation.rotate(rotation.inverse(q), rate[-1])
    return rotation.align_hemisphere(np.concatenate((rotation.identity(1), result)))[1:]


def aim(positions: ArrayLike, points: ArrayLike, axes: tuple[ArrayLike, ArrayLike], fallback: ArrayLike) -> Array:
    """Orientations (F, 4) at `positions` (F, 3) that point an axis at `points` (F, 3), with another one upright.

    axes: two unit vectors (3,) in the own frame, that which aims and that which is nearest to the world's Z axis.
    fallback: orientations (F, 4) where the point is too near to aim at. Looking straight up or down, the upright axis
    is the one before.
    """
    positions, points = _motion("positions", positions, 3), _motion("points", points, 3)
    forward, up = (np.asarray(axis, float) for axis in axes)
    own = np.stack((forward, np.cross(up, forward), up), axis=-1)
    result = np.array(fallback, float)
    side = np.zeros(3)
    for k, to in enumerate(points - positions):
        far = np.linalg.norm(to)
        if far < 1e-9:
            continue
        here = to / far
        across = np.array((-here[1], here[0], 0.0))
        if np.linalg.norm(across) > 1e-6:
            side = across / np.linalg.norm(across)
        elif not np.any(side):
            side = rotation.rotate(result[k], own[:, 1])
        y = side - here * np.dot(side, here)
        y /= max(np.linalg.norm(y), 1e-12)
        world = np.stack((here, y, np.cross(here, y)), axis=-1)
        result[k] = rotation.from_matrix(world @ own.T)
    return rotation.align_hemisphere(result)


def _track(goal: Array, x0: Array, v0: Array, dt: float, controller: Controller) -> tuple[Array, Array]:
    tuning = {
        "x0": x0,
        "v0": v0,
        "integrator": controller.integrator,
        "feed_forward": controller.feed_forward,
    }
    if controller.max_speed is None:
        return track(goal, dt, controller.settle_time, controller.damping_ratio, **tuning)
    return track_vector(goal, dt, controller.settle_time, controller.damping_ratio, controller.max_speed, **tuning)


def _spans(on: Array) -> Iterator[tuple[int, int, bool]]:
    """First and last sample of each time in which it is on, or off; the next one begins where one ends."""
    edges = [0, *(np.flatnonzero(on[1:] != on[:-1]) + 1).tolist(), len(on) - 1]
    for first, last in pairwise(edges):
        if last > first or len(on) == 1:
            yield first, last, bool(on[first])


def _rates(q: Array, dt: float) -> Array:
    """Angular velocities (F, 3) [rad/s] in the own frames of orientations (F, 4): central differences."""
    if len(q) < 2:
        return np.zeros((len(q), 3))
    before, after = np.concatenate((q[:1], q[:-1])), np.concatenate((q[1:], q[-1:]))
    spans = np.full((len(q), 1), 2.0 * dt)
    spans[0] = spans[-1] = dt
    return rotation.log(rotation.multiply(rotation.inverse(before), after)) / spans


def _motion(name: str, values: ArrayLike, size: int) -> Array:
    found = checks.animated(name, values)
    if found.ndim != 2 or found.shape[1] != size or not len(found):
        raise checks.shape_error(name, ("F", str(size)), found.shape)
    return found


def _switch(on: ArrayLike) -> Array:
    return np.atleast_1d(checks.numbers("switch", on) != 0.0)


def _check_lengths(animated: Array, goals: Array | None, on: Array) -> None:
    if on.shape != (len(animated),) or (goals is not None and len(goals) != len(animated)):
        raise InvalidArgument("The motion has {frames} samples; goals and switch need as many.", frames=len(animated))
