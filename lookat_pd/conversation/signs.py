"""Signs of life of people in a conversation: blinks, nods and tilts of the head.

Sources: blinks 17 a minute at rest and 26 while talking, log-normal, Bentivoglio and others (1997); with shifts of
gaze, Evinger and others (1994); a listener's 0.25 to 0.5 s after the end of a phrase, Nakano and Kitazawa (2010). Nods
begin 0.3 s after a cue, of 1 to 5 cycles with 55, 24, 12, 3 and 2 %, Kihara and others (2016); 4 to 8°, Hadar and
others (1983). A listener's head moves for 13 % of the time, the same: so who listens nods at some pauses only, and
changes the tilt of the head with the own turn. How often and how far heads tilt is a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .looks import Look, checked
from .manner import Manner, of_each
from .turns import Speech, Turn, speeches

_RATES = {"speaking": 22.0, "listening": 14.0}
"""Blinks a minute."""
_SPREAD = 0.55
"""Standard deviation of the logarithm of the time between two blinks."""
_SHORTEST = 0.7
_NEAR = 0.6
"""Time [s] by which a blink is moved to a gaze change or the end of a turn."""
_AFTER_END = 0.25, 0.5
_PHRASE = 1.8, 3.6
"""Length [s] of phrases, after which there is a pause."""
_NODS = 0.25
"""Probability that a listener nods at a pause."""
_CYCLES, _COUNTS = 0.6, (0.57, 0.25, 0.12, 0.03, 0.03)
"""Length [s] of one nod, and probabilities of 1 to 5 nods."""
_ANGLE = np.radians(4.0), np.radians(8.0)
_LEAST_TILT, _TILTS = np.radians(2.0), {"speaking": np.radians(4.5), "listening": np.radians(7.0)}
"""Angles between which heads tilt."""
_TILTED = {"speaking": 0.5, "listening": 0.65}
"""Probability that a tilted head that moves leans again, rather than being upright."""
_OTHER_SIDE = 0.65
"""Probability that the next tilt is to the other side."""
_POSTURE = {"speaking": (4.0, 11.0), "listening": (6.0, 13.0)}
"""Time [s] for which a head stays tilted or upright."""
_FIRST_TILT = 1.5
"""Longest time [s] until the first tilt."""
_AT_END, _BETWEEN = (0.3, 1.0), 4.0
"""Time [s] before the end of a turn in which the head of the speaker, who will listen, tilts otherwise, if it has been
as it is for so long."""


@dataclass(frozen=True)
class Nod:
    """`count` nods from `time` until `end` [s], down by `angle` [rad] at most."""

    time: float
    end: float
    angle: float
    count: int


@dataclass(frozen=True)
class Tilt:
    """From `time` [s] on the head leans by `angle` [rad] to its left, until the next."""

    time: float
    angle: float


def blinks(
    turns: Sequence[Turn], people: int, end: float, looks: Sequence[Sequence[Look]], manner: Sequence[Manner] | Manner
) -> list[list[float]]:
    """The times [s] at which each of the people begins to blink. looks: of `plan`. Raises InvalidArgument."""
    said = speeches(turns, people, end, 1000)
    manners, looks = of_each(manner, people), checked(looks, people)
    return [_blinks(n, said, looks[n], manners[n]) for n in range(people)]


def _blinks(person: int, said: Sequence[Speech], looks: Sequence[Look], manner: Manner) -> list[float]:
    blinks: list[float] = []
    wait = None
    for speech in said:
        random = np.random.default_rng((manner.seed, speech.number, person, 4))
        rate = _RATES["speaking" if speech.speaker == person else "listening"] * manner.blinks
        if rate <= 0.0:
            continue
        # What is left of the wait goes on in the next speech, at its rate.
        wait = random.uniform() if wait is None or speech.begins else wait
        time = speech.start + 60.0 / rate * wait
        while time < speech.end:
            placed = _placed(time, person, speech, looks, random)
            if (not blinks or placed - blinks[-1] >= _SHORTEST) and placed < said[-1].end:
                blinks.append(placed)
            time += 60.0 / rate * np.exp(_SPREAD * random.standard_normal() - 0.5 * _SPREAD**2)
        wait = (time - speech.end) * rate / 60.0
    return blinks


def _placed(time: float, person: int, speech: Speech, looks: Sequence[Look], random: np.random.Generator) -> float:
    """A blink at the nearest gaze change, or after the end of a phrase or turn, if there is one near."""
    after = random.uniform(*_AFTER_END)
    wanted = [look.time for look in looks if speech.start <= look.time < speech.end]
    if speech.speaker == person:
        wanted += [pause for pause in (*speech.pauses, speech.end - 0.1) if pause > speech.start]
    else:
        wanted += [pause + after for pause in (*speech.pauses, speech.start)]
    near = [moment for moment in wanted if abs(moment - time) <= _NEAR and speech.start <= moment < speech.end]
    return min(near, key=lambda moment: abs(moment - time)) if near else time


def nods(turns: Sequence[Turn], people: int, end: float, manner: Sequence[Manner] | Manner) -> list[list[Nod]]:
    """The nods of each of the people: of listeners, after the pauses of the speaker. Raises InvalidArgument."""
    said = speeches(turns, people, end, 1000)
    manners = of_each(manner, people)
    return [_nods(n, said, manners[n]) for n in range(people)]


def pauses(speech: Speech, seed: int) -> list[float]:
    """The pauses [s] of a speaker: those given, or as people make them, and the end."""
    if speech.pauses:
        return [*speech.pauses, speech.end]
    random = np.random.default_rng((seed, speech.number, speech.speaker, 5))
    times = speech.start + np.cumsum(random.uniform(*_PHRASE, 1 + int(speech.length / _PHRASE[0])))
    return [*times[times < speech.end - 0.8].tolist(), speech.end]


def _nods(person: int, said: Sequence[Speech], manner: Manner) -> list[Nod]:
    nods: list[Nod] = []
    for speech in said:
        if speech.speaker == person:
            continue
        random = np.random.default_rng((manner.seed, speech.number, person, 6))
        for pause in pauses(speech, manner.seed):
            chance, delay, angle = random.uniform(), random.normal(0.3, 0.15), random.uniform(*_ANGLE)
            count = 1 + int(random.choice(len(_COUNTS), p=_COUNTS))
            begin = max(pause + float(np.clip(delay, 0.0, 0.6)), nods[-1].end + 0.2 if nods else -np.inf)
            stop = begin + count * _CYCLES
            if chance < _NODS * manner.nods and stop < said[-1].end:
                nods.append(Nod(begin, stop, float(angle), count))
    return nods


def tilts(turns: Sequence[Turn], people: int, end: float, manner: Sequence[Manner] | Manner) -> list[list[Tilt]]:
    """The tilts of the head of each of the people, further while listening. Raises InvalidArgument."""
    said = speeches(turns, people, end, 1000)
    manners = of_each(manner, people)
    return [_tilts(n, said, manners[n]) for n in range(people)]


def _tilts(person: int, said: Sequence[Speech], manner: Manner) -> list[Tilt]:
    if not manner.tilts:
        return []
    tilts: list[Tilt] = []
    time, side, is_upright = said[0].start, 1.0, False
    for speech in said:
        random = np.random.default_rng((manner.seed, speech.number, person, 7))
        kind = "speaking" if speech.speaker == person else "listening"
        if speech.begins:
            begin, chance = np.random.default_rng((manner.seed, person, 7, speech.number)).uniform(size=2)
            wait = _FIRST_TILT * float(begin)
            time, side, is_upright = speech.start + wait, 1.0 if chance < 0.5 else -1.0, False
        while time < speech.end:
            side = -side if random.uniform() < _OTHER_SIDE else side
            size = manner.tilts * random.uniform(_LEAST_TILT, _TILTS[kind])
            # After some time upright it leans again.
            angle = side * float(size) if random.uniform() < _TILTED[kind] or is_upright else 0.0
            is_upright = angle == 0.0
            if not tilts or time - tilts[-1].time >= _BETWEEN:
                tilts.append(Tilt(time, angle))
            last = speech.end - float(random.uniform(*_AT_END))
            if kind == "speaking" and last - time >= _BETWEEN:
                # Who will listen moves the head while it moves anyway.
                time = min(time + float(random.uniform(*_POSTURE[kind])), last)
            else:
                time += float(random.uniform(*_POSTURE["listening"]))
    return tilts
