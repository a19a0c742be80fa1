"""Smooth curves through evenly spaced samples."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..rotation import Array


@dataclass(frozen=True)
class Spline:
    """The cubic spline through f samples at intervals of dt from `start`: values (f, ...) and second derivatives."""

    start: float
    dt: float
    values: Array
    bends: Array

    @classmethod
    def through(cls, start: float, dt: float, values: Array, *, resting: bool = False) -> "Spline":
        """The second derivatives at the ends are 0 if `resting`, otherwise those of the neighbours."""
        return cls(start, dt, values, _bends(values, dt, resting))

    def at(self, t: Array) -> tuple[Array, Array]:
        """Values and second derivatives (m, ...) at times (m,); constant before the first sample and after the last."""
        at = np.clip((t - self.start) / self.dt, 0.0, len(self.values) - 1.0)
        left = np.minimum(at.astype(int), len(self.values) - 2)
        b = (at - left).reshape(-1, *(1,) * (self.values.ndim - 1))
        a = 1.0 - b
        low, high = self.bends[left], self.bends[left + 1]
        bent = ((a**3 - a) * low + (b**3 - b) * high) * self.dt**2 / 6.0
        return a * self.values[left] + b * self.values[left + 1] + bent, a * low + b * high


def _bends(values: Array, dt: float, resting: bool) -> Array:
    """Second derivatives (f, ...) at the samples: a tridiagonal system."""
    bends = np.zeros(values.shape)
    wanted = 6.0 * np.diff(values, n=2, axis=0) / dt**2
    count = len(wanted)
    if not count:
        return bends
    pivots = np.full(count, 4.0)
    if not resting:
        pivots[0] += 1.0
        pivots[-1] += 1.0
    for i in range(1, count):
        pivots[i] -= 1.0 / pivots[i - 1]
        wanted[i] -= wanted[i - 1] / pivots[i - 1]
    for i in reversed(range(count)):
        bends[i + 1] = (wanted[i] - bends[i + 2]) / pivots[i]
    if not resting:
        bends[0], bends[-1] = bends[1], bends[-2]
    return bends


@dataclass(frozen=True)
class SmoothCurve:
    """The spline of fifth degree, with four continuous derivatives, through N + 1 samples at intervals of h from 0."""

    h: float
    values: Array
    """(N + 1, ...) samples."""
    slopes: Array
    """(N + 1, ...) first derivatives at the samples, in units of h."""
    bends: Array
    """(N + 1, ...) second derivatives at the samples, in units of h."""

    @classmethod
    def through(cls, h: float, values: Array, velocities: Array, accelerations: Array) -> "SmoothCurve":
        """The spline with these first and second derivatives (2, ...) at its ends."""
        ends = np.stack((h * velocities[0], h * velocities[1], h * h * accelerations[0], h * h * accelerations[1]))
        flat, given = values.reshape(len(values), -1), ends.reshape(4, -1)
        parts, last = [], len(values) - 1
        for begin, first, until, end in _windows(last):
            inner = _differences(flat, begin, end)
            own = np.where(np.array([begin == 0, end == last, begin == 0, end == last])[:, None], given, inner)
            derivatives = _derivatives(end - begin) @ np.concatenate((flat[begin : end + 1], own))
            parts.append(derivatives.reshape(2, end - begin + 1, -1)[:, first - begin : until - begin])
        slopes, bends = np.concatenate(parts, axis=1).reshape(2, *values.shape)
        return cls(h, values, slopes, bends)

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Values, first and second derivatives (m, ...) at times (m,); those of the ends beyond them."""
        at = np.clip(t / self.h, 0.0, len(self.values) - 1.0)
        left = np.minimum(at.astype(int), len(self.values) - 2)
        weights = _hermite(at - left)
        weights = weights.reshape(*weights.shape, *(1,) * (self.values.ndim - 1))
        given = np.stack([part[left + side] for part in (self.values, self.slopes, self.bends) for side in (0, 1)])
        value, slope, bend = ((row * given).sum(axis=0) for row in weights)
        return value, slope / self.h, bend / self.h**2

    def divided(self, parts: int) -> tuple[Array, Array, Array]:
        """As `at`, at the begins of so many equal parts of each step, and at the end."""
        count, shape = len(self.values) - 1, self.values.shape[1:]
        given = np.stack(
            [part[side : count + side] for part in (self.values, self.slopes, self.bends) for side in (0, 1)]
        )
        # Weights (3, 6, p) times (6, N, m) of all components.
        samples = _divisions(parts).reshape(-1, 6) @ given.reshape(6, -1)
        samples = samples.reshape(3, parts, count, -1).transpose(0, 2, 1, 3).reshape(3, count * parts, *shape)
        ends = np.stack((self.values[-1], self.slopes[-1], self.bends[-1]))[:, None]
        value, slope, bend = np.concatenate((samples, ends), axis=1)
        return value, slope / self.h, bend / self.h**2


