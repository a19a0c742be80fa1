"""Saccades: how the difference between the position of the eyes and their goal decays."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..curves import cubic_step
from ..rotation import Array
from .ability import Eyes

_CLOSE = 1e-6
_TRIES = 12
_FINE = 65


@dataclass(frozen=True)
class Shift:
    """One gaze shift at `time` [s] after the first sample to the target of that index; None: off."""

    time: float
    target: int | None
    amplitude: float
    """Rotation of the eyes in the head, and its duration [s]."""
    duration: float
    gaze_amplitude: float
    """Angle between the gaze before the shift and its goal; peak_speed [rad/s] of the eyes in the head. All are means
    over the eyes."""
    peak_speed: float


@dataclass(frozen=True)
class Decay:
    """Differences (c,) with slopes (c,) [1/s] at time 0 that decay within `duration` [s].

    The quintic with zero acceleration at the start, and zero value, velocity and acceleration at the end. Unlike
    `inertialize.decay` it keeps all of the velocity: eyes that are stopped in the middle of a saccade overshoot.
    """

    difference: Array
    slope: Array
    duration: float

    def at(self, times: Array) -> Array:
        """Values (n, c) at times (n,) [s] from 0."""
        s, value, linear, square = self._terms(times)
        return (1.0 - s) ** 3 * ((square * s + linear) * s + value)

    def slope_at(self, time: float) -> Array:
        """Slopes Slopes (c,) [1/s] at one time [s]."""
        s, value, linear, square = self._terms(np.array([time]))
        falling = -3.0 * ((square * s + linear) * s + value) + (1.0 - s) * (2.0 * square * s + linear)
        return ((1.0 - s) ** 2 * falling)[0] / self.duration

    def onto(self, goal: tuple[Array, Array], landing: tuple[Array, Array]) -> Array:
        """The path (n, c) of a decay onto a moving goal, given by value and slope at the start and at the end."""
        s = np.linspace(0.0, 1.0, _FINE)[:, None]
        bends = s * (1.0 - s) * self.duration * ((1.0 - s) * goal[1] - s * landing[1])
        return goal[0] + cubic_step(s) * (landing[0] - goal[0]) + bends + self.at(s[:, 0] * self.duration)

    def _terms(self, times: Array) -> tuple[Array, Array, Array, Array]:
        slope = self.slope * self.duration
        s = np.clip(times / self.duration, 0.0, 1.0)[:, None]
        return s, self.difference, slope + 3.0 * self.difference, 3.0 * slope + 6.0 * self.difference


def turn(start: Array, end: Array) -> float:
    """The mean angle [rad] between two sets of directions (k, 3) of the eyes."""
    return float(rotation.angle_between(start, end).mean())


def duration(eyes: Eyes, start: Array, end: Callable[[float], Array]) -> float:
    """Duration [s] of the saccade from directions `start` (k, 3) of the eyes to those of `end` at a given time.

    The head may turn meanwhile, so the angle depends on the duration: solved by the secant method.
    """

    def needed(time: float) -> float:
        return eyes.saccade_time(turn(start, end(time)))

    longest = eyes.saccade_time(np.pi)
    before, wrong_before = 0.0, needed(0.0)
    time = wrong_before
    for _ in range(_TRIES):
        wrong = needed(time) - time
        if abs(wrong) < _CLOSE or wrong == wrong_before:
            break
        following = time + wrong * (time - before) / (wrong_before - wrong)
        before, wrong_before, time = time, wrong, float(np.clip(following, eyes.saccade_start, longest))
    return time


def peak_speed(directions: Array, decay: Decay) -> float:
    """Largest mean speed [rad/s] of directions (n, k, 3), sampled evenly over a saccade."""
    steps = rotation.angle_between(directions[:-1], directions[1:]).mean(axis=-1)
    return float(steps.max()) * len(steps) / decay.duration
