"""Inertialization: after a cut only the destination plays, and what was different on screen dies away.

Source: D. Bollo, "High-Performance Animation Transitions in Gears of War", GDC 2018: the difference decays along a
minimum-jerk quintic that starts with the velocity it had. Beside it, for comparison and for what it does better:
dead blending (D. Holden 2023, Unreal Engine 5.3) and the cross-fade that both replace.

Poses are arrays (frames, ...): rotations are unit quaternions in the last axis, vectors any number of coordinates.
The sign of a quaternion never matters.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array

KINDS = ("rotation", "vector")
BLEND_TIMES = (0.1, 0.6)
"""Shortest and longest blend [s] that `blend_time` gives."""
BLEND_ACCELERATION = 25.0
"""How hard `blend_time` lets a difference be braked at most [rad/s²]: 0.3 s for 22°, 0.5 s for 62°."""
GLIDE = 0.4
"""Part of the blend that a velocity lasts as it was: an offset of -GLIDE v T moving with v needs no push to be gone
after T, nor crosses over."""
_HALF_TURN = 1e-6
"""As near to half a turn [rad], or as slow [rad/s], neither way round is the shorter, or the faster."""
_FRAME = 1e-6
"""A time this part of a frame before the end of a blend counts as its end: it is a multiple of a rounded time step."""


def decay(x0: ArrayLike, v0: ArrayLike, duration: ArrayLike, t: ArrayLike) -> Array:
    """The offset at time t [s] of what was x0 and moved with v0 [1/s] at time 0, gone after `duration` [s].

    Everything broadcasts. A velocity that points away from zero is dropped, and where it points home so fast that the
    offset would cross zero the duration is shortened: the offset only ever shrinks. Value, velocity and acceleration
    are zero at the end. With a duration of 0 the offset is x0 at t = 0 and zero after. Before 0 it is x0.
    Raises InvalidArgument where a number is not finite or the duration negative. Source: Bollo 2018.
    """
    x0, v0, duration, t = (np.asarray(a, dtype=float) for a in (x0, v0, duration, t))
    for name, values in (("offset", x0), ("velocity", v0), ("duration", duration), ("time", t)):
        if not np.all(np.isfinite(values)):
            raise InvalidArgument("The {name} has a value that is not finite.", name=Message(name))
    if np.any(duration < 0.0):
        raise InvalidArgument("The blend time must be 0 or more seconds, not {duration}.", duration=duration.min())
    sign = np.where(x0 < 0.0, -1.0, 1.0)
    x, v = np.abs(x0), np.minimum(sign * v0, 0.0)
    with np.errstate(over="ignore"):
        home = np.divide(-5.0 * x, v, out=np.full(np.broadcast(x, v).shape, np.inf), where=v < 0.0)
    end = np.minimum(duration, home)
    s = np.clip(t, 0.0, end) / np.where(end > 0.0, end, 1.0)
    # The quintic over s has a threefold root at its end; split off, nothing is lost to rounding near zero.
    slope = np.maximum(v * end, -5.0 * x)
    bend = np.maximum(0.0, -8.0 * slope - 20.0 * x)
    factor = ((0.5 * bend + 3.0 * slope + 6.0 * x) * s + (slope + 3.0 * x)) * s + x
    left = 1.0 - s
    value = np.clip(left * left * left * factor, 0.0, x)
    return sign * np.where(t <= 0.0, x, np.where(t >= end, 0.0, value)) + 0.0


def transition(
    previous: ArrayLike, target: ArrayLike, dt: float, duration: ArrayLike, *, kind: str = "rotation"
) -> Array:
    """The destination `target` (F, B, ...) with the difference to what was on screen before it decaying.

    previous: (2, B, ...) the last two frames of the output, oldest first; target[0] is shown one dt [s] after
    previous[1]. Since these are output, a transition may interrupt a transition. duration: blend time [s], a number or
    (B,). kind: "rotation", quaternions (..., 4) whose difference decays about its axis, or "vector", whose difference
    decays along its direction. From `duration` after previous[1] on the result is the target exactly.

    Returns (F, B, ...). Raises InvalidArgument. Source: Bollo 2018. The difference is taken at the time of previous[1]
    with the target run on backwards by a frame, and its velocity is that of the difference, so that the destination's
    own velocity is allowed for. Turned by half a turn, the way round is the one already under way.
    """
    previous, target = _cut(previous, target, kind)
    duration = _blend(dt, duration, target)
    result, count = target.copy(), _frames_blended(dt, duration, target)
    if not count:
        return result
    direction, x0, v0 = (_vector_offset if kind == "vector" else _rotation_offset)(previous, target, dt)
    target = target[:count]
    times = _times(dt, target)
    offset = np.where(times >= duration - _FRAME * dt, 0.0, decay(x0, v0, duration, times))
    if kind == "vector":
        moved = target + offset[..., None] * direction
    else:
        moved = rotation.multiply(rotation.exp(offset[..., None] * direction), target)
    result[:count] = np.where((offset == 0.0)[..., None], target, moved)
    return result


def cross_fade(
    source: ArrayLike, target: ArrayLike, dt: float, duration: ArrayLike, *, kind: str = "rotation"
) -> Array:
    """`source` (F, B, ...), the motion before the cut played on, blended smoothly into `target` over `duration`.

    The frames are those after the cut, the first one dt [s] after the last that was shown; the weight is a smooth step.
    Rotations are blended along an arc that begins as the short one and is kept on the same side while both move.
    Durations, kinds, result and errors as for `transition`.
    """
    source, target = _poses("source", source, kind), _poses("target", target, kind)
    if source.shape != target.shape:
        raise InvalidArgument(
            "The source {source} and the target {target} of a cross-fade must have the same shape.",
            source=source.shape,
            target=target.shape,
        )
    duration = _blend(dt, duration, target)
    result, count = target.copy(), _frames_blended(dt, duration, target)
    if not count:
        return result
    source, target = source[:count], target[:count]
    times = _times(dt, target)
    done = times >= duration - _FRAME * dt
    s = np.where(done, 1.0, times / np.where(duration > 0.0, duration, 1.0))
    result[:count] = _mixed(source, target, s * s * (3.0 - 2.0 * s), kind)
    return result


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

    Source: D. Holden, "Dead Blending", 2023; Unreal Engine 5.3.
    """
    previous, target = _cut(previous, target, kind)
    duration = _blend(dt, duration, target)
    if not (np.isfinite(half_life) and half_life > 0.0):
        raise InvalidArgument("The half-life must be longer than 0 seconds, not {half_life}.", half_life=half_life)
    result, count = target.copy(), _frames_blended(dt, duration, target)
    rate = np.log(2.0) / half_life
    distance = -np.expm1(-rate * _times(dt, target[:count])) / rate
    way = distance[..., None] * _step(previous[0], previous[1], kind) / dt
    result[:count] = cross_fade(_moved(previous[1], way, kind), target[:count], dt, duration, kind=kind)
    return result


