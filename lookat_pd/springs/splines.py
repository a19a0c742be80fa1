"""Motions between their samples: cubic splines through them, whose second derivatives are linear from one to the next.

A filter that is solved exactly for a linear input is exact for such a motion, which follows a smooth one to the fourth
order of the time between samples.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .. import rotation
from ..rotation import Array

REACH = 14
"""Samples on each side of one that its derivatives depend on; the next would add 1e-8."""
_RATIO = np.sqrt(3.0) - 2.0
_KERNEL = np.sqrt(3.0) * _RATIO ** np.abs(np.arange(1 - REACH, REACH))
"""The inverse of the weights (1, 4, 1) / 6, by which the second derivatives of a spline give its second differences."""
_ORDER = 2
"""Of the polynomial by which a motion goes on before its first and after its last sample."""


@dataclass(frozen=True)
class Cycle:
    """How a motion that repeats itself is placed one cycle later: turned, then displaced."""

    turn: Array
    """(m, 4)"""
    shift: Array
    """(m, 3)"""

    def directions(self, padding: Array, *, back: bool) -> Array:
        """Directions (k, m, 3) one cycle later, or earlier."""
        return rotation.rotate(rotation.inverse(self.turn) if back else self.turn, padding)

    def places(self, padding: Array, *, back: bool) -> Array:
        """Places (k, m, 3) one cycle later, or earlier."""
        if back:
            return rotation.rotate(rotation.inverse(self.turn), padding - self.shift)
        return rotation.rotate(self.turn, padding) + self.shift


@dataclass(frozen=True)
class _Turned:
    """Orientations one cycle later, with the signs of their neighbours."""

    turn: Array
    turns: Array

    def moved(self, padding: Array, *, back: bool) -> Array:
        later = rotation.multiply(self.turn, self.turns[0])
        sign = np.where(rotation.dot(later, self.turns[-1]) < 0.0, -1.0, 1.0)[..., None]
        return sign * rotation.multiply(rotation.inverse(self.turn) if back else self.turn, padding)


def padded(values: Array, cycle: Cycle | None = None, *, places: bool = True) -> Array:
    """Values (S, m, 3) with REACH more on each side: those of the cycles before and after, or by extrapolation.

    places: whether they are places, else directions.
    """
    if cycle is not None:
        moved = cycle.places if places else cycle.directions
        return _tiled(values, moved)
    before, after = _extrapolated(values[: _ORDER + 1]), _extrapolated(values[: -_ORDER - 2 : -1])
    return np.concatenate((before[::-1], values, after))


def _tiled(values: Array, moved: Callable[..., Array]) -> Array:
    """Cycles beside each other until there is enough of them."""
    before, after, count = [], [], 0
    last, first = values[:-1], values[1:]
    while count < REACH:
        last, first = moved(last, back=True), moved(first, back=False)
        before.insert(0, last)
        after.append(first)
        count += len(last)
    return np.concatenate((np.concatenate(before)[-REACH:], values, np.concatenate(after)[:REACH]))


def _extrapolated(nearest: Array) -> Array:
    """REACH values beyond the nearest, which are listed from the end, by the polynomial through them."""
    known = np.arange(len(nearest))
    beyond = -1.0 - np.arange(REACH)
    weights = np.ones((REACH, len(nearest)))
    for one in known:
        for other in known[known != one]:
            weights[:, one] *= (beyond - other) / (one - other)
    return np.tensordot(weights, nearest, axes=1)


def second_derivatives(values: Array, step: float) -> Array:
    """Second derivatives (S, ...) at samples `step` seconds apart, of padded values (S + 2 REACH, ...)."""
    differences = values[2:] - 2.0 * values[1:-1] + values[:-2]
    return _inverted(differences) / step**2


def first_derivatives(values: Array, step: float) -> Array:
    """First derivatives (S, ...) at samples `step` seconds apart, of padded values (S + 2 REACH, ...)."""
    return _inverted(values[2:] - values[:-2]) / (2.0 * step)


def _inverted(values: Array) -> Array:
    flat = values.reshape(len(values), -1).T
    windows = sliding_window_view(np.ascontiguousarray(flat), len(_KERNEL), axis=1)
    return (windows @ _KERNEL).T.reshape(-1, *values.shape[1:])


def linear(values: Array, parts: int) -> Array:
    """Values (S, ...) at `parts` times as many steps, (parts (S - 1) + 1, ...), on straight lines."""
    at = (np.arange(parts) / parts).reshape(parts, *[1] * (values.ndim - 1))
    between = values[:-1, None] + at * (values[1:] - values[:-1])[:, None]
    return np.concatenate((between.reshape(-1, *values.shape[1:]), values[-1:]))


def refined(values: Array, parts: int, padding: Array) -> Array:
    """Values (S, ...) at `parts` times as many steps, (parts (S - 1) + 1, ...). padding: `padded` values."""
    if parts == 1:
        return values
    bend = second_derivatives(padding, 1.0) / 6.0
    result = np.empty(((len(values) - 1) * parts + 1, *values.shape[1:]))
    for part in range(parts):
        at = part / parts
        left = 1.0 - at
        result[part:-1:parts] = left * values[:-1] + at * values[1:]
        result[part:-1:parts] += (left**3 - left) * bend[:-1] + (at**3 - at) * bend[1:]
    result[-1] = values[-1]
    return result


def refined_turns(turns: Array, parts: int, cycle: Cycle | None = None) -> Array:
    """Orientations (S, m, 4) at `parts` times as many steps."""
    if parts == 1:
        return turns
    turns = rotation.align_hemisphere(turns)
    padding = padded(turns) if cycle is None else _tiled(turns, _Turned(cycle.turn, turns).moved)
    return rotation.normalize(refined(turns, parts, padding))
