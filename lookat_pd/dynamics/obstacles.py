"""Obstacles that a reach goes around: capsules, and spheres, which are capsules without length; and the arms of several
hands, which keep a distance from each other."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import LARGEST
from ..errors import InvalidArgument
from ..rotation import Array
from . import effort
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
    """m capsules in the frame of the root joints, in metres. Raises InvalidArgument."""

    starts: ArrayLike
    """(m, 3), or (F, m, 3) at each frame of the reach if they move; one end of each axis."""
    ends: ArrayLike
    """As `starts`, the other end, which for a sphere is the same point."""
    radii: ArrayLike
    """(m,), including the thickness of the arm."""
    taken: ArrayLike | None = None
    """(m,), which of them the hands take: the last bone of each arm may be as near to these as on arrival; None for
    none."""

    def __post_init__(self) -> None:
        radii = checks.numbers("radii of the obstacles", self.radii)
        if radii.ndim != 1 or not np.all((radii > 0.0) & (radii <= LARGEST)):
            raise InvalidArgument("The radii of the obstacles must be numbers above 0 m, one for each obstacle.")
        object.__setattr__(self, "radii", radii)
        taken = np.zeros(len(radii), dtype=bool) if self.taken is None else np.asarray(self.taken, dtype=bool)
        if taken.shape != radii.shape:
            raise InvalidArgument(
                "Of {count} obstacles, taken must say for each whether the hands take it.", count=len(radii)
            )
        object.__setattr__(self, "taken", taken)
        for name in ("starts", "ends"):
            values = checks.numbers("places of the obstacles", getattr(self, name))
            fits = values.ndim in (2, 3) and values.shape[-2:] == (len(radii), 3) and len(values) > 0
            if not (fits and np.all(np.abs(values) <= LARGEST)):
                raise InvalidArgument(
                    "The places of {count} obstacles must be finite numbers of shape ({count}, 3) or (F, {count}, 3).",
                    count=len(radii),
                )
            object.__setattr__(self, name, values)

    @classmethod
    def none(cls) -> "Obstacles":
        """No obstacles."""
        return cls(np.zeros((1, 0, 3)), np.zeros((1, 0, 3)), np.zeros(0))

    def __len__(self) -> int:
        return len(np.asarray(self.radii))


class Clearance:
    """The distances of an arm from obstacles during a motion (N + 1, a, 4) in N steps of h seconds, such as `first`,
    whose cost is `scale`, and those of the arms of several hands from each other.

    A part of the arm that at the start is within an obstacle, or nearer to it than its margin, need not keep a larger
    distance afterwards, and the same holds for the hand at the goal, and for two arms. thickness: radius [m] of the
    arms; 0 if they do not avoid each other.
    """

    def __init__(
        self, arm: Arm, obstacles: Obstacles, steps: int, first: Array, h: float, thickness: float = 0.0
    ) -> None:
        self.scale = effort.cost(arm, first, h)
        self._arm, self._sizes = arm, np.asarray(obstacles.radii)
        self._starts, self._ends = _places(obstacles, np.arange(steps + 1) / steps)
        self._pairs = np.array(arm.pairs if thickness > 0.0 else [], dtype=int).reshape(-1, 2)
        self._points = len(_FRACTIONS) * len(arm.hand_of_bone)
        self._radii = np.concatenate((np.tile(self._sizes, self._points), np.full(len(self._pairs), 2.0 * thickness)))
        distances = self._distances(first)
        most = distances[0]
        # Where the hand ends is given, how the arm is bent there is not.
        rows = np.arange(self._points * len(self._sizes)).reshape(self._points, -1)
        hands = rows[[len(_FRACTIONS) * (bone + 1) - 1 for bone in arm.tips]].ravel()
        most[hands] = np.minimum(most[hands], distances[-1, hands])
        # The last bone of each arm touches what the hand takes.
        last = [len(_FRACTIONS) * bone + n for bone in arm.tips for n in range(-1, len(_FRACTIONS)) if bone or n >= 0]
        touching = rows[np.ix_(last, np.flatnonzero(obstacles.taken))].ravel()
        most[touching] = np.minimum(most[touching], distances[-1, touching])
        places, owners = arm.points(first[-1]).reshape(-1, 3), np.array(arm.hand_of_bone)
        for n, pair in enumerate(self._pairs, rows.size):
            one, other = places[owners[pair]]
            most[n] = min(most[n], float(np.linalg.norm(one - other)))
        self._kept, self._bare = np.minimum(self._radii + _MARGIN, most), np.minimum(self._radii, most)
        self._counted = self._radii.copy()
        self._counted[touching] = self._bare[touching]

    def depths(self, motion: Array) -> Array:
        """How far (..., N + 1, e) [m] parts of the arm are nearer to obstacles, or arms to each other, than they may
        be."""
        return np.maximum(self._kept - self._distances(motion), 0.0)

    def depth(self, motion: Array) -> float:
        """How deep [m] the arm is within an obstacle, or within another arm, at most."""
        return float(np.maximum(self._bare - self._distances(motion), 0.0).max(initial=0.0))

    def is_clear(self, motion: Array) -> bool:
        """Whether the arm touches nothing, or hardly."""
        return self.depth(motion) <= TOUCHED

    def least(self, motion: Array) -> float | None:
        """The smallest distance [m] of the arm from an obstacle, negative within one; None without obstacles."""
        count = len(self._radii) - len(self._pairs)
        return float((self._distances(motion) - self._counted)[:, :count].min()) if count else None

    def apart(self, motion: Array) -> Array | None:
        """The smallest distances (N + 1,) [m] between two arms, negative where they are within each other; None if they
        do not avoid each other."""
        count = len(self._radii) - len(self._pairs)
        return (self._distances(motion) - self._bare)[:, count:].min(axis=1) if len(self._pairs) else None

    def detours(self, motion: Array) -> tuple[int, list[Array]]:
        """The sample (1 to N - 1) of a motion at which it is deepest within an obstacle or another arm, and places of
        the k hands (3 k,) with the one beside the obstacle, or both beside each other."""
        deep = (self._kept - self._distances(motion))[1:-1]
        sample, which = (int(i) for i in np.unravel_index(np.argmax(deep), deep.shape))
        sample += 1
        hands = self._arm.points(motion).reshape(len(motion), -1, 3)
        before, after = hands[sample - 1], hands[min(sample + 1, len(hands) - 1)]
        pair, owners = which - self._points * len(self._sizes), self._arm.hand_of_bone
        if pair >= 0:
            one, other = (owners[bone] for bone in self._pairs[pair])
            middle = 0.5 * (hands[sample, one] + hands[sample, other])
            course = after[one] - before[one] - after[other] + before[other]
            moved = ((one, 1.0), (other, -1.0))
        else:
            point, obstacle = divmod(which, len(self._sizes))
            one = owners[point // len(_FRACTIONS)]
            middle = _nearest(hands[sample, one], self._starts[sample, obstacle], self._ends[sample, obstacle])
            course = after[one] - before[one]
            moved = ((one, 1.0),)
        course = course / max(float(np.linalg.norm(course)), 1e-12)
        across = hands[sample, one] - middle
        across = across - across @ course * course
        if np.linalg.norm(across) < 1e-6:
            across = np.cross(course, np.eye(3)[np.argmin(np.abs(course))])
        across /= np.linalg.norm(across)
        aside = np.cross(course, across)
        away = self._radii[which] * (1.0 + _FURTHER)
        places = []
        for angle in 2.0 * np.pi * np.arange(_DETOURS) / _DETOURS:
            beside = hands[sample].copy()
            for hand, sign in moved:
                own = self._arm.arms[hand]
                far = middle + sign * away * (np.cos(angle) * across + np.sin(angle) * aside) - own.shoulder
                size = float(np.linalg.norm(far))
                beside[hand] = own.shoulder + far * min(1.0, 0.98 * own.length / max(size, 1e-12))
            places.append(beside.ravel())
        return sample, places

    def _distances(self, motion: Array) -> Array:
        """(..., N + 1, e) of points of the arm from the axes of the obstacles, and of bones of two arms."""
        begins, ends = self._arm.bones(motion)
        parts = np.array(_FRACTIONS)[:, None]
        points = begins[..., None, :] + parts * (ends - begins)[..., None, :]
        points = points.reshape(*begins.shape[:-2], -1, 1, 3)
        apart = points - _nearest(points, self._starts[:, None], self._ends[:, None])
        distances = np.sqrt(rotation.dot(apart, apart))
        distances = distances.reshape(*distances.shape[:-2], -1)
        if not len(self._pairs):
            return distances
        one, other = self._pairs.T
        between = _between(*(part[..., bones, :] for bones in (one, other) for part in (begins, ends)))
        return np.concatenate((distances, between), axis=-1)


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


def _between(begins: Array, ends: Array, other_begins: Array, other_ends: Array) -> Array:
    """The distances (...) between segments. Source: Ericson, Real-Time Collision Detection, 2005, section 5.1.9."""
    along, other, apart = ends - begins, other_ends - other_begins, begins - other_begins
    a, e, b = rotation.dot(along, along), rotation.dot(other, other), rotation.dot(along, other)
    c, f = rotation.dot(along, apart), rotation.dot(other, apart)
    a, e = np.maximum(a, 1e-18), np.maximum(e, 1e-18)
    across = a * e - b * b
    s = np.where(across > 1e-12 * a * e, np.clip((b * f - c * e) / np.maximum(across, 1e-300), 0.0, 1.0), 0.0)
    t = np.clip((b * s + f) / e, 0.0, 1.0)
    s = np.clip((b * t - c) / a, 0.0, 1.0)
    apart = apart + s[..., None] * along - t[..., None] * other
    return np.sqrt(rotation.dot(apart, apart))
