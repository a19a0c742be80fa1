"""Where in a face the eyes of someone who looks at it rest: on an eye, the nose or the mouth, by small saccades.

How long they rest, and how often at what, is a choice, in the range of fixations on faces (0.3 s and more).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .looks import FACE, Look, checked
from .manner import Manner, of_each
from .turns import DWELL, Turn, speeches

_PLACES = ((0.5, 0.0), (-0.5, 0.0), (0.0, -0.5), (0.0, -1.0))
"""Eyes, nose and mouth."""
_CHANCES = {"listening": (0.33, 0.27, 0.14, 0.26), "speaking": (0.38, 0.32, 0.18, 0.12)}
"""Who listens looks at the mouth more."""
_REST, _MORE = 0.4, 0.9
"""Shortest time [s] at one place, and by how much it is longer in the mean."""


@dataclass(frozen=True)
class Fixation:
    """From `time` [s] on the eyes rest at a place of the face that they look at, until the next."""

    time: float
    side: float
    """How far to the left for who looks from the middle between the eyes of the face, in distances between these."""
    up: float
    """How far up from there, in distances from the eyes to the mouth."""


def fixations(
    turns: Sequence[Turn], people: int, end: float, looks: Sequence[Sequence[Look]], manner: Sequence[Manner] | Manner
) -> list[list[Fixation]]:
    """Those of each of the people in order of time, during their looks at others. looks: of `plan`.

    None where nobody's face is looked at, or nothing is scanned. Raises InvalidArgument.
    """
    said = speeches(turns, people, end, 1000)
    manners, looks = of_each(manner, people), checked(looks, people)
    starts = [speech.start for speech in said]
    rows = []
    for person, seen in enumerate(looks):
        row: list[Fixation] = []
        ends = [*(look.time for look in seen[1:]), end]
        for look, until in zip(seen, ends, strict=True):
            if look.at < people and np.hypot(look.yaw, look.pitch) <= FACE and manners[person].scanning:
                speech = said[max(int(np.searchsorted(starts, look.time, "right")) - 1, 0)]
                chances = _CHANCES["speaking" if speech.speaker == person else "listening"]
                since = max(round(1000.0 * (look.time - said[0].start)), 0)
                random = np.random.default_rng((manners[person].seed, person, 10, since))
                row += _scanned(look.time, until, random, chances, manners[person].scanning)
        rows.append(row)
    return rows


def _scanned(
    begin: float, until: float, random: np.random.Generator, chances: Sequence[float], often: float
) -> Iterator[Fixation]:
    time, place = begin, -1
    while time <= until - DWELL or place < 0:
        weights = np.where(np.arange(len(chances)) == place, 0.0, chances)
        place = int(random.choice(len(chances), p=weights / weights.sum()))
        yield Fixation(time, *_PLACES[place])
        time += max((_REST + _MORE * random.standard_gamma(2.0) / 2.0) / often, DWELL)