def blend_time(
    previous: ArrayLike, target: ArrayLike, dt: float, *, kind: str = "rotation", size: float = 1.0
) -> float:
    """The blend time [s] that suits a cut: short where poses and speeds are alike, long where they are far apart.

    Arguments as for `transition`. size: with vectors the length that counts as one radian, the length of a leg say.
    Each bone asks for the time T in which its difference x and relative speed v can be gone with an acceleration of
    BLEND_ACCELERATION: a T² = 10/√3 x + 2 v T, the first the peak acceleration of a minimum-jerk motion over x, the
    second what brakes v. The result is the time that nine bones of ten are content with, within BLEND_TIMES.
    Raises InvalidArgument.
    """
    previous, target = _cut(previous, target, kind)
    _blend(dt, 0.0, target)
    if not (np.isfinite(size) and size > 0.0):
        raise InvalidArgument("The size must be more than 0, not {size}.", size=size)
    if not target.size:
        return BLEND_TIMES[0]
    difference, velocity = _difference(previous, target, dt, kind)
    unit = size if kind == "vector" else 1.0
    x, v = np.linalg.norm(difference, axis=-1) / unit, np.linalg.norm(velocity, axis=-1) / unit
    a = BLEND_ACCELERATION
    wanted = (v + np.sqrt(v * v + a * 10.0 / np.sqrt(3.0) * x)) / a
    return float(np.clip(np.quantile(wanted, 0.9), *BLEND_TIMES))


def _cut(previous: ArrayLike, target: ArrayLike, kind: str) -> tuple[Array, Array]:
    """Both as arrays, checked."""
    target, previous = _poses("target", target, kind), _poses("previous poses", previous, kind)
    if previous.shape != (2, *target.shape[1:]):
        raise InvalidArgument(
            "The previous poses {previous} must be the last two frames of the bones of the target {target}.",
            previous=previous.shape,
            target=target.shape,
        )
    return previous, target


def _poses(name: str, poses: ArrayLike, kind: str) -> Array:
    if kind not in KINDS:
        raise InvalidArgument("Kind {kind!r} is unknown; use rotation or vector.", kind=kind)
    poses = np.asarray(poses, dtype=float)
    if poses.ndim < 2 or (kind == "rotation" and poses.shape[-1] != 4):
        wanted = "(frames, bones, 4)" if kind == "rotation" else "(frames, bones, coordinates)"
        raise InvalidArgument(
            "Shape {shape} of the {name} must be {wanted}.",
            shape=poses.shape,
            name=Message(name),
            wanted=Message(wanted),
        )
    if not np.all(np.isfinite(poses)):
        raise InvalidArgument(
            "The values of the {name} are not all finite; fix the keys of the animation.", name=Message(name)
        )
    if kind == "rotation" and np.any(np.all(np.abs(poses) < 1e-6, axis=-1)):
        raise InvalidArgument(
            "A quaternion of the {name} has length 0; fix the keys of the animation.", name=Message(name)
        )
    return poses


