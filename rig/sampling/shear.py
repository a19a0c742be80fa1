"""Bones whose axes are sheared: scaled unevenly, or not square, as below a bone that is scaled unevenly."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array

LEAST = 1e-4
"""Above the rounding of poses that Blender evaluates through several parents."""
OF_CONSTRAINTS = 1e-3
"""Above the scale that Blender gives to bones below constraints that act in part.

It mixes two rotations less than 1.6 degrees apart without normalizing the quaternion (`interp_dot_slerp` in Blender's
math_rotation.cc): on an armature that is turned or mirrored, each constraint then scales two axes of the bone by up to
1e-4. A generated Rigify human has two of them in series between the hips and the shoulders; this is for ten.
"""


def degree(axes: Array) -> Array:
    """(F,) by how much the axes (F, b, 3, 3) of any bone differ in size, as a part of it, or the cosine between two."""
    return np.maximum(rotation.shear(axes), rotation.unevenness(axes)).max(axis=-1, initial=0.0)


def aimed(q: Array, axes: Array, aim: Array) -> Array:
    """Rotations `q` (n, 4) turned by the shortest arc so that `aim` points where the bone's axes (n, 3, 3) take it."""
    seen = axes @ aim * np.sign(np.linalg.det(axes))[:, None]
    return rotation.multiply(rotation.shortest_arc(rotation.rotate(q, aim), seen), q)
