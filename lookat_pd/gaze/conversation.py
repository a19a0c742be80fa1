"""Conversations: who looks at whom, and who glances away, given who speaks when. Random, from a seed.

One call, `plan`. Listeners turn to the speaker within a range of reaction times. The speaker addresses the previous
speaker, in a long turn all listeners one after the other, and sometimes averts the gaze, but not at the start. Source
of the idea: people look more while they listen than while they speak (Argyle and Cook, *Gaze and Mutual Gaze*, 1976).

The result up to a time depends only on who has spoken until then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np

from .. import checks
from ..errors import InvalidArgument

DWELL = 0.3
"""Shortest time [s] between two gaze changes of a person."""
SPEAKER_AWAY, LISTENER_AWAY = 0.3, 0.08
"""Largest fraction of the time that speakers and listeners look away, for `glances` of 1."""
_LOOK_BACK = 0.25
"""Probability that a listener first looks at the previous speaker."""
_GLANCE = 0.4, 1.0
_SETTLED = 1.2
"""Time [s] at the start of a turn without glances."""
_OPENING = 0.2
"""Longest time [s] until a new speaker looks at someone."""
_ADDRESS = 2.5, 5.0
"""Time [s] for which a speaker addresses one of several listeners."""
_TO_ANOTHER = 0.3
"""Fraction of a listener's glances that go to another listener instead of away."""


@dataclass(frozen=True)
class Turn:
    """Person `speaker` (0 …) speaks from `time` [s] until the next turn."""

    time: float
    speaker: int


@dataclass(frozen=True)
class Look:
    """A look at person `at`, or at nobody (None), from `time` [s]."""

    time: float
    at: int | None


@dataclass(frozen=True)
class Manner:
    """Behavior of the people. reaction: shortest and longest time [s] until a listener turns to a new speaker; at least
    DWELL after the previous gaze change. glances: 0 for none to 1 for many. Raises InvalidArgument."""

    seed: int = 0
    reaction: tuple[float, float] = (0.2, 0.6)
    glances: float = 0.5

    def __post_init__(self) -> None:
        shortest, longest = checks.exactly("reaction times", self.reaction, 2).tolist()
        if not 0.0 <= shortest <= longest < np.inf:
            raise InvalidArgument(
                "The reaction times must be 0 or more with the shorter one first, not {shortest} and {longest}.",
                shortest=shortest,
                longest=longest,
            )
        checks.fraction("amount of glances", self.glances)
        checks.whole("seed", self.seed, 0, 2**63)


USUAL = Manner()
_MOST_PEOPLE = 1000
_LONGEST = 1e6
"""Time [s] of all people together."""


def plan(turns: Sequence[Turn], people: int, end: float, manner: Manner = USUAL) -> list[list[Look]]:
    """The looks of each of `people` in order of time, from the first turn until `end` [s].

    turns: in order of time. Raises InvalidArgument.
    """
    _check(turns, people, end)
    # Someone who continues to speak does not react.
    begun = [n for n, turn in enumerate(turns) if n == 0 or turn.speaker != turns[n - 1].speaker]
    ends = [*(turns[n].time for n in begun[1:]), end]
    looks: list[list[Look]] = [[] for _ in range(people)]
    before: int | None = None
    for n, until in zip(begun, ends, strict=True):
        for person, seen in enumerate(looks):
            random = np.random.default_rng((manner.seed, n, person))
            somebody = _Person(person, people, manner, random, seen)
            speaks = person == turns[n].speaker
            found = somebody.speaking(turns[n], before) if speaks else somebody.listening(turns[n], before)
            seen += takewhile(lambda look, until=until: look.time < until, found)
        before = turns[n].speaker
    for seen in looks:
        if seen and seen[-1].at is None and seen[-1].time >= turns[begun[-1]].time:
            # There is no time to return from this glance.
            seen.pop()
    return looks


