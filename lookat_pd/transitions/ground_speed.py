"""The ground speed of a clip in place, from its feet: what a treadmill below it would have.

A foot on the ground moves back as fast as the body would go forwards. The foot on the ground is the lowest one; its
motion is fitted with one velocity and one turning speed by iteratively reweighted least squares (P. J. Huber, "Robust
Estimation of a Location Parameter", 1964, with the weights of Cauchy), so that feet that are swung low do not count.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array

_LOW = 0.06
"""Largest height [sizes] of a foot on the ground above its lowest position."""
_SPREAD = 0.1
"""Deviation of speed [sizes/s] from which on a sample counts less."""
_WIDE = 30.0
"""Spread of the first round, in spreads of the last one."""
_FLAT = 0.01
"""Height [sizes] above which a foot on the ground counts less."""
_ROUNDS = 40


@dataclass(frozen=True)
class Soles:
    """Points at the soles (F, P, 3) in a clip in place."""

    feet: Array
    lowest: NDArray[np.intp]
    """(F,) the point that is lowest above its own lowest position."""
    is_low: NDArray[np.bool_]
    """(F,) whether it may be on the ground."""
    share: Array
    """(F, P) weights that decrease with the height."""

    @classmethod
    def of(cls, feet: ArrayLike, dt: float, size: float) -> "Soles":
        """Arguments and errors as for `ground_speed`."""
        feet = checks.animated("feet", feet)
        checks.time_step(dt)
        checks.number("size", size, 1e-9)
        if feet.ndim != 3 or feet.shape[-1] != 3 or len(feet) < 3 or not feet.shape[1]:
            raise InvalidArgument(
                "The shape of the feet must be (frames, points, 3) with at least three frames and one point, not "
                "{shape}.",
                shape=feet.shape,
            )
        heights = feet[..., 2] - feet[..., 2].min(axis=0)
        share = 1.0 / (1.0 + (heights / (_FLAT * size)) ** 2)
        return cls(feet, np.argmin(heights, axis=1), np.min(heights, axis=1) < _LOW * size, share)


def ground_speed(feet: ArrayLike, dt: float, size: float, *, turns: bool = False) -> tuple[Array, float]:
    """Velocity (2,) [length/s] and turning speed [rad/s] of the body over the ground.

    feet: positions (F, P, 3) of points at the soles in a clip in place, Z up; dt: [s] between frames; size: length of
    a leg. turns: whether the turning speed about the origin is fitted; else it is 0. The velocity is in the frame of
    the clip, which turns with the body. Raises InvalidArgument if there are fewer than three frames or no points.
    """
    soles = Soles.of(feet, dt, size)
    feet, lowest = soles.feet, soles.lowest
    # One-sided differences at the ends are those of the frames beside them.
    rows = np.flatnonzero(soles.is_low)
    rows = rows[(rows > 0) & (rows < len(feet) - 1)]
    # The same point has been the lowest one since the frame before, and is until the frame after.
    rows = rows[(lowest[rows - 1] == lowest[rows]) | (lowest[rows + 1] == lowest[rows])]
    if not len(rows):
        return np.zeros(2), 0.0
    points = lowest[rows]
    place = feet[rows, points, :2]
    moved = (feet[rows + 1, points, :2] - feet[rows - 1, points, :2]) / (2.0 * dt)
    columns = np.zeros((len(rows), 2, 3))
    columns[:, 0, 0] = columns[:, 1, 1] = 1.0
    if turns:
        columns[:, 0, 2], columns[:, 1, 2] = -place[:, 1], place[:, 0]
    return _fitted(columns, -moved, soles.share[rows, points], _SPREAD * size)


def _fitted(columns: Array, wanted: Array, share: Array, spread: float) -> tuple[Array, float]:
    """The solution of columns (n, 2, 3) @ (vx, vy, turn) = wanted (n, 2) that most samples agree on, by their shares
    (n,): first with a wide spread, so that the begin does not decide."""
    motion, off = np.zeros(3), np.zeros(len(wanted))
    for turn in range(_ROUNDS):
        weights = np.sqrt(share / (1.0 + (off / max(spread, _WIDE * 0.8**turn * spread)) ** 2))[:, None]
        motion = np.linalg.lstsq(
            (weights[..., None] * columns).reshape(-1, 3), (weights * wanted).reshape(-1), rcond=None
        )[0]
        off = np.linalg.norm(columns @ motion - wanted, axis=-1)
    return motion[:2], float(motion[2])
