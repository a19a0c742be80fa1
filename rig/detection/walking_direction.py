"""In which direction a character walks in a clip, seen from its body, by the steps of its feet."""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton

_STEPS = 0.45
"""The correlation of height and velocity of the feet above which they make steps."""
_STANDS = 0.5
"""How steadily the lowest foot moves backwards in steps: its mean velocity as a part of the quadratic mean."""
_ALIKE = np.cos(np.radians(25.0))
_LIFT = 0.03
"""Of the skeleton's size: how far at least feet are lifted."""


def of_steps(
    skeleton: Skeleton,
    trunk: int,
    feet: Sequence[int],
    up: Array,
    before: tuple[Array, Array],
    after: tuple[Array, Array],
) -> Array | None:
    """The unit direction (3,) in which the feet step, level, in the rest pose of the trunk; None if they make no steps.

    before, after: orientations (F, n, 4) and positions (F, n, 3) of all bones at F times and a little later. The body
    may move through the scene or walk on the spot: only feet relative to the trunk count. They swing forward while
    they are high, and the lowest moves backwards; who falls, fights or stands up does one of both.
    """
    places = [_seen(skeleton, trunk, feet, pose) for pose in (before, after)]
    velocity = places[1] - places[0]
    level = velocity - (velocity @ up)[..., None] * up
    height = 0.5 * (places[0] + places[1]) @ up
    height = height - np.mean(height, axis=0)
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    if not len(height) or np.ptp(height, axis=0).max() < _LIFT * size:
        return None
    swing = np.sum(height[..., None] * level, axis=(0, 1))
    standing = level[np.arange(len(level)), np.argmin(0.5 * (places[0] + places[1]) @ up, axis=1)]
    push = -np.mean(standing, axis=0)
    steps = np.linalg.norm(swing) > _STEPS * np.sqrt(np.sum(height**2) * np.sum(level**2))
    stands = np.linalg.norm(push) > _STANDS * np.sqrt(np.mean(np.sum(standing**2, axis=-1)))
    if not (steps and stands):
        return None
    swing, push = rotation.normalize(swing), rotation.normalize(push)
    return swing if swing @ push > _ALIKE else None


def _seen(skeleton: Skeleton, trunk: int, feet: Sequence[int], pose: tuple[Array, Array]) -> Array:
    """Positions (F, k, 3) of the feet relative to the trunk, as if that had its rest orientation."""
    turns, places = pose
    back = rotation.multiply(skeleton.rotations[trunk], rotation.inverse(turns[:, trunk]))
    return rotation.rotate(back[:, None], places[:, list(feet)] - places[:, [trunk]])
