"""Eyes that controls turn sideways by one angle and up and down by another: the values that look in a direction.

The order decides where both angles together look. Fick: sideways about the vertical axis of the head, and up and down
about the lateral axis of the eye, which turns with it. Helmholtz: up and down about the lateral axis of the head, and
sideways about the vertical axis of the eye. Source: Fick 1854 and Helmholtz 1867, as in Haslwanter 1995.
"""

import numpy as np

from .. import rotation
from ..errors import InvalidArgument
from ..rotation import Array

FICK, HELMHOLTZ = "FICK", "HELMHOLTZ"
ORDERS = (FICK, HELMHOLTZ)


def direction(values: Array, order: str, axes: tuple[Array, Array], angles: Array) -> Array:
    """Unit gaze directions (..., 3) of values (..., 4) to the left, to the right, up and down.

    axes: forward and up (3,) of the head. angles: (4,) [rad] of the eye at value 1. Raises InvalidArgument.
    """
    forward, up, left = _frame(order, axes)
    yaw = (values[..., 0] * angles[0] - values[..., 1] * angles[1])[..., None]
    pitch = (values[..., 2] * angles[2] - values[..., 3] * angles[3])[..., None]
    if order == FICK:
        return np.cos(pitch) * (np.cos(yaw) * forward + np.sin(yaw) * left) + np.sin(pitch) * up
    return np.cos(yaw) * (np.cos(pitch) * forward + np.sin(pitch) * up) + np.sin(yaw) * left


def values(directions: Array, order: str, axes: tuple[Array, Array], angles: Array) -> Array:
    """Values (..., 4) from 0 to 1 with which the eye looks in directions (..., 3), as far as the controls reach.

    Arguments as of `direction`. Raises InvalidArgument.
    """
    forward, up, left = _frame(order, axes)
    ahead, above, beside = directions @ forward, directions @ up, directions @ left
    if order == FICK:
        yaw, pitch = np.arctan2(beside, ahead), np.arctan2(above, np.hypot(ahead, beside))
    else:
        yaw, pitch = np.arctan2(beside, np.hypot(ahead, above)), np.arctan2(above, ahead)
    return np.clip(np.stack((yaw, -yaw, pitch, -pitch), axis=-1) / angles, 0.0, 1.0)


def _frame(order: str, axes: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Forward, up and left, square to each other."""
    if order not in ORDERS:
        raise InvalidArgument("The order of the turns of an eye must be one of {known}.", known=", ".join(ORDERS))
    forward = rotation.normalize(axes[0])
    up = rotation.normalize(axes[1] - (axes[1] @ forward) * forward)
    return forward, up, rotation.cross(up, forward)
