"""Rotation channels as Blender keys them: raw values to quaternions, and rotated ones back without jumps."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

_SAME = 1e-5
LOCATION = "LOCATION"
"""Used instead of a rotation mode for the location channels of a bone."""
SCALE = "SCALE"
"""The same for those of its scale."""
AMOUNT = "[]"
"""The same for any other number."""
_CHANNELS = {
    "QUATERNION": ("rotation_quaternion", 4),
    "AXIS_ANGLE": ("rotation_axis_angle", 4),
    LOCATION: ("location", 3),
    SCALE: ("scale", 3),
}
_EULER = ("rotation_euler", 3)
_AT_REST = {
    "QUATERNION": np.array([1.0, 0.0, 0.0, 0.0]),
    "AXIS_ANGLE": np.array([0.0, 0.0, 1.0, 0.0]),
    SCALE: np.ones(3),
}
"""A bone's channels at rest, where they are not zeros."""
TRANSFORM_SIZES = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_euler": 3,
    "rotation_axis_angle": 4,
    "scale": 3,
}
"""The properties that pose a bone or place an object, and their sizes."""


def channel(mode: str) -> tuple[str, int]:
    """Name and size of the property for a bone's rotation in this mode, its location or scale, or a single number that
    is given by its path with brackets: a custom property, or a setting of a constraint."""
    return (mode, 1) if is_amount(mode) else _CHANNELS.get(mode, _EULER)


def is_amount(mode: str) -> bool:
    """Whether it is that of a single number, not of a transform."""
    return "[" in mode


def at_rest(mode: str) -> Array:
    """The values (3,) or (4,) at rest of a bone's channels for its rotation in this mode, its location or scale."""
    return _AT_REST.get(mode, np.zeros(3)).copy()


def family(mode: str) -> str:
    """The rotation mode, or EULER for all orders of Euler angles."""
    return mode if mode in _CHANNELS else "EULER"


def to_quaternion(raw: Array, mode: str) -> Array:
    """Channel values (F, 3 or 4) of a bone in this rotation mode to unit quaternions (F, 4)."""
    if mode == "QUATERNION":
        length = np.linalg.norm(raw, axis=-1, keepdims=True)
        return np.where(length > 0.0, rotation.normalize(raw), rotation.IDENTITY)
    if mode == "AXIS_ANGLE":
        return rotation.from_axis_angle(raw[:, 1:], raw[:, 0])
    return rotation.from_euler(raw, mode)


def of_rotations(rotations: Array, mode: str) -> Array:
    """Channel values (F, 3 or 4), continuous, of a bone in this rotation mode that rotations (F, 4) turn from rest."""
    still = np.broadcast_to(at_rest(mode), (len(rotations), channel(mode)[1]))
    return turned(still, mode, rotations)


def turned(raw: Array, mode: str, offsets: Array) -> Array:
    """Channel values (F, 3 or 4) of `raw` rotated by local offsets (F, 4).

    The values are continuous from the first frame. Where the offset is exactly the identity and the raw values are
    continuous, they are bitwise equal to these.
    """
    base = to_quaternion(raw, mode)
    still = np.all(offsets == rotation.IDENTITY, axis=-1)
    result = rotation.multiply(base, offsets)
    if mode == "QUATERNION":
        return _continuous_quaternion(result, raw, still)
    if mode == "AXIS_ANGLE":
        values = continuous_axis_angle(result, raw[0])
        # Blender accepts any length of the axis, and interpolation between keys changes it.
        return _keep_raw(values, raw, still, np.concatenate((raw[:, :1], rotation.normalize(raw[:, 1:])), axis=-1))
    values = rotation.continuous_euler(rotation.to_euler(result, mode), mode, start=raw[0])
    return _keep_raw(values, raw, still, raw)


def _continuous_quaternion(result: Array, raw: Array, still: Array) -> Array:
    values = np.where(still[:, None], raw, result)
    if not still[0] and np.dot(values[0], raw[0]) < 0.0:
        values[0] *= -1.0
    return rotation.align_hemisphere(values)


def _keep_raw(values: Array, raw: Array, still: Array, alike: Array) -> Array:
    """The raw values where there is no offset, if `alike` is equal to the values up to rounding."""
    same = still & (np.abs(values - alike).max(axis=-1) < _SAME)
    return np.where(same[:, None], raw, values)


def continuous_axis_angle(q: Array, start: Array) -> Array:
    """Quaternions (F, 4) to angle and axis (F, 4), angle first, without jumps, starting near `start` (4,)."""
    vector = rotation.log(q)
    size = np.linalg.norm(vector, axis=-1)
    values = np.empty((len(q), 4))
    angle, axis = float(start[0]), rotation.normalize(start[1:]) if np.any(start[1:]) else np.array([0.0, 1.0, 0.0])
    for k in range(len(q)):
        if size[k] > 1e-7:
            here = vector[k] / size[k]
            # Either the axis or its opposite, each modulo 2 pi.
            options = [(_near(sign * size[k], angle), sign * here) for sign in (1.0, -1.0)]
            angle, axis = min(options, key=lambda o: abs(o[0] - angle) + np.linalg.norm(o[1] - axis))
        else:
            angle = _near(0.0, angle)
        values[k, 0], values[k, 1:] = angle, axis
    return values


def _near(angle: float, reference: float) -> float:
    """The angle plus the multiple of 2 pi nearest to the reference."""
    return angle + 2.0 * np.pi * np.round((reference - angle) / (2.0 * np.pi))
