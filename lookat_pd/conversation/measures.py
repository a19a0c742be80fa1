"""Measures of a planned conversation, to compare with what is known of people."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks
from ..rotation import Array
from .looks import FACE, Look, checked
from .turns import MOST_PEOPLE, Turn, speeches

_STEP = 0.02


@dataclass(frozen=True)
class Shares:
    """How people looked at each other in a conversation: within 8° of the middle of the face. nan where nobody listens
    or speaks."""

    listening: float
    """Fraction of the time in which listeners look at the speaker."""
    speaking: float
    """Fraction of the time in which speakers look at a listener."""
    mutual: float
    """Fraction of the time in which the speaker and whom he looks at look at each other."""
    changes: Array
    """(people,) gaze changes a minute: to someone or something else, or away."""


def shares(turns: Sequence[Turn], people: int, end: float, looks: Sequence[Sequence[Look]]) -> Shares:
    """Measure looks from the first turn until `end` [s]. Raises InvalidArgument."""
    looks = checked(looks, checks.whole("number of people", people, 2, MOST_PEOPLE))
    said = speeches(turns, people, end, objects=_objects(people, looks))
    times = np.arange(said[0].start + 0.5 * _STEP, end, _STEP)
    at = np.array([_at(seen, times) for seen in looks])
    who = np.array([speech.speaker for speech in said])
    who = who[np.searchsorted([speech.start for speech in said], times, "right") - 1]
    columns = np.arange(len(times))
    is_listener = np.arange(people)[:, None] != who
    seen = at[who, columns]
    speaks_to = (seen >= 0) & (seen < people)
    back = at[np.where(speaks_to, seen, 0), columns] == who
    numbers = [_numbers(row) for row in looks]
    changes = np.array([np.count_nonzero(np.diff(row)) for row in numbers]) * 60.0 / (end - said[0].start)
    return Shares(
        float(np.mean((at == who)[is_listener])), float(np.mean(speaks_to)), float(np.mean(speaks_to & back)), changes
    )


def _objects(people: int, looks: Sequence[Sequence[Look]]) -> int:
    return max([0, *(look.at - people + 1 for row in looks for look in row)])


def _at(looks: Sequence[Look], times: Array) -> Array:
    """Whom (n,) someone looks at, -1 for nobody."""
    numbers = np.array([-1, *_numbers(looks)])
    return numbers[np.searchsorted([look.time for look in looks], times, "right")]


def _numbers(looks: Sequence[Look]) -> list[int]:
    return [-1 if np.hypot(look.yaw, look.pitch) > FACE else look.at for look in looks]
