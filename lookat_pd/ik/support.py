"""The support polygon: the nearest points of convex hulls in the plane."""

import numpy as np

from .. import rotation
from ..rotation import Array

_TINY, _SAME = 1e-12, 1e-9


def ground(up: Array) -> Array:
    """Two directions (m, 2, 3) perpendicular to unit vectors (m, 3)."""
    first = rotation.normalize(rotation.cross(up, np.eye(3)[np.argmin(np.abs(up), axis=-1)]))
    return np.stack((first, rotation.cross(up, first)), axis=-2)


def outside(places: Array, polygon: Array) -> Array:
    """The way (m, 2) from places (m, 2) to the hull of points (m, k, 2); zero inside."""
    return nearest(polygon, places) - places


def nearest(points: Array, places: Array) -> Array:
    """The point (m, 2) of the convex hull of points (m, k, 2) that is nearest to each place (m, 2).

    Every edge of a convex hull is a pair of its points, so that the nearest point outside is the nearest one of all
    pairs.
    """
    count, k = points.shape[:2]
    if k == 1:
        return points[:, 0].copy()
    first, second = np.triu_indices(k, 1)
    begin, along = points[:, first], points[:, second] - points[:, first]
    away = places[:, None] - begin
    length = np.sum(along * along, axis=-1)
    part = np.clip(np.sum(away * along, axis=-1) / np.maximum(length, _TINY), 0.0, 1.0)
    candidates = begin + part[..., None] * along
    best = np.argmin(np.sum((candidates - places[:, None]) ** 2, axis=-1), axis=-1)
    edge = candidates[np.arange(count), best]
    return np.where(_inside(points, places)[:, None], places, edge)


def is_corner(points: Array, places: Array) -> Array:
    """Whether each place (m, 2) is one of points (m, k, 2)."""
    return (np.abs(points - places[:, None]).max(axis=-1) < _SAME).any(axis=-1)


def _inside(points: Array, places: Array) -> Array:
    """Whether each place (m, 2) is inside the hull: the directions to the points leave no gap of half a turn."""
    away = points - places[:, None]
    angles = np.sort(np.arctan2(away[..., 1], away[..., 0]), axis=-1)
    gaps = np.diff(np.concatenate((angles, angles[:, :1] + 2.0 * np.pi), axis=-1), axis=-1)
    return gaps.max(axis=-1) <= np.pi
