"""When in a reach the hand is fastest: the same path, of which the time is warped.

Source: Atkeson, Hollerbach, Kinematic features of unrestrained vertical arm movements, 1985: one peak of speed,
whatever the path, the speed and the load. The change of torque has its minimum with peaks that vary much more.
"""

import numpy as np

from ..rotation import Array
from . import effort
from .reach_poses import lengths
from .reach_search import Best

_MOST = 0.22
"""Largest warp, with which time runs at most 1.8 times as fast as before, and never stands still."""
_STEEP = 3
"""Highest order of a warp."""
_DEAREST = 2.0
"""How much more it may cost at most."""
_TRIED = 45
_FINE = 8
"""Samples between two of a motion at which speeds are compared."""


def timed(best: Best, h: float, peaks: tuple[float, float], most: float) -> Best:
    """A motion of which the hands are fastest between two fractions of its time, or as near to that as a gentle warp
    comes. most: the largest cost that it may have; with more, or where it comes into an obstacle, it is warped less.
    """
    speeds = _speeds(best, h)
    least = before = _off(speeds, peaks)
    if not before:
        return best
    found = best
    # Low orders change the torques least. Ends at rest stay so with any of them.
    for order in range(2 if best.arm.is_moving else 1, _STEEP + 1):
        size = _size(speeds, peaks, order)
        for part in (1.0, 0.75, 0.5, 0.25):
            other = _with_warp(best, h, part * size, order)
            off = _off(_speeds(other, h), peaks)
            is_allowed = other.cost <= max(min(most, _DEAREST * best.cost), best.cost) and other.depth <= best.depth
            if is_allowed and (off < least or (off == least < before and other.cost < found.cost)):
                found, least = other, off
                break
    return found


def _with_warp(best: Best, h: float, size: float, order: int) -> Best:
    arm, last = best.arm, len(best.motion) - 1
    before, _ = _warped(np.arange(last + 1.0) / last, size, order)
    motion = arm.clamped(effort.moving(effort.curve(arm, best.motion, h), h * last * before)[0])
    motion[[0, -1]] = best.motion[[0, -1]]
    return Best(best.clear, motion, effort.cost(arm, motion, h, rough=True), best.line, arm)


def peak_of(speeds: Array) -> float:
    """The fraction of the time at which hands with speeds (c, k) at even times are fastest; of several, the mean."""
    return float(np.mean((np.argmax(speeds, axis=0) + 0.5) / len(speeds)))


def _speeds(best: Best, h: float) -> Array:
    """How far (c, k) hands come in short times."""
    times = h * np.arange(_FINE * (len(best.motion) - 1) + 1.0) / _FINE
    poses = effort.moving(effort.curve(best.arm, best.motion, h), times)[0]
    return lengths(np.diff(best.arm.points(poses), axis=0))


def _off(speeds: Array, peaks: tuple[float, float]) -> float:
    """How far (c, k) speeds are from being highest between two fractions of the time."""
    peak = peak_of(speeds)
    return max(peaks[0] - peak, peak - peaks[1], 0.0)


def _size(speeds: Array, peaks: tuple[float, float], order: int) -> float:
    """The smallest warp with which hands of these speeds (c, k) are fastest between two fractions of the time."""
    x = (np.arange(len(speeds)) + 0.5) / len(speeds)

    def off(size: float) -> float:
        before, rate = _warped(x, size, order)
        return _off(np.stack([np.interp(before, x, own) for own in speeds.T], axis=1) * rate[:, None], peaks)

    sizes = np.linspace(0.0, _MOST, _TRIED)
    tried = sorted({*sizes.tolist(), *(-sizes).tolist()}, key=abs)
    found = [(round(off(size), 9), abs(size), size) for size in tried]
    return min(found)[2]


def _warped(x: Array, size: float, order: int) -> tuple[Array, Array]:
    """Fractions of the time before a warp, and their rate. From order 2 on it keeps the speeds at both ends, of order 3
    the accelerations as well, whatever they are."""
    bump = 4.0 * x * (1.0 - x)
    return x + size * bump**order, 1.0 + size * 4.0 * order * bump ** (order - 1) * (1.0 - 2.0 * x)
