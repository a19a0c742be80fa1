"""The bones of a spring motion, as they are animated, and where they are with their swing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array

_ENDS = 1e-3
"""How far the ends of a cycle may differ [rad, and parts of the longest bone]."""


@dataclass(frozen=True)
class Rig:
    """n bones over F frames as animated; parents come first."""

    turns: Array
    """(F, n, 4) in the world."""
    places: Array
    """(F, n, 3) [m]"""
    parents: Array
    """(n,) -1 for those that hang on the animation."""
    levels: list[Array]
    """Bones by how many each hangs on."""
    roots: Array
    """(n,) the first bone of what each belongs to."""
    axes: Array
    """(n, 3, 3) by rows: two directions across each bone and its own, in its own frame, right-handed. Those across are
    carried on from parent to child the shortest way at the first frame."""
    lengths: Array
    """(n,) [m]"""
    hung_turns: Array
    """(F, n, 4) in the frame of the parent, or in the world."""
    hung_places: Array
    """(F, n, 3)"""
    dt: float

    @classmethod
    def checked(
        cls, positions: ArrayLike, rotations: ArrayLike, tips: ArrayLike, parents: ArrayLike, dt: float
    ) -> "Rig":
        """Raises InvalidArgument."""
        places = checks.animated("positions", positions)
        if places.ndim != 3 or places.shape[-1] != 3 or not len(places):
            raise checks.shape_error("positions", ("F", "n", 3), places.shape)
        frames, count = places.shape[:2]
        # Places, orientations, torques and modes.
        checks.check_memory(300.0 * frames * count)
        turns = checks.quaternions("rotations", rotations)
        if turns.shape != (frames, count, 4):
            raise checks.shape_error("rotations", (frames, count, 4), turns.shape)
        ends = checks.exactly("tips", tips, count, 3)
        above = checks.exactly("parents", parents, count).astype(int)
        checks.check_order(above.tolist())
        depths, roots = np.zeros(count, dtype=int), np.arange(count)
        for bone in np.flatnonzero(above >= 0):
            depths[bone], roots[bone] = depths[above[bone]] + 1, roots[above[bone]]
        levels = [np.flatnonzero(depths == depth) for depth in range(int(depths.max(initial=-1)) + 1)]
        lengths = np.sqrt(rotation.dot(ends, ends))
        hung_turns, hung_places = turns.copy(), places.copy()
        below = np.flatnonzero(above >= 0)
        if len(below):
            back = rotation.inverse(turns[:, above[below]])
            hung_turns[:, below] = rotation.multiply(back, turns[:, below])
            hung_places[:, below] = rotation.rotate(back, places[:, below] - places[:, above[below]])
        axes = _axes(ends, turns[0], above, levels)
        step = checks.time_step(dt)
        return cls(turns, places, above, levels, roots, axes, lengths, hung_turns, hung_places, step)

    def check_cycle(self) -> None:
        """Raise InvalidArgument where the last frame is not the first one again."""
        turned = rotation.distance(self.turns[0], self.turns[-1])
        moved = self.hung_places[-1] - self.hung_places[0]
        moved = np.sqrt(rotation.dot(moved, moved)) * (self.parents >= 0)
        if np.any(turned > _ENDS) or np.any(moved > _ENDS * self.lengths.max(initial=0.0)):
            raise InvalidArgument(
                "The first and the last frame of the cycle differ by {angle:.3g} degrees; make them the same pose, or "
                "leave out cyclic.",
                angle=float(np.degrees(turned.max(initial=0.0))),
            )

    def whole(self, swings: Array) -> Array:
        """The same swings (F, n, 4), from where the animation alone has the bones, with those of bones without a
        length, which are carried by what they hang on."""
        if (self.lengths > 0.0).all():
            return swings
        result = swings.copy()
        for level in self.levels[1:]:
            still = level[self.lengths[level] == 0.0]
            result[:, still] = self._carried(result, still)
        return result

    def local(self, whole: Array) -> Array:
        """Local offsets (F, n, 4) of bones with these whole swings (F, n, 4)."""
        result, below = whole.copy(), np.flatnonzero(self.parents >= 0)
        result[:, below] = rotation.multiply(rotation.inverse(self._carried(whole, below)), whole[:, below])
        return result

    def _carried(self, whole: Array, bones: Array) -> Array:
        """How bones (m,) that hang on others are turned by these, in their own frames, (F, m, 4)."""
        hung = self.hung_turns[:, bones]
        return rotation.multiply(rotation.inverse(hung), rotation.multiply(whole[:, self.parents[bones]], hung))

    def placed(self, whole: Array, longer: Array) -> tuple[Array, Array]:
        """Joints and tips (F, n, 3) in the world, with whole swings (F, n, 4) and lengthened bones (F, n)."""
        turns, own, joints = rotation.multiply(self.turns, whole), self.axes[:, 2], self.places.copy()
        below = np.flatnonzero(self.parents >= 0)
        above, places = self.parents[below], self.hung_places[:, below]
        if longer.any():
            places = places + own[above] * (rotation.dot(places, own[above]) * longer[:, above])[..., None]
        joints[:, below] = rotation.rotate(turns[:, above], places)
        for level in self.levels[1:]:
            joints[:, level] += joints[:, self.parents[level]]
        return joints, joints + rotation.rotate(turns, own * (self.lengths * (1.0 + longer))[..., None])


def _axes(tips: Array, turns: Array, parents: Array, levels: list[Array]) -> Array:
    """See `Rig.axes`. turns: (n, 4) at the first frame."""
    length = np.sqrt(rotation.dot(tips, tips))[:, None]
    own = np.where(length > 0.0, tips / np.maximum(length, 1e-300), np.array([0.0, 1.0, 0.0]))
    least = np.eye(3)[np.argmin(np.abs(own), axis=1)]
    first = rotation.normalize(least - own * rotation.dot(least, own)[:, None])
    directions = rotation.rotate(turns, own)
    for level in levels[1:]:
        above = parents[level]
        carried = rotation.rotate(turns[above], first[above])
        carried = rotation.rotate(rotation.shortest_arc(directions[above], directions[level]), carried)
        carried = rotation.rotate(rotation.inverse(turns[level]), carried)
        first[level] = rotation.normalize(carried - own[level] * rotation.dot(carried, own[level])[:, None])
    return np.stack((first, rotation.cross(own, first), own), axis=1)