_WINDOW, _OVERLAP = 200, 30
"""Steps of long curves that are solved at once, and those around them with which they are: a sample changes the
derivatives n steps away by 0.43^n."""


def _windows(last: int) -> list[tuple[int, int, int, int]]:
    """First and last sample of each window over samples 0 to `last`; between them the first sample of which the
    result is used, and that after the last one."""
    if last <= _WINDOW + 2 * _OVERLAP:
        return [(0, 0, last + 1, last)]
    edges = [*range(0, last, _WINDOW), last + 1]
    return [(max(a - _OVERLAP, 0), a, b, min(b + _OVERLAP, last)) for a, b in pairwise(edges)]


def _differences(values: Array, begin: int, end: int) -> Array:
    """First and second differences (4, m) of values (f, m) about two samples, as far as there are neighbours."""
    around = [values[max(n - 1, 0) : n + 2] for n in (begin, end)]
    slopes = [0.5 * (part[-1] - part[0]) for part in around]
    return np.stack((*slopes, *(part[0] - 2.0 * part[len(part) // 2] + part[-1] for part in around)))


@lru_cache(maxsize=32)
def _derivatives(count: int) -> Array:
    """The matrix (2 N + 2, N + 5) that gives the slopes and then the bends at N + 1 samples, from their values and the
    slopes and bends at the first and the last one, for steps of 1."""
    n = count + 1
    left, right = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n + 4))
    for row, column in enumerate((0, count, n, n + count)):
        left[row, column] = right[row, n + row] = 1.0
    # The third and fourth derivatives at the end of a step are those at the begin of the next one.
    for line, (end, begin) in enumerate(zip(_END, _BEGIN, strict=True)):
        for sample in range(1, count):
            row = 4 + 2 * (sample - 1) + line
            for weights, first, sign in ((end, sample - 1, -1.0), (begin, sample, 1.0)):
                for side in (0, 1):
                    right[row, first + side] -= sign * weights[side]
                    left[row, first + side] += sign * weights[2 + side]
                    left[row, n + first + side] += sign * weights[4 + side]
    return np.linalg.solve(left, right)


_POLYNOMIALS = np.array(
    [
        [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ]
)
"""Coefficients of x^0 to x^5 for values, slopes and bends at the begin and the end of a step (Hermite)."""
_BEGIN = 6.0 * _POLYNOMIALS[:, 3], 24.0 * _POLYNOMIALS[:, 4]
_END = _POLYNOMIALS @ [0.0, 0.0, 0.0, 6.0, 24.0, 60.0], _POLYNOMIALS @ [0.0, 0.0, 0.0, 0.0, 24.0, 120.0]


@lru_cache(maxsize=8)
def _divisions(parts: int) -> Array:
    """The weights (3, p, 6) of `_hermite` at the begins of equal parts of a step."""
    return np.ascontiguousarray(np.moveaxis(_hermite(np.arange(parts) / parts), 1, 2))


def _hermite(x: Array) -> Array:
    """The weights (3, 6, m) for the value, the first and the second derivative at x (m,), from 0 to 1."""
    powers, n = x ** np.arange(6.0)[:, None], np.arange(6.0)[:, None]
    first, second = np.zeros((2, 6, len(x)))
    first[1:] = n[1:] * powers[:-1]
    second[2:] = n[2:] * n[1:-1] * powers[:-2]
    return _POLYNOMIALS @ np.stack((powers, first, second))
