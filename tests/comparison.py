"""How far rotations differ."""

import numpy as np

from lookat_pd import rotation
from lookat_pd.rotation import Array


def largest_angle(a: Array, b: Array) -> float:
    """Largest angle [rad] between rotations (..., 4)."""
    return float(rotation.distance(a, b).max())


def largest_degrees(a: Array, b: Array) -> float:
    """The same in degrees."""
    return float(np.degrees(largest_angle(a, b)))
