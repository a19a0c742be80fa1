"""Smooth curves through evenly spaced samples."""

from dataclasses import dataclass

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
