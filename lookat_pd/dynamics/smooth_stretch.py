"""The motion between two keys as samples at the ends of steps, with what is between them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .law import turning
from .variable_steps import derivatives


@dataclass(frozen=True)
class SmoothStretch:
    """At times (s + 1,) the rotations (s + 1, n, 4) from the law's motion, their angular velocities and the torques
    (s + 1, n, 3); the remaining angle (n,) at the key before the correction."""

    times: Array
    relative: Array
    spins: Array
    torques: Array
    left: Array

    def at(self, t: Array) -> tuple[Array, Array]:
        """Rotations (m, n, 4) from the law's motion, and torques (m, n, 3), at times (m,)."""
        low = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        h = np.diff(self.times)[low]
        part, h = np.clip((t - self.times[low]) / h, 0.0, 1.0)[:, None, None], h[:, None, None]
        slow = rotation.multiply(self.relative, _pure(0.5 * self.spins))
        begin, end = self.relative[low], self.relative[low + 1]
        # Cubics of nearby quaternions of one sign are rotations up to their length.
        sign = np.where(rotation.dot(begin, end) < 0.0, -1.0, 1.0)[..., None]
        relative = rotation.normalize(_cubic(begin, sign * end, slow[low], sign * slow[low + 1], part, h))
        return relative, self._torques_at(low, part, h)

    def _torques_at(self, low: NDArray[np.int_], part: Array, h: Array) -> Array:
        """Torques (m, n, 3) at fractions (m, 1, 1) of the steps of h (m, 1, 1) seconds with these numbers (m,)."""
        rising = derivatives(self.torques, self.times)
        return _cubic(self.torques[low], self.torques[low + 1], rising[low], rising[low + 1], part, h)


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
