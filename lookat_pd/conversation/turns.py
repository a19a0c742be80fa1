"""Turns of a conversation: who speaks from when on, and the speeches that they make."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .. import checks
from ..errors import InvalidArgument

DWELL = 0.3
"""Shortest time [s] between two gaze changes of a person."""
MOST_PEOPLE = 1000
_CHAPTER = 6
"""Speeches after which everybody begins anew: what is edited does not change all that comes after it."""
_LONGEST = 1e6
"""Time [s] of all people together."""


@dataclass(frozen=True)
class Turn:
    """Person `speaker` (0 …) speaks from `time` [s] until the next turn."""

    time: float
    speaker: int
    at: int | None = None
    """The person or common object that is looked at in this turn, None to choose."""


@dataclass(frozen=True)
class Speech:
    """One or several turns in a row of one speaker, from start to end [s]."""

    number: int
    """Number of its first turn."""
    speaker: int
    start: float
    end: float
    before: int | None
    after: int | None
    """`before`, `after`: the previous and next speaker, None at the ends."""
    pauses: tuple[float, ...]
    """Times [s] at which further turns of the same speaker begin."""
    at: int | None
    """As for `Turn`."""
    begins: bool = False
    """Whether nothing is carried over to it from what was before, but what somebody looks at."""

    @property
    def length(self) -> float:
        return self.end - self.start


def speeches(turns: Sequence[Turn], people: int, end: float, objects: int = 0) -> list[Speech]:
    """The speeches of a conversation until `end` [s]. turns: in order of time. Raises InvalidArgument."""
    _check(turns, people, end, objects)
    turns, end = [replace(turn, time=float(turn.time)) for turn in turns], float(end)
    begun = [
        n
        for n, turn in enumerate(turns)
        if n == 0 or turn.speaker != turns[n - 1].speaker or turn.at != turns[n - 1].at
    ]
    ends = [*(turns[n].time for n in begun[1:]), end]
    result = []
    for k, (n, until) in enumerate(zip(begun, ends, strict=True)):
        turn = turns[n]
        last = begun[k + 1] if k + 1 < len(begun) else len(turns)
        before = next((s.speaker for s in reversed(result) if s.speaker != turn.speaker), None)
        after = next((other.speaker for other in turns[last:] if other.speaker != turn.speaker), None)
        pauses = tuple(other.time for other in turns[n + 1 : last])
        begins = k % _CHAPTER == 0
        result.append(Speech(n, turn.speaker, turn.time, until, before, after, pauses, turn.at, begins))
    return result


def no_turns() -> InvalidArgument:
    """The error about a conversation in which nobody speaks."""
    return InvalidArgument("The conversation has no turns; add at least one speaker with a start time.")


def _check(turns: Sequence[Turn], people: int, end: float, objects: int) -> None:
    if not isinstance(people, int | np.integer) or people < 2:
        raise InvalidArgument(
            "A conversation needs at least two people, not {people}; add participants.",
            people=checks.shown(people),
        )
    if not turns:
        raise no_turns()
    checks.whole("number of people", people, 2, MOST_PEOPLE)
    checks.whole("number of objects", objects, 0, MOST_PEOPLE)
    if not all(isinstance(turn.speaker, int | np.integer) and 0 <= turn.speaker < people for turn in turns):
        raise InvalidArgument("The speakers must be numbers from 0 to {last}.", last=people - 1)
    for turn in turns:
        if turn.at is None:
            continue
        is_number = isinstance(turn.at, int | np.integer)
        if not (is_number and 0 <= turn.at < people + objects and turn.at != turn.speaker):
            raise InvalidArgument(
                "A speaker must look at another person or an object, not at {at}; choose a number from 0 to {last}.",
                at=checks.shown(turn.at),
                last=people + objects - 1,
            )
    times = checks.numbers("times of the turns", [*(turn.time for turn in turns), end])
    is_late = times.ndim > 1 or not np.all(np.abs(times) <= checks.LATEST)
    if is_late or any(later <= earlier for earlier, later in pairwise(times)):
        raise InvalidArgument(
            "The turns of a conversation must be in order of time, and the end after the last one; sort the turns."
        )
    if (times[-1] - times[0]) * people > _LONGEST:
        raise InvalidArgument(
            "The conversation is {seconds:g} s long, too long for {people} people; divide it.",
            seconds=times[-1] - times[0],
            people=people,
        )
