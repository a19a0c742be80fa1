"""Inertialization: after a cut only the destination plays, and what was different on screen dies away.

Source: D. Bollo, "High-Performance Animation Transitions in Gears of War", GDC 2018: the difference decays along a
minimum-jerk quintic that starts with the velocity it had. Beside it, for comparison and for what it does better:
dead blending (D. Holden 2023, Unreal Engine 5.3) and the cross-fade that both replace.

Poses are arrays (frames, ...): rotations are unit quaternions in the last axis, vectors any number of coordinates.
"""

import numpy as np
from numpy.typing import ArrayLike

from . import rotation
from .errors import InvalidArgument
from .rotation import Array

KINDS = ("rotation", "vector")


def decay(x0: ArrayLike, v0: ArrayLike, duration: ArrayLike, t: ArrayLike) -> Array:
    """The offset at time t [s] of what was x0 and moved with v0 [1/s] at time 0, gone after `duration` [s].

    Everything broadcasts. A velocity that points away from zero is dropped, and where it points home so fast that the
    offset would cross zero the duration is shortened; the offset never crosses zero. Value, velocity and acceleration
    are zero at the end. With a duration of 0 the offset is x0 at t = 0 and zero after. Before 0 it is x0.
    Raises InvalidArgument where a number is not finite or the duration negative. Source: Bollo 2018.
    """
    x0, v0, duration, t = (np.asarray(a, dtype=float) for a in (x0, v0, duration, t))
    for name, values in (("offset", x0), ("velocity", v0), ("duration", duration), ("time", t)):
        if not np.all(np.isfinite(values)):
            raise InvalidArgument(f"The {name} holds a value that is not a finite number.")
    if np.any(duration < 0.0):
        raise InvalidArgument(f"The blend time must be 0 or more seconds, not {duration.min()}.")
    sign = np.where(x0 < 0.0, -1.0, 1.0)
    x, v = np.abs(x0), np.minimum(sign * v0, 0.0)
    home = np.divide(-5.0 * x, v, out=np.full(np.broadcast(x, v).shape, np.inf), where=v < 0.0)
    end = np.minimum(duration, home)
    # Written over s = t / end, so that nothing is divided by a power of a short time.
    safe = np.where(end > 0.0, end, 1.0)
    s = np.clip(t / safe, 0.0, 1.0)
    slope = v * end
    bend = np.maximum(0.0, -8.0 * slope - 20.0 * x)
    a = -(bend + 6.0 * slope + 12.0 * x) / 2.0
    b = (3.0 * bend + 16.0 * slope + 30.0 * x) / 2.0
    c = -(3.0 * bend + 12.0 * slope + 20.0 * x) / 2.0
    value = ((((a * s + b) * s + c) * s + bend / 2.0) * s + slope) * s + x
    value = np.where(t >= end, 0.0, np.maximum(value, 0.0))
    return sign * np.where(t <= 0.0, x, value) + 0.0


def transition(
    previous: ArrayLike, target: ArrayLike, dt: float, duration: ArrayLike, *, kind: str = "rotation"
) -> Array:
    """The destination `target` (F, B, ...) with the difference to what was on screen before it decaying.

    previous: (2, B, ...) the last two frames of the output, oldest first; target[0] is shown one dt [s] after
    previous[1]. Since these are output, a transition may interrupt a transition. duration: blend time [s], a number or
    (B,). kind: "rotation", quaternions (..., 4) whose difference decays about its axis, or "vector", whose difference
    decays along its direction. From `duration` after previous[1] on the result is the target exactly.

    Returns (F, B, ...). Raises InvalidArgument. Source: Bollo 2018; the velocity is that of the difference,
    so that the destination's own velocity is allowed for.
    """
    previous, target, duration = _checked(previous, target, dt, duration, kind)
    if not len(target):
        return target
    times = _column(dt * np.arange(1, len(target) + 1), previous[1])
    if kind == "vector":
        direction, x0, v0 = _vector_offset(previous, _before(target, kind), dt)
        return target + decay(x0, v0, duration, times)[..., None] * direction
    axis, x0, v0 = _rotation_offset(previous, _before(target, kind), dt)
    angle = decay(x0, v0, duration, times)
    turned = rotation.multiply(rotation.exp(angle[..., None] * axis), target)
    return np.where((angle == 0.0)[..., None], target, turned)


