"""Contacts with the ground: the frames in which a point of a foot or hand is low and at rest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..curves import runs
from ..rotation import Array

Interval = tuple[int, int]
"""First and last frame of a contact."""
_SHORTEST = 0.1
_INTERRUPTED = 0.05
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Detection:
    """Detection of contacts."""

    speed: float = 0.3
    """Largest speed, in chain lengths per second."""
    height: float = 0.1
    """Largest height above the lowest position, in chain lengths; 0 for any height."""


def detect(place: Array, dt: float, size: float, detection: Detection, floor: float | None = None) -> list[Interval]:
    """The intervals in which points (F, 3) of the world are at rest: first and last index of each contact.

    dt: [s] between points. size: the length of the chain, the unit of speed and height. floor: height of the ground,
    None for that of the lowest point.
    """
    if len(place) < 3:
        return []
    height = detection.height * size if detection.height > 0.0 else np.inf
    ground = place[:, 2].min() if floor is None else floor
    return intervals(touching(place, dt, detection.speed * size, height, ground), dt)


def touching(places: Array, dt: float, speed: float, height: float, floor: float | Array) -> NDArray[np.bool_]:
    """Whether points (F, ..., 3) of the world are at rest on the ground: (F, ...).

    dt: [s] between points. speed: largest one [length/s]. height: largest one above the floor. floor: height of the
    ground below each point.
    """
    velocity = np.gradient(places, dt, axis=0) if len(places) > 1 else np.zeros_like(places)
    return (np.linalg.norm(velocity, axis=-1) < speed) & (places[..., 2] - floor < height)


def intervals(touches: Array, dt: float) -> list[Interval]:
    """The contacts of a mask (F,): without interruptions of 0.05 s, and none shorter than 0.1 s."""
    joined: list[Interval] = []
    for a, b in runs(touches):
        if joined and (a - joined[-1][1] - 1) * dt <= _INTERRUPTED:
            joined[-1] = joined[-1][0], b
        else:
            joined.append((a, b))
    return [(a, b) for a, b in joined if (b - a) * dt >= _SHORTEST]


def within_reach(
    contacts: Sequence[Interval], places: Array, base: Array, reach: float, dt: float, speed: float
) -> list[Interval]:
    """The contacts without the frames at their ends at which the limb does not reach and the effector is on its way.

    places, base: (F, 3) of the effector and of the base of its limb. reach: largest distance of the two, unless they
    are further apart in the animation. dt: [s] between places. speed: [length/s] from which the effector is on its way.
    A contact holds it at its mean place. None becomes shorter than 0.1 s, and the ends of the range stay.
    """
    if not contacts:
        return []
    away = np.linalg.norm(np.gradient(places, dt, axis=0), axis=-1) > speed
    most = np.maximum(reach, np.linalg.norm(base - places, axis=-1)) * (1.0 + _ROUNDING)
    return [_shortened(interval, places, base, most, away, dt) for interval in contacts]


def _shortened(interval: Interval, places: Array, base: Array, most: Array, away: Array, dt: float) -> Interval:
    """A contact without the frames at its ends at which the effector is on its `away` (F,) further than `most` (F,)."""
    a, b = interval
    while True:
        leaves = away[[a, b]] & (np.linalg.norm(base[[a, b]] - places[a : b + 1].mean(axis=0), axis=-1) > most[[a, b]])
        first = a + int(leaves[0] and a > 0)
        last = b - int(leaves[1] and b < len(places) - 1)
        if (first, last) == (a, b) or (last - first) * dt < _SHORTEST:
            return a, b
        a, b = first, last
