"""How much a cut keeps of its two clips: where it may be so that most of each plays, and what costs what does not.

A clip that is no cycle is left in its second half and entered in its first one, and the share of its motion that is
thrown away costs. A cycle is left and entered at any frame, since it plays once more where little would be left of it;
nothing of it is thrown away.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..rotation import Array

DISCARDED = 0.02
"""Cost of throwing away all motion of a clip: as much as joints that are 0.14 of the body's size apart."""
WALKS = 0.3
"""Speed over the ground [sizes of the body/s] from which on a clip with ends that meet is a cycle: a blow or a jump
ends where it begins, too, but does not begin again."""


@dataclass(frozen=True)
class ClipExtent:
    """What a cut may use of a clip of N + 1 frames; of a cycle, the last of them shows the first one again."""

    covered: Array
    """(N + 1,) share of its motion that has played at each frame, from 0 to 1."""
    is_cycle: bool

    @property
    def cycle(self) -> int:
        """N."""
        return len(self.covered) - 1

    @property
    def rows(self) -> Array:
        """The frame of the clip at each frame of two cycles, or at each of its own."""
        return np.arange(2 * self.cycle) % self.cycle if self.is_cycle else np.arange(len(self.covered))

    def leave(self) -> slice:
        """Those of `rows` after which a cut may be."""
        return slice(self.cycle // 2, self.cycle // 2 + self.cycle) if self.is_cycle else slice(self.cycle // 2, None)

    def enter(self) -> slice:
        """Those of `rows` after which the clip may be entered."""
        return slice(0, self.cycle if self.is_cycle else self.cycle // 2 + 1)

    def thrown_after(self) -> Array:
        """The cost of leaving the clip after each of `rows`."""
        return np.zeros(len(self.rows)) if self.is_cycle else DISCARDED * (1.0 - self.covered)

    def thrown_before(self) -> Array:
        """The cost of entering the clip after each of `rows`."""
        return np.zeros(len(self.rows)) if self.is_cycle else DISCARDED * np.append(self.covered[1:], 1.0)

    def times(self, row: int) -> int:
        """How often the clip plays that is entered after one of `rows`: once more if less than half of it is left."""
        return 2 if self.is_cycle and row + 1 > self.cycle // 2 else 1

    def kept_until(self, row: int) -> float:
        """Share of its frames that play until one of `rows`."""
        return min((row + 1) / len(self.covered), 1.0)

    def kept_from(self, row: int) -> float:
        """Share of its frames that play after one of `rows`."""
        return 1.0 if self.times(row) > 1 else (self.cycle - row) / len(self.covered)


def extent(
    positions: ArrayLike, *, ends_meet: bool = False, ground_speed: float = 0.0, is_marked: bool = False
) -> ClipExtent:
    """positions: (F, J, 3) of joints. ends_meet: the last frame shows the first one again. ground_speed: of the body
    [sizes/s], also in place, as its feet have it. is_marked: it is a cycle in any case. Raises InvalidArgument."""
    positions = checks.animated("positions", positions)
    steps = np.sqrt(np.mean(np.sum(np.diff(positions, axis=0) ** 2, axis=-1), axis=-1))
    covered = np.concatenate(([0.0], np.cumsum(steps)))
    if covered[-1] > 0.0:
        covered /= covered[-1]
    is_cycle = len(steps) > 2 and (is_marked or (ends_meet and abs(ground_speed) > WALKS))
    return ClipExtent(covered, bool(is_cycle))
