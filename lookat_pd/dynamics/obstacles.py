"""Obstacles that a reach goes around: capsules, and spheres, which are capsules without length."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import LARGEST
from ..errors import InvalidArgument
from ..rotation import Array
from . import checks
from .arm import Arm

TOUCHED = 0.002
"""Depth [m] within an obstacle that still counts as clear."""
_MARGIN = 0.005
"""Distance [m] that the optimum keeps, because a penalty gives way a little."""
_FRACTIONS = (0.5, 1.0)
"""The points of a bone that are compared with obstacles, as fractions of its length."""
_DETOURS = 8
"""Number of directions in which ways around an obstacle are tried."""
_FURTHER = 0.25
"""Distance of a detour from an obstacle, as a fraction of its radius."""


@dataclass(frozen=True, eq=False)
class Obstacles:
    """m capsules in the frame of the root joints, in metres.

    starts, ends: (m, 3), or (F, m, 3) at each frame of the reach if they move; the ends of their axes, the same for
    spheres. radii: (m,), including the thickness of the arm. Raises InvalidArgument.
    """

    starts: ArrayLike
    ends: ArrayLike
    radii: ArrayLike

    def __post_init__(self) -> None:
        radii = checks.numbers("radii of the obstacles", self.radii)
        if radii.ndim != 1 or not np.all((radii > 0.0) & (radii <= LARGEST)):
            raise InvalidArgument("The radii of the obstacles must be numbers above 0 m, one for each obstacle.")
        object.__setattr__(self, "radii", radii)
        for name in ("starts", "ends"):
            values = checks.numbers("places of the obstacles", getattr(self, name))
            fits = values.ndim in (2, 3) and values.shape[-2:] == (len(radii), 3) and len(values) > 0
            if not (fits and np.all(np.abs(values) <= LARGEST)):
                raise InvalidArgument(
                    "The places of {count} obstacles must be finite numbers of shape ({count}, 3) or (F, {count}, 3).",
                    count=len(radii),
                )
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(np.asarray(self.radii))


class Clearance:
    """The distances of an arm from obstacles during a motion (N + 1, a, 4) in N steps of h seconds, such as `first`,
    whose cost is `scale`.

    A part of the arm that at the start is within an obstacle, or nearer to it than its margin, need not keep a larger
    distance afterwards, and the same holds for the hand at the goal.
    """

    def __init__(self, arm: Arm, obstacles: Obstacles, steps: int, first: Array, h: float) -> None:
        self.scale = arm.cost(first, h)
        self._arm, self._radii = arm, np.asarray(obstacles.radii)
        self._starts, self._ends = _places(obstacles, np.arange(steps + 1) / steps)
        found = self._distances(first)
        most = found[0]
        # Where the hand ends is given, how the arm is bent there is not.
        hands = [len(_FRACTIONS) * (bone + 1) - 1 for bone in arm.tips]
        most[hands] = np.minimum(most[hands], found[-1, hands])
        self._kept, self._bare = np.minimum(self._radii + _MARGIN, most), np.minimum(self._radii, most)

    def depths(self, motion: Array) -> Array:
        """How far (..., N + 1, p m) [m] points of the arm are nearer to obstacles than they may be."""
        found = np.maximum(self._kept - self._distances(motion), 0.0)
        return found.reshape(*found.shape[:-2], -1)

    def depth(self, motion: Array) -> float:
        """How deep [m] the arm is within an obstacle at most."""
        return float(np.maximum(self._bare - self._distances(motion), 0.0).max(initial=0.0))

    def least(self, motion: Array) -> float:
        """The smallest distance [m] of the arm from an obstacle, negative within one."""
        return float((self._distances(motion) - self._radii).min())

    def detours(self, motion: Array) -> tuple[int, list[Array]]:
        """The sample (1 to N - 1) of a motion at which it is deepest within an obstacle, and places of the hand (3,)
        beside the obstacle."""
        deep = (self._kept - self._distances(motion))[1:-1]
        sample, _, which = (int(i) for i in np.unravel_index(np.argmax(deep), deep.shape))
        sample += 1
        hand = self._arm.points(motion)
        place, course = hand[sample], hand[min(sample + 1, len(hand) - 1)] - hand[sample - 1]
        start, end = self._starts[sample, which], self._ends[sample, which]
        middle = _nearest(place, start, end)
        course = course / max(float(np.linalg.norm(course)), 1e-12)
        across = place - middle - (place - middle) @ course * course
        if np.linalg.norm(across) < 1e-6:
            across = np.cross(course, np.eye(3)[np.argmin(np.abs(course))])
        across /= np.linalg.norm(across)
        other = np.cross(course, across)
        away = self._radii[which] * (1.0 + _FURTHER)
        places = []
        for angle in 2.0 * np.pi * np.arange(_DETOURS) / _DETOURS:
            beside = middle + away * (np.cos(angle) * across + np.sin(angle) * other)
            far = beside - self._arm.shoulder
            size = float(np.linalg.norm(far))
            places.append(self._arm.shoulder + far * min(1.0, 0.98 * self._arm.length / max(size, 1e-12)))
        return sample, places

    def _distances(self, motion: Array) -> Array:
        """(..., N + 1, p, m) of points of the arm from the axes of the obstacles."""
        begins, ends = self._arm.bones(motion)
        parts = np.array(_FRACTIONS)[:, None]
        points = begins[..., None, :] + parts * (ends - begins)[..., None, :]
        points = points.reshape(*begins.shape[:-2], -1, 1, 3)
        nearest = _nearest(points, self._starts[:, None], self._ends[:, None])
        apart = points - nearest
        return np.sqrt(rotation.dot(apart, apart))


def _places(obstacles: Obstacles, parts: Array) -> tuple[Array, Array]:
    """Starts and ends (s, m, 3) at fractions (s,) of the duration."""
    found = []
    for values in (np.asarray(obstacles.starts), np.asarray(obstacles.ends)):
        moving = values if values.ndim == 3 else values[None]
        at = parts * (len(moving) - 1)
        low = np.minimum(at.astype(int), max(len(moving) - 2, 0))
        share = (at - low)[:, None, None]
        found.append((1.0 - share) * moving[low] + share * moving[np.minimum(low + 1, len(moving) - 1)])
    return found[0], found[1]


def _nearest(points: Array, starts: Array, ends: Array) -> Array:
    """The nearest points on the segments from starts to ends."""
    along = ends - starts
    size = np.maximum(np.sum(along * along, axis=-1), 1e-18)
    part = np.clip(np.sum((points - starts) * along, axis=-1) / size, 0.0, 1.0)
    return starts + part[..., None] * along
