"""How long work will still take: by how far it is, and by how work of the same kind went the last time."""

from collections.abc import Hashable

import numpy as np

_APART = 0.01
"""Fractions that are nearer to each other are not noted one by one."""
_KNOWN = 0.15
"""Share of the work after which its pace is known: that of the first steps says little."""
_EARLY = 0.2
"""Share of the work until which how long the last one took says more of it than how long that part has taken."""
_OTHERWISE = 1.35
"""By how much that may be longer or shorter than what this part says; what differs more was done on a machine that was
busier, or less."""
_LATELY, _STEADY = 0.15, 1.15
"""Share of the work whose pace is compared with that of all that is done, and by how much they may differ: a machine
that is busy beside it now and then says nothing of what comes."""


class TimeLeft:
    """Wall time of works that tell what fraction of them is done.

    Fractions need not go at an even rate, nor reach 1 before the end: a work that is done sooner than it might have
    been leaves some out. So the next one of its kind is taken to spend its time on them in the same proportions, and
    nothing is known of the first one, unless its rate is even.
    """

    def __init__(self) -> None:
        self._profiles: dict[Hashable, tuple[list[float], list[float], float]] = {}
        """By kind of work: fractions, the share of the time after which they were reached, and that time."""
        self.begin(0)

    def begin(self, kind: Hashable, *, even: bool = True) -> None:
        """Another work starts. kind: those of one kind go alike. even: they go at an even rate."""
        self._kind, self._even = kind, even
        self._fractions: list[float] = []
        self._times: list[float] = []
        self._last: tuple[float, float] | None = None
        self._since = 0.0
        """When the last fraction was noted first."""

    def note(self, fraction: float, now: float) -> None:
        """So much is done at a time [s]. What was known before the first note took no time."""
        if self._last is None or fraction > self._last[0]:
            self._since = now
        self._last = fraction, now
        if not self._fractions or fraction >= self._fractions[-1] + _APART:
            self._fractions.append(fraction)
            self._times.append(now)

    def finish(self, now: float) -> None:
        """The work is done at a time [s]."""
        if self._last is not None and now > self._times[0]:
            times = [*self._times, self._last[1], now]
            fractions = [*self._fractions, self._last[0], 1.0]
            shares = (np.array(times) - times[0]) / (now - times[0])
            if self._kind in self._profiles:
                # What else the machine does slows down now this part, now that.
                shares = 0.5 * (shares + np.interp(fractions, *self._profiles[self._kind][:2]))
            self._profiles[self._kind] = fractions, shares.tolist(), now - times[0]

    def remaining(self, now: float) -> float:
        """Seconds that the work will still take at a time [s], nan if unknown, as while its pace changes."""
        if self._last is None or not (self._even or self._kind in self._profiles):
            return np.nan
        first = self._share(self._fractions[0])
        share = self._share(self._last[0], now)
        done = share - first
        if done < _KNOWN or share >= 1.0 or now <= self._times[0]:
            # What goes on after the last one had come to its end is of a length that nobody knows.
            return np.nan
        whole, lately = (now - self._times[0]) / done, self._whole_lately(share, now)
        if not 1.0 / _STEADY <= lately / whole <= _STEADY:
            return np.nan
        whole = np.sqrt(whole * lately)
        if self._kind in self._profiles:
            weight = done / (done + _EARLY)
            before = np.clip(self._profiles[self._kind][2], whole / _OTHERWISE, whole * _OTHERWISE)
            whole = whole**weight * before ** (1.0 - weight)
        return float(whole * (1.0 - share))

    def _whole_lately(self, share: float, now: float) -> float:
        """Seconds that all of the work would take at the pace of its last part, where a share is done at a time [s]."""
        shares = [self._share(fraction) for fraction in self._fractions]
        begin = max(share - _LATELY, shares[0])
        return (now - float(np.interp(begin, shares, self._times))) / (share - begin)

    def _share(self, fraction: float, now: float | None = None) -> float:
        """Share of its time after which the work has reached a fraction, as far as is known.

        now: the time [s], where it may have stood at the last fraction for a while, as steps do whose number nobody
        knows: then it is taken to be as far in that as it was after so long, at the pace at which it came there.
        """
        if self._kind not in self._profiles:
            return fraction
        fractions, shares, seconds = self._profiles[self._kind]
        reached = float(np.interp(fraction, fractions, shares))
        if now is None:
            return reached
        left = next((share for at, share in zip(fractions, shares, strict=True) if at > fraction), reached)
        pace = (
            (self._since - self._times[0]) / (reached * seconds)
            if reached >= _KNOWN and self._since > self._times[0]
            else 1.0
        )
        return min(reached + (now - self._since) / (pace * seconds), max(reached, left))
