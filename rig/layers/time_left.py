"""How long work will still take: by how far it is, and by how work of the same kind went the last time."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ...lookat_pd.rotation import Array

_APART = 0.01
"""Fractions that are nearer to each other are not noted one by one, where none is reached after a wait."""
_WAIT = 0.05
"""Seconds without a step from which on the work has waited, as for the window to be drawn."""
_KNOWN = 0.15
"""Share of the work after which its pace is known: that of the first steps says little."""
_EARLY = 0.5
"""Share of the work until which how long the last one took says more of it than how long that part has taken."""
_OTHERWISE, _OTHERWISE_KNOWN = 1.35, 0.4
"""By how much that may be longer or shorter than what this part says: what differs more was done on a machine that was
busier, or less, and says nothing. And the share after which the pace is known without it."""
_LATELY = 0.15
"""Share of the work whose pace is compared with that of all that is done."""
_AGREE = 1.15
"""By how much these two, and what is told by them and the last work, may differ: where they do, the machine is busy
beside it now and then, or was, and says nothing of what comes."""


@dataclass(frozen=True)
class _Profile:
    """How a work went. What fractions (n,) were reached after what shares (n,) of its time: two of one fraction where
    it waited there. After the last one it was only shown."""

    fractions: Array
    shares: Array
    seconds: float

    def at(self, fractions: Array) -> tuple[Array, Array]:
        """Shares (n,) after which fractions (n,) were reached, and after which they were left."""
        begin, end = (np.searchsorted(self.fractions, fractions, side) for side in ("left", "right"))
        between = np.interp(fractions, self.fractions, self.shares)
        last = len(self.shares) - 1
        reached = np.where(end > begin, self.shares[np.minimum(begin, last)], between)
        return reached, np.where(end > begin, self.shares[np.maximum(end - 1, 0)], between)

    def after(self, fraction: float) -> float:
        """The share after which the next fraction was reached."""
        return float(self.shares[min(np.searchsorted(self.fractions, fraction, "right"), len(self.shares) - 1)])


class TimeLeft:
    """Wall time of works that tell what fraction of them is done.

    Fractions need not go at an even rate, nor reach 1 before the end: a work that is done sooner than it might have
    been leaves some out. So the next one of its kind is taken to spend its time on them in the same proportions, and
    nothing is known of the first one, unless its rate is even.
    """

    def __init__(self) -> None:
        self._profiles: dict[Hashable, _Profile] = {}
        """By kind of work."""
        self._last: tuple[float, float] | None = None
        self._ended: tuple[float, float] | None = None
        """When the work was done, and when that was seen."""
        self.is_ending = False
        self.begin(0)

    def begin(self, kind: Hashable, *, even: bool = True) -> None:
        """Another work starts. kind: those of one kind go alike. even: they go at an even rate."""
        if self._ended is not None:
            self._learn(*self._ended)
        self._kind, self._even = kind, even
        self._fractions: list[float] = []
        self._times: list[float] = []
        self._last = self._ended = None
        self._since = 0.0
        """When the last fraction was noted first."""
        self.is_ending = False
        """Whether the work is done, and it is not known yet when that was seen."""

    def note(self, fraction: float, now: float) -> None:
        """So much is done at a time [s]. What was known before the first note took no time."""
        has_waited = self._last is not None and now > self._last[1] + _WAIT
        if self._last is not None and has_waited and self._last[1] > self._times[-1]:
            self._fractions.append(self._last[0])
            self._times.append(self._last[1])
        if self._last is None or has_waited or fraction >= self._fractions[-1] + _APART:
            self._fractions.append(fraction)
            self._times.append(now)
        if self._last is None or fraction > self._last[0]:
            self._since = now
        self._last = fraction, now

    def finish(self, now: float) -> None:
        """The work is done at a time [s]."""
        self._ended, self.is_ending = (now, now), True

    def seen(self, now: float) -> None:
        """The window has been drawn since the work is done, at a time [s]: that belongs to it."""
        if self._ended is not None and self.is_ending:
            self._ended, self.is_ending = (self._ended[0], now), False

    def _learn(self, end: float, seen: float) -> None:
        if self._last is None or end <= self._times[0]:
            return
        fractions = np.array([*self._fractions, self._last[0], 1.0])
        seconds = seen - self._times[0]
        shares = (np.array([*self._times, self._last[1], end]) - self._times[0]) / seconds
        known = self._profiles.get(self._kind)
        if known is not None:
            # What else the machine does slows down now this part, now that.
            first, last = _Profile(fractions, shares, seconds).at(fractions)
            reached, left = known.at(fractions)
            place = (shares - first) / np.maximum(last - first, 1e-12)
            shares = np.maximum.accumulate(0.5 * (shares + reached + place * (left - reached)))
        self._profiles[self._kind] = _Profile(fractions, shares, seconds)

    def remaining(self, now: float) -> float:
        """Seconds that the work will still take at a time [s], nan if unknown, as while its pace changes."""
        if self._last is None or not (self._even or self._kind in self._profiles):
            return np.nan
        noted = self._shares(np.array(self._fractions))
        share = self._share(now, noted[0])
        done = share - noted[0]
        if done < _KNOWN or share >= 1.0 or now <= self._times[0]:
            # What goes on after the last one had come to its end is of a length that nobody knows.
            return np.nan
        begin = max(share - _LATELY, noted[0])
        ways = [
            (now - self._times[0]) / done,
            (now - float(np.interp(begin, np.maximum.accumulate(noted), self._times))) / (share - begin),
        ]
        whole = np.sqrt(ways[0] * ways[1])
        known = self._profiles.get(self._kind)
        if known is not None and max(whole, known.seconds) <= _OTHERWISE * min(whole, known.seconds):
            weight = done / (done + _EARLY)
            whole = whole**weight * known.seconds ** (1.0 - weight)
            ways.append(whole)
        elif known is not None and done < _OTHERWISE_KNOWN:
            return np.nan
        return float(whole * (1.0 - share)) if max(ways) <= _AGREE * min(ways) else np.nan

    def _shares(self, fractions: Array) -> Array:
        """Shares (n,) of its time after which the work reaches fractions (n,), as far as is known."""
        known = self._profiles.get(self._kind)
        return fractions if known is None else known.at(fractions)[0]

    def _share(self, now: float, first: float) -> float:
        """Share of its time that the work has come to at a time [s]. first: that of the first fraction.

        It may have stood at the last one for a while, as steps do whose number nobody knows: then it is taken to be as
        far in that as it was after so long, at the pace at which it came there.
        """
        assert self._last is not None
        reached = float(self._shares(np.array(self._last[:1]))[0])
        known = self._profiles.get(self._kind)
        if known is None:
            return reached
        is_paced = reached - first >= _KNOWN and self._since > self._times[0]
        pace = (self._since - self._times[0]) / ((reached - first) * known.seconds) if is_paced else 1.0
        most = max(reached, known.after(self._last[0]))
        return min(reached + (now - self._since) / (pace * known.seconds), most)
