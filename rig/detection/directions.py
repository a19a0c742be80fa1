"""Directions made square to others, or to the axes of an armature that they all but have."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

_UPRIGHT = np.cos(np.radians(10.0))
"""Characters are built upright on the armature's axes: what is off by less is posture, or an uneven rest pose."""
SQUARE = np.sin(np.radians(2.5))
"""The sine of an angle from square that is none."""
_STRAIGHT = np.cos(np.radians(3.0))
SAME_WAY = np.cos(np.radians(30.0))
"""Cosine of the largest angle between directions that are about the same."""


def perpendicular(v: Array, axis: Array) -> Array:
    """The part of v perpendicular to the unit axis, at length 1; always the same one if v is parallel to the axis."""
    part = v - (v @ axis) * axis
    if np.linalg.norm(part) < 1e-9 * np.linalg.norm(v) or not np.any(v):
        return perpendicular(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    return rotation.normalize(part)


def upright(up: Array, left: Array) -> Array:
    """up made perpendicular to left, and to the armature's axis if only the posture leans: rest poses are on axes."""
    up = perpendicular(up, left)
    axis = nearest_axis(up)
    return axis if axis @ up > _UPRIGHT and abs(axis @ left) < SQUARE else up


def straight(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis perpendicular to up that it is almost parallel to."""
    axis = nearest_axis(forward)
    return axis if axis @ forward > _STRAIGHT and axis @ up == 0.0 else forward


def snapped(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis perpendicular to up that is near: a face need not be in the middle."""
    axis = nearest_axis(forward)
    return axis if axis @ forward > SAME_WAY and abs(axis @ up) < 1e-6 else perpendicular(forward, up)


def nearest_axis(v: Array) -> Array:
    """The armature axis (3,) that is nearest to a direction (3,)."""
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    return axes[int(np.argmax(axes @ v))]


def default_forward(up: Array) -> Array:
    """Blender's own forward, -Y, or what it is where the armature's Y points up: +Z."""
    forward = np.array([0.0, -1.0, 0.0])
    return perpendicular(forward, up) if abs(forward @ up) < 0.9 else perpendicular(np.array([0.0, 0.0, 1.0]), up)
