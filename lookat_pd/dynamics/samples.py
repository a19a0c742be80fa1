"""The motion through intervals as samples at the ends of steps, with what is between them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .law import turning
from .variable_steps import derivatives

_AT_KEY = 1e-9
"""Time [s] before an interval that counts as its start."""


@dataclass(frozen=True)
class MotionSamples(ABC):
    """At times (s,) the rotations (s, n, 4) from the law's motion and the torques (s, n, 3). left: (k, n) [rad], the
    remaining angles at the ends of intervals before the correction. lasts: (k,), their last samples; the next one is at
    the same time."""

    times: Array
    relative: Array
    torques: Array
    left: Array
    lasts: NDArray[np.int_]

    @classmethod
    def of_interval(cls, times: Array, relative: Array, torques: Array, left: Array, *more: Array) -> Self:
        """One interval, at whose end the angles `left` (n,) remained."""
        return cls(times, relative, torques, left[None], np.array([len(times) - 1]), *more)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """One after the other."""
        begins = np.cumsum([0, *(len(part.times) for part in parts[:-1])])
        values = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        values["lasts"] = [part.lasts + begin for part, begin in zip(parts, begins, strict=True)]
        return cls(**{name: np.concatenate(arrays) for name, arrays in values.items()})

    def at(self, t: Array) -> tuple[Array, Array]:
        """Rotations (m, n, 4) from the law's motion, and torques (m, n, 3), at times (m,); at a key those after it."""
        low = np.clip(np.searchsorted(self.times, t + _AT_KEY, side="right") - 1, 0, len(self.times) - 2)
        h = self.times[low + 1] - self.times[low]
        return self._between(low, np.clip((t - self.times[low]) / h, 0.0, 1.0)[:, None, None], h[:, None, None])

    @abstractmethod
    def _between(self, low: NDArray[np.int_], part: Array, h: Array) -> tuple[Array, Array]:
        """What is at fractions (m, 1, 1) of the steps of h (m, 1, 1) seconds after samples (m,)."""


class HeldSamples(MotionSamples):
    """With constant velocities and torques, those at its start, in each step."""

    def _between(self, low: NDArray[np.int_], part: Array, h: Array) -> tuple[Array, Array]:
        return rotation.slerp(self.relative[low], self.relative[low + 1], part[..., 0]), self.torques[low]


@dataclass(frozen=True)
class SmoothSamples(MotionSamples):
    """With cubics between the samples. spins: (s, n, 3), the angular velocities of the rotations from the law's."""

    spins: Array

    def _between(self, low: NDArray[np.int_], part: Array, h: Array) -> tuple[Array, Array]:
        slow = rotation.multiply(self.relative, _pure(0.5 * self.spins))
        begin, end = self.relative[low], self.relative[low + 1]
        # Cubics of nearby quaternions of one sign are rotations up to their length.
        sign = np.where(rotation.dot(begin, end) < 0.0, -1.0, 1.0)[..., None]
        relative = rotation.normalize(_cubic(begin, sign * end, slow[low], sign * slow[low + 1], part, h))
        return relative, self._torques_between(low, part, h)

    def _torques_between(self, low: NDArray[np.int_], part: Array, h: Array) -> Array:
        rising = derivatives(self.torques, self.times, self.lasts)
        return _cubic(self.torques[low], self.torques[low + 1], rising[low], rising[low + 1], part, h)


class LimitedSamples(SmoothSamples):
    """With torques that stay within their limits between the samples, too."""

    def _torques_between(self, low: NDArray[np.int_], part: Array, h: Array) -> Array:
        return (1.0 - part) * self.torques[low] + part * self.torques[low + 1]


class Deviation(NamedTuple):
    """Rotations (s, n, 4) from the law's motion, their angular velocities and accelerations (s, n, 3)."""

    relative: Array
    spins: Array
    rises: Array

    def turned(self, turn: Array, turning_at: Array, rising: Array) -> "Deviation":
        """The deviation followed by rotation vectors (s, n, 3) with these two derivatives."""
        after = rotation.exp(turn)
        back = rotation.inverse(after)
        spin, rise = turning(turn, turning_at, rising)
        before = rotation.rotate(back, self.spins)
        rise += rotation.rotate(back, self.rises) + rotation.cross(before, spin)
        return Deviation(rotation.multiply(self.relative, after), before + spin, rise)


def _pure(vectors: Array) -> Array:
    """Quaternions (..., 4) of these vectors (..., 3) and no scalar."""
    return np.concatenate((np.zeros((*vectors.shape[:-1], 1)), vectors), axis=-1)


def _cubic(begin: Array, end: Array, slow: Array, fast: Array, part: Array, h: Array) -> Array:
    """Values (m, ...) at fractions (m, 1, 1) of steps of h (m, 1, 1) with these values and slopes at their ends."""
    rest = 1.0 - part
    return begin + part * part * (3.0 - 2.0 * part) * (end - begin) + part * rest * h * (rest * slow - part * fast)
