"""Joints of a tree in the order of their depth: what combines quantities along their lines."""

from collections.abc import Sequence

import numpy as np

from .. import rotation
from ..rotation import Array


def lines(parents: Sequence[int]) -> list[list[int]]:
    """Each joint and its ancestors."""
    found: list[list[int]] = []
    for joint, parent in enumerate(parents):
        found.append([joint, *(found[parent] if parent >= 0 else ())])
    return found


def doublings(lines: Sequence[Array]) -> list[tuple[int, Array]]:
    """What combines quantities along lines of joints, which are in the order of their depth, by twice as many joints
    each time: the first joint with another one that far above, and these of it and all after it."""
    found, far = [], 1
    while far < len(lines[-1]):
        first = next(n for n, line in enumerate(lines) if len(line) > far)
        found.append((first, np.array([line[far] for line in lines[first:]])))
        far *= 2
    return found


def products(q: Array, doublings: Sequence[tuple[int, Array]]) -> Array:
    """The products of unit quaternions (4, n, m) along the lines of `doublings`, the first joint of a line first."""
    found = q.copy()
    for first, above in doublings:
        found[:, first:] = rotation.multiply(found.take(above, axis=1).T, found[:, first:].T).T
    return found


def matrices(q: Array) -> Array:
    """Unit quaternions (4, ...) as rotation matrices (3, 3, ...)."""
    w, x, y, z = q
    double = 2.0 * q[1:]
    wx, wy, wz = w * double
    (xx, xy, xz), (yy, yz), zz = x * double, y * double[1:], z * double[2]
    found = np.empty((3, 3, *w.shape))
    found[0, 0], found[1, 1], found[2, 2] = 1.0 - (yy + zz), 1.0 - (xx + zz), 1.0 - (xx + yy)
    found[0, 1], found[1, 0] = xy - wz, xy + wz
    found[0, 2], found[2, 0] = xz + wy, xz - wy
    found[1, 2], found[2, 1] = yz - wx, yz + wx
    return found