def _blend(dt: float, duration: ArrayLike, target: Array) -> Array:
    """The duration as an array, both times checked."""
    if not (np.isfinite(dt) and dt > 0.0):
        raise InvalidArgument("The time step must be longer than 0 seconds, not {dt}.", dt=dt)
    duration = np.asarray(duration, dtype=float)
    if not np.all(np.isfinite(duration) & (duration >= 0.0)):
        raise InvalidArgument("The blend time must be 0 or more seconds, not {duration}.", duration=duration)
    bones = target.shape[1:-1]
    try:
        fits = np.broadcast_shapes(duration.shape, bones) == bones
    except ValueError:
        fits = False
    if not fits:
        raise InvalidArgument(
            "Blend times of shape {shape} must be one number or one for each bone {bones}.",
            shape=duration.shape,
            bones=bones,
        )
    return duration


def _times(dt: float, poses: Array) -> Array:
    """Times [s] since the frame before the first of poses (F, B, ...), to broadcast against them without last axis."""
    return dt * np.arange(1.0, len(poses) + 1.0).reshape(-1, *(1,) * (poses.ndim - 2))


def _frames_blended(dt: float, duration: Array, target: Array) -> int:
    """How many frames are not the target's own yet, with the slowest bone."""
    return int(np.count_nonzero(_times(dt, target) < np.max(duration, initial=0.0) - _FRAME * dt))


def _step(a: Array, b: Array, kind: str) -> Array:
    """The way from poses a to b: a difference, or a rotation vector in the space the poses are in."""
    return b - a if kind == "vector" else rotation.log(rotation.multiply(b, rotation.inverse(a)))


def _moved(poses: Array, way: Array, kind: str) -> Array:
    return poses + way if kind == "vector" else rotation.multiply(rotation.exp(way), poses)


def _difference(previous: Array, target: Array, dt: float, kind: str) -> tuple[Array, Array]:
    """Way from the target to previous[1] at that time (B, ...), and how fast what is on screen moves beside it.

    The target's pose then is its beginning, run on backwards by a frame: whatever it does before its first frame plays
    no part, and the motion on screen goes on into the first frame with the speed it had.
    """
    ahead = _step(target[0], target[min(1, len(target) - 1)], kind)
    difference = _step(_moved(target[0], -ahead, kind), previous[1], kind)
    return difference, (_step(previous[0], previous[1], kind) - ahead) / dt


def _vector_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Direction (B, n), length (B) and its rate of the difference."""
    difference, velocity = _difference(previous, target, dt, "vector")
    direction = rotation.normalize(difference)
    return direction, np.linalg.norm(difference, axis=-1), np.sum(velocity * direction, axis=-1)


def _rotation_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Axis (B, 3), angle (B) in [0, pi] and its rate of the difference.

    The angle of d = p t^-1 about its axis n changes at n . (w_p - w_t), w being angular velocities, for a turn about n
    leaves n where it is. That is the limit of Bollo's twist of the frame before about n, the same at any frame rate.
    """
    difference, velocity = _difference(previous, target, dt, "rotation")
    angle, axis = np.linalg.norm(difference, axis=-1), rotation.normalize(difference)
    rate = np.sum(velocity * axis, axis=-1)
    half_turn = np.pi - angle < _HALF_TURN
    if np.any(half_turn):
        # Both ways round are as long. The sign of a quaternion may not choose: the motion does, else the axis.
        back = half_turn & np.where(np.abs(rate) < _HALF_TURN, _points_back(axis), rate > 0.0)
        axis, rate = np.where(back[..., None], -axis, axis), np.where(back, -rate, rate)
        angle = np.where(back, 2.0 * np.pi - angle, angle)
    return axis, angle, rate


def _points_back(axis: Array) -> NDArray[np.bool_]:
    """Whether the first component of unit vectors (..., 3) that is not about zero is negative: true for n or for -n."""
    first = np.argmax(np.abs(axis) > 0.1, axis=-1)[..., None]
    return np.take_along_axis(axis, first, axis=-1)[..., 0] < 0.0


def _mixed(source: Array, target: Array, weight: Array, kind: str) -> Array:
    if kind == "vector":
        mixed = source + weight[..., None] * (target - source)
    else:
        mixed = rotation.multiply(source, rotation.exp(weight[..., None] * _arc(source, target)))
    return np.where((weight >= 1.0)[..., None], target, mixed)


def _arc(source: Array, target: Array) -> Array:
    """Rotation vectors (F, B, 3) from source to target: the short way in the first frame, from there without a jump."""
    between = rotation.normalize(rotation.multiply(rotation.inverse(source), target))
    between = rotation.align_hemisphere(between)
    w = between[0, ..., 0]
    back = np.where(np.abs(w) < _HALF_TURN, _points_back(between[0, ..., 1:]), w < 0.0)
    between = np.where(back[..., None], -between, between)
    sine = np.linalg.norm(between[..., 1:], axis=-1)
    return (2.0 * np.arctan2(sine, between[..., 0]))[..., None] * rotation.normalize(between[..., 1:])
