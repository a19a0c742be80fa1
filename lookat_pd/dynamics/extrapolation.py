"""Loose bones with stiff friction or springs: results of steps of several lengths, extrapolated to steps of no length.

The steps are those of the linearly implicit Euler method, which is stable for any stiffness. Blocks of them are made
with three lengths, and with a fourth one where the estimated error is too large; beyond that, the steps are halved.
Source: Deuflhard, Recent progress in extrapolation methods for ordinary differential equations, 1985.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..rotation import Array
from .loose_model import FOLLOWED, Guide, LooseModel

_PARTS = 1, 2, 4, 8
"""Into how many steps the longest ones are divided; the last number is used where the others do not suffice."""
_INACCURATE = 0.005
"""Estimated error [rad] of a block above which more steps are made."""
_AT_ONCE = 9
"""Longest steps in a block; divisible by `FOLLOWED`."""
_LEAST = 5
"""Number of steps from which more are interpolated."""


def _weights(count: int) -> Array:
    """Weights of the results of the first lengths of steps, which cancel as many powers of the length less one."""
    parts = np.array(_PARTS[:count], dtype=float)
    apart = parts[:, None] - parts + np.diag(parts)
    return np.prod(parts[:, None] / apart, axis=1)


_BOTH = {count: np.stack((_weights(count), np.append(_weights(count - 1), 0.0))) for count in (3, 4)}
"""Weights of this number of results, and of those without the last one."""


class _Level(NamedTuple):
    """Steps of h seconds between times (s + 1,): torques (s, nv) in each of them, and in it if it is the first of a
    block, before which what is driven has the velocities `begins` (s, ...); coordinates (w, nq) of moving springs."""

    h: float
    times: Array
    guide: Guide
    torques: Array
    first: Array
    begins: tuple[Array, ...]
    springs: Array | None


class Extrapolation:
    """Steps between two keys, begun at times (s + 1,). guided: what is driven at times (m,). springs: the coordinates
    (m, nq) to which springs return at times (m,); None if they do not move. shortest: the least length [s] of a step
    that is divided. careful: as for the model's `implicit`; then no error is estimated."""

    def __init__(
        self,
        model: LooseModel,
        times: Array,
        guided: Callable[[Array], Guide],
        springs: Callable[[Array], Array] | None,
        *,
        shortest: float,
        careful: bool,
    ) -> None:
        self._model, self._times, self._guided, self._springs = model, times, guided, springs
        self._shortest, self._careful = shortest, careful
        self._guide = guided(_divided(times, _PARTS[-2]))
        self._levels: dict[int, _Level] = {}

    def run(self, begin: Array) -> tuple[Array, Array] | None:
        """Times (s,) and states (s, 1 + nq + nv) after `begin`; None if the steps are too long for the motion."""
        return self._blocks(0, len(self._times) - 1, 1, begin)

    def _blocks(self, first: int, last: int, parts: int, begin: Array) -> tuple[Array, Array] | None:
        """As `run`, in steps with these numbers if those between `times` are divided into `parts`."""
        grid: list[Array] = []
        found = [begin[None]]
        for low in range(first, last, _AT_ONCE):
            made = self._block(low, min(low + _AT_ONCE, last), parts, found[-1][-1])
            if made is None:
                return None
            grid.append(made[0])
            found.append(made[1])
        return np.concatenate(grid), np.concatenate(found[1:])

    def _block(self, first: int, last: int, parts: int, begin: Array) -> tuple[Array, Array] | None:
        levels: list[Array] = []
        for each in _PARTS:
            states = self._stepped(first * each, last * each, parts * each, begin)
            if states is None:
                break
            levels.append(states[each - 1 :: each])
            if len(levels) in _BOTH:
                result, lower = np.einsum("ij,jsn->isn", _BOTH[len(levels)], np.stack(levels))
                if self._careful or self._model.apart(result, lower) < _INACCURATE:
                    self._model.normalize(result)
                    return self._levels[parts].times[first + 1 : last + 1], result
        if self._careful or (self._times[1] - self._times[0]) / parts < self._shortest:
            return None
        return self._blocks(2 * first, 2 * last, 2 * parts, begin)

    def _stepped(self, first: int, last: int, parts: int, begin: Array) -> Array | None:
        """The states (s, 1 + nq + nv) after steps with these numbers; None if the motion diverges."""
        if parts not in self._levels:
            self._levels[parts] = self._level(parts)
        level, model = self._levels[parts], self._model
        torques = level.torques[first:last]
        springs = None if level.springs is None else level.springs[first // FOLLOWED :]
        kept = torques[0].copy()
        torques[0] = level.first[first]
        model.implicit(level.h, careful=self._careful)
        states = model.stepped(model.drive(begin, level.guide, level.begins, first), torques, springs)
        torques[0] = kept
        return None if model.diverged(states) else states

    def _level(self, parts: int) -> _Level:
        h, model = float(self._times[1] - self._times[0]) / parts, self._model
        times, guide = _divided(self._times, parts), self._guide_in(parts)
        after = guide.rates(h)
        before = tuple(np.concatenate((rates[:1], rates[:-1])) for rates in after)
        # A step moves at the velocity at its end; the first one of a block begins with that just after it.
        begins = tuple(_at_begins(rates) for rates in after)
        torques, first = model.torques(before, after, h), model.torques(begins, after, h)
        if self._springs is None:
            return _Level(h, times, guide, torques, first, begins, None)
        held, more = model.pulls(self._springs(times[1:]))
        return _Level(h, times, guide, torques + more, first + more, begins, held)

    def _guide_in(self, parts: int) -> Guide:
        """What is driven at the ends of the steps if those between `times` are divided into `parts`."""
        wanted, have = parts * (len(self._times) - 1), len(self._guide.places) - 1
        if wanted > have:
            few = have < _LEAST
            self._guide = self._guided(_divided(self._times, parts)) if few else self._guide.halved()
        return self._guide[:: max(have // wanted, 1)]


def _at_begins(means: Array) -> Array:
    """Velocities (s, ...) at the begins of steps from the means (s, ...) in them."""
    if len(means) < 4:
        return np.concatenate((means[:1], 0.5 * (means[:-1] + means[1:])))
    result = np.empty_like(means)
    result[0] = (11.0 * means[0] - 7.0 * means[1] + 2.0 * means[2]) / 6.0
    result[1:] = 0.5 * (means[:-1] + means[1:])
    result[2:-1] += (result[2:-1] - 0.5 * (means[:-3] + means[3:])) / 6.0
    return result


def _divided(times: Array, parts: int) -> Array:
    """Times (parts s + 1,) that divide the steps between times (s + 1,) evenly."""
    return np.interp(np.arange(parts * (len(times) - 1) + 1) / parts, np.arange(len(times)), times)