def cross_fade(source: ArrayLike, target: ArrayLike, dt: float, duration: ArrayLike, *, kind: str = "rotation") -> Array:
    """`source` (F, B, ...), the motion before the cut played on, blended smoothly into `target` over `duration`.

    The frames are those after the cut. Durations, kinds and errors as for `transition`.
    """
    source, target = np.asarray(source, dtype=float), np.asarray(target, dtype=float)
    if source.shape != target.shape:
        raise InvalidArgument(f"Source {source.shape} and target {target.shape} of a cross-fade must have one shape.")
    _, target, duration = _checked(np.repeat(source[:1], 2, axis=0), target, dt, duration, kind)
    times = _column(dt * np.arange(1, len(target) + 1), target[0])
    weight = np.where(duration > 0.0, np.clip(times / np.where(duration > 0.0, duration, 1.0), 0.0, 1.0), 1.0)
    return _mixed(source, target, weight**2 * (3.0 - 2.0 * weight), kind)


def dead_blend(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    half_life: float = 0.1,
) -> Array:
    """As `transition`, by dead blending: the source goes on with its velocity, which halves every `half_life` [s], and
    is cross-faded into the target. Keeps outward velocity, and is calmer where the poses are far apart.
    """
    previous, target, duration = _checked(previous, target, dt, duration, kind)
    if not (np.isfinite(half_life) and half_life > 0.0):
        raise InvalidArgument(f"The half-life must be longer than 0 seconds, not {half_life}.")
    if not len(target):
        return target
    rate = np.log(2.0) / half_life
    times = dt * np.arange(1, len(target) + 1)
    distance = _column((1.0 - np.exp(-rate * times)) / rate, previous[1])
    if kind == "vector":
        going = previous[1] + distance[..., None] * (previous[1] - previous[0]) / dt
    else:
        turn = rotation.log(rotation.multiply(previous[1], rotation.inverse(previous[0]))) / dt
        going = rotation.multiply(rotation.exp(distance[..., None] * turn), previous[1])
    return cross_fade(going, target, dt, duration, kind=kind)


def _checked(
    previous: ArrayLike, target: ArrayLike, dt: float, duration: ArrayLike, kind: str
) -> tuple[Array, Array, Array]:
    if kind not in KINDS:
        raise InvalidArgument(f"Kind {kind!r} is unknown; use rotation or vector.")
    previous, target, duration = (np.asarray(a, dtype=float) for a in (previous, target, duration))
    width = 4 if kind == "rotation" else target.shape[-1] if target.ndim else 0
    if target.ndim < 2 or target.shape[-1] != width or previous.shape != (2, *target.shape[1:]):
        raise InvalidArgument(
            f"Previous poses {previous.shape} must be the last two frames of what target {target.shape} is all of."
        )
    for name, values in (("previous poses", previous), ("target", target)):
        if not np.all(np.isfinite(values)):
            raise InvalidArgument(f"The {name} hold a value that is not a finite number; mend the animation's keys.")
    if not (np.isfinite(dt) and dt > 0.0):
        raise InvalidArgument(f"The time step must be longer than 0 seconds, not {dt}.")
    if not np.all(np.isfinite(duration) & (duration >= 0.0)):
        raise InvalidArgument(f"The blend time must be 0 or more seconds, not {duration}.")
    return previous, target, duration


def _column(values: Array, like: Array) -> Array:
    """Values (F,) shaped to broadcast against poses `like` (B, ...) without their last axis."""
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def _before(target: Array, kind: str) -> Array:
    """The two target poses (2, B, ...) at the times of the previous ones: its beginning, run on backwards."""
    if len(target) == 1:
        return np.repeat(target, 2, axis=0)
    if kind == "vector":
        step = target[1] - target[0]
        return np.stack((target[0] - 2.0 * step, target[0] - step))
    step = rotation.multiply(target[0], rotation.inverse(target[1]))
    one = rotation.multiply(step, target[0])
    return np.stack((rotation.multiply(step, one), one))


def _vector_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Direction (B, n), length (B) and its rate of the difference."""
    old, now = previous - target
    x0 = np.linalg.norm(now, axis=-1)
    direction = rotation.normalize(now)
    return direction, x0, (x0 - np.sum(old * direction, axis=-1)) / dt


def _rotation_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Axis (B, 3), angle (B) in [0, pi] and its rate of the difference; the older one counts as its twist."""
    old, now = rotation.multiply(previous, rotation.inverse(target))
    now = np.where(now[..., :1] < 0.0, -now, now)
    vector = rotation.log(now)
    x0 = np.linalg.norm(vector, axis=-1)
    axis = rotation.normalize(vector)
    before = 2.0 * np.arctan2(np.sum(old[..., 1:] * axis, axis=-1), old[..., 0])
    change = np.remainder(x0 - before + np.pi, 2.0 * np.pi) - np.pi
    return axis, x0, change / dt


def _mixed(source: Array, target: Array, weight: Array, kind: str) -> Array:
    if kind == "vector":
        mixed = source + weight[..., None] * (target - source)
    else:
        mixed = rotation.slerp(source, target, weight)
    return np.where((weight >= 1.0)[..., None], target, mixed)
