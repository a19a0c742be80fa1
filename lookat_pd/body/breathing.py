"""Breathing of a character at rest: the shoulders rise and fall, and the chest leans back and forth.

Sources: 16.6 breaths a minute at rest, of which breathing in takes 42 %, Tobin and others, *Breathing Patterns* (1983).
How far the rate and the depth vary is a choice. The breath depends only on time and a seed, so it is the same at any
frame rate and over any range of frames.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks, curves, rotation
from ..gaze import Event
from ..rotation import Array

RATE = 16.6
"""Breaths a minute."""
_IN = 0.42
"""Fraction of a breath in which one breathes in."""
_SPREAD = 0.06
"""Times [s] by which the breaths vary, relative to their period, and depths relative to the mean."""
_EASE = 1.0
"""Time [s] in which breathing begins and ends."""


@dataclass(frozen=True)
class Breathing:
    """How a body breathes. Raises InvalidArgument."""

    angle: float
    """Angle [rad] by which shoulders rise with a breath."""
    rate: float = RATE
    """Breaths a minute."""
    seed: int = 0
    repeat: float = 0.0
    """Seconds after which the breath repeats, with a rate that fits; 0 for never."""
    chest: float = 0.0
    """Angle [rad] by which the chest leans back with a breath."""

    def __post_init__(self) -> None:
        checks.number("angle of breathing", self.angle, 0.0, np.pi)
        checks.number("rate of breathing", self.rate, 1.0, 200.0)
        checks.whole("seed", self.seed, 0, 2**63)
        checks.number("time of a cycle", self.repeat, 0.0)
        checks.number("angle of the chest", self.chest, 0.0, np.pi)


def breath(breathing: Breathing, times: Array) -> Array:
    """How far the chest is filled (n,), about 0 to 1, at times (n,) [s]; smooth in time."""
    random = np.random.default_rng((breathing.seed, 8))
    start, *phases = random.uniform(size=3)
    rate, waves = breathing.rate / 60.0, np.array([0.17, 0.29])
    if breathing.repeat:
        count = round(rate * breathing.repeat)
        if not count:
            return np.zeros_like(times)
        rate, waves = count / breathing.repeat, np.round(count * waves) / count
    cycles = times * rate
    slow = 2.0 * np.pi * (waves[:, None] * cycles + np.array(phases)[:, None])
    cycles = cycles + start + _SPREAD * np.sin(slow[0])
    part = cycles % 1.0
    # Half a wave in, half a wave out: at rest at both ends.
    phase = np.where(part < _IN, part / _IN, 1.0 + (part - _IN) / (1.0 - _IN))
    return 0.5 * (1.0 - np.cos(np.pi * phase)) * (1.0 + _SPREAD * np.sin(slow[1]))


def active(is_on: Array, dt: float) -> Array:
    """Amount (F,) of breathing where something is on (F,) or off: 0 to 1, exactly 0 a second after the end."""
    window = max(round(_EASE / dt), 1)
    before = np.concatenate((np.full(window, is_on[0]), is_on)).astype(float)
    total = np.cumsum(before)
    return curves.cubic_step((total[window:] - total[:-window]) / window)


def amount(breathing: Breathing, events: Sequence[Event], begin: float, dt: float, influence: Array) -> Array:
    """How far the chest is filled (n,) every dt seconds, from `begin` [s] on, of someone who looks at these events with
    an influence (n,); exactly 0 where nothing is looked at."""
    count = len(influence)
    on = np.zeros(count, dtype=bool)
    for event in sorted(events, key=lambda event: event.time):
        on[min(max(round(event.time / dt), 0), count) :] = event.target is not None
    return breath(breathing, begin + np.arange(count) * dt) * active(on, dt) * influence


def raised(angles: Array, shoulders: Array, arms: Array, up: Array) -> Array:
    """Rotations (F, k, 4) that raise shoulders by angles (F,) [rad], in the space of the input.

    shoulders, arms: (F, k, 3) places of the inner and outer ends. up: (3,). One that stands upright is not raised.
    """
    along = arms - shoulders
    axis = rotation.cross(along, np.broadcast_to(up, along.shape))
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    return rotation.exp(angles[:, None, None] * axis / np.maximum(length, 1e-9))
