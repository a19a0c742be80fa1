"""Poses of a skeleton as bones relative to others, so that a difference decays joint by joint.

Matrices are (..., B, 4, 4) of B bones in one common space. anchors: (B,) for each bone the row of the bone that it is
relative to, or -1 for the common space; an anchor may come before or after its bones, but there are no circles.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array

Anchors = NDArray[np.int_]


@dataclass(frozen=True)
class RelativePoses:
    """Bones relative to their anchors."""

    locations: Array
    """Locations (..., B, 3) in the frame of the anchor, with its scale."""
    rotations: Array
    """(..., B, 4) relative to the rotation of the anchor."""
    sizes: Array
    """(..., B, 3) lengths of the axes in the common space."""
    stretches: Array
    """(..., B, 3, 3) scale and shear, in the bone's own rotation."""


def order(anchors: Anchors) -> list[int]:
    """The rows such that each anchor comes before its bones. Rows in a circle are left out."""
    above: dict[int, list[int]] = {}
    for row, anchor in enumerate(anchors.tolist()):
        above.setdefault(anchor, []).append(row)
    rows, waiting = [], list(reversed(above.get(-1, [])))
    while waiting:
        row = waiting.pop()
        rows.append(row)
        waiting.extend(reversed(above.get(row, [])))
    return rows


def relative(matrices: Array, anchors: Anchors) -> RelativePoses:
    """Each bone relative to its anchor. A scale of the anchor does not turn the bone, nor shear it."""
    axes, locations = matrices[..., :3, :3], matrices[..., :3, 3].copy()
    rotations = rotation.from_matrix(axes)
    turned, has = rotations.copy(), anchors >= 0
    above = anchors[has]
    turned[..., has, :] = rotation.multiply(rotation.inverse(rotations[..., above, :]), rotations[..., has, :])
    away = locations[..., has, :] - locations[..., above, :]
    locations[..., has, :] = np.linalg.solve(axes[..., above, :, :], away[..., None])[..., 0]
    stretches = rotation.to_matrix(rotation.inverse(rotations)) @ axes
    return RelativePoses(locations, turned, np.linalg.norm(axes, axis=-2), stretches)


def composed(poses: RelativePoses, anchors: Anchors) -> Array:
    """The matrices (..., B, 4, 4) of relative poses; sizes count where those of the stretches differ."""
    lengths = np.linalg.norm(poses.stretches, axis=-2)
    ratios = np.divide(poses.sizes, lengths, out=np.ones_like(lengths), where=lengths > 0.0)
    stretches, rotations = poses.stretches * ratios[..., None, :], poses.rotations.copy()
    result = np.zeros((*poses.locations.shape[:-1], 4, 4))
    result[..., 3, 3] = 1.0
    for row in order(anchors):
        anchor, location = int(anchors[row]), poses.locations[..., row, :]
        if anchor >= 0:
            rotations[..., row, :] = rotation.multiply(rotations[..., anchor, :], rotations[..., row, :])
            above = result[..., anchor, :, :]
            location = above[..., :3, 3] + (above[..., :3, :3] @ location[..., None])[..., 0]
        result[..., row, :3, :3] = rotation.to_matrix(rotations[..., row, :]) @ stretches[..., row, :, :]
        result[..., row, :3, 3] = location
    return result


def is_uneven(matrices: Array) -> NDArray[np.bool_]:
    """(...) whether the scale of matrices (..., 4, 4) differs between the axes."""
    return rotation.is_uneven(matrices[..., :3, :3])


def is_sheared(matrices: Array) -> NDArray[np.bool_]:
    """(...) whether the axes of matrices (..., 4, 4) are not at right angles, or are mirrored."""
    axes = matrices[..., :3, :3]
    return rotation.is_sheared(axes) | (np.linalg.det(axes) < 0.0)


def split_offset(shown: Array, wanted: Array) -> tuple[Array, Array, Array]:
    """What to add to `shown` to have `wanted`, both (..., 4, 4) without shear: displacements (..., 3) in the common
    space, rotations (..., 4) in the frame of `shown`, and factors (..., 3) of its scale."""
    turns = rotation.multiply(rotation.inverse(_rotation(shown)), _rotation(wanted))
    sizes = [np.linalg.norm(matrices[..., :3, :3], axis=-2) for matrices in (shown, wanted)]
    return wanted[..., :3, 3] - shown[..., :3, 3], turns, sizes[1] / sizes[0]


def rigid_offset(shown: Array, wanted: Array) -> tuple[Array, Array, Array]:
    """As `split_offset`, but the factor before `shown` in a product of matrices: a rotation about the origin of the
    common space and a displacement, which keep scale and shear as they are."""
    turns = rotation.multiply(_rotation(wanted), rotation.inverse(_rotation(shown)))
    moves = wanted[..., :3, 3] - rotation.rotate(turns, shown[..., :3, 3])
    return moves, turns, np.ones_like(moves)


def distance(a: Array, b: Array) -> Array:
    """(...) how far two matrices (..., 4, 4) are from each other: the largest number by which their locations, rotation
    matrices and scales differ. Shear does not count, nor does scale where either is sheared."""
    axes = np.abs(rotation.to_matrix(_rotation(a)) - rotation.to_matrix(_rotation(b))).max(axis=(-2, -1))
    sizes = [np.linalg.norm(matrices[..., :3, :3], axis=-2) for matrices in (a, b)]
    scale = np.where(is_sheared(a) | is_sheared(b), 0.0, np.abs(sizes[1] - sizes[0]).max(axis=-1))
    return np.maximum(np.abs(a - b)[..., :3, 3].max(axis=-1), np.maximum(axes, scale))


def parts(matrices: Array) -> tuple[Array, Array, Array]:
    """Locations (..., 3), rotations (..., 4) and the lengths of the axes (..., 3) of matrices (..., 4, 4)."""
    axes = matrices[..., :3, :3]
    return matrices[..., :3, 3], rotation.from_matrix(axes), np.linalg.norm(axes, axis=-2)


def affine(locations: Array, rotations: Array, sizes: Array) -> Array:
    """The matrices (..., 4, 4) of `parts` without shear."""
    result = np.zeros((*locations.shape[:-1], 4, 4))
    result[..., :3, :3] = rotation.to_matrix(rotations) * sizes[..., None, :]
    result[..., :3, 3] = locations
    result[..., 3, 3] = 1.0
    return result


def _rotation(matrices: Array) -> Array:
    return rotation.from_matrix(matrices[..., :3, :3])
