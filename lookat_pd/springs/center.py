"""The part of a center's motion that spring bones do not feel: they swing in a frame that has that part of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array


@dataclass(frozen=True)
class Frame:
    """A moving frame for each of m bones, over S samples."""

    turns: Array
    """(S, m, 4) in the world, none at the first sample."""
    shifts: Array
    """(S, m, 3)"""

    def turned(self, turns: Array) -> Array:
        """Orientations (S, m, 4) in the world, in the frame."""
        return rotation.multiply(rotation.inverse(self.turns), turns)

    def placed(self, places: Array) -> Array:
        """Places (S, m, 3) in the world, in the frame."""
        return rotation.rotate(rotation.inverse(self.turns), places - self.shifts)

    def seen(self, points: Array) -> Array:
        """Points (S, c, 3) in the world, in the frame of each bone: (S, m, c, 3)."""
        return rotation.rotate(rotation.inverse(self.turns)[:, :, None], points[:, None] - self.shifts[:, :, None])

    def rotated(self, vectors: Array) -> Array:
        """Vectors (S or 1, m, 3) in the world, in the frame: (S, m, 3)."""
        return rotation.rotate(rotation.inverse(self.turns), np.broadcast_to(vectors, self.shifts.shape))

    def later(self, shift: Array) -> tuple[Array, Array]:
        """How what is displaced by `shift` (m, 3) in the world is placed at the last sample, in the frame, by what it
        was at the first one: turned (m, 4), then displaced (m, 3)."""
        turn = rotation.inverse(self.turns[-1])
        return turn, rotation.rotate(turn, shift - self.shifts[-1])


@dataclass(frozen=True)
class Felt:
    """A center over F frames, and the part of its motion that each of n bones feels."""

    places: Array
    """(F, 1 or n, 3)"""
    turns: Array
    """(F, 1 or n, 4)"""
    inertia: Array
    """(n,)"""

    @classmethod
    def checked(cls, center: tuple[ArrayLike, ArrayLike] | None, inertia: Array, frames: int) -> "Felt | None":
        """None where all of the motion is felt. Raises InvalidArgument."""
        if not (inertia < 1.0).any():
            return None
        if center is None:
            raise InvalidArgument("An inertia below 1 needs the center whose motion is not felt; give a center.")
        try:
            places, turns = center
        except (TypeError, ValueError):
            raise InvalidArgument(
                "The center of spring bones is a pair: its positions and its rotations; give both."
            ) from None
        found = checks.quaternions("rotations of the center", turns)
        one = np.ndim(places) == 2
        own = (frames,) if one else (frames, len(inertia))
        if found.shape != (*own, 4):
            raise checks.shape_error("rotations of the center", (*own, 4), found.shape)
        where = checks.exactly("positions of the center", places, *own, 3)
        return cls(where[:, None], found[:, None], inertia) if one else cls(where, found, inertia)

    def over(self, frames: slice, bones: Array) -> Frame:
        """The frame of each of some bones, which has that part of the center's motion that they do not feel."""
        places, turns = self.places[frames], self.turns[frames]
        if places.shape[1] > 1:
            places, turns = places[:, bones], turns[:, bones]
        part = 1.0 - self.inertia[bones]
        steps = rotation.log(rotation.multiply(turns[1:], rotation.inverse(turns[:-1])))
        steps = rotation.exp(part[:, None] * steps)
        frame = rotation.identity(len(turns), len(bones))
        for k in range(len(steps)):
            frame[k + 1] = rotation.multiply(steps[k], frame[k])
        # A point at the center goes the same part of the center's way.
        moved = part[:, None] * (places[1:] - places[:-1])
        back = rotation.inverse(frame)
        after = rotation.rotate(back[1:], places[:-1] + moved)
        own = np.cumsum(after - rotation.rotate(back[:-1], places[:-1]), axis=0)
        own = np.concatenate((np.zeros((1, len(bones), 3)), own))
        return Frame(frame, rotation.rotate(frame, own))
