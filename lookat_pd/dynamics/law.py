"""The law of motion between keys, in closed form: the error of each joint decays critically damped.

With e the rotation vector from a key to the pose, q = key exp(e), the torque tau = M(q) (-w0^2 e - 2 w0 de) + C + g
makes e'' = -w0^2 e - 2 w0 e', w0 = n / dt, for any masses. The remainder of e at the key, (1 + n) e^(-n) of it if it
started at rest, is distributed over the interval along a quintic, so that the motion passes through the key exactly.
Source: Allen, Chu, Shapiro, Faloutsos, On the Beat!, SCA 2007, with the full law instead of one axis at a time.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array

_SMALL = 0.02
"""Angle below which the coefficients of a rotation vector's derivatives are taken from their series."""


def sharpness(residual: Array) -> Array:
    """The n with (1 + n) e^(-n) = residual, which is between 0 and 1."""
    logarithm = np.log(residual)
    n = 2.0 - 2.0 * logarithm
    for _ in range(60):
        # Starting above the root of a concave function, Newton's method never overshoots.
        n = n - (np.log1p(n) - n - logarithm) * (1.0 + n) / -n
    return n


def smooth_step(t: Array) -> tuple[Array, Array, Array]:
    """10 t^3 - 15 t^4 + 6 t^5 and its two derivatives, constant outside of [0, 1]."""
    t = np.clip(t, 0.0, 1.0)
    return (
        t * t * t * (10.0 + t * (6.0 * t - 15.0)),
        30.0 * t * t * (1.0 - t) ** 2,
        60.0 * t * (1.0 - t) * (1.0 - 2.0 * t),
    )


@dataclass(frozen=True)
class Motion:
    """The law's motion through k keys of n joints.

    times: (k,). keys: (k, n, 4). Interval i ends at key i + 1; the last one follows the last key. goals: (k, n, 4), the
    key at the end of each interval. error, speed: (k, n, 3), e and e' at its start. left: (k, n, 3), e at its end
    before the correction, 0 after the last key. frequency: (k, n) [rad/s].
    """

    times: Array
    goals: Array
    error: Array
    speed: Array
    left: Array
    frequency: Array

    def at(self, t: Array, interval: Array | None = None) -> tuple[Array, Array, Array]:
        """Poses (m, n, 4), velocities and accelerations (m, n, 3) at times (m,); at a key those after it."""
        if interval is None:
            interval = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 1)
        since = np.maximum(t - self.times[interval], 0.0)
        x, dx, ddx = _damped(
            self.error[interval], self.speed[interval], self.frequency[interval][..., None], since[:, None, None]
        )
        lengths = np.append(np.diff(self.times), 1.0)[interval]
        s, ds, dds = smooth_step(since / lengths)
        left = self.left[interval]
        x -= s[:, None, None] * left
        dx -= (ds / lengths)[:, None, None] * left
        ddx -= (dds / lengths**2)[:, None, None] * left
        w, dw = turning(x, dx, ddx)
        return rotation.multiply(self.goals[interval], rotation.exp(x)), w, dw


def through(keys: Array, times: Array, residual: Array) -> Motion:
    """The motion through keys (k, n, 4) at times (k,), at rest at the first key, for residuals (n,)."""
    goals = np.concatenate((keys[1:], keys[-1:]))
    error = rotation.log(rotation.multiply(rotation.inverse(goals), keys))
    lengths = np.diff(times)
    frequency = sharpness(residual) / np.append(lengths, lengths[-1])[:, None]
    speed, left = np.zeros(error.shape), np.zeros(error.shape)
    for i, length in enumerate(lengths):
        left[i], end, _ = _damped(error[i], speed[i], frequency[i][:, None], length)
        speed[i + 1] = rates(error[i + 1], end)
    return Motion(times, goals, error, speed, left, frequency)


def _damped(x: Array, v: Array, frequency: Array, t: Array) -> tuple[Array, Array, Array]:
    """Value, velocity and acceleration at t of x'' = -w^2 x - 2 w x' with initial state x, v."""
    fade = np.exp(-frequency * t)
    slope = v + frequency * x
    return (
        (x + slope * t) * fade,
        (v - frequency * slope * t) * fade,
        (frequency * (frequency * slope * t - slope - v)) * fade,
    )


def rates(e: Array, w: Array) -> Array:
    """The rate of change of a rotation vector e (..., 3) if exp(e) rotates at w (..., 3) in its own frame."""
    angle = np.sqrt(rotation.dot(e, e))
    safe = np.maximum(angle, _SMALL)
    exact = 1.0 / safe**2 - 0.5 / (safe * np.tan(0.5 * safe))
    third = np.where(angle < _SMALL, 1.0 / 12.0 + angle**2 / 720.0, exact)
    around = rotation.cross(e, w)
    return w + 0.5 * around + third[..., None] * rotation.cross(e, around)


def turning(e: Array, de: Array, dde: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration (..., 3) of exp(e), in its own frame, from e and its two derivatives."""
    square = rotation.dot(e, e)
    angle = np.sqrt(square)
    small, safe = angle < _SMALL, np.maximum(angle, _SMALL)
    a = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(safe)) / safe**2)
    b = np.where(small, 1.0 / 6.0 - square / 120.0, (safe - np.sin(safe)) / safe**3)
    along = rotation.dot(e, de)
    da = along * np.where(small, -1.0 / 12.0 + square / 180.0, (np.sin(safe) / safe - 2.0 * a) / safe**2)
    db = along * np.where(small, -1.0 / 60.0 + square / 1260.0, (a - 3.0 * b) / safe**2)
    a, b, da, db = (values[..., None] for values in (a, b, da, db))
    first, second = rotation.cross(e, de), rotation.cross(e, dde)
    twice = rotation.cross(e, first)
    w = de - a * first + b * twice
    dw = dde - da * first - a * second + db * twice
    return w, dw + b * (rotation.cross(de, first) + rotation.cross(e, second))
