"""The best motion of searches from several starts."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..rotation import Array
from .arm import Arm
from .obstacles import TOUCHED, Clearance
from .optimal import ApproachLine
from .reach_poses import lengths

_BESIDE = 0.005
"""Distance [m] from the line of an approach that counts as none."""
_HEAT = 3
"""Passes after which only the most promising of several searches goes on."""
_FURTHER = 1.0
"""Number of passes by which the costs of searches are extrapolated to compare them."""

Search = Generator[tuple[Array, float], bool | None, None]
"""A search for a motion (N + 1, a, 4): gives one with its cost in each pass."""


@dataclass(frozen=True)
class Best:
    """The best motion (N + 1, a, 4) so far: the cheapest that is clear of obstacles and on the line of its approach,
    else the nearest to that."""

    clear: Clearance | None
    motion: Array
    cost: float
    line: ApproachLine | None
    arm: Arm

    @property
    def depth(self) -> float:
        """How deep [m] it is within an obstacle, and how far from the line of its approach; 0 if that is nothing."""
        deep = 0.0 if self.clear is None else self.clear.depth(self.motion)
        beside = 0.0
        if self.line is not None:
            beside = float(lengths(self.line.beside(self.arm.points(self.motion))).max())
        return (0.0 if deep <= TOUCHED else deep) + (0.0 if beside <= _BESIDE else beside)

    @property
    def is_clear(self) -> bool:
        return self.depth == 0.0

    def better(self, motion: Array, cost: float) -> "Best":
        """This one or another one."""
        other = replace(self, motion=motion, cost=cost)
        if not np.isfinite(cost):
            return self
        return other if (other.depth, cost) < (self.depth, self.cost) else self


def improved(
    best: Best,
    work: Search,
    costs: list[float],
    passes: int,
    begin: float,
    end: float,
) -> Generator[float, bool | None, tuple[Best, bool]]:
    """The best motion of a search, and whether it was stopped; adds the cost of each pass to `costs`.

    begin, end: completed fractions.
    """
    for made, (motion, cost) in enumerate(work):
        best = best.better(motion, cost)
        costs.append(cost)
        if (yield begin + (end - begin) * (made + 1) / max(passes, 1)):
            return best, True
    return best, False


def again(
    best: Best,
    work: Search,
    costs: list[float],
    passes: int,
    begin: float,
    end: float,
) -> Generator[float, bool | None, tuple[Best, bool]]:
    """`improved` by a search that replaces the one before, with its costs, if it finds a better motion."""
    spent = costs[:1]
    better, stop = yield from improved(best, work, spent, passes, begin, end)
    if better is not best:
        costs[:] = spent
    return better, stop


def raced(
    best: Best,
    works: Sequence[Search],
    costs: list[float],
    passes: int,
    end: float,
) -> Generator[float, bool | None, tuple[Best, bool]]:
    """The best motion of searches from several starts, of which all but the best end after a few passes, and whether it
    was stopped. The number of passes is that of all together; the costs of those of the best search are added to
    `costs`. end: completed fraction."""
    given, made, stop = best, 0, False
    results: list[tuple[Best, list[float]]] = []

    def some(own: Best, work: Search, most: int) -> Generator[float, bool | None, tuple[Best, list[float]]]:
        nonlocal made, stop
        spent: list[float] = []
        while not stop and len(spent) < most:
            item = next(work, None)
            if item is None:
                break
            own, made = own.better(*item), made + 1
            spent.append(item[1])
            stop = bool((yield end * made / max(passes, 1)))
        return own, spent

    heat = passes if len(works) == 1 else min(_HEAT, -(-passes // len(works)))
    for work in works:
        results.append((yield from some(given, work, min(heat, passes - made))))
    ahead = min(range(len(works)), key=lambda n: (results[n][0].depth, _promised(results[n][1])))
    own, spent = results[ahead]
    own, more = yield from some(own, works[ahead], passes - made)
    results[ahead] = own, [*spent, *more]
    own, spent = min(results, key=lambda item: (item[0].depth, item[0].cost))
    costs += spent
    return own, stop


def _promised(costs: Sequence[float]) -> float:
    """The cost that a search promises to reach: that of its last pass, if it falls further as it fell in that pass."""
    falls = len(costs) > 1 and 0.0 < costs[-2] < np.inf
    return costs[-1] * (costs[-1] / costs[-2]) ** _FURTHER if falls else min(costs, default=np.inf)
