"""Minimum-jerk paths of a point. Source: Flash, Hogan, The coordination of arm movements, 1985."""

import numpy as np

from ..curves import early_slope
from ..rotation import Array

_POWERS = np.arange(6)


def minimum_jerk(
    times: Array, points: Array, t: Array, velocities: tuple[Array | float, Array | float] = (0.0, 0.0)
) -> Array:
    """Positions (m, 3) at times (m,) on the path through points (k, 3) at times (k,).

    velocities: at both ends, (3,) each or 0 for rest; the accelerations there are 0.

    It is of fifth degree between the points and has four continuous derivatives, which minimizes the integral of the
    squared jerk.
    """
    lengths, count = np.diff(times), len(times) - 1
    rows, right = np.zeros((6 * count, 6 * count)), np.zeros((6 * count, points.shape[1]))
    line = 0

    def add(segment: int, derivative: int, at: float, value: Array | float = 0.0, sign: float = 1.0) -> None:
        # Each segment has a parameter from 0 to 1, for a well-scaled system.
        rows[line, 6 * segment : 6 * segment + 6] += sign * _monomials(at, derivative) / lengths[segment] ** derivative
        right[line] += value

    for segment in range(count):
        for end in (0, 1):
            add(segment, 0, float(end), points[segment + end])
            line += 1
        for derivative in (1, 2, 3, 4) if segment else (1, 2):
            if segment:
                add(segment - 1, derivative, 1.0)
                add(segment, derivative, 0.0, sign=-1.0)
            else:
                add(0, derivative, 0.0, velocities[0] if derivative == 1 else 0.0)
            line += 1
    for derivative in (1, 2):
        add(count - 1, derivative, 1.0, velocities[1] if derivative == 1 else 0.0)
        line += 1
    coefficients = np.linalg.solve(rows, right).reshape(count, 6, -1)
    segment = np.clip(np.searchsorted(times, t, side="right") - 1, 0, count - 1)
    part = np.clip((t - times[segment]) / lengths[segment], 0.0, 1.0)
    return np.einsum("mp,mpd->md", part[:, None] ** _POWERS, coefficients[segment])


def drift(velocities: Array, count: int, h: float, lengths: tuple[int, int] | None = None) -> Array:
    """Vectors (N + 1, ..., 3) that are 0 at both ends and have the velocities (2, ..., 3) there, without acceleration.

    count: N, of steps of h seconds. lengths: the numbers of steps at the start and at the end that they take; None for
    all.
    """
    at = np.arange(count + 1.0)
    vectors = np.zeros((count + 1, *velocities.shape[1:]))
    ends = zip(velocities, lengths or (count, count), (at, count - at), (1.0, -1.0), strict=True)
    for velocity, steps, since, sign in ends:
        slope = early_slope(np.minimum(since / steps, 1.0))
        vectors += np.multiply.outer(sign * steps * h * slope, velocity)
    return vectors


def _monomials(at: float, derivative: int) -> Array:
    """The derivative of 1, x, ... x^5 at x."""
    factors = np.ones(6)
    for n in range(derivative):
        factors = factors * np.maximum(_POWERS - n, 0)
    return factors * at ** np.maximum(_POWERS - derivative, 0)
