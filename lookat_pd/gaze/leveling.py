"""The roll about the aim that brings the up of a head towards the up of the world, or back to that of the animation.

A turn about the up of a leaning body rolls the head in the world. People let it roll little: their heads turn about the
vertical, like a Fick gimbal, whatever the trunk does. So what a look adds to the roll of the animation is limited.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..curves import cubic_step
from ..rotation import Array
from .turn_distribution import soft_limit

_POLE = np.radians(3.0), np.radians(15.0)
"""Angles of the aim from straight up or down between which the roll sets in: at the pole it is undefined."""
_UPSIDE_DOWN = np.radians(100.0), np.radians(180.0)
"""Rolls between which the head lets go: upside down, both sides are equally far."""
_EDGE = 2.0 / 3.0
"""Of the largest roll that is added: the width of its smooth limit to either side."""


def roll_to_level(head: Array, up: Array, right: Array, upright: Array) -> Array:
    """The roll (n,) [rad] about the forward axis after which the right axis of the head is level.

    head: (n, 4) orientations. up, right: (3,) or (n, 3) unit axes in its frame, square to each other; forward is up x
    right. upright: (n, 3) unit vectors, the world's up in the space of the orientations. The roll is continuous: it is
    0 where forward points along `upright`, and where the head is upside down.
    """
    roll, defined = _leaning(head, up, right, upright)
    return roll * defined * _near(roll)


def _leaning(head: Array, up: Array, right: Array, upright: Array) -> tuple[Array, Array]:
    """The roll (n,) [rad] to either side, and how far it is defined, 0 to 1. Arguments as for `roll_to_level`."""
    above = rotation.dot(upright, rotation.rotate(head, up))
    aside = rotation.dot(upright, rotation.rotate(head, right))
    # What is left of `upright` square to forward is the sine of the angle between them.
    from_pole = np.arcsin(np.clip(np.hypot(above, aside), 0.0, 1.0))
    return np.arctan2(aside, above), cubic_step((from_pole - _POLE[0]) / (_POLE[1] - _POLE[0]))


def _near(roll: Array) -> Array:
    """1 for rolls (n,) [rad] that are nearest one way, down to 0 for half a turn."""
    return cubic_step((_UPSIDE_DOWN[1] - np.abs(roll)) / (_UPSIDE_DOWN[1] - _UPSIDE_DOWN[0]))


@dataclass(frozen=True)
class Leveling:
    """How heads are rolled that a look turns, over n samples."""

    upright: Array
    """(n, 3) unit vectors, the up of the world."""
    animated: Array
    """(n,) the roll [rad] that levels the head as it is animated."""
    clear: Array
    """(n,) 1 where that is nearest one way, down to 0 where the animated head is upside down."""
    level: float
    """0 to 1, how far the head is rolled towards the world's up."""
    most: float
    """The largest roll [rad] that the look may add, pi for any."""

    @classmethod
    def of(cls, upright: Array, heads: Array, axes: tuple[Array, Array], level: float, most: float) -> "Leveling":
        """upright: (n, 3). heads: (n, 4) as animated. axes: their up and right (3,)."""
        roll, defined = _leaning(heads, *axes, upright)
        return cls(upright, roll * defined, _near(roll), level, most)

    def __getitem__(self, window: slice) -> "Leveling":
        return Leveling(self.upright[window], self.animated[window], self.clear[window], self.level, self.most)

    def repeated(self, count: int) -> "Leveling":
        """Over count times as many samples, the same again and again."""
        upright, animated, clear = (np.concatenate([a] * count) for a in (self.upright, self.animated, self.clear))
        return Leveling(upright, animated, clear, self.level, self.most)

    def roll(self, head: Array, up: Array, right: Array) -> Array:
        """The roll (n,) [rad] to add to heads (n, 4). up, right: as for `roll_to_level`."""
        roll, defined = _leaning(head, up, right, self.upright)
        to_level = self.level * roll * defined * _near(roll)
        if self.most >= np.pi:
            return to_level
        added = np.angle(np.exp(1j * (roll - self.animated)))
        excess = added - np.sign(added) * soft_limit(np.abs(added), self.most, _EDGE * self.most)
        return to_level + (1.0 - self.level) * excess * defined * self.clear * _near(roll) * _near(added)
