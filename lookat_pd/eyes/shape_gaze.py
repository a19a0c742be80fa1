"""Eyes that shape keys turn: the values that look in a direction, and the direction of values.

A shape key moves all vertices on straight lines. The pupil, at the unit vector `forward` from the center of the eye, is
therefore at forward + the sum of value * shift, in radii of the eye. Of each pair of opposite directions one is in use.
"""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array

DIRECTIONS = ("LEFT", "RIGHT", "UP", "DOWN")
"""The directions of the character to which the rows of `shifts` move the pupil."""
_HORIZONTAL, _VERTICAL = (0, 1), (2, 3)
_FLAT = 1e-9


def shift(forward: ArrayLike, axis: ArrayLike, angle: float) -> Array:
    """Shift (3,) of the pupil at `forward` (3,) where a shape key turns the eye about `axis` (3,) by `angle` [rad]."""
    ahead = rotation.normalize(checks.exactly("forward axis of the eye", forward, 3))
    turn = rotation.exp(checks.number("angle of the shape key", angle) * rotation.normalize(np.asarray(axis, float)))
    return rotation.rotate(turn, ahead) - ahead


def direction(values: Array, forward: Array, shifts: Array) -> Array:
    """Unit gaze directions (..., 3) of values (..., 4)."""
    return rotation.normalize(forward + values @ shifts)


def weights(directions: Array, forward: Array, shifts: Array) -> Array:
    """Values (..., 4) from 0 to 1 with which the eye looks in directions (..., 3), as far as the shape keys reach.

    forward: (3,) gaze at rest. shifts: (4, 3), rows as DIRECTIONS. Raises InvalidArgument if two of them that may be
    combined turn the eye about the same axis.
    """
    if shifts.shape != (4, 3) or not np.all(np.isfinite(shifts)):
        raise InvalidArgument("The shifts of an eye must be a finite array (4, 3), not {shape}.", shape=shifts.shape)
    result = np.zeros((*directions.shape[:-1], 4))
    best = np.full(directions.shape[:-1], np.inf)
    for across in _HORIZONTAL:
        for upright in _VERTICAL:
            matrix = np.empty((*directions.shape[:-1], 3, 3))
            matrix[..., 0], matrix[..., 1], matrix[..., 2] = shifts[across], shifts[upright], -directions
            level = np.abs(np.linalg.det(matrix)) < _FLAT
            if np.linalg.norm(rotation.cross(shifts[across], shifts[upright])) < _FLAT:
                raise InvalidArgument("The shape keys of an eye turn it about one axis only; choose other shape keys.")
            matrix[level] = np.eye(3)
            amounts = np.linalg.solve(matrix, np.broadcast_to(-forward, directions.shape)[..., None])[..., 0]
            # The pupil must not pass through the center, nor values be negative.
            lacking = np.maximum(-amounts.min(axis=-1), 0.0) + np.where(level, 1e6, 0.0)
            better = lacking < best - 1e-12
            best = np.where(better, lacking, best)
            pair = np.zeros_like(result)
            pair[..., across], pair[..., upright] = amounts[..., 0], amounts[..., 1]
            result = np.where(better[..., None], pair, result)
    return np.clip(result, 0.0, 1.0)