def _check(turns: Sequence[Turn], people: int, end: float) -> None:
    if not isinstance(people, int | np.integer) or people < 2:
        raise InvalidArgument(
            "A conversation needs at least two people, not {people}; add participants.",
            people=checks.shown(people),
        )
    if not turns:
        raise InvalidArgument("The conversation has no turns; add at least one speaker with a start time.")
    checks.whole("number of people", people, 2, _MOST_PEOPLE)
    if not all(isinstance(turn.speaker, int | np.integer) and 0 <= turn.speaker < people for turn in turns):
        raise InvalidArgument("The speakers must be numbers from 0 to {last}.", last=people - 1)
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


class _Person:
    """One person in one turn; all random numbers come from `random`, in order of time."""

    def __init__(
        self, person: int, people: int, manner: Manner, random: np.random.Generator, seen: Sequence[Look]
    ) -> None:
        self.person, self.people, self.manner, self.random = person, people, manner, random
        self.looks_at = seen[-1].at if seen else None
        self.free_from = seen[-1].time + DWELL if seen else -np.inf

    def listening(self, turn: Turn, before: int | None) -> Iterator[Look]:
        shortest, longest = self.manner.reaction
        reaction = self.random.uniform(shortest, longest)
        looks_back = self.random.uniform() < _LOOK_BACK
        arrival = max(turn.time + reaction, self.free_from)
        if before not in (None, self.person) and looks_back and self.people > 2:
            # Only a slow reaction leaves time for this.
            first = max(turn.time + 0.5 * shortest, self.free_from)
            latest = max(arrival, turn.time + longest)
            if self.looks_at not in (before, turn.speaker) and first + DWELL <= latest:
                arrival = max(arrival, first + DWELL)
                yield Look(first, before)
            elif self.looks_at == before:
                arrival = latest
        if self.looks_at != turn.speaker:
            yield Look(arrival, turn.speaker)
        settled = turn.time + max(longest + DWELL, _SETTLED)
        others = [n for n in self._others() if n != turn.speaker]
        for begin, back in self._glances(arrival, max(settled, arrival + DWELL), LISTENER_AWAY):
            to_another = bool(others) and self.random.uniform() < _TO_ANOTHER
            yield Look(begin, others[self.random.integers(len(others))] if to_another else None)
            yield Look(back, turn.speaker)

    def speaking(self, turn: Turn, before: int | None) -> Iterator[Look]:
        others = self._others()
        to = others.index(before) if before is not None else int(self.random.integers(len(others)))
        begin = max(turn.time + self.random.uniform(0.0, _OPENING), self.free_from)
        if self.looks_at != others[to]:
            yield Look(begin, others[to])
        glances = self._glances(begin, begin + _SETTLED, SPEAKER_AWAY)
        away, back = next(glances)
        change = self._next_change(begin)
        while min(away, change) < np.inf:
            if change + DWELL <= away:
                to = (to + 1) % len(others)
                yield Look(change, others[to])
                change = self._next_change(change)
            else:
                yield Look(away, None)
                if change < back + DWELL:
                    to = (to + 1) % len(others)
                    change = self._next_change(back)
                yield Look(back, others[to])
                away, back = next(glances)

    def _next_change(self, time: float) -> float:
        """The times at which a speaker turns to another listener, if there is one."""
        return time + self.random.uniform(*_ADDRESS) if self.people > 2 else np.inf

    def _others(self) -> list[int]:
        """All others, starting with the next one."""
        return [(self.person + n) % self.people for n in range(1, self.people)]

    def _glances(self, start: float, earliest: float, most: float) -> Iterator[tuple[float, float]]:
        """Endless start and end times of glances, which take at most a fraction `most` of the time from start.

        earliest: start of the first glance.
        """
        share = most * self.manner.glances
        if share <= 0.0:
            yield np.inf, np.inf
            return
        time = start
        while True:
            length = self.random.uniform(*_GLANCE)
            begin = max(time + length * (1.0 / share - 1.0) * self.random.uniform(1.0, 1.6), earliest)
            time = begin + length
            yield begin, time
