"""When in a reach the hand is fastest: the same path, of which the time is warped.

Source: Atkeson, Hollerbach, Kinematic features of unrestrained vertical arm movements, 1985: one peak of speed,
whatever the path, the speed and the load. The change of torque has its minimum with peaks that vary much more.
"""

import numpy as np

from ..rotation import Array
from .reach_poses import lengths
from .reach_search import Best

_MOST = 0.22
"""Largest warp, with which time runs at most 1.8 times as fast as before, and never stands still."""
_TRIED = 45
_FINE = 8
"""Samples between two of a motion at which speeds are compared."""


def timed(best: Best, h: float, peaks: tuple[float, float], most: float) -> Best:
    """A motion of which the hands are fastest between two fractions of its time, or as near to that as a gentle warp
    comes. most: the largest cost that it may have; with more, or where it comes into an obstacle, it is warped less.
    """
    arm, last = best.arm, len(best.motion) - 1
    speeds = _speeds(best, h)
    size, before = _size(speeds, peaks), _off(speeds, peaks)
    if not size:
        return best
    curve = arm.curve(best.motion, h)
    for part in (1.0, 0.75, 0.5, 0.25):
        motion = arm.clamped(arm.moving(curve, h * last * _warped(np.arange(last + 1.0) / last, part * size)[0])[0])
        motion[[0, -1]] = best.motion[[0, -1]]
        other = Best(best.clear, motion, arm.cost(motion, h, rough=True), best.line, arm)
        is_allowed = other.cost <= max(most, best.cost) and other.depth <= best.depth
        if is_allowed and _off(_speeds(other, h), peaks) < before:
            return other
    return best


def peak_of(speeds: Array) -> float:
    """The fraction of the time at which hands with speeds (c, k) at even times are fastest; of several, the mean."""
    return float(np.mean((np.argmax(speeds, axis=0) + 0.5) / len(speeds)))


def _speeds(best: Best, h: float) -> Array:
    """How far (c, k) hands come in short times."""
    times = h * np.arange(_FINE * (len(best.motion) - 1) + 1.0) / _FINE
    poses = best.arm.moving(best.arm.curve(best.motion, h), times)[0]
    return lengths(np.diff(best.arm.points(poses), axis=0))


def _off(speeds: Array, peaks: tuple[float, float]) -> float:
    """How far (c, k) speeds are from being highest between two fractions of the time."""
    peak = peak_of(speeds)
    return max(peaks[0] - peak, peak - peaks[1], 0.0)


def _size(speeds: Array, peaks: tuple[float, float]) -> float:
    """The smallest warp with which hands of these speeds (c, k) are fastest between two fractions of the time."""
    x = (np.arange(len(speeds)) + 0.5) / len(speeds)

    def off(size: float) -> float:
        before, rate = _warped(x, size)
        return _off(np.stack([np.interp(before, x, own) for own in speeds.T], axis=1) * rate[:, None], peaks)

    sizes = np.linspace(0.0, _MOST, _TRIED)
    tried = sorted({*sizes.tolist(), *(-sizes).tolist()}, key=abs)
    found = [(round(off(size), 9), abs(size), size) for size in tried]
    return min(found)[2]


def _warped(x: Array, size: float) -> tuple[Array, Array]:
    """Fractions of the time before a warp, and their rate: speeds and accelerations at both ends stay what they are."""
    bump = x * (1.0 - x)
    return x + size * 64.0 * bump**3, 1.0 + size * 192.0 * bump**2 * (1.0 - 2.0 * x)
