"""The motion through intervals as samples at the ends of steps, with what is between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .course import IntervalMotion
from .keyed_motion import KeyedMotion

_AT_KEY = 1e-9
"""Time [s] before an interval that counts as its start."""


@dataclass(frozen=True)
class MotionSamples:
    """A motion at times (s,), as the deviation from the law's, with cubics between the samples."""

    times: Array
    """(s,) [s]."""
    relative: Array
    """(s, n, 4), rotations from the law's motion."""
    spins: Array
    """(s, n, 3) [rad/s], their angular velocities."""
    rises: Array
    """(s, n, 3) [rad/s^2], their angular accelerations."""
    torques: Array
    """(s, n, 3) [N m]."""
    lasts: NDArray[np.int_]
    """(k,), the last samples of intervals; the next one is at the same time."""

    @classmethod
    def of(cls, motion: KeyedMotion, courses: Sequence[IntervalMotion], torques: Sequence[Array]) -> "MotionSamples":
        """Motions through intervals one after the other, and their torques at the ends of steps."""
        names = "times", "poses", "spins", "rises"
        times, poses, w, dw = (np.concatenate([getattr(each, name)[each.ends] for each in courses]) for name in names)
        counts = [len(each) for each in torques]
        law, spins, rises = motion.at(times, np.repeat(np.arange(len(counts)), counts))
        relative = rotation.multiply(rotation.inverse(law), poses)
        back = rotation.inverse(relative)
        seen = rotation.rotate(back, spins)
        own, change = w - seen, dw - rotation.rotate(back, rises)
        change -= rotation.cross(seen, own)
        return cls(times, relative, own, change, np.concatenate(torques), np.cumsum(counts) - 1)

    def at(self, t: Array) -> tuple[Array, Array]:
        """Rotations (m, n, 4) from the law's motion, and torques (m, n, 3), at times (m,); at a key those after it."""
        low = np.clip(np.searchsorted(self.times, t + _AT_KEY, side="right") - 1, 0, len(self.times) - 2)
        part, h = self._place(low, t)
        # Torques that are not beyond their limits at the samples are not between them.
        torques = (1.0 - part) * self.torques[low] + part * self.torques[low + 1]
        return rotation.normalize(_cubic(*self._around(low), part, h)[0]), torques

    def followed(self, law: IntervalMotion, interval: int) -> IntervalMotion:
        """The motion at the times of a course of the law through an interval."""
        first = self.lasts[interval - 1] + 1 if interval else 0
        low = first + np.searchsorted(self.times[first : self.lasts[interval] + 1], law.times, side="right") - 1
        low = np.clip(low, first, self.lasts[interval] - 1)
        part, h = self._place(low, law.times)
        values, slopes = _cubic(*self._around(low), part, h)
        spins = 2.0 * rotation.multiply(rotation.inverse(values), slopes)[..., 1:]
        rises = (1.0 - part) * self.rises[low] + part * self.rises[low + 1]
        return law.followed_by(rotation.normalize(values), spins, rises)

    def _place(self, low: NDArray[np.int_], t: Array) -> tuple[Array, Array]:
        """The fractions (m, 1, 1) and lengths (m, 1, 1) [s] of the steps after samples (m,) at times (m,)."""
        h = (self.times[low + 1] - self.times[low])[:, None, None]
        return np.clip((t - self.times[low])[:, None, None] / h, 0.0, 1.0), h

    def _around(self, low: NDArray[np.int_]) -> tuple[Array, Array, Array, Array]:
        """The rotations (m, n, 4) at samples (m,) and those after them, with signs alike, and how they change."""
        slow = rotation.multiply(self.relative, _pure(0.5 * self.spins))
        begin, end = self.relative[low], self.relative[low + 1]
        sign = np.where(rotation.dot(begin, end) < 0.0, -1.0, 1.0)[..., None]
        return begin, sign * end, slow[low], sign * slow[low + 1]


def _pure(vectors: Array) -> Array:
    """Quaternions (..., 4) of these vectors (..., 3) and no scalar."""
    return np.concatenate((np.zeros((*vectors.shape[:-1], 1)), vectors), axis=-1)


def _cubic(begin: Array, end: Array, slow: Array, fast: Array, part: Array, h: Array) -> tuple[Array, Array]:
    """Values (m, ...) and slopes at fractions (m, 1, 1) of steps of h (m, 1, 1) with these values and slopes at their
    ends. Cubics of nearby quaternions of one sign are rotations up to their length."""
    way = end - begin
    second, third = 3.0 * way - h * (2.0 * slow + fast), h * (slow + fast) - 2.0 * way
    values = begin + part * (h * slow + part * (second + part * third))
    return values, slow + part * (2.0 * second + 3.0 * part * third) / h
