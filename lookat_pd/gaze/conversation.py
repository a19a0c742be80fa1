"""Conversations: who looks at whom when, and who glances away, given who speaks when. By chance, from a seed.

One call, `plan`. Listeners turn to the speaker within a range of reaction times. The speaker addresses who spoke
before, in a long speech the listeners in turn, and averts the gaze now and then, but not as the first thing. Source of
the idea: people look more while they listen than while they speak (Argyle and Cook, *Gaze and Mutual Gaze*, 1976).

What happens until a time depends only on who has spoken until then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np

from ..errors import InvalidArgument

DWELL = 0.3
"""Nobody's gaze changes twice within this time [s]."""
SPEAKER_AWAY, LISTENER_AWAY = 0.3, 0.08
"""Largest share of the time that speakers and listeners look elsewhere, at an amount of glances of 1."""
_LOOK_BACK = 0.25
"""How often a listener looks first at who was speaking before."""
_GLANCE = 0.4, 1.0
_SETTLED = 1.2
"""No glances before this time of a turn [s]."""
_OPENING = 0.2
"""Who begins to speak looks at somebody within this time [s]."""
_ADDRESS = 2.5, 5.0
"""How long a speaker addresses one of several listeners [s]."""
_TO_ANOTHER = 0.3
"""How many of a listener's glances go to another listener, and not away."""


@dataclass(frozen=True)
class Turn:
    """From `time` [s] on person `speaker` (0 …) speaks, until the next turn."""

    time: float
    speaker: int


@dataclass(frozen=True)
class Look:
    """From `time` [s] on somebody looks at person `at`, or at nobody: None."""

    time: float
    at: int | None


@dataclass(frozen=True)
class Manner:
    """How people behave. reaction: shortest and longest time [s] until a listener turns to who begins to speak; one
    whose gaze has changed just then takes DWELL from there on. glances: 0 for none to 1 for many. Raises
    InvalidArgument."""

    seed: int = 0
    reaction: tuple[float, float] = (0.2, 0.6)
    glances: float = 0.5

    def __post_init__(self) -> None:
        shortest, longest = self.reaction
        if not 0.0 <= shortest <= longest < np.inf:
            raise InvalidArgument(
                "The reaction times must be 0 or more with the shorter one first, not {shortest} and {longest}.",
                shortest=shortest,
                longest=longest,
            )
        if not 0.0 <= self.glances <= 1.0:
            raise InvalidArgument("The amount of glances must be between 0 and 1, not {glances}.", glances=self.glances)
        if self.seed < 0:
            raise InvalidArgument("The seed must be 0 or more, not {seed}.", seed=self.seed)


USUAL = Manner()


def plan(turns: Sequence[Turn], people: int, end: float, manner: Manner = USUAL) -> list[list[Look]]:
    """For each of `people` the looks in order of time, from the first turn to before `end` [s].

    turns: in order of time. Raises InvalidArgument.
    """
    _check(turns, people, end)
    # Who speaks on begins nothing new.
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
            # Nobody would come back from this glance.
            seen.pop()
    return looks


def _check(turns: Sequence[Turn], people: int, end: float) -> None:
    if people < 2:
        raise InvalidArgument(
            "A conversation needs at least two people, not {people}; add participants.", people=people
        )
    if not turns:
        raise InvalidArgument("The conversation has no turns; add at least one speaker with a start time.")
    if not all(0 <= turn.speaker < people for turn in turns):
        raise InvalidArgument("The speakers must be numbers from 0 to {last}.", last=people - 1)
    times = [*(turn.time for turn in turns), end]
    if not np.all(np.isfinite(times)) or any(later <= earlier for earlier, later in pairwise(times)):
        raise InvalidArgument(
            "The turns of a conversation must be in order of time, and the end after the last one; sort the turns."
        )


class _Person:
    """Somebody in one turn; what is by chance is so from `random` alone, and in the order of time."""

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
            # There is time for that in a slow reaction only.
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
        """When a speaker turns to another listener, where there is one."""
        return time + self.random.uniform(*_ADDRESS) if self.people > 2 else np.inf

    def _others(self) -> list[int]:
        """All others, beginning with the next one."""
        return [(self.person + n) % self.people for n in range(1, self.people)]

    def _glances(self, start: float, earliest: float, most: float) -> Iterator[tuple[float, float]]:
        """When a glance begins and when it ends, without an end; never more than a share `most` of the time from start.

        earliest: no glance begins before.
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
