"""Bones whose axes are sheared: scaled unevenly, or not square, as below a bone that is scaled unevenly."""

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

_SHEAR = 1e-4
"""Above the rounding of poses that Blender evaluates through several parents."""


def sheared(axes: Array) -> NDArray[np.bool_]:
    """Frames (F,) at which any of the bones' axes (F, b, 3, 3) differ in size or are not square."""
    return (rotation.is_sheared(axes, _SHEAR) | rotation.is_uneven(axes, _SHEAR)).any(axis=-1)


def aimed(q: Array, axes: Array, aim: Array) -> Array:
    """Rotations `q` (n, 4) turned by the shortest arc so that `aim` points where the bone's axes (n, 3, 3) take it."""
    seen = axes @ aim * np.sign(np.linalg.det(axes))[:, None]
    return rotation.multiply(rotation.shortest_arc(rotation.rotate(q, aim), seen), q)
