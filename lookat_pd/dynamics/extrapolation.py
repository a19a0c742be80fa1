"""Loose bones, stiff or not: results of steps of several lengths, extrapolated to steps of no length.

The steps are the engine's own, implicit in friction and springs, which is stable for any stiffness. Poses are half a
step ahead of the velocities, so that forces that depend on poses alone act in the middle of the steps. Each block of
steps is repeated with two and three parts of each, and with four where the estimated error is too large; beyond that
the steps are halved. Where the motion is calm, they become longer again.
Source: Deuflhard, Recent progress in extrapolation methods for ordinary differential equations, 1985.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..rotation import Array
from .guide import Guide, StepGrid
from .loose_model import AHEAD, LooseModel

LONGEST = 1.0 / 60.0
"""Longest of the steps [s] that are divided."""
FEWEST = 8
"""Least number of them in an interval."""
_PARTS = 1, 2, 3, 4
"""Into how many parts each step is divided."""
_HALVES = 0.5 / np.array(_PARTS)[:, None]
"""Half of each part."""
_HALVED, _MOST_HALVED = 2, 7
"""How often the longest steps are halved at the begin of an interval, and at most."""
_AT_ONCE = 8
"""Steps in a block."""
_INACCURATE = {3: 0.003, 4: 0.0015}
"""Estimated error [rad] of this number of results of a block above which there are more of them, or shorter steps."""
_ACCURATE = 0.0005
"""Estimated error [rad] of a block below which the next steps are longer."""
_SHARED = 12
"""Parts of the longest steps of which most others are made."""


def _weights(count: int) -> Array:
    """Weights of the results of the first lengths of steps, which cancel as many powers of the length less one."""
    parts = np.array(_PARTS[:count], dtype=float)
    apart = parts[:, None] - parts + np.diag(parts)
    return np.prod(parts[:, None] / apart, axis=1)


_BOTH = {count: np.stack((_weights(count), np.append(_weights(count - 1), 0.0))) for count in (3, 4)}
"""Weights of this number of results, and of those without the last one."""

Springs = Callable[[Array], Array]
"""The coordinates (m, nq) to which springs return at times (m,)."""


class _Block(NamedTuple):
    """So many of the longest steps, `halved` so often, from this one of an interval on."""

    interval: int
    halved: int
    first: int
    count: int


class Extrapolation:
    """Steps through the intervals of a grid, one interval after the other. careful: as for the model's `implicit`; then
    no error is estimated."""

    def __init__(self, model: LooseModel, grid: StepGrid, guide: Guide, *, careful: bool) -> None:
        self._model, self._grid, self._guide, self._careful = model, grid, guide, careful
        self._offsets = np.cumsum(grid.counts) - grid.counts
        self._sampled: dict[int, tuple[Array, Array]] = {}
        self._pushes: dict[int, Array] = {}

    def run(self, interval: int, begin: Array, springs: Springs | None) -> tuple[Array, Array] | None:
        """Times (s,) and states (s, 1 + nq + nv) after `begin` in an interval; None if the motion is too fast."""
        shortest = self._grid.lengths[interval] / (1 << _MOST_HALVED)
        # Places are in the shortest steps.
        place, last, halved = 0, int(self._grid.counts[interval]) << _MOST_HALVED, _HALVED
        places, found = [np.zeros(0)], [begin[None]]
        while place < last:
            long = 1 << (_MOST_HALVED - halved)
            if place % long or last - place < long:
                halved += 1
                continue
            block = _Block(interval, halved, place // long, min(_AT_ONCE, (last - place) // long))
            made, error = self._made(block, found[-1][-1], springs)
            if made is not None:
                found.append(made)
                places.append(place + long * np.arange(1.0, block.count + 1.0))
                place += long * block.count
                halved -= error < _ACCURATE and halved > 0
            elif halved == _MOST_HALVED or self._careful:
                return None
            else:
                halved += 1
        return self._grid.begins[interval] + shortest * np.concatenate(places), np.concatenate(found[1:])

    def _made(self, block: _Block, begin: Array, springs: Springs | None) -> tuple[Array | None, float]:
        """The states (s, 1 + nq + nv) after a block and their estimated error [rad]; None if it is too large."""
        model, length = self._model, float(self._grid.lengths[block.interval]) / (1 << block.halved)
        half = length * _HALVES
        at = block.first + int(self._offsets[block.interval] << block.halved)
        begins = np.repeat(begin[None], len(_PARTS), axis=0)
        coordinates, speeds = self._samples(1 << block.halved)
        model.drive(begins, coordinates[at], speeds[at])
        model.move(begins, half)
        ends, moved = np.empty((len(_PARTS), block.count, len(begin))), 0
        for row, parts in enumerate(_PARTS, 1):
            ends[row - 1] = self._stepped(block, at, parts, begins[row - 1], springs)[parts - 1 :: parts]
            if row not in _BOTH:
                continue
            model.move(ends[moved:row], -half[moved:row, None])
            moved = row
            result, lower = (_BOTH[row] @ ends[:row].reshape(row, -1)).reshape(2, *ends[0].shape)
            if model.diverged(result):
                break
            error = 0.0 if self._careful else model.apart(result, lower)
            if error < _INACCURATE[row]:
                return result, error
        return None, np.inf

    def _stepped(self, block: _Block, at: int, parts: int, begin: Array, springs: Springs | None) -> Array:
        """The states (s, 1 + nq + nv) after the steps of a block, whose number in the whole grid is `at`, each divided
        into `parts`."""
        every, held = parts << block.halved, None
        h = float(self._grid.lengths[block.interval]) / every
        if springs is not None:
            steps = block.first * parts + np.arange(block.count * parts)
            held = springs(self._grid.begins[block.interval] + h * (steps + 0.5 + AHEAD[self._careful]))
        self._model.implicit(h, careful=self._careful)
        torques = self._torques(every)[at * parts : (at + block.count) * parts]
        return self._model.stepped(begin, torques, held)

    def _torques(self, parts: int) -> Array:
        """The torques (s, nv) in the longest steps divided into `parts`."""
        if parts not in self._pushes:
            h = np.repeat(self._grid.lengths / parts, self._grid.counts * parts)
            self._pushes[parts] = self._model.torques(self._samples(parts)[1], h[:, None])
        return self._pushes[parts]

    def _samples(self, parts: int) -> tuple[Array, Array]:
        """The coordinates and speeds (s + 1, ...) of what is driven at the ends of the longest steps divided into
        `parts`."""
        if parts in self._sampled:
            return self._sampled[parts]
        if _SHARED % parts == 0 and parts < _SHARED:
            coordinates, speeds = self._samples(_SHARED)
            found = coordinates[:: _SHARED // parts], speeds[:: _SHARED // parts]
        else:
            grid = self._grid.divided(parts)
            interval, times = grid.begun()
            end = times[-1:] + grid.lengths[-1]
            found = self._guide.at(np.append(interval, interval[-1]), np.concatenate((times, end)))
        self._sampled[parts] = found
        return found
