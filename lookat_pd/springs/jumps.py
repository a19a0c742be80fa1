"""Where a base jumps instead of moving: springs start anew at rest there."""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..rotation import Array

_REACH, _TURN = 2.0, 1.2
"""Least length of a jump, in lengths of a chain, and least angle [rad]."""
_STILLER = 6.0
"""How many times as far as the frames beside it a jump goes."""


def find_jumps(positions: ArrayLike, rotations: ArrayLike, reach: ArrayLike) -> Array:
    """(F, n) whether bones jump to a frame from the one before.

    positions (F, n, 3) [m]; rotations (F, n, 4); reach (n,) the lengths of the chains that hang there [m]. A jump is
    much longer than the chain, or turns far, and the frames beside it are much stiller. Raises InvalidArgument.
    """
    places = checks.array("positions", positions, None, None, 3)
    if places.ndim != 3:
        raise checks.shape_error("positions", ("F", "n", "3"), places.shape)
    turns = checks.quaternions("rotations", rotations, *places.shape[:2])
    lengths = checks.like("reach", reach, places.shape[1])
    result = np.zeros(places.shape[:2], dtype=bool)
    steps = places[1:] - places[:-1]
    moved = np.sqrt(rotation.dot(steps, steps))
    turned = rotation.distance(turns[1:], turns[:-1])
    result[1:] = _stands_out(moved, _REACH * lengths) | _stands_out(turned, _TURN)
    return result


def _stands_out(steps: Array, least: ArrayLike) -> Array:
    """Which steps (F - 1, n) are longer than the least, and than those beside them."""
    none = np.zeros((1, steps.shape[1]))
    beside = np.maximum(np.concatenate((none, steps[:-1])), np.concatenate((steps[1:], none)))
    return (steps > least) & (steps > _STILLER * beside)
