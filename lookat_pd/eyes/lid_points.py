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
    angles = np.zeros(side.shape)
    for frame in range(len(side)):
        order = np.argsort(low_side[frame])
        edge, level = low_side[frame][order], low_height[frame][order]
        margin = _BESIDE * (edge[-1] - edge[0]) if len(edge) > 1 else np.inf
        inside = (side[frame] > edge[0] - margin) & (side[frame] < edge[-1] + margin)
        # The corners belong to both lids.
        edge, level = np.append(edge, side[frame][~inside]), np.append(level, height[frame][~inside])
        order = np.argsort(edge)
        under = np.interp(side[frame], edge[order], level[order])
        angles[frame] = np.where(inside, np.maximum(height[frame] - under, 0.0), 0.0)
    return angles


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
