"""Microsaccades: small random movements of eyes at rest, repeatable by a seed.

Each cell of absolute time contains one, at any frame rate and range.
"""

from dataclasses import dataclass

import numpy as np

from ..curves import smooth_step
from ..rotation import Array
from .ability import Eyes


@dataclass(frozen=True)
class Twitches:
    """The positions (t + 1, 2) [rad] between which the gaze moves at times (t,) [s], for `duration` [s] each."""

    times: Array
    places: Array
    duration: float

    @classmethod
    def between(cls, eyes: Eyes, start: float, end: float, last: float, *, settled: bool) -> "Twitches":
        """The microsaccades from start to end [s, absolute], up to `last`; settled: whether there were some before the
        start.

        None is unfinished at the end, which may be infinite.
        """
        lasts, (rate, count) = eyes.saccade_time(eyes.micro), eyes.micro_cells
        if not eyes.micro or end - start < lasts or (eyes.repeat and not count):
            return cls(np.empty(0), np.zeros((1, 2)), lasts)
        # The two previous cells determine the position of a settled gaze.
        cells = np.arange(np.floor(start * rate) - 2, np.floor(min(last, end) * rate) + 1)
        numbers = (cells % count if count else cells).astype(int)
        chance = np.array([np.random.default_rng((eyes.seed % 2**32, int(c) % 2**32)).uniform(size=3) for c in numbers])
        # A microsaccade ends within its cell.
        times = (cells + chance[:, 0] * max(1.0 - lasts * rate, 0.0)) / rate
        angle, radius = 2.0 * np.pi * chance[:, 1], 0.5 * eyes.micro * np.sqrt(chance[:, 2])
        places = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=-1)
        there = (settled | (times >= start)) & (times + lasts <= end)
        first = places[:1] if settled else np.zeros((1, 2))
        return cls(times[there], np.concatenate((first, places[there])), lasts)

    def at(self, times: Array) -> Array:
        """(n, 2) [rad] at times (n,) [s, absolute]."""
        if not len(self.times):
            return np.broadcast_to(self.places, (len(times), 2))
        latest = np.searchsorted(self.times, times, side="right") - 1
        s = np.clip((times - self.times[latest]) / self.duration, 0.0, 1.0)
        step = smooth_step(s)[0][:, None]
        before, after = self.places[np.maximum(latest, 0)], self.places[latest + 1]
        return np.where((latest < 0)[:, None], self.places[0], before + step * (after - before))
