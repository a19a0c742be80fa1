"""Where a character walks to in a clip, seen from its body: a foot swings forward while it is lifted."""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton

_STEPS = 0.3
"""The correlation of height and velocity of the feet above which they make steps."""
_LIFT = 0.005
"""Of the skeleton's size: how far at least feet are lifted."""


def direction(
    skeleton: Skeleton,
    trunk: int,
    feet: Sequence[int],
    up: Array,
    before: tuple[Array, Array],
    after: tuple[Array, Array],
) -> Array | None:
    """The unit direction (3,) in which the feet step, level, in the rest pose of the trunk; None if they make no steps.

    before, after: orientations (F, n, 4) and positions (F, n, 3) of all bones at F times and a little later. The body
    may move through the scene or walk on the spot: only feet relative to the trunk count.
    """
    places = [_seen(skeleton, trunk, feet, pose) for pose in (before, after)]
    velocity = places[1] - places[0]
    level = velocity - (velocity @ up)[..., None] * up
    height = 0.5 * (places[0] + places[1]) @ up
    height = height - np.mean(height, axis=0)
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    if not len(height) or np.ptp(height, axis=0).max() < _LIFT * size:
        return None
    common = np.sum(height[..., None] * level, axis=(0, 1))
    most = float(np.sqrt(np.sum(height**2) * np.sum(level**2)))
    if most == 0.0 or np.linalg.norm(common) < _STEPS * most:
        return None
    return rotation.normalize(common)


def _seen(skeleton: Skeleton, trunk: int, feet: Sequence[int], pose: tuple[Array, Array]) -> Array:
    """Positions (F, k, 3) of the feet relative to the trunk, as if that had its rest orientation."""
    turns, places = pose
    back = rotation.multiply(skeleton.rotations[trunk], rotation.inverse(turns[:, trunk]))
    return rotation.rotate(back[:, None], places[:, list(feet)] - places[:, [trunk]])
