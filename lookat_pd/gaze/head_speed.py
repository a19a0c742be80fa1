"""The speed of the head in large turns: a goal that jumps, or passes too fast, is caught up with in time.

A controller that is linear turns twice as fast for a turn twice as large; people do not. A goal that jumps so far that
the head would be faster than its limit moves from where the head is to its place at a uniform rate: at the highest rate
at which the head, which follows smoothly, stays within the limit. Smaller jumps remain jumps, and nothing depends on
whether a turn is just below or above the limit. A target that moves the goal faster than the limit is followed at the
limit; the motion of the body itself, which turns the goal only as seen from the body, does not count.

Source: peak speeds of the head in large gaze shifts, 500 to 600 degrees a second.
"""

from dataclasses import dataclass

import numpy as np

from ..pd.followers import Tuning
from ..pd.second_order import apply, free_decay, largest_response
from ..rotation import Array

_SAMPLES = 240
_HALVINGS = 24


@dataclass(frozen=True)
class Lateness:
    """How far a goal of yaw and pitch [rad] is ahead of what is followed, at some time."""

    jumped: Array
    """(2,) what remains of a jump."""
    rate: Array
    """(2,) by which that falls [rad/s]."""
    passing: Array
    """(2,) what the goal was too fast by."""

    @property
    def duration(self) -> float:
        """Seconds until nothing of the jump remains."""
        rate = float(np.linalg.norm(self.rate))
        return float(np.linalg.norm(self.jumped)) / rate if rate else 0.0


NOTHING = Lateness(np.zeros(2), np.zeros(2), np.zeros(2))


def after_jump(tuning: Tuning, settle_time: float, limit: float, state: tuple[Array, Array], goal: Array) -> Array:
    """The rate (2,) [rad/s] at which the goal moves from where the head is to where it jumped; 0 to let it jump.

    settle_time: of the head. limit: its largest speed [rad/s]. state: yaw and pitch (2,) and their rates. goal: (2,).
    """
    place, speed = state
    way = goal - place
    distance = float(np.linalg.norm(way))
    most = max(limit, float(np.linalg.norm(speed)))
    if distance <= 0.0 or _peak(tuning, settle_time, way, speed, 0.0) <= most:
        return np.zeros(2)
    brief, long = 0.0, 2.0 * distance / limit + settle_time
    for _ in range(_HALVINGS):
        middle = 0.5 * (brief + long)
        if _peak(tuning, settle_time, way, speed, middle) > most:
            brief = middle
        else:
            long = middle
    return way / long


def _peak(tuning: Tuning, settle_time: float, way: Array, speed: Array, duration: float) -> float:
    """The largest speed [rad/s] of a head that follows a goal which goes a `way` (2,) in a duration [s]."""
    omega = 2.0 * np.pi / settle_time
    times = np.linspace(0.0, duration + 1.5 * settle_time, _SAMPLES)
    free = free_decay(times, omega, tuning.damping_ratio)
    from_rest = np.array([-1.0, 2.0 * tuning.damping_ratio * omega * tuning.feed_forward])
    if duration > 0.0:
        later = free_decay(np.maximum(times - duration, 0.0), omega, tuning.damping_ratio)
        turned = apply(free, from_rest)[:, 0] - np.where(times > duration, apply(later, from_rest)[:, 0], -1.0)
        rates = turned / duration
    else:
        rates = apply(free, from_rest)[:, 1]
    left = apply(free, np.array([0.0, 1.0]))[:, 1]
    return float(np.linalg.norm(rates[:, None] * way + left[:, None] * speed, axis=-1).max())


def fastest(tuning: Tuning, limit: float) -> float:
    """The speed [rad/s] of a goal at which the head stays within its limit."""
    return limit / largest_response(tuning.damping_ratio, tuning.feed_forward)


def jumped(begin: Lateness, times: Array) -> Array:
    """What is still missing (n, 2) of a jump at `times` (n,) [s] after it."""
    left = np.abs(begin.jumped) - times[:, None] * np.abs(begin.rate)
    return np.sign(begin.jumped) * np.maximum(left, 0.0)


def passed(steps: Array, begin: Lateness, most: float) -> Array:
    """What is missing (n, 2) of a goal that goes in `steps` (n - 1, 2), if at most `most` of each is followed."""
    missing = np.zeros((len(steps) + 1, 2))
    missing[0] = begin.passing
    for k, step in enumerate(steps):
        ahead = missing[k] + step
        size = float(np.linalg.norm(ahead))
        missing[k + 1] = ahead * max(0.0, 1.0 - most / size) if size > 0.0 else ahead
    return missing
