"""The axis to a character's left, and how it is known."""

from collections.abc import Callable

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from .anatomy import Anatomy
from .directions import SQUARE

NAMED, SYMMETRIC, GUESSED = "named", "symmetric", "guessed"
"""How left and right are known."""
_WIDE, _FLAT = 0.1, 0.02
"""Of how far bones reach in one direction: how far they do in another one, at least, and in the third, at most, if they
show a plane in which the body is symmetric."""


def left_axis(anatomy: Anatomy, mesh_normal: Callable[[], Array | None]) -> tuple[Array, str]:
    """Unit axis to the character's left and how it is known, NAMED, SYMMETRIC or GUESSED; its sign means something only
    if it is named."""
    heads = anatomy.skeleton.heads
    across = _across(anatomy)
    if len(across):
        return rotation.normalize(_agreed(across)), NAMED
    axis, images = anatomy.mirror
    if len(images) >= 4:
        return np.eye(3)[axis], SYMMETRIC
    normal = mesh_normal()
    if normal is not None:
        return normal, SYMMETRIC
    # All bones of a snake or a crane are in one plane.
    points = np.concatenate((heads, anatomy.skeleton.tails))
    _, sizes, along = np.linalg.svd(points - np.mean(points, axis=0))
    sizes = np.pad(sizes, (0, 3 - len(sizes)))
    flat = sizes[1] > _WIDE * sizes[0] and sizes[2] < _FLAT * sizes[0]
    return along[2], SYMMETRIC if flat else GUESSED


def _across(anatomy: Anatomy) -> Array:
    """Vectors (n, 3) from right to left where each pair of limbs begins: further out, limbs may be posed unevenly."""
    skeleton = anatomy.skeleton
    begun: set[int] = set()
    vectors = []
    for left, right in sorted(anatomy.pairs):
        vector = skeleton.heads[left] - skeleton.heads[right]
        if not begun & set(skeleton.ancestors(left)) and np.linalg.norm(vector) > 0.01 * anatomy.size:
            begun.add(left)
            vectors.append(vector)
    return np.array(vectors).reshape(-1, 3)


def _agreed(across: Array) -> Array:
    """Sum (3,) of vectors (n, 3) in which those that differ from the rest weigh little."""
    directions, total = rotation.normalize(across), np.sum(across, axis=0)
    for _ in range(10):
        off = np.linalg.norm(directions - rotation.normalize(total), axis=-1, keepdims=True)
        total = np.sum(across / (off + SQUARE), axis=0)
    return total
