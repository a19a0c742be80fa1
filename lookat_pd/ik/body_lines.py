"""Joints of a tree in the order of their depth: what combines quantities along their lines."""

from collections.abc import Sequence

import numpy as np

from .. import rotation
from ..rotation import Array


def lines(parents: Sequence[int]) -> list[list[int]]:
    """Each joint and its ancestors."""
    ancestry: list[list[int]] = []
    for joint, parent in enumerate(parents):
        ancestry.append([joint, *(ancestry[parent] if parent >= 0 else ())])
    return ancestry


def doublings(lines: Sequence[Array]) -> list[tuple[int, Array]]:
    """What combines quantities along lines of joints, which are in the order of their depth, by twice as many joints
    each time: the first joint with another one that far above, and these of it and all after it."""
    pairs, far = [], 1
    while far < len(lines[-1]):
        first = next(n for n, line in enumerate(lines) if len(line) > far)
        pairs.append((first, np.array([line[far] for line in lines[first:]])))
        far *= 2
    return pairs


def products(q: Array, doublings: Sequence[tuple[int, Array]]) -> Array:
    """The products of unit quaternions (4, n, m) along the lines of `doublings`, the first joint of a line first."""
    turned = q.copy()
    for first, above in doublings:
        turned[:, first:] = rotation.multiply(turned.take(above, axis=1).T, turned[:, first:].T).T
    return turned


def matrices(q: Array) -> Array:
    """Unit quaternions (4, ...) as rotation matrices (3, 3, ...)."""
    w, x, y, z = q
    double = 2.0 * q[1:]
    wx, wy, wz = w * double
    (xx, xy, xz), (yy, yz), zz = x * double, y * double[1:], z * double[2]
    result = np.empty((3, 3, *w.shape))
    result[0, 0], result[1, 1], result[2, 2] = 1.0 - (yy + zz), 1.0 - (xx + zz), 1.0 - (xx + yy)
    result[0, 1], result[1, 0] = xy - wz, xy + wz
    result[0, 2], result[2, 0] = xz + wy, xz - wy
    result[1, 2], result[2, 1] = yz - wx, yz + wx
    return result
