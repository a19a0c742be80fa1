"""The two sides of a cut: their checks, and how far apart they are and at what speed they move.

Poses are arrays (frames, ...): rotations are unit quaternions in the last axis, vectors any number of coordinates.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks, rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array

KINDS = ("rotation", "vector")
HALF_TURN = 1e-6
"""Tolerances of the angle from half a turn [rad] and of the speed [rad/s], within which both directions are
equivalent."""
FRAME = 1e-6
"""Tolerance for the end of a blend, as a fraction of a frame: times are multiples of a rounded time step."""


def checked(previous: ArrayLike, target: ArrayLike, kind: str) -> tuple[Array, Array]:
    """Both as arrays, checked."""
    target, previous = checked_poses("target", target, kind), checked_poses("previous poses", previous, kind)
    if previous.shape != (2, *target.shape[1:]):
        raise InvalidArgument(
            "The previous poses {previous} must be the last two frames of the bones of the target {target}.",
            previous=previous.shape,
            target=target.shape,
        )
    return previous, target


def checked_poses(name: str, poses: ArrayLike, kind: str) -> Array:
    if not checks.is_one_of(kind, KINDS):
        raise InvalidArgument("Kind {kind!r} is unknown; use rotation or vector.", kind=checks.shown(kind))
    poses = checks.animated(name, poses)
    if poses.ndim < 2 or (kind == "rotation" and poses.shape[-1] != 4):
        wanted = "(frames, bones, 4)" if kind == "rotation" else "(frames, bones, coordinates)"
        raise InvalidArgument(
            "Shape {shape} of the {name} must be {wanted}.",
            shape=poses.shape,
            name=Message(name),
            wanted=Message(wanted),
        )
    if kind == "rotation" and np.any(np.all(np.abs(poses) < 1e-6, axis=-1)):
        raise InvalidArgument(
            "A quaternion of the {name} has length 0; fix the keys of the animation.", name=Message(name)
        )
    return poses


def wrong_duration(duration: object) -> InvalidArgument:
    """The error about a blend time."""
    return InvalidArgument("The blend time must be 0 or more seconds, not {duration}.", duration=checks.shown(duration))


def checked_duration(dt: float, duration: ArrayLike, target: Array) -> Array:
    """The duration as an array, both times checked."""
    checks.time_step(dt)
    duration = checks.numbers("blend time", duration)
    if not np.all((duration >= 0.0) & (duration <= checks.LATEST)):
        raise wrong_duration(duration)
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


def times(dt: float, poses: Array) -> Array:
    """Times [s] since the frame before the first of poses (F, B, ...), to broadcast against them without last axis."""
    return dt * np.arange(1.0, len(poses) + 1.0).reshape(-1, *(1,) * (poses.ndim - 2))


def frames_blended(dt: float, duration: Array, target: Array) -> int:
    """Number of frames that differ from the target, for the slowest bone."""
    return int(np.count_nonzero(times(dt, target) < np.max(duration, initial=0.0) - FRAME * dt))


def displacement(a: Array, b: Array, kind: str) -> Array:
    """The displacement from poses a to b: a difference, or a rotation vector in the space of the poses."""
    return b - a if kind == "vector" else rotation.log(rotation.multiply(b, rotation.inverse(a)))


def displaced(poses: Array, by: Array, kind: str) -> Array:
    return poses + by if kind == "vector" else rotation.multiply(rotation.exp(by), poses)


def deviation(previous: Array, target: Array, dt: float, kind: str) -> tuple[Array, Array]:
    """Displacement from the target to previous[1] at that time (B, ...), and the relative velocity [1/s] of the output.

    The pose of the target at that time is extrapolated backwards by a frame from its start: its motion before the first
    frame does not matter, and the output continues into the first frame with its speed.
    """
    before, ahead = steps_beside(previous, target, kind)
    return displacement(displaced(target[0], -ahead, kind), previous[1], kind), (before - ahead) / dt


def steps_beside(previous: Array, target: Array, kind: str) -> tuple[Array, Array]:
    """The last step (B, n) of the output before the cut and the first of the target after it."""
    return displacement(previous[0], previous[1], kind), displacement(target[0], target[min(1, len(target) - 1)], kind)


def vector_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Direction (B, n), length (B) and its rate of the difference."""
    difference, velocity = deviation(previous, target, dt, "vector")
    direction = rotation.normalize(difference)
    return direction, np.linalg.norm(difference, axis=-1), np.sum(velocity * direction, axis=-1)


def rotation_offset(previous: Array, target: Array, dt: float) -> tuple[Array, Array, Array]:
    """Axis (B, 3), angle (B) in [0, pi] and its rate of the difference.

    The angle of d = p t^-1 about its axis n changes at n . (w_p - w_t), w being angular velocities, because a rotation
    about n does not change n. It is the limit of Bollo's twist of the previous frame about n, the same at any frame
    rate.
    """
    difference, velocity = deviation(previous, target, dt, "rotation")
    angle, axis = np.linalg.norm(difference, axis=-1), rotation.normalize(difference)
    rate = np.sum(velocity * axis, axis=-1)
    half_turn = np.pi - angle < HALF_TURN
    if np.any(half_turn):
        # Both directions are equally long. The motion, else the axis, decides, not the sign of a quaternion.
        back = half_turn & np.where(np.abs(rate) < HALF_TURN, points_back(axis), rate > 0.0)
        axis, rate = np.where(back[..., None], -axis, axis), np.where(back, -rate, rate)
        angle = np.where(back, 2.0 * np.pi - angle, angle)
    return axis, angle, rate


def offset(previous: Array, target: Array, dt: float, kind: str) -> tuple[Array, Array]:
    """The difference (B, n) as a vector or rotation vector, and its rate [1/s]."""
    if kind == "vector":
        return deviation(previous, target, dt, kind)
    axis, angle, _ = rotation_offset(previous, target, dt)
    x0 = angle[..., None] * axis
    before, ahead = steps_beside(previous, target, kind)
    return x0, rotation.log_rate(x0, before - rotation.rotate(rotation.exp(x0), ahead)) / dt


def points_back(axis: Array) -> NDArray[np.bool_]:
    """Whether the first non-zero component of unit vectors (..., 3) is negative: true for either n or -n."""
    first = np.argmax(np.abs(axis) > 0.1, axis=-1)[..., None]
    return np.take_along_axis(axis, first, axis=-1)[..., 0] < 0.0
