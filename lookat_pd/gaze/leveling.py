"""The roll about the aim axis that brings the up of a head towards the up of the world."""

import numpy as np

from .. import rotation
from ..curves import cubic_step
from ..rotation import Array

_POLE = np.radians(3.0), np.radians(15.0)
"""Angles of the aim from straight up or down between which the roll sets in: at the pole it is undefined."""
_UPSIDE_DOWN = np.radians(100.0), np.radians(180.0)
"""Rolls between which the head lets go: upside down, both sides are equally far."""


def roll_to_level(head: Array, up: Array, right: Array, upright: Array) -> Array:
    """The roll (n,) [rad] about the forward axis after which the right axis of the head is level.

    head: (n, 4) orientations. up, right: (3,) unit axes in its frame, square to each other; forward is up x right.
    upright: (n, 3) unit vectors, the world's up in the space of the orientations. The roll is continuous: it is 0 where
    forward points along `upright`, and where the head is upside down.
    """
    above = rotation.dot(upright, rotation.rotate(head, up))
    aside = rotation.dot(upright, rotation.rotate(head, right))
    # What is left of `upright` square to forward is the sine of the angle between them.
    from_pole = np.arcsin(np.clip(np.hypot(above, aside), 0.0, 1.0))
    roll = np.arctan2(aside, above)
    defined = cubic_step((from_pole - _POLE[0]) / (_POLE[1] - _POLE[0]))
    near = cubic_step((_UPSIDE_DOWN[1] - np.abs(roll)) / (_UPSIDE_DOWN[1] - _UPSIDE_DOWN[0]))
    return roll * defined * near
