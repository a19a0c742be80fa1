"""The law of motion between keys, in closed form: the error of each joint decays critically damped.

With e the rotation vector from a key to the pose, q = key exp(e), the torque tau = M(q) (-w0^2 e - 2 w0 de) + C + g
makes e'' = -w0^2 e - 2 w0 e', w0 = n / dt, for any masses. The remainder of e at the key, (1 + n) e^(-n) of it if it
started at rest, is distributed over the interval along a quintic, so that the motion passes through the key exactly.
Source: Allen, Chu, Shapiro, Faloutsos, On the Beat!, SCA 2007, with the full law instead of one axis at a time.

With velocities at the keys, e is the difference from a goal that moves at the velocity v of the key and arrives with
it, e = x - v (t - t_key), x the rotation vector from the key to the pose. What is left of e' at the key is distributed,
too: the motion has that velocity there exactly, and what happens before a key does not act beyond it. After a key that
is passed the acceleration builds up from 0, e''' = -w^3 e - 3 w^2 e' - 3 w e'', and it ends at 0 before one; at keys
that stop the joint it starts as published.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .rotation_rates import turning

_POWERS = np.arange(6)
_BASIS = np.array(
    [
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ]
)
"""Quintics on [0, 1] that with two derivatives are 0 at both ends, except that one of them is 1: the value at 1, the
slope at 1, the second derivative at 1."""
_SLOWEST = 1e-12
"""Speed [rad/s] below which a joint does not move."""
_NOTHING = 1e-100
_FEW = 8
"""Number of times in an interval above which they are computed as one matrix product."""
LONG = 1e9
"""Length [s] of the interval after the last key if it has no end."""
AUTOMATIC, PASSES, STOPS = range(3)
"""How a key is passed."""
_AHEAD = 1.25
"""Largest speed at an automatic key, relative to the mean speeds on both sides: a tense joint would otherwise step back
before it passes."""
_SLACK = 4.0
"""Sharpness up to which a joint may be twice as fast as its mean speed at the end of an interval without drawing back
first; above it, the part beyond the mean speed decreases by the power 3/2. Found for joints that start at rest."""
_RETURNED = 6.6384
"""Time times frequency after which a hundredth of a swing is left."""
_HASTY = 4.0
"""Least time times frequency for a swing: in less time the correction at its end would make it shorter."""
_DRAWS_BACK = 1.5
"""Times the speed without drawing back, up to which joints come to the last key for a swing in little time."""
_REVERSED = 0.7
"""Cosine of the angle to a direction that counts as reversed: 135 degrees."""


def sharpness(residual: Array) -> Array:
    """The n with (1 + n) e^(-n) = residual, which is between 0 and 1."""
    logarithm = np.log(residual)
    n = 2.0 - 2.0 * logarithm
    for _ in range(60):
        # Starting above the root of a concave function, Newton's method never overshoots.
        n = n - (np.log1p(n) - n - logarithm) * (1.0 + n) / -n
    return n


def swing_frequency(sharp: Array, interval: float, swing_past: float) -> Array:
    """The largest frequency [rad/s] of joints (n,) that swing past the last key, at the end of an interval [s], by a
    fraction of its distance. sharp: (n,), their `sharpness`.

    The larger it is, the faster they must be at the key, and beyond a number of times the mean speed they would draw
    back first: twice with little tension, hardly more than once with much.
    """
    return np.minimum(sharp, _fastest(sharp) / (np.e * swing_past)) / interval


def _fastest(sharp: Array) -> Array:
    """The largest speed at the end of an interval to which joints (n,) come without drawing back, in mean speeds."""
    return 1.0 + np.minimum(1.0, (_SLACK / sharp) ** 1.5)


def swing_time(sharp: Array, interval: float, swing_past: float) -> Array:
    """The time [s] (n,) in which joints come back to the last key but for a hundredth of their speed, as of
    `swing_frequency`."""
    return _RETURNED / swing_frequency(sharp, interval, swing_past)


@dataclass(frozen=True)
class Motion:
    """The law's motion through k keys of n joints. Interval i ends at key i + 1; the last one follows the last key."""

    times: Array
    """(k,) times of the keys [s]."""
    lengths: Array
    """(k,) [s] of the intervals."""
    goals: Array
    """(k, n, 4), the key at the end of each interval."""
    course: Array
    """(k, n, 3) [rad/s], the velocity there."""
    error: Array
    """(k, n, 3), e at the start of each interval."""
    speed: Array
    """(k, n, 3), e' at the start of each interval."""
    build: Array
    """(k, n, 3), minus half of the e'' there that builds up."""
    left: Array
    """(k, n, 3), e at its end before the correction, 0 if it is not corrected."""
    spread: Array
    """(k, 6, n, 3), the correction as coefficients of the powers of the fraction of the interval."""
    frequency: Array
    """(k, n) [rad/s]."""

    def at(self, t: Array, interval: Array | None = None) -> tuple[Array, Array, Array]:
        """Poses (m, n, 4), velocities and accelerations (m, n, 3) at times (m,); at a key those after it."""
        interval, lengths, since = self._since(t, interval)
        e, v, build = (_chosen(values, interval) for values in (self.error, self.speed, self.build))
        x, dx, ddx = _damped(e, v, build, self.frequency[interval][..., None], since[:, None, None])
        part, long = (since / lengths)[:, None], lengths[:, None]
        powers = np.zeros((len(t), 3, len(_POWERS)))
        powers[:, 0] = part**_POWERS
        powers[:, 1, 1:] = _POWERS[1:] * powers[:, 0, :-1] / long
        powers[:, 2, 2:] = _POWERS[2:] * powers[:, 1, 1:-1] / long
        spread = _combined(powers, self.spread, interval)
        course = _chosen(self.course, interval)
        x -= spread[:, 0]
        x += course * (since - lengths)[:, None, None]
        dx -= spread[:, 1]
        dx += course
        ddx -= spread[:, 2]
        w, dw = turning(x, dx, ddx)
        return rotation.multiply(_chosen(self.goals, interval), rotation.exp(x)), w, dw

    def poses(self, t: Array, interval: Array | None = None) -> Array:
        """The poses (m, n, 4) of `at` alone, in less than half of the time."""
        interval, lengths, since = self._since(t, interval)
        # Of one interval alone nothing needs to be repeated.
        at = interval[:1] if np.all(interval == interval[:1]) else interval
        e, v, build = (_chosen(values, at) for values in (self.error, self.speed, self.build))
        x = _remaining(e, v, build, self.frequency[at][..., None], since[:, None, None])
        x -= _combined((since / lengths)[:, None] ** _POWERS, self.spread, interval)
        x += _chosen(self.course, at) * (since - lengths)[:, None, None]
        return rotation.multiply(_chosen(self.goals, at), rotation.exp(x))

    def of(self, joints: NDArray[np.int_]) -> "Motion":
        """The motion of these joints alone."""
        return replace(
            self,
            **{
                name: getattr(self, name)[:, joints]
                for name in ("goals", "course", "error", "speed", "build", "left", "frequency")
            },
            spread=self.spread[:, :, joints],
        )

    def _since(self, t: Array, interval: Array | None) -> tuple[Array, Array, Array]:
        """The intervals (m,) of times (m,), their lengths and the times since their start [s]."""
        if interval is None:
            interval = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 1)
        lengths = self.lengths[interval]
        return interval, lengths, np.clip(t - self.times[interval], 0.0, lengths)


