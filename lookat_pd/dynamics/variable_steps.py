"""Steps of different lengths: where they end, and the formulas of high order for them.

Velocities follow by implicit backward differences, places by the Adams-Moulton formula: derivatives and integrals of
the polynomials through the velocities before, at the start through the acceleration there, too. Source: Hairer,
Norsett, Wanner, Solving Ordinary Differential Equations I, III.5, 1993.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..rotation import Array

_FIRST = 1.0 / 4.0
"""Length of the first step as a fraction of those to which the steps after it grow, each twice as long."""
_NEIGHBORS = 5
"""Samples from which a derivative is taken."""
_KEPT = 64


class Formula(NamedTuple):
    """One step, from rows of which the first one is the acceleration at the start of the interval and the others are
    the velocities at the ends of steps.

    first: the first row that counts. weights: (3, p) of the p rows from there: in the velocity at the end of the step
    if extrapolated, in that without acceleration, and in the distance [s]. slope: weight [s] of the acceleration at the
    end in the velocity there; end: weight [s] of that velocity in the distance.
    """

    first: int
    weights: Array
    slope: float
    end: float


class Steps(NamedTuple):
    """Steps between times (s + 1,) [s]: lengths (s,) [s]; the formula of each; slopes, ends: (s,) [s], of all."""

    times: Array
    lengths: Array
    formulas: list[Formula]
    slopes: Array
    ends: Array


@lru_cache(maxsize=_KEPT)
def graded(decays: float, part: float, longest: float, shortest: float, *, relaxed: float) -> Array:
    """Fractions (s + 1,) of an interval at which steps end, for a motion that decays by e^-decays within it.

    part, longest, shortest: lengths in times of decay. The first steps are short, since a motion may begin with any
    acceleration; they grow to `part`, and from there on by the factor e in `relaxed` times of decay.
    """
    ends, step = [0.0], _FIRST * max(min(part, longest), shortest)
    while ends[-1] < decays * (1.0 - 1e-9):
        ends.append(ends[-1] + step)
        step = min(2.0 * step, max(min(part * float(np.exp(ends[-1] / relaxed)), longest), shortest))
    return np.array(ends) / ends[-1]


def steps(fractions: Array, start: float, length: float, *, order: int) -> Steps:
    """The steps that end at these fractions (s + 1,) of an interval of `length` seconds after `start`. order: of their
    formulas, at least 3; the first ones have less."""
    unit = _unit_steps(fractions.tobytes(), order)
    scale = np.array([[1.0], [1.0], [length]])
    found = []
    for first, weights, slope, end in unit.formulas:
        scaled = weights * scale
        if not first:
            scaled[:, 0] *= length
        found.append(Formula(first, scaled, slope * length, end * length))
    times = start + length * unit.times
    return Steps(times, length * unit.lengths, found, length * unit.slopes, length * unit.ends)


@lru_cache(maxsize=_KEPT)
def _unit_steps(fractions: bytes, order: int) -> Steps:
    """The steps of an interval of one second."""
    times = np.frombuffer(fractions)
    lengths, found = np.diff(times), []
    for step in range(1, min(order, len(times))):
        found += _formulas(times, np.array([step]), 0, step + 1, order)
    if len(times) > order:
        found += _formulas(times, np.arange(order, len(times)), 1, order, order)
    slopes, ends = (np.array([getattr(each, name) for each in found]) for name in ("slope", "end"))
    return Steps(times, lengths, found, slopes, ends)


def _formulas(times: Array, numbers: Array, first: int, count: int, order: int) -> list[Formula]:
    """The formulas of steps (m,), from 1 on, on so many rows each; with `first` 0 on the acceleration at the start."""
    h = times[numbers] - times[numbers - 1]
    # The rows of the velocities, the latest first, in the order of time of the ends before.
    velocities = times[numbers[:, None] - np.arange(count + first)]
    nodes = (velocities - times[numbers, None]) / h[:, None]
    slope_at = (times[:1] - times[numbers, None]) / h[:, None] if not first else np.zeros((len(numbers), 0))
    powers = _powers(nodes, slope_at)
    size = powers.shape[-1]
    rate = _solved(powers, np.eye(size)[1])
    ahead = _solved(powers[:, :-1, 1:], np.eye(size - 1)[0])
    known = min(size, order)
    power = np.arange(1.0, known + 1.0)
    path = np.zeros((len(numbers), size))
    path[:, :known] = _solved(powers[:, :known, :known], -((-1.0) ** power) / power)
    rows = np.stack((ahead, -rate[:, 1:] / rate[:, :1], path[:, 1:] * h[:, None]), axis=1)[:, :, ::-1].copy()
    if not first:
        rows[:, :, 0] *= h[:, None]
    starts = numbers - count + first if first else np.zeros(len(numbers), dtype=int)
    slopes, ends = h / rate[:, 0], h * path[:, 0]
    return [Formula(*each) for each in zip(starts.tolist(), rows, slopes.tolist(), ends.tolist(), strict=True)]


def _powers(nodes: Array, slope_at: Array) -> Array:
    """The powers from 0 on (m, p, p) at nodes (m, q) and their slopes at others (m, p - q)."""
    power = np.arange(nodes.shape[1] + slope_at.shape[1])[:, None]
    values = nodes[:, None, :] ** power
    slopes = power * slope_at[:, None, :] ** np.maximum(power - 1, 0)
    return np.concatenate((values, slopes), axis=2)


def _solved(powers: Array, moments: Array) -> Array:
    """Weights (m, p) of what gives `powers` (m, p, p) in a linear functional that gives the moments (p,) for them."""
    return np.linalg.solve(powers, np.broadcast_to(moments[:, None], (*powers.shape[:2], 1)))[..., 0]


def derivatives(values: Array, times: Array, lasts: Array | None = None) -> Array:
    """Derivatives of samples (s, ...) at times (s,), of fourth order if they are five or more.

    lasts: the numbers (k,) of the last samples of pieces, each of which is derived alone.
    """
    ends = np.array([len(times) - 1]) if lasts is None else lasts
    begins = np.append(0, ends[:-1] + 1)
    counts = ends + 1 - begins
    near = min(_NEIGHBORS, int(counts.min()))
    if near < _NEIGHBORS and len(counts) > 1:
        pieces = (slice(begin, end + 1) for begin, end in zip(begins, ends, strict=True))
        return np.concatenate([derivatives(values[piece], times[piece]) for piece in pieces])
    if near < 2:
        return np.zeros_like(values)
    begin, end = np.repeat(begins, counts), np.repeat(ends, counts)
    first = np.clip(np.arange(len(times)) - near // 2, begin, end + 1 - near)
    rows = first[:, None] + np.arange(near)
    scale = np.ptp(times[rows], axis=1)[:, None]
    powers = _powers((times[rows] - times[:, None]) / scale, np.zeros((len(times), 0)))
    factors = _solved(powers, np.eye(near)[1]) / scale
    return np.einsum("sp,sp...->s...", factors, values[rows])
