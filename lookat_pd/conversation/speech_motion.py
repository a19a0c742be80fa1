"""How the heads of speakers move with their speech, and how people shift their weight between turns.

Sources: a speaker's head moves for 90 % of the time, a listener's for 13 %, Hadar and others (1983, 1984). That it nods
on stressed syllables, turns a little in between and comes to rest at the end of a turn, and by how much, is a choice.
Who stands shifts weight sideways every 199 s by 22 mm, Duarte and Zatsiorsky (1999); around turns it is more often.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .manner import Manner, of_each
from .signs import pauses
from .turns import Speech, Turn, speeches

_FIRST = 0.0, 0.2
"""Time [s] from the start of a phrase to its first gesture."""
_BEATS, _DOWN = (0.45, 0.85), (0.24, 0.36)
"""Time [s] from one beat to the next, and until the head comes back from it."""
_KINDS = {"nod": 0.62, "turn": 0.2, "both": 0.18}
_NOD, _TURN = (np.radians(2.4), np.radians(1.6)), (np.radians(2.4), np.radians(1.4))
"""Least angle of a beat, and by how much it is larger in the mean."""
_MOST = np.radians(9.0)
_FIRST_LARGER = 1.35
"""The first beat of a phrase is larger."""
_POSTURE = np.radians((2.6, 1.4))
"""Standard deviations of the sideways and upward angles at which a phrase is spoken."""
_JITTER = np.radians(0.8)
_REST, _HOME = 0.3, 0.5
"""Time [s] before the end of a phrase in which no beat begins, and before that of a turn from which on the head comes
to rest: who listens then keeps still."""
_AT_START, _AT_END = 0.3, 0.5
"""Probabilities that a speaker shifts weight as the turn starts, and after it."""
_LISTENING = 9.0, 25.0
"""Time [s] between shifts of weight within a turn."""
_SIDE = 0.2, 0.65
_OTHER_LEG = 0.8
"""Probability that the weight goes to the other leg."""


@dataclass(frozen=True)
class Gesture:
    """From `time` [s] on the head is turned by yaw to its left and by pitch up [rad] beside where it looks, until the
    next."""

    time: float
    yaw: float
    pitch: float


@dataclass(frozen=True)
class WeightChange:
    """From `time` [s] on a part of the weight, -1 to 1, is on the left leg, until the next."""

    time: float
    side: float


def gestures(turns: Sequence[Turn], people: int, end: float, manner: Sequence[Manner] | Manner) -> list[list[Gesture]]:
    """The gestures of the head of each of the people while they speak. Raises InvalidArgument."""
    said = speeches(turns, people, end, 1000)
    manners = of_each(manner, people)
    return [
        [
            gesture
            for speech in said
            if speech.speaker == person and manners[person].gestures
            for gesture in _gestures(speech, manners[person])
        ]
        for person in range(people)
    ]


def _gestures(speech: Speech, manner: Manner) -> Iterator[Gesture]:
    random = np.random.default_rng((manner.seed, speech.number, speech.speaker, 11))
    begin, home = speech.start, max(speech.end - _HOME, speech.start)
    for end in pauses(speech, manner.seed):
        posture = random.normal(0.0, _POSTURE) * manner.gestures
        for time, beat, back in _beats(begin, min(end, home + _REST), random):
            yield Gesture(time, *(posture + manner.gestures * beat).tolist())
            posture = posture + random.normal(0.0, _JITTER, 2) * manner.gestures
            if back < home:
                yield Gesture(back, *posture.tolist())
        begin = end
    yield Gesture(home, 0.0, 0.0)


def _beats(begin: float, end: float, random: np.random.Generator) -> Iterator[tuple[float, np.ndarray, float]]:
    """When the head begins to move in a phrase, by how much, and when it comes back."""
    time, size = begin + random.uniform(*_FIRST), _FIRST_LARGER
    while time < end - _REST:
        kind = random.choice(list(_KINDS), p=list(_KINDS.values()))
        down, side = (least + random.exponential(more) for least, more in (_NOD, _TURN))
        sign, wait, next_beat = random.choice((-1.0, 1.0)), random.uniform(*_DOWN), random.uniform(*_BEATS)
        angles = np.array((sign * side * (kind != "nod"), -down * (kind != "turn")))
        yield time, np.clip(size * angles, -_MOST, _MOST), min(time + wait, end)
        time, size = time + next_beat, 1.0


def shifts(
    turns: Sequence[Turn], people: int, end: float, manner: Sequence[Manner] | Manner
) -> list[list[WeightChange]]:
    """The shifts of weight of each of the people, the first as the first turn begins. Raises InvalidArgument."""
    said = speeches(turns, people, end, 1000)
    manners = of_each(manner, people)
    return [_shifts(n, said, manners[n]) if manners[n].shifts else [] for n in range(people)]


def _shifts(person: int, said: Sequence[Speech], manner: Manner) -> list[WeightChange]:
    start = np.random.default_rng((manner.seed, person, 12)).uniform(-_SIDE[1], _SIDE[1])
    result = [WeightChange(said[0].start, float(start) * manner.shifts)]
    for speech in said:
        random = np.random.default_rng((manner.seed, speech.number, person, 12))
        chance, after = random.uniform(), random.uniform(0.0, 0.6)
        is_mine, was_mine = speech.speaker == person, speech.before == person
        times = [speech.start + after] if chance < _AT_START * is_mine + _AT_END * was_mine else []
        time = speech.start + random.uniform(*_LISTENING)
        while time < speech.end:
            times.append(time)
            time += random.uniform(*_LISTENING)
        leg = random.choice((-1.0, 1.0))
        for n, time in enumerate(times):
            other = leg if speech.begins and not n else np.copysign(1.0, result[-1].side)
            side = random.uniform(*_SIDE) * other
            side = -side if random.uniform() < _OTHER_LEG else side
            if result[-1].time < time < said[-1].end:
                result.append(WeightChange(float(time), float(side) * manner.shifts))
    return result
