"""Bones whose axes are sheared: scaled unevenly, or not square, as below a bone that is scaled unevenly."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

_SHEAR = 1e-4


def sheared(axes: Array, sizes: Array) -> Array:
    """Frames (F,) at which any of the bones' axes (F, b, 3, 3), of these sizes (F, b, 3), differ or are not square."""
    unit = axes / sizes[..., None, :]
    askew = np.abs(np.sum(unit * np.roll(unit, 1, axis=-1), axis=-2)).max(axis=(1, 2))
    return (askew > _SHEAR) | ((sizes.max(axis=-1) / sizes.min(axis=-1)).max(axis=-1) > 1.0 + _SHEAR)


def aimed(q: Array, axes: Array, aim: Array) -> Array:
    """Rotations `q` (n, 4) turned by the shortest arc so that `aim` points where the bone's axes (n, 3, 3) take it."""
    seen = axes @ aim * np.sign(np.linalg.det(axes))[:, None]
    return rotation.multiply(rotation.shortest_arc(rotation.rotate(q, aim), seen), q)
