"""Blinks: the lids close during a large gaze shift (Evinger 1994)."""

from collections.abc import Iterable

import numpy as np

from ..curves import cubic_step
from ..rotation import Array
from .ability import Eyes
from .saccade import Shift


def keyed(eyes: Eyes, shut: Array, dt: float) -> Array:
    """How far the lids are closed (n,), 0 to 1, at frames (n,) at some of which they shall be `shut`. dt: [s]."""
    edges = np.diff(shut.astype(int), prepend=0, append=0)
    times = dt * np.arange(len(shut))
    closed = np.zeros(len(shut))
    for start, end in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        # From the key on the lids go down; they are shut for a moment however short the blink is.
        open_from = max(end * dt, start * dt + eyes.blink_close)
        fraction = (times - start * dt) / eyes.blink_close
        # Shut to the end of the frames is shut.
        away = (open_from + eyes.blink_open - times) / eyes.blink_open if end < len(shut) else np.inf
        closed = np.maximum(closed, cubic_step(np.minimum(fraction, away)))
    return closed


def closing(eyes: Eyes, shifts: Iterable[Shift], times: Array) -> Array:
    """How far the lids are closed (n,), 0 to 1, at times (n,) [s]; the maximum of overlapping blinks."""
    closed = np.zeros(len(times))
    for shift in shifts:
        if shift.gaze_amplitude >= eyes.blink_from:
            since = times - shift.time
            part = np.minimum(since / eyes.blink_close, (eyes.blink_close + eyes.blink_open - since) / eyes.blink_open)
            closed = np.maximum(closed, cubic_step(part))
    return closed
