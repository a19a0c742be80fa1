"""Rotation channels as Blender keys them: raw values to quaternions, and turned rotations back without jumps."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

_SAME = 1e-5
LOCATION = "LOCATION"
"""Stands where a rotation mode does, for the channels of a bone's location."""
_CHANNELS = {
    "QUATERNION": ("rotation_quaternion", 4),
    "AXIS_ANGLE": ("rotation_axis_angle", 4),
    LOCATION: ("location", 3),
}
_EULER = ("rotation_euler", 3)


def channel(mode: str) -> tuple[str, int]:
    """Property that holds a bone's rotation in this rotation mode, or its location, and how many numbers it has."""
    return _CHANNELS.get(mode, _EULER)


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


def turned(raw: Array, mode: str, offsets: Array) -> Array:
    """Channel values (F, 3 or 4) of `raw` turned by local offsets (F, 4).

    The values run on without jumps from the first frame's, and where the offset is exactly the identity they are the
    raw ones, to the last bit, wherever these run on without jumps themselves.
    """
    base = to_quaternion(raw, mode)
    still = np.all(offsets == rotation.IDENTITY, axis=-1)
    result = rotation.multiply(base, offsets)
    if mode == "QUATERNION":
        return _continuous_quaternion(result, raw, still)
    if mode == "AXIS_ANGLE":
        values = continuous_axis_angle(result, raw[0])
        # Blender does not mind the axis' length, and interpolated keys do not keep it at 1.
        return _keep_raw(values, raw, still, np.concatenate((raw[:, :1], rotation.normalize(raw[:, 1:])), axis=-1))
    values = rotation.continuous_euler(rotation.to_euler(result, mode), mode, start=raw[0])
    return _keep_raw(values, raw, still, raw)


def _continuous_quaternion(result: Array, raw: Array, still: Array) -> Array:
    values = np.where(still[:, None], raw, result)
    start = values[:1] if still[0] or np.dot(values[0], raw[0]) >= 0.0 else -values[:1]
    return rotation.align_hemisphere(np.concatenate((start, values)))[1:]


def _keep_raw(values: Array, raw: Array, still: Array, alike: Array) -> Array:
    """Where nothing was turned, the raw values, if what they are `alike` is the same numbers but for rounding."""
    same = still & (np.abs(values - alike).max(axis=-1) < _SAME)
    return np.where(same[:, None], raw, values)


def continuous_axis_angle(q: Array, start: Array) -> Array:
    """Quaternions (F, 4) to angle and axis (F, 4), angle first, without jumps, beginning near `start` (4,)."""
    vector = rotation.log(q)
    size = np.linalg.norm(vector, axis=-1)
    values = np.empty((len(q), 4))
    angle, axis = float(start[0]), rotation.normalize(start[1:]) if np.any(start[1:]) else np.array([0.0, 1.0, 0.0])
    for k in range(len(q)):
        if size[k] > 1e-7:
            here = vector[k] / size[k]
            # Either the axis or its opposite; of both, whole turns are free.
            options = [(_near(sign * size[k], angle), sign * here) for sign in (1.0, -1.0)]
            angle, axis = min(options, key=lambda o: abs(o[0] - angle) + np.linalg.norm(o[1] - axis))
        else:
            angle = _near(0.0, angle)
        values[k, 0], values[k, 1:] = angle, axis
    return values


def _near(angle: float, reference: float) -> float:
    """The angle with the whole turns that bring it nearest to the reference."""
    return angle + 2.0 * np.pi * np.round((reference - angle) / (2.0 * np.pi))
