"""Few knots for many samples: a smooth piecewise cubic curve, fitted by least squares until no sample is too far off.

All columns of the samples share the knots. Values and slopes at the knots are found together (Hermite's basis; the
normal equations are block tridiagonal); the knots are spread by the fourth differences and, where a sample is still
too far from the curve, inserted. The ends are met exactly. A trace of bending energy decides what samples leave open.

Blender's own *Decimate* for F-curves (`graph.decimate`) needs an open Graph Editor and fits one curve at a time, so
that the numbers of one rotation have keys at different times.

Source: de Boor, A Practical Guide to Splines, Springer, 1978: chapter XII for where knots are needed, chapter XIV for
least squares with knots.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .rotation import Array

Errors = Callable[[Array], Array]
"""From fitted samples (F, n) to the error of each (F,), 1 where it is as large as allowed."""
_HELD = 1e4
"""Weight of samples that are met exactly, so that slopes are found for them as they are."""
_BENDING = 1e-6
_SAME = 1e-6
"""Difference of numbers that are the same, as Blender keeps them."""
_AROUND = 3
"""Samples to each side over which the need of knots is alike."""
_SPREADINGS = 5
_USUAL, _AIM = 0.7, 0.7
"""Of the errors of the segments this quantile is brought to this error before single segments are divided."""


@dataclass(frozen=True)
class FittedCurve:
    """A piecewise cubic curve with a continuous slope."""

    times: Array
    """(F,) of the samples."""
    knots: NDArray[np.int64]
    """(K,) the samples at which it has knots, the first and the last one included."""
    values: Array
    """(K, n) its values there."""
    slopes: Array
    """(K, n) its slopes there."""

    def at_samples(self) -> Array:
        """Its values (F, n) at all samples."""
        return _Basis(self.times, self.knots).evaluate(self.values, self.slopes)


def fit(
    times: Array, samples: Array, errors: Errors, held: NDArray[np.bool_] | None = None, *, closed: bool = False
) -> FittedCurve:
    """A curve near samples (F, n) at increasing times (F,) with an error of at most 1 at each of them.

    held: samples (F,) that are knots and are met exactly, besides both ends. closed: it has one slope at both ends, for
    a motion that repeats.
    """
    times, samples = np.asarray(times, dtype=float), np.asarray(samples, dtype=float)
    exact = np.zeros(len(samples), dtype=bool) if held is None else np.array(held, dtype=bool)
    exact[[0, -1]] = True
    if len(samples) < 2:
        return FittedCurve(times, np.zeros(1, dtype=np.int64), samples.copy(), np.zeros_like(samples))
    knots = _spread(times, samples, errors, exact)
    while True:
        curve = _fitted(times, samples, knots, exact)
        if closed:
            curve.slopes[[0, -1]] = curve.slopes[[0, -1]].mean(axis=0)
        wrong = errors(curve.at_samples())
        more = _insertions(knots, wrong)
        if len(more):
            knots = np.union1d(knots, more)
            continue
        off = knots[wrong[knots] > 1.0]
        if not len(off):
            return curve
        # Beside a jump, where all neighbours are knots too.
        exact[off] = True


def _spread(times: Array, samples: Array, errors: Errors, exact: NDArray[np.bool_]) -> NDArray:
    """Knots for errors that are alike everywhere and nearly as large as allowed."""
    held = np.flatnonzero(exact)
    share = _share_of_knots(samples)
    knots, count = held, 1.0
    for _ in range(_SPREADINGS):
        wrong = errors(_fitted(times, samples, knots, exact).at_samples())
        usual = float(np.quantile(np.maximum.reduceat(wrong, knots[:-1]), _USUAL))
        # The error of a cubic grows with the fourth power of its length.
        factor = float(np.clip((usual / _AIM) ** 0.25, 0.25, 8.0))
        count = min(max((len(knots) - 1) * factor, 1.0), len(samples) - 1.0)
        places = np.interp(np.linspace(0.0, 1.0, round(count) + 1), share, np.arange(len(samples)))
        knots = np.union1d(held, np.round(places).astype(np.int64))
    return knots


def _share_of_knots(samples: Array) -> Array:
    """The share of all knots that is best before each sample (F,), by the fourth differences (de Boor)."""
    count = len(samples)
    if count < 6:
        return np.linspace(0.0, 1.0, count)
    fourth = np.linalg.norm(np.diff(samples, n=4, axis=0), axis=1)
    around = np.convolve(np.pad(fourth, 2 + _AROUND, mode="edge"), np.full(2 * _AROUND + 1, 1.0), mode="valid")
    density = np.maximum(around, 1e-3 * around.mean() + 1e-12) ** 0.25
    sums = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))
    return sums / sums[-1]


def _insertions(knots: NDArray, wrong: Array) -> NDArray:
    """The middles of segments with a sample that is too far off."""
    worst = np.maximum(np.maximum.reduceat(wrong, knots[:-1]), wrong[knots[1:]])
    bad = (worst > 1.0) & (np.diff(knots) > 1)
    return (knots[:-1][bad] + knots[1:][bad]) // 2


def is_closed(samples: Array) -> bool:
    """Whether samples (F, n) end where they begin, as fast as they begin, as those of a motion that repeats."""
    if len(samples) < 4:
        return False
    slopes = np.diff(samples, axis=0)
    bends = np.abs(np.diff(slopes[[0, 1, -2, -1]], axis=0)[[0, 2]]).max(axis=0)
    tiny = _SAME * max(float(np.abs(samples).max()), 1.0)
    meets = np.abs(samples[-1] - samples[0]) <= tiny
    return bool(np.all(meets & (np.abs(slopes[-1] - slopes[0]) <= 2.0 * bends + tiny)))


class _Basis:
    """Hermite's basis at all samples between knots."""

    def __init__(self, times: Array, knots: NDArray) -> None:
        self.lengths = np.diff(times[knots])
        self.segment = np.append(np.repeat(np.arange(len(knots) - 1), np.diff(knots)), len(knots) - 2)
        h = self.lengths[self.segment]
        t = (times - times[knots[self.segment]]) / h
        s = 1.0 - t
        self.weights = np.stack(
            (s * s * (1.0 + 2.0 * t), h * t * s * s, t * t * (3.0 - 2.0 * t), -h * t * t * s), axis=-1
        )

    def evaluate(self, values: Array, slopes: Array) -> Array:
        n, w = self.segment, self.weights
        return w[:, 0:1] * values[n] + w[:, 1:2] * slopes[n] + w[:, 2:3] * values[n + 1] + w[:, 3:4] * slopes[n + 1]