def through(
    keys: Array,
    times: Array,
    residual: Array,
    velocities: Array | None = None,
    settle: float = 0.0,
    swing_past: float = 0.0,
) -> Motion:
    """The motion through keys (k, n, 4) at times (k,) for residuals (n,).

    velocities: (k, n, 3) [rad/s] of each joint at the keys, in its own frame; the motion is at rest `settle` seconds
    after the last key. None: at rest at the first key, and each later key is a goal at rest, which the motion passes
    at the speed that it has left. swing_past: with velocities, how far it goes beyond the last key before it returns,
    as a fraction of the last distance, slowly enough not to draw back first if `settle` leaves it the `swing_time`. In
    much less time it goes less far.
    """
    k, n = keys.shape[:2]
    goals = np.concatenate((keys[1:], keys[-1:]))
    start = rotation.log(rotation.multiply(rotation.inverse(goals), keys))
    lengths = np.diff(times)
    frequency = sharpness(residual) / np.append(lengths, lengths[-1])[:, None]
    course, speed, build, left = np.zeros((4, k, n, 3))
    if velocities is None:
        error = start
        for i, length in enumerate(lengths):
            left[i], end, _ = _damped(error[i], speed[i], build[i], frequency[i][:, None], length)
            speed[i + 1] = rotation.log_rate(-error[i + 1], end)
        spread = left[:, None] * _BASIS[0][:, None, None]
        return Motion(times, np.append(lengths, LONG), goals, course, error, speed, build, left, spread, frequency)
    velocities = velocities.copy()
    if swing_past:
        sharp, interval = sharpness(residual), float(lengths[-1])
        slow = swing_frequency(sharp, interval, swing_past)
        frequency[-1] = np.minimum(frequency[-1], np.maximum(slow, _HASTY / settle if settle > 0.0 else 0.0))
        # The way beyond the key of a joint that starts there at speed v is v / (e w).
        fast = np.minimum(swing_past * np.e * frequency[-1] * interval, _DRAWS_BACK * _fastest(sharp))
        velocities[-1] -= (fast / interval)[:, None] * start[-2]
    course[:-1] = velocities[1:]
    lengths = np.append(lengths, settle if settle > 0.0 else LONG)
    error = start + course * lengths[:, None, None]
    speed = rotation.log_rate(-start, velocities) - course
    span, wide = lengths[:, None, None], frequency[..., None]
    mean = np.maximum(np.linalg.norm(start, axis=-1, keepdims=True) / span, _SLOWEST)
    begin, end = (np.minimum(np.linalg.norm(v, axis=-1, keepdims=True) / mean, 1.0) for v in (velocities, course))
    # There is no interval after the last key for it to be smooth with.
    begin[-1] = end[-1] = 0.0
    build = -0.5 * begin * _damped(error, speed, build, wide, 0.0)[2]
    left, late, last = _damped(error, speed, build, wide, span)
    parts = np.stack((left, span * late, end * span**2 * last))
    spread = np.einsum("jp,jkni->kpni", _BASIS, parts)
    return Motion(times, lengths, goals, course, error, speed, build, left, spread, frequency)


