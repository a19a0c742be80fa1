"""What loose bones hang on: where it is at any time, and how fast it moves, from samples of the law's motion."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array

_POINTS = 8
"""Samples through which a polynomial goes."""
_LAGRANGE = np.linalg.inv(np.vander(np.arange(_POINTS), increasing=True)).T
"""Coefficients (p, p) of the polynomials that are 1 at one of these samples, 1 apart, and 0 at the others."""


class StepGrid(NamedTuple):
    """Steps in k intervals that follow each other: their begins (k,) [s], and the lengths (k,) [s] and numbers (k,) of
    the steps in each."""

    begins: Array
    lengths: Array
    counts: NDArray[np.int_]

    def divided(self, parts: int) -> "StepGrid":
        """Each step in so many parts."""
        return StepGrid(self.begins, self.lengths / parts, self.counts * parts)

    def begun(self) -> tuple[NDArray[np.int_], Array]:
        """The intervals (s,) of all steps, and the times (s,) at which they begin."""
        interval = np.repeat(np.arange(len(self.counts)), self.counts)
        first = np.cumsum(self.counts) - self.counts
        return interval, self.begins[interval] + self.lengths[interval] * (np.arange(len(interval)) - first[interval])

    def samples(self) -> tuple[NDArray[np.int_], Array]:
        """The intervals and times of the ends of all steps, the end of an interval and the begin of the next apart."""
        return self._replace(counts=self.counts + 1).begun()


@dataclass(frozen=True)
class Guide:
    """What is driven, by polynomials of seventh degree through samples of the same interval.

    grid: of at least 7 steps in each interval. values: at its samples (s, 3 b + 4 r) those of b places and r rotations.
    places: b.
    """

    grid: StepGrid
    values: Array
    places: int

    @classmethod
    def through(cls, grid: StepGrid, places: Array, turns: Array) -> "Guide":
        """Through places (s, b, 3) and rotations (s, r, 4)."""
        turns = rotation.align_hemisphere(turns)
        values = np.concatenate((places.reshape(len(places), -1), turns.reshape(len(turns), -1)), axis=1)
        return cls(grid, values, places.shape[1])

    def at(self, interval: NDArray[np.int_], t: Array) -> tuple[Array, Array]:
        """Places and rotations (m, 3 b + 4 r) at times (m,) in these intervals (m,), and velocities and angular
        velocities (m, 3 b + 3 r), the latter in their own frames."""
        first, part = self._near(interval, t)
        weights, slopes = _weights(part)
        found, change = self._summed(weights, first), self._summed(slopes, first) / self.grid.lengths[interval, None]
        turns = rotation.normalize(self._turns(found))
        spins = 2.0 * rotation.multiply(rotation.inverse(turns), self._turns(change))[..., 1:]
        found[:, 3 * self.places :] = turns.reshape(len(t), -1)
        return found, np.concatenate((change[:, : 3 * self.places], spins.reshape(len(t), -1)), axis=1)

    def _near(self, interval: NDArray[np.int_], t: Array) -> tuple[NDArray[np.int_], Array]:
        """The first (m,) of the samples around times (m,), and the times from it as fractions of the spacing."""
        grid = self.grid
        place = (t - grid.begins[interval]) / grid.lengths[interval]
        low = np.clip((place + 1e-6).astype(int) - _POINTS // 2 + 1, 0, grid.counts[interval] + 1 - _POINTS)
        begin = np.cumsum(grid.counts + 1) - grid.counts - 1
        return begin[interval] + low, place - low

    def _summed(self, weights: Array, first: NDArray[np.int_]) -> Array:
        """Sums (m, ...) of samples from the first ones (m,) on with weights (p, m)."""
        result = weights[0][:, None] * self.values[first]
        for at in range(1, _POINTS):
            result += weights[at][:, None] * self.values[first + at]
        return result

    def _turns(self, values: Array) -> Array:
        return values[:, 3 * self.places :].reshape(len(values), -1, 4)


def _weights(part: Array) -> tuple[Array, Array]:
    """Weights (p, m) of samples at 0 to p - 1 for the value and the slope at `part` (m,)."""
    # Products: powers of real numbers take as long as all the rest.
    powers = np.empty((_POINTS, len(part)))
    powers[0], powers[1:] = 1.0, part
    np.multiply.accumulate(powers, axis=0, out=powers)
    return _LAGRANGE @ powers, _LAGRANGE[:, 1:] @ (np.arange(1.0, _POINTS)[:, None] * powers[:-1])
