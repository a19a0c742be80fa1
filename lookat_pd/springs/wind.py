"""Turbulent wind: its strength over time, which is the same whenever it is asked for."""

import numpy as np

from .. import checks
from ..rotation import Array

_RATES = np.array([0.31, 0.73, 1.7])
"""Gusts per second."""
_PARTS = np.array([0.5, 0.35, 0.15])
_PHASES = np.array([0.4, 2.1, 4.4])


def gusts(frames: int, dt: float, turbulence: float, period: float | None = None) -> Array:
    """(F,) the strength of a wind whose mean is 1, dt seconds apart.

    turbulence: largest change of it, from 0 to 1. period: seconds after which it repeats itself, None for never. Raises
    InvalidArgument.
    """
    count = checks.whole("number of frames", frames, 1, 10_000_000)
    step, most = checks.time_step(dt), checks.fraction("turbulence", turbulence)
    rates = _RATES
    if period is not None:
        whole = checks.number("period", period, step)
        rates = np.maximum(np.round(rates * whole), 1.0) / whole
    times = np.arange(count)[:, None] * step
    return 1.0 + most * (_PARTS * np.sin(2.0 * np.pi * rates * times + _PHASES)).sum(axis=1)
