"""Inertialization: after a cut only the destination plays, and the difference to the previous motion decays.

Source: D. Bollo, "High-Performance Animation Transitions in Gears of War", GDC 2018: the difference decays along a
minimum-jerk quintic that starts with its velocity. The alternatives are dead blending (D. Holden 2023, Unreal Engine
5.3) and the cross-fade that both replace.

Poses are arrays (frames, ...): rotations are unit quaternions in the last axis, vectors any number of coordinates. The
sign of a quaternion does not matter.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, curves, rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import cut
from .hinges import BlendedHinges

BLEND_TIMES = (0.1, 0.6)
"""Shortest and longest blend [s] that `blend_time` gives."""
MOST_BONES = 0.9
"""Share of the bones for which `blend_time` is sufficient by default."""
BLEND_ACCELERATION = 25.0
"""Largest deceleration [rad/s²] of a difference in `blend_time`: 0.3 s for 22°, 0.5 s for 62°."""
GLIDE = 0.4
"""Fraction of the blend for which a velocity would persist: an offset of -GLIDE v T moving with v decays within T
without acceleration or overshoot."""
_SHORTER = (0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.0)
"""Shares of the blend for which a hinge may swing that would leave its range."""
HALF_LIVES = (0.05, 1.0)
"""Shortest and longest half-life [s] that `dead_blend` chooses, as in Unreal Engine."""
_MOST = 1e300
"""`decay` computes with larger numbers than other solvers."""


def decay(
    x0: ArrayLike, v0: ArrayLike, duration: ArrayLike, t: ArrayLike, *, clamps_acceleration: bool = True
) -> Array:
    """The offset at time t [s] of a value with x0 and velocity v0 [1/s] at time 0 that decays within `duration` [s].

    All arguments broadcast. A velocity that points away from zero is dropped, and if one towards zero is so large that
    the offset would cross zero, the duration is shortened: the offset never grows. Value, velocity and acceleration are
    zero at the end. With a duration of 0 the offset is x0 at t = 0 and zero after. Before 0 it is x0.
    clamps_acceleration: the acceleration at the start is at least 0; without that, as in most descriptions of the
    method, an offset at rest jumps to a large acceleration. Raises InvalidArgument if a number is not finite or the
    duration is negative. Source: Bollo 2018.
    """
    x0, v0, duration, t = (
        checks.array(name, values, most=_MOST)
        for name, values in (("offset", x0), ("velocity", v0), ("duration", duration), ("time", t))
    )
    try:
        np.broadcast_shapes(x0.shape, v0.shape, duration.shape, t.shape)
    except ValueError:
        raise InvalidArgument(
            "The offset {offset}, velocity {velocity}, duration {duration} and time {time} must have shapes that "
            "broadcast.",
            offset=x0.shape,
            velocity=v0.shape,
            duration=duration.shape,
            time=t.shape,
        ) from None
    if np.any(duration < 0.0):
        raise cut.wrong_duration(duration.min())
    sign = np.where(x0 < 0.0, -1.0, 1.0)
    x, v = np.abs(x0), np.minimum(sign * v0, 0.0)
    with np.errstate(over="ignore"):
        home = np.divide(-5.0 * x, v, out=np.full(np.broadcast(x, v).shape, np.inf), where=v < 0.0)
    end = np.minimum(duration, home)
    s = np.clip(t, 0.0, end) / np.where(end > 0.0, end, 1.0)
    # The quintic over s has a triple root at its end; factoring it out is accurate near zero.
    slope = np.maximum(v * end, -5.0 * x)
    bend = -8.0 * slope - 20.0 * x
    if clamps_acceleration:
        bend = np.maximum(0.0, bend)
    factor = ((0.5 * bend + 3.0 * slope + 6.0 * x) * s + (slope + 3.0 * x)) * s + x
    left = 1.0 - s
    value = np.clip(left * left * left * factor, 0.0, x)
    return sign * np.where(t <= 0.0, x, np.where(t >= end, 0.0, value)) + 0.0


def transition(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    clamps_acceleration: bool = True,
) -> Array:
    """The destination `target` (F, B, ...) with a decaying difference to the previous output.

    previous: (2, B, ...) the last two frames of the output, oldest first; target[0] is shown one dt [s] after
    previous[1]. A transition may therefore interrupt another one. duration: blend time [s], a number or (B,). kind:
    "rotation", quaternions (..., 4) whose difference decays about its axis, or "vector", whose difference decays along
    its direction. From `duration` after previous[1] the result is exactly the target. clamps_acceleration: as for
    `decay`.

    Returns (F, B, ...). Raises InvalidArgument. Source: Bollo 2018. The difference is computed at the time of
    previous[1] with the target extrapolated backwards by a frame, and the velocity is that of the difference, which
    includes the velocity of the destination. For a difference of half a turn, the direction is that of the motion.
    """
    previous, target = cut.checked(previous, target, kind)
    duration = cut.checked_duration(dt, duration, target)
    result, count = target.copy(), cut.frames_blended(dt, duration, target)
    if not count:
        return result
    direction, x0, v0 = (cut.vector_offset if kind == "vector" else cut.rotation_offset)(previous, target, dt)
    target = target[:count]
    times = cut.times(dt, target)
    offset = np.where(
        times >= duration - cut.FRAME * dt, 0.0, decay(x0, v0, duration, times, clamps_acceleration=clamps_acceleration)
    )
    if kind == "vector":
        moved = target + offset[..., None] * direction
    else:
        moved = rotation.multiply(rotation.exp(offset[..., None] * direction), target)
    result[:count] = np.where((offset == 0.0)[..., None], target, moved)
    return result


def swing_transition(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    hinges: BlendedHinges | None = None,
) -> Array:
    """As `transition`, and what that discards of the velocity goes on and ends within the blend: what moves away from
    the destination, or across, swings out and comes back.

    Position and velocity of the output are continuous. That part of the difference is the quintic without offset that
    has no acceleration at both ends; it goes as far as 0.19 of the blend would take it at its speed. hinges: of
    rotations (F, B, 4), joints that swing for a shorter time where they would leave their range, at its end not at all.
    """
    previous, target = cut.checked(previous, target, kind)
    duration = cut.checked_duration(dt, duration, target)
    result, count = target.copy(), cut.frames_blended(dt, duration, target)
    if not count:
        return result
    x0, v0 = cut.offset(previous, target, dt, kind)
    direction = rotation.normalize(x0)
    inward = np.minimum(np.sum(v0 * direction, axis=-1), 0.0)
    times = cut.times(dt, target[:count])
    going, coming = v0 - inward[..., None] * direction, decay(np.linalg.norm(x0, axis=-1), inward, duration, times)

    def swung(share: float) -> Array:
        """With this share of the blend for the swing."""
        offset = coming[..., None] * direction + _swing(times, share * np.asarray(duration))[..., None] * going
        return cut.displaced(target[:count], offset, kind)

    blended = swung(1.0)
    if hinges is not None and len(hinges.which):
        blended = _within(blended, swung, hinges)
    done = times >= duration - cut.FRAME * dt
    result[:count] = np.where(done[..., None], target[:count], blended)
    return result


def _swing(times: Array, duration: Array) -> Array:
    """How far a swing with a speed of 1 has come that ends after `duration`."""
    s = np.clip(times / np.where(duration > 0.0, duration, 1.0), 0.0, 1.0)
    return duration * s * (1.0 - s) ** 3 * (1.0 + 3.0 * s)


def _within(blended: Array, swung: Callable[[float], Array], hinges: BlendedHinges) -> Array:
    """Poses (F, B, 4) whose hinges swing for the longest time for which they stay within their range."""
    left = hinges.which
    for share in _SHORTER:
        left = left[~hinges.part(left).contain(blended[:, left])]
        if not len(left):
            break
        blended[:, left] = swung(share)[:, left]
    return blended


def cross_fade(
    source: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    is_linear: bool = False,
) -> Array:
    """`source` (F, B, ...), the continued motion before the cut, blended smoothly into `target` over `duration`.

    The frames are those after the cut, the first one dt [s] after the last frame before the cut; the weight is a smooth
    step, or is_linear. Rotations are blended along an arc that is the short one at first and stays on the same side
    while both move. Durations, kinds, result and errors as for `transition`.
    """
    source, target = cut.checked_poses("source", source, kind), cut.checked_poses("target", target, kind)
    if source.shape != target.shape:
        raise InvalidArgument(
            "The source {source} and the target {target} of a cross-fade must have the same shape.",
            source=source.shape,
            target=target.shape,
        )
    duration = cut.checked_duration(dt, duration, target)
    result, count = target.copy(), cut.frames_blended(dt, duration, target)
    if not count:
        return result
    source, target = source[:count], target[:count]
    times = cut.times(dt, target)
    done = times >= duration - cut.FRAME * dt
    s = np.where(done, 1.0, times / np.where(duration > 0.0, duration, 1.0))
    result[:count] = _mixed(source, target, s if is_linear else curves.cubic_step(s), kind)
    return result


def dead_blend(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    half_life: float | None = None,
) -> Array:
    """As `transition`, by dead blending: the source continues with its velocity, which halves every `half_life` [s],
    and is cross-faded into the target. Keeps outward velocity, and is calmer if the poses differ much.

    half_life: None to choose it for each bone: along its difference from the target such that a velocity towards the
    target comes to rest there, within HALF_LIVES; across the difference, and for a velocity away from the target, the
    shortest. Source: D. Holden, "Dead Blending", 2023; Unreal Engine 5.3, both of which choose it along fixed axes.
    """
    previous, target = cut.checked(previous, target, kind)
    duration = cut.checked_duration(dt, duration, target)
    if half_life is not None:
        checks.number("half-life", half_life, checks.SHORTEST_STEP, checks.LATEST)
    result, count = target.copy(), cut.frames_blended(dt, duration, target)
    if not count:
        return result
    velocity, times = cut.displacement(previous[0], previous[1], kind) / dt, cut.times(dt, target[:count])
    if half_life is None:
        step = _coasted_to(previous, target, velocity, times, dt, kind)
    else:
        step = _coasted(times, np.asarray(half_life))[..., None] * velocity
    result[:count] = cross_fade(cut.displaced(previous[1], step, kind), target[:count], dt, duration, kind=kind)
    return result


def _coasted(times: Array, half_life: Array) -> Array:
    """How far a velocity of 1 has come that halves every `half_life` [s]."""
    rate = np.log(2.0) / half_life
    return -np.expm1(-rate * times) / rate


def _coasted_to(previous: Array, target: Array, velocity: Array, times: Array, dt: float, kind: str) -> Array:
    """How far the source has come (F, B, n) with half-lives by its velocity (B, n) and its distance from the target."""
    away, length, _ = (cut.vector_offset if kind == "vector" else cut.rotation_offset)(previous, target, dt)
    towards = -np.sum(velocity * away, axis=-1)
    with np.errstate(over="ignore"):
        arrives = np.divide(np.log(2.0) * length, towards, out=np.zeros_like(length), where=towards > 0.0)
    along = _coasted(times, np.clip(arrives, *HALF_LIVES)) * -towards
    across = _coasted(times, np.asarray(HALF_LIVES[0]))
    return along[..., None] * away + across[..., None] * (velocity + towards[..., None] * away)


def blend_time(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    *,
    kind: str = "rotation",
    size: float = 1.0,
    share: float = MOST_BONES,
) -> float:
    """The automatic blend time [s] of a cut: short for similar poses and speeds, long for large differences.

    Arguments as for `transition`. size: with vectors the length that counts as one radian, such as the length of a leg.
    Each bone needs the time in which its difference and relative speed can decay with an acceleration of
    BLEND_ACCELERATION, see `curves.quintic_time`. The result is sufficient for this share of the bones, within
    BLEND_TIMES. Raises InvalidArgument.
    """
    previous, target = cut.checked(previous, target, kind)
    cut.checked_duration(dt, 0.0, target)
    checks.number("size", size, 1e-9)
    checks.number("share of the bones", share, 0.0, 1.0)
    if not target.size:
        return BLEND_TIMES[0]
    difference, velocity = cut.deviation(previous, target, dt, kind)
    unit = size if kind == "vector" else 1.0
    x, v = np.linalg.norm(difference, axis=-1) / unit, np.linalg.norm(velocity, axis=-1) / unit
    wanted = curves.quintic_time(x, v, BLEND_ACCELERATION)
    return float(np.clip(np.quantile(wanted, share), *BLEND_TIMES))


def discarded_velocity(
    previous: ArrayLike, target: ArrayLike, dt: float, *, kind: str = "rotation"
) -> tuple[Array, Array]:
    """Speeds [1/s] (B) that `transition` discards at a cut, and distances (B): away from the target, and across.

    Arguments and errors as for `transition`.
    """
    previous, target = cut.checked(previous, target, kind)
    cut.checked_duration(dt, 0.0, target)
    if not len(target):
        return np.zeros(target.shape[1:-1]), np.zeros(target.shape[1:-1])
    difference, velocity = cut.deviation(previous, target, dt, kind)
    direction = rotation.normalize(difference)
    inward = np.minimum(np.sum(velocity * direction, axis=-1), 0.0)
    discarded = np.linalg.norm(velocity - inward[..., None] * direction, axis=-1)
    return discarded, np.linalg.norm(difference, axis=-1)


def _mixed(source: Array, target: Array, weight: Array, kind: str) -> Array:
    if kind == "vector":
        mixed = source + weight[..., None] * (target - source)
    else:
        mixed = rotation.multiply(source, rotation.exp(weight[..., None] * _arc(source, target)))
    return np.where((weight >= 1.0)[..., None], target, mixed)


def _arc(source: Array, target: Array) -> Array:
    """Rotation vectors (F, B, 3) from source to target: the short way in the first frame, continuous from there."""
    between = rotation.normalize(rotation.multiply(rotation.inverse(source), target))
    between = rotation.align_hemisphere(between)
    w = between[0, ..., 0]
    back = np.where(np.abs(w) < cut.HALF_TURN, cut.points_back(between[0, ..., 1:]), w < 0.0)
    between = np.where(back[..., None], -between, between)
    sine = np.linalg.norm(between[..., 1:], axis=-1)
    return (2.0 * np.arctan2(sine, between[..., 0]))[..., None] * rotation.normalize(between[..., 1:])
