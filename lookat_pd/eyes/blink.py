"""Blinks: the lids close during a large gaze shift (Evinger 1994)."""

from collections.abc import Iterable

import numpy as np

from ..rotation import Array
from .ability import Eyes
from .saccade import Shift


def closing(eyes: Eyes, shifts: Iterable[Shift], times: Array) -> Array:
    """How far the lids are closed (n,), 0 to 1, at times (n,) [s]; the maximum of overlapping blinks."""
    closed = np.zeros(len(times))
    for shift in shifts:
        if shift.gaze_amplitude >= eyes.blink_from:
            since = times - shift.time
            way = np.minimum(since / eyes.blink_close, (eyes.blink_close + eyes.blink_open - since) / eyes.blink_open)
            way = np.clip(way, 0.0, 1.0)
            closed = np.maximum(closed, way**2 * (3.0 - 2.0 * way))
    return closed