def passing(keys: Array, times: Array, kinds: Array) -> Array:
    """Velocities (k, n, 3) [rad/s] with which joints pass their keys (k, n, 4) at times (k,).

    kinds: (k, n) of `PASSES`, `STOPS` or `AUTOMATIC`. An automatic key is passed in the direction of the keys around
    it, with the mean of the speeds before and after it that keeps a monotone curve monotone (Fritsch and Butland 1984);
    where the direction turns around, the joint stops, and where it turns by more than 90 degrees, it slows down. A key
    that is passed has the velocity of the parabola through the keys around it, whatever its direction. The first and
    the last key stop unless they are passed.
    """
    span = np.diff(times)[:, None, None]
    way = rotation.log(rotation.multiply(rotation.inverse(keys[:-1]), keys[1:])) / span
    before, after = np.concatenate((way[:1], way)), np.concatenate((way, way[-1:]))
    long, next_long = np.concatenate((span[:1], span)), np.concatenate((span, span[-1:]))
    mean = (next_long * before + long * after) / (long + next_long)
    length, slow, fast = (
        np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), _NOTHING) for v in (mean, before, after)
    )
    weights = (2.0 * next_long + long) / slow + (next_long + 2.0 * long) / fast
    size = np.minimum(3.0 * (long + next_long) / weights, _AHEAD * np.minimum(slow, fast))
    cosine = np.sum(before * after, axis=-1, keepdims=True) / (slow * fast)
    automatic = mean / length * size * np.clip(1.0 + cosine / _REVERSED, 0.0, 1.0)
    automatic[[0, -1]] = 0.0
    chosen = kinds[..., None]
    return np.where(chosen == PASSES, mean, np.where(chosen == STOPS, 0.0, automatic))


def _damped(x: Array, v: Array, build: Array, frequency: Array, t: Array | float) -> tuple[Array, Array, Array]:
    """Value, velocity and acceleration at t of x'' = -w^2 x - 2 w x' with initial state x, v, and of build t^2 e^(-wt)
    in addition."""
    fade = np.exp(-frequency * t)
    slope = v + frequency * x
    slope += build * t
    value = x + slope * t
    value *= fade
    slope += build * t
    slope *= fade
    back = frequency * value
    slope -= back
    # -w^2 value - 2 w velocity, and what builds up.
    back += 2.0 * slope
    back *= -frequency
    back += 2.0 * fade * build
    return value, slope, back


def _chosen(values: Array, interval: Array) -> Array:
    """Values (m, n, c) of (k, n, c) in these intervals (m,), with each component in one piece of memory: what has a
    number for each vector is then multiplied with them in few long loops instead of many of three."""
    return values.transpose(2, 0, 1).take(interval, axis=1).transpose(1, 2, 0)


def _remaining(x: Array, v: Array, build: Array, frequency: Array, t: Array) -> Array:
    """The value of `_damped` alone."""
    return (x + (v + frequency * x + build * t) * t) * np.exp(-frequency * t)


def _combined(factors: Array, spread: Array, interval: Array) -> Array:
    """Sums (m, ..., n, 3) of coefficients (k, p, n, 3), those of the interval (m,), with factors (m, ..., p)."""
    chosen = np.unique(interval)
    if _FEW * len(chosen) > len(interval):
        return np.einsum("m...p,mpni->m...ni", factors, spread[interval])
    k, p, n, _ = spread.shape
    flat = spread.transpose(0, 1, 3, 2).reshape(k, p, 3 * n)
    result = np.empty((*factors.shape[:-1], 3 * n))
    for one in chosen:
        rows = interval == one
        result[rows] = factors[rows] @ flat[one]
    return result.reshape(*factors.shape[:-1], 3, n).swapaxes(-1, -2)
