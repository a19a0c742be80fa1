"""Closing an eye whose lids are several points, such as the controls along the edge of each lid.

A point of the upper lid turns about the lateral axis through the center of the eye, so that it stays on the eyeball,
until it is at the height of the lower lid. Source: the anatomy of the lid, whose edge slides over the eye.
"""

import numpy as np

from .. import rotation
from ..rotation import Array

_BESIDE = 0.02
"""Fraction of the width of the lower lid: a point of the upper lid so far beyond it is a corner of the eye."""


def gaps(upper: Array, lower: Array, axes: Array) -> Array:
    """Angles (F, n) [rad] by which the points of an upper lid turn down to close an eye; 0 at the corners.

    upper: (F, n, 3), lower: (F, m, 3) [m] relative to the center of the eye. axes: (F, 3, 3), rows: the right, the
    forward and the up axis of the head. What is already closed is not opened.
    """
    side, height = _on_eye(upper, axes)
    low_side, low_height = _on_eye(lower, axes)
    first, last = low_side.min(axis=1, keepdims=True), low_side.max(axis=1, keepdims=True)
    margin = _BESIDE * (last - first) if lower.shape[1] > 1 else np.inf
    inside = (side > first - margin) & (side < last + margin)
    # The corners belong to both lids.
    edge = np.concatenate((low_side, np.where(inside, np.inf, side)), axis=1)
    under = _at(side, edge, np.concatenate((low_height, height), axis=1))
    return np.where(inside, np.maximum(height - under, 0.0), 0.0)


def _at(places: Array, points: Array, values: Array) -> Array:
    """`np.interp` in each row: values (F, m) at points (F, m), in any order, there at places (F, n).

    Points at infinity are none.
    """
    order = np.argsort(points, axis=1)
    points, values = (np.take_along_axis(rows, order, axis=1) for rows in (points, values))
    count = np.isfinite(points).sum(axis=1, keepdims=True)
    after = (points[:, None] <= places[..., None]).sum(axis=2)
    left = np.clip(after - 1, 0, np.maximum(count - 2, 0))
    right = np.minimum(left + 1, count - 1)
    (x0, x1), (y0, y1) = ([np.take_along_axis(rows, n, axis=1) for n in (left, right)] for rows in (points, values))
    slope = (y1 - y0) / np.where(x1 > x0, x1 - x0, 1.0)
    found = slope * (places - x0) + y0
    return np.where(places <= x0, y0, np.where(places >= x1, y1, found))


def turned(points: Array, angles: Array, axes: Array) -> Array:
    """The displacements (F, n, 3) [m] of points (F, n, 3) that turn up by angles (F, n) [rad] about the right axis."""
    turn = rotation.exp(angles[..., None] * axes[:, None, 0])
    moved = rotation.rotate(turn, points) - points
    return np.where(angles[..., None] == 0.0, 0.0, moved)


def _on_eye(points: Array, axes: Array) -> tuple[Array, Array]:
    """Position (F, n) along the right axis, which such a turn leaves, and the angle (F, n) [rad] above the forward
    axis."""
    right, forward, up = (np.einsum("fnk,fk->fn", points, axes[:, n]) for n in range(3))
    return right, np.arctan2(up, forward)
