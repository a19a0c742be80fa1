"""Who looks at whom when, and who looks away, with the shares of time that people show.

Each person has a number from 0 to 1 that is drawn anew at random times, and looks at the partner while it is below the
share that applies: that of a listener, or that of a speaker at the start, in the middle and at the end of a turn. What
someone has looked too little or too much so far changes the share, so that it is met whatever the lengths of turns,
and with the fewest changes of gaze.

Sources: shares, Argyle and Cook (1976). A speaker looks away at the start of a turn and back before it ends, Kendon
(1967); 73 % of turns, Andrist, Mutlu and Gleicher (2013). Directions of glances: the same. Their sizes are those of
saccades, -6.9° ln(p), Lee, Badler and Badler, *Eyes Alive* (2002), beyond the face of the partner. Whom a listener of a
group looks at is the speaker for 88 %, Vertegaal and others (2001); bystanders often turn to the next speaker before
the turn ends, Holler and Kendrick (2015).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks
from ..errors import InvalidArgument
from .manner import MOST_GLANCE, Manner, of_each
from .turns import DWELL, Speech, Turn, speeches

_START_SHARE, _END_SHARE = 0.2, 0.85
"""Share of gaze of a speaker at the start and before the end of a turn that is long enough."""
_START_TIME, _END_TIME = 1.3, 1.0
"""Longest times [s] of these."""
_START_DELAY = 0.25
"""Longest time [s] from the start of a turn until the speaker looks away."""
_SHORT = 2.5
"""Length [s] of turns up to which a speaker has one share throughout."""
_PATIENCE, _BOUNDS = 1.5, (0.02, 0.98)
"""Time [s] of looks that are owed, after which they are made up for, and bounds of the share of gaze."""
_OWED_FIRST = {"speaking": -0.03, "listening": 0.05}
"""What is owed of looks in the mean, with which one begins, as parts of the time after which a look is reconsidered."""
_OWED = 0.4, 0.65
"""Time of looks that are owed, or were too much, after which the gaze is reconsidered, as parts of the mean wait."""
_RETURN = 1.0
"""Time [s] before the end in which no glance begins."""
_REST = 0.5
"""Time [s] after a new share applies in which the gaze is not reconsidered."""
_LEAST_WAIT, _LONG = 0.6, 4.0
"""Factor of the time of a look in the longest turns, and length [s] of turns in which it is 0.5 more."""
_STRIDE, _JITTER = 0.618, 0.15
"""Steps of the number from 0 to 1, which cover the range evenly, so that short conversations meet the shares too."""
_TO_OTHER, _TO_OBJECT = 0.35, 0.35
"""Probability that someone who looks away looks at another person of a group, or at a common object."""
_FOLLOWS = 0.6
"""Probability that a listener follows the gaze of the speaker to a common object."""
_FOLLOWS_AFTER = 0.3, 0.6
_ADDRESS = 2.5, 5.0
"""Time [s] for which a speaker addresses one of several listeners."""
_ANTICIPATES, _EARLY = 0.5, 0.5
"""Probability that a bystander looks at the next speaker before the turn begins, and by how long [s] at most."""
_LARGEST = {"speaking": MOST_GLANCE, "listening": np.radians(22.7)}
_FURTHER = {"speaking": 1.0, "listening": 0.5}
"""Factors of how far glances go beyond the nearest: the head of a listener hardly takes part in them, as a choice."""
_SLANT = 0.25
"""Angle [rad] by which glances are at most beside the axis along which they go."""
_GAZED = 0.9, 2.1
"""Time [s] for which someone who looks away looks at one place."""
_ELSEWHERE = np.radians((50.0, 160.0))
"""Angles [rad] about the partner between two such places."""
_DIRECTIONS = {"start": (0.49, 0.30, 0.21), "thinking": (0.31, 0.39, 0.30), "listening": (0.57, 0.14, 0.29)}
"""Probabilities to look aside, up and down."""


@dataclass(frozen=True)
class Look:
    """A look at person or object `at` from `time` [s], with the eyes turned to the left by `yaw` and up by `pitch`."""

    time: float
    at: int
    yaw: float = 0.0
    pitch: float = 0.0

    @property
    def away(self) -> bool:
        """Whether the eyes look beside the person."""
        return self.yaw != 0.0 or self.pitch != 0.0


FACE = np.radians(8.0)
"""Angle [rad] from the middle of a face within which someone looks at it."""
_State = tuple[int, float, float]


@dataclass(frozen=True)
class _Phase:
    """From `time` [s] on a `share` of gaze at person `at`."""

    time: float
    share: float
    at: int
    kind: str
    """Kind of the glances away."""
    is_free: bool = True
    """Whether looks that are owed are made up for here."""

    @property
    def role(self) -> str:
        return "listening" if self.kind == "listening" else "speaking"


def plan(
    turns: Sequence[Turn], people: int, end: float, manner: Manner | Sequence[Manner] | None = None, objects: int = 0
) -> list[list[Look]]:
    """The looks of each of `people` in order of time, from the first turn until `end` [s].

    turns: in order of time. manner: of all, or of each. objects: number of common objects that may be looked at; they
    are numbered after the people. A look depends on the turns until the next change of speaker only. Raises
    InvalidArgument.
    """
    said = speeches(turns, people, end, objects)
    manners = of_each(manner, people)
    speakers = [_Person(n, people, objects, manners[n], said) for n in range(people)]
    shown = [person.objects_shown() for person in speakers]
    return [person.looks(end, shown) for person in speakers]


def checked(looks: Sequence[Sequence[Look]], people: int) -> list[list[Look]]:
    """The looks of so many people. Raises InvalidArgument."""
    rows = [list(row) for row in looks]
    if len(rows) != people:
        raise InvalidArgument(
            "There are looks of {rows} people, but {people} people; give those of each.", rows=len(rows), people=people
        )
    for look in (look for row in rows for look in row):
        checks.number("time of a look", look.time, -checks.LATEST, checks.LATEST)
        checks.whole("person or object that is looked at", look.at, 0, 2**31)
        for angle in (look.yaw, look.pitch):
            checks.number("angle of a glance", angle)
    return rows


class _Person:
    """One person in all speeches. Random numbers come from the seed, the number of the speech, and the person."""

    def __init__(self, person: int, people: int, objects: int, manner: Manner, said: Sequence[Speech]) -> None:
        self.person, self.people, self.objects, self.manner, self.said = person, people, objects, manner, said
        self._begin(said[0])
        self._starts = [speech.start for speech in said]
        self.states = list(self._states())

    def _random(self, speech: Speech, use: int) -> np.random.Generator:
        return np.random.default_rng((self.manner.seed, speech.number, self.person, use))

    def _begin(self, speech: Speech) -> None:
        """Begin anew, as if there had been nothing before."""
        self.level = self._random(speech, 1).uniform()
        self.owed = {role: part * self.manner.hold for role, part in _OWED_FIRST.items()}

    def objects_shown(self) -> list[tuple[float, float, int]]:
        """When this person, while speaking, looks at common objects: start, end and number."""
        shown = []
        until = [time for time, _ in self.states[1:]] + [self.said[-1].end]
        for (time, state), end in zip(self.states, until, strict=False):
            speaks = any(s.speaker == self.person and s.start <= time < s.end for s in self.said)
            if speaks and state[0] >= self.people and end - time > 2.0 * DWELL:
                shown.append((time, end, state[0]))
        return shown

    def looks(self, end: float, shown: Sequence[list[tuple[float, float, int]]]) -> list[Look]:
        states = self._following([item for n, items in enumerate(shown) if n != self.person for item in items])
        looks: list[Look] = []
        n = 0
        while n < len(states):
            begin = max(states[n][0], looks[-1].time + DWELL if looks else -np.inf)
            while n + 1 < len(states) and states[n + 1][0] <= begin:
                n += 1
            state = states[n][1]
            if begin < end and (not looks or state != (looks[-1].at, looks[-1].yaw, looks[-1].pitch)):
                looks.append(Look(begin, *state))
            n += 1
        if len(looks) > 1 and looks[-1].away and looks[-1].time >= end - _RETURN:
            # There is no time to return from this glance.
            looks.pop()
        ends = [*(look.time for look in looks[1:]), end]
        return [part for look, until in zip(looks, ends, strict=True) for part in self._wandering(look, until)]

    def _wandering(self, look: Look, until: float) -> Iterator[Look]:
        """A look; one that is away goes on to other places, since nobody stares at nothing for long."""
        yield look
        random, place, time = self._since(look.time, 9), np.arctan2(look.pitch, look.yaw), look.time
        while look.away:
            time += random.uniform(*_GAZED)
            place += random.uniform(*_ELSEWHERE) * random.choice((-1.0, 1.0))
            size = self._size("listening", random.uniform())
            if time > until - DWELL:
                return
            yield Look(time, look.at, float(size * np.cos(place)), float(size * np.sin(place)))

    def _since(self, time: float, use: int) -> np.random.Generator:
        """Random numbers of something that begins at a time, whatever there was before."""
        since = max(round(1000.0 * (time - self.said[0].start)), 0)
        return np.random.default_rng((self.manner.seed, self.person, use, since))

    def _following(self, shown: Sequence[tuple[float, float, int]]) -> list[tuple[float, _State]]:
        """The states, with looks at objects that the speaker looks at."""
        states = self.states
        for start, stop, number in shown:
            since = max(round(1000.0 * (start - self.said[0].start)), 0)
            random = np.random.default_rng((self.manner.seed, self.person, number, 3, since))
            begin, back = start + random.uniform(*_FOLLOWS_AFTER), stop + random.uniform(0.1, 0.4)
            if random.uniform() >= _FOLLOWS or begin + DWELL > stop:
                continue
            after = [state for time, state in states if time <= back]
            inside = [(time, state) for time, state in states if time <= begin or time > back]
            states = sorted([*inside, (begin, (number, 0.0, 0.0)), (back, after[-1] if after else states[0][1])])
        return states

    def _states(self) -> Iterator[tuple[float, _State]]:
        """Times and states, from the level and the phases."""
        phases: list[_Phase] = []
        for speech in self.said:
            following = list(self._phases(speech))
            while phases and phases[-1].time >= following[0].time:
                phases.pop()
            phases += following
        renewals = {speech.number: self._random(speech, 2) for speech in self.said}
        aside: _State | None = None
        renewal = self.said[0].start
        # Those who begin to talk look at each other already.
        if phases[0].time > renewal:
            already = phases[0].at, 0.0, 0.0
            yield renewal, already
            self._owe(already, renewal, phases[0].time)
        else:
            self.level *= self._share(phases[0])
        renewal += self._wait(self.said[0], renewals[self.said[0].number])
        before = self.said[0]
        for n, phase in enumerate(phases):
            end = phases[n + 1].time if n + 1 < len(phases) else self.said[-1].end
            speech = self.said[self._number(phase.time)]
            random, time = renewals[speech.number], phase.time
            if speech.begins and speech is not before:
                self._begin(speech)
                aside, renewal = None, time + self._wait(speech, random)
            before, renewal = speech, max(renewal, time + _REST)
            while time < end:
                if self.level < self._share(phase):
                    aside = None
                    state = phase.at, 0.0, 0.0
                else:
                    state = aside = aside or self._aside(phase, speech, random)
                yield time, state
                if phase.is_free:
                    renewal = min(
                        renewal, time + self._bearable(phase, state, self._mean_wait(speech) * random.uniform(*_OWED))
                    )
                self._owe(state, time, min(renewal, end))
                time = renewal
                if time < end:
                    self.level = (self.level + _STRIDE + random.uniform(-_JITTER, _JITTER)) % 1.0
                    renewal += self._wait(speech, random)

    def _number(self, time: float) -> int:
        """Of the speech at a time [s]."""
        return max(int(np.searchsorted(self._starts, time, "right")) - 1, 0)

    def _share(self, phase: _Phase) -> float:
        """The share of a phase, with what is owed of looks where nothing else decides."""
        if not phase.is_free:
            return self.manner.looking(phase.share)
        return self.manner.looking(float(np.clip(phase.share + self.owed[phase.role] / _PATIENCE, *_BOUNDS)))

    def _bearable(self, phase: _Phase, state: _State, most: float) -> float:
        """Time [s] for which someone stays in a state until so much [s] of looks is owed, or was too much."""
        looks = float(np.hypot(state[1], state[2]) <= FACE and state[0] == phase.at)
        rate = self.manner.looking(phase.share) - looks
        return max(DWELL, (most - np.sign(rate) * self.owed[phase.role]) / max(abs(rate), 1e-3))

    def _owe(self, state: _State, begin: float, end: float) -> None:
        """Note by how much [s] someone who is in a state from one time [s] to another looks less than is usual."""
        at, yaw, pitch = state
        for speech in self.said[self._number(begin) :]:
            if speech.start >= end:
                break
            speaks = speech.speaker == self.person
            looks = np.hypot(yaw, pitch) <= FACE and (at < self.people if speaks else at == self._heard(speech))
            parts = self._parts(speech) if speaks else [(speech.start, self.manner.listening)]
            for n, (start, share) in enumerate(parts):
                until = parts[n + 1][0] if n + 1 < len(parts) else speech.end
                passed = max(min(until, end) - max(start, begin), 0.0)
                self.owed["speaking" if speaks else "listening"] += (self.manner.looking(share) - looks) * passed

    def _wait(self, speech: Speech, random: np.random.Generator) -> float:
        """Time [s] until the gaze is reconsidered."""
        return self._mean_wait(speech) * (0.25 + 0.75 * random.standard_gamma(2.0) / 2.0)

    def _mean_wait(self, speech: Speech) -> float:
        """Longer in short turns, whose beginnings and ends change the gaze too."""
        return self.manner.hold * (_LEAST_WAIT + 1.0 / (1.0 + speech.length / _LONG))

    def _phases(self, speech: Speech) -> Iterator[_Phase]:
        if speech.speaker == self.person:
            yield from self._speaking(speech)
        else:
            yield self._listening(speech)

    def _listening(self, speech: Speech) -> _Phase:
        random, manner = self._random(speech, 0), self.manner
        time = speech.start + random.uniform(*manner.reaction)
        if speech.before is not None and self.person != speech.before and self.people > 2:
            # Who has just spoken looks at the next speaker anyway.
            early = min(_EARLY, 0.3 * self._previous(speech).length)
            if random.uniform() < _ANTICIPATES:
                time = speech.start - random.uniform(0.0, early)
        elif speech.before == self.person:
            time = speech.start + 0.5 * random.uniform(*manner.reaction)
        return _Phase(time, manner.listening, self._heard(speech), "listening")

    def _heard(self, speech: Speech) -> int:
        """Whom or what listeners look at: the speaker, or the object that the turn is about."""
        return speech.speaker if speech.at is None or speech.at < self.people else speech.at

    def _previous(self, speech: Speech) -> Speech:
        return self.said[max(next(n for n, s in enumerate(self.said) if s is speech) - 1, 0)]

    def _speaking(self, speech: Speech) -> Iterator[_Phase]:
        random = self._random(speech, 0)
        delay = random.uniform(0.0, _START_DELAY)
        *start, (middle_at, middle), (last_at, high) = self._parts(speech)
        others = [(self.person + n) % self.people for n in range(1, self.people)]
        to = others.index(speech.before) if speech.before is not None else int(random.integers(len(others)))
        changes = middle_at + np.cumsum(random.uniform(*_ADDRESS, 1 + int(speech.length / _ADDRESS[0])))
        whom = others[to] if speech.at is None else speech.at
        for begin, low in start:
            yield _Phase(min(begin + delay, middle_at), low, whom, "start", is_free=False)
        yield _Phase(middle_at, middle, whom, "thinking")
        if speech.at is None and len(others) > 1:
            for change in changes[changes < last_at - DWELL]:
                to = (to + 1) % len(others)
                whom = others[to]
                yield _Phase(float(change), middle, whom, "thinking")
        if last_at < speech.end:
            following = speech.after if speech.at is None or speech.at >= self.people else whom
            yield _Phase(last_at, high, whom if following is None else following, "thinking", is_free=False)

    def _parts(self, speech: Speech) -> list[tuple[float, float]]:
        """When the start, the middle and the end of a speech begin [s], and the share of gaze in each; there may be no
        start, and the end may take no time."""
        mean, more = self.manner.speaking, max(speech.length - _SHORT, 0.0)
        low, high = min(_START_SHARE, mean), max(_END_SHARE, mean)
        last = min(_END_TIME, 0.3 * more) if speech.after is not None else 0.0
        first = min(_START_TIME, 0.6 * more)
        middle = (mean * speech.length - low * first - high * last) / max(speech.length - first - last, 1e-9)
        start = [(speech.start, low)] if first else []
        return [
            *start,
            (speech.start + first, float(np.clip(middle, 0.02, 0.98))),
            (speech.end - last, high),
        ]

    def _aside(self, phase: _Phase, speech: Speech, random: np.random.Generator) -> _State:
        """Where someone looks who does not look at the partner."""
        chance = random.uniform(size=4)
        others = [n for n in range(self.people) if n not in (self.person, phase.at)]
        if phase.kind == "listening" and others and chance[0] < _TO_OTHER:
            return others[int(chance[1] * len(others))], 0.0, 0.0
        if phase.kind != "listening" and self.objects and speech.at is None and chance[0] < _TO_OBJECT:
            return self.people + int(chance[1] * self.objects), 0.0, 0.0
        size = self._size("listening" if phase.kind == "listening" else "speaking", chance[2])
        side, up, _ = _DIRECTIONS[phase.kind]
        sign = 1.0 if random.uniform() < 0.5 else -1.0
        slant = random.uniform(-_SLANT, _SLANT)
        along, across = float(size * np.cos(slant)), float(size * np.sin(slant))
        if chance[3] < side:
            return phase.at, sign * along, across
        return phase.at, across, along if chance[3] < side + up else -along

    def _size(self, kind: str, chance: float) -> float:
        """Angle [rad] of a glance: that of saccades, beyond what is beside the face."""
        beyond = -np.radians(6.9) * _FURTHER[kind] * np.log(max(chance, 1e-3))
        return float(min(self.manner.nearest + self.manner.size * beyond, _LARGEST[kind]))
