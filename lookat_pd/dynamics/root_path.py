"""How the frame under the roots moves: a smooth curve through samples, with its accelerations."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .body import RootMotion

_STEP = 1e-4
"""Half the time [s] over which rotations are differentiated."""


@dataclass(frozen=True)
class RootPath:
    """The cubic spline through f samples, dt apart from `start` on: values (f, 7), place and quaternion.

    Its second derivatives are `bends` (f, 7); over the first and the last interval they stay what they are.
    """

    start: float
    dt: float
    values: Array
    bends: Array

    @classmethod
    def through(cls, start: float, dt: float, positions: Array, rotations: Array) -> "RootPath":
        """Positions (f, 3) and rotations (f, 4)."""
        values = np.concatenate((positions, rotation.align_hemisphere(rotations)), axis=1)
        return cls(start, dt, values, _bends(values, dt))

    def _spline(self, t: Array) -> tuple[Array, Array]:
        """Values and second derivatives (m, 7); before the first sample and after the last they stay."""
        at = np.clip((t - self.start) / self.dt, 0.0, len(self.values) - 1.0)
        left = np.minimum(at.astype(int), len(self.values) - 2)
        b = (at - left)[:, None]
        a = 1.0 - b
        low, high = self.bends[left], self.bends[left + 1]
        bent = ((a**3 - a) * low + (b**3 - b) * high) * self.dt**2 / 6.0
        return a * self.values[left] + b * self.values[left + 1] + bent, a * low + b * high

    def at(self, t: Array) -> tuple[Array, Array]:
        """Places (m, 3) and rotations (m, 4) at times (m,)."""
        values, _ = self._spline(t)
        return values[:, :3], rotation.normalize(values[:, 3:])

    def motion(self, t: Array) -> RootMotion:
        """All that inverse dynamics asks for at times (m,)."""
        before, now, after = (self.at(t + shift)[1] for shift in (-_STEP, 0.0, _STEP))
        first = rotation.log(rotation.multiply(now, rotation.inverse(before)))
        second = rotation.log(rotation.multiply(after, rotation.inverse(now)))
        return RootMotion(now, self._spline(t)[1][:, :3], (first + second) / (2.0 * _STEP), (second - first) / _STEP**2)


def _bends(values: Array, dt: float) -> Array:
    """Second derivatives (f, ...) at the samples: a tridiagonal system."""
    bends = np.zeros(values.shape)
    wanted = 6.0 * np.diff(values, n=2, axis=0) / dt**2
    count = len(wanted)
    if not count:
        return bends
    pivots = np.full(count, 4.0)
    pivots[0] += 1.0
    pivots[-1] += 1.0
    for i in range(1, count):
        pivots[i] -= 1.0 / pivots[i - 1]
        wanted[i] -= wanted[i - 1] / pivots[i - 1]
    for i in reversed(range(count)):
        bends[i + 1] = (wanted[i] - bends[i + 2]) / pivots[i]
    bends[0], bends[-1] = bends[1], bends[-2]
    return bends