def _fitted(times: Array, samples: Array, knots: NDArray, exact: NDArray[np.bool_]) -> FittedCurve:
    """The curve with these knots that is nearest to all samples."""
    basis = _Basis(times, knots)
    trusted = np.where(exact, _HELD, 1.0)[:, None] * basis.weights
    starts = knots[:-1]
    normal = np.add.reduceat(trusted[:, :, None] * basis.weights[:, None, :], starts)
    right = np.add.reduceat(trusted[:, :, None] * samples[:, None, :], starts)
    normal += _BENDING * _bending(basis.lengths)
    count, columns = len(knots), samples.shape[1]
    diagonal, upper = np.zeros((count, 2, 2)), np.zeros((count, 2, 2))
    known = np.zeros((count, 2, columns))
    diagonal[:-1] += normal[:, :2, :2]
    diagonal[1:] += normal[:, 2:, 2:]
    upper[:-1] = normal[:, :2, 2:]
    known[:-1] += right[:, :2]
    known[1:] += right[:, 2:]
    solved = _block_tridiagonal(diagonal, upper, known)
    values = np.where(exact[knots][:, None], samples[knots], solved[:, 0])
    return FittedCurve(times, knots, values, solved[:, 1])


def _bending(h: Array) -> Array:
    """The matrices (S, 4, 4) of the bending energy of cubics of lengths (S,)."""
    one = np.ones_like(h)
    rows = (
        (12.0 * one, 6.0 * h, -12.0 * one, 6.0 * h),
        (6.0 * h, 4.0 * h * h, -6.0 * h, 2.0 * h * h),
        (-12.0 * one, -6.0 * h, 12.0 * one, -6.0 * h),
        (6.0 * h, 2.0 * h * h, -6.0 * h, 4.0 * h * h),
    )
    return np.array(rows).transpose(2, 0, 1) / (h**3)[:, None, None]


def _block_tridiagonal(diagonal: Array, upper: Array, known: Array) -> Array:
    """The solution (K, 2, n) of a symmetric system of blocks (K, 2, 2), by parallel cyclic reduction.

    upper: the block to the right of each diagonal one; that of the last row is zero.
    """
    count = len(diagonal)
    diagonal, upper, known = diagonal.copy(), upper.copy(), known.copy()
    lower = np.zeros_like(upper)
    lower[1:] = upper[:-1].transpose(0, 2, 1)
    step = 1
    while step < count:
        inverse = np.linalg.inv(diagonal)
        down = lower[step:] @ inverse[:-step]
        up = upper[:-step] @ inverse[step:]
        new_diagonal, new_known = diagonal.copy(), known.copy()
        new_diagonal[step:] -= down @ upper[:-step]
        new_diagonal[:-step] -= up @ lower[step:]
        new_known[step:] -= down @ known[:-step]
        new_known[:-step] -= up @ known[step:]
        new_lower, new_upper = np.zeros_like(lower), np.zeros_like(upper)
        new_lower[step:] = -down @ lower[:-step]
        new_upper[:-step] = -up @ upper[step:]
        diagonal, lower, upper, known = new_diagonal, new_lower, new_upper, new_known
        step *= 2
    return np.linalg.solve(diagonal, known)
