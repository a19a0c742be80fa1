"""Turns from sound: one recording of each speaker, such as of a microphone each; who speaks is the one who is loud.

Speech is where the level is nearer to that of the recording's loud parts than to that of its silence. Gaps within a
phrase are closed, and shorter sounds left out, as voice activity detectors do (hangover: ITU-T G.729 Annex B).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array

_WINDOW = 0.02
"""Length [s] over which the level is measured."""
_QUIET, _LOUD = 10.0, 95.0
"""Percentiles of the level that are silence and speech."""
_RANGE = 12.0
"""Difference [dB] between these below which a recording has no speech, or nothing else."""
_FLOOR = -120.0
_NEARER = 0.5
_CLOSED, _SHORTEST = 0.3, 0.2
"""Gaps [s] that belong to a phrase, and sounds that are none."""
_BRIEF = 0.8
"""Time [s] below which sounds of a listener are no turn while another one speaks."""


@dataclass(frozen=True)
class Phrase:
    """`speaker` speaks from `start` until `end` [s]."""

    speaker: int
    start: float
    end: float


def speech(samples: Array, rate: float) -> list[tuple[float, float]]:
    """Starts and ends [s] of the speech in a recording.

    samples: (n,) pressures in any unit. rate: samples a second. Raises InvalidArgument.
    """
    values = checks.numbers("samples of the sound", samples)
    if values.ndim != 1:
        raise InvalidArgument("The sound must have one channel; mix its channels.")
    if not np.all(np.abs(values) <= checks.LARGEST):
        raise InvalidArgument("The sound has samples that are not finite; record it again.")
    checks.number("sample rate", rate, 1.0 / _WINDOW, 1e7)
    size = max(round(rate * _WINDOW), 1)
    count = len(values) // size
    if not count:
        return []
    power = np.mean(np.square(values[: count * size].reshape(count, size)), axis=1)
    level = 10.0 * np.log10(np.maximum(power, 10.0 ** (_FLOOR / 10.0)))
    quiet, loud = np.percentile(level, (_QUIET, _LOUD))
    if loud - quiet < _RANGE:
        return []
    is_speech = level > quiet + _NEARER * (loud - quiet)
    edges = np.flatnonzero(np.diff(is_speech.astype(int), prepend=0, append=0)) * (size / rate)
    joined: list[tuple[float, float]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if joined and start - joined[-1][1] < _CLOSED:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return [(start, end) for start, end in joined if end - start >= _SHORTEST]


def turns(phrases: Sequence[Sequence[tuple[float, float]]]) -> list[Phrase]:
    """Who takes the turn when, in order of time, from the speech of each person.

    Short sounds of one while another speaks are no turns. Each phrase of the same speaker begins a turn, so that the
    pauses between them are known.
    """
    every = sorted(
        (Phrase(n, start, end) for n, own in enumerate(phrases) for start, end in own),
        key=lambda phrase: (phrase.start, phrase.speaker),
    )
    taken: list[Phrase] = []
    for phrase in every:
        holds = taken[-1] if taken else None
        interrupts = holds is not None and holds.speaker != phrase.speaker and phrase.start < holds.end
        if interrupts and (phrase.end - phrase.start < _BRIEF or phrase.end <= holds.end):
            continue
        if holds is not None and phrase.start <= holds.start:
            continue
        taken.append(phrase)
    return taken
