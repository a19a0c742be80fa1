"""The gains k_p and k_d of the controller, as an engine has them: other words for settle time and damping.

k_p = (2π / T)² [1/s²] and k_d = 2 ζ √k_p [1/s], with the settle time T [s] and the damping ratio ζ. Nothing is stored:
they are computed from these two settings and set these two. Source: Kawachi et al., Square Enix, CEDEC 2024.
"""

from math import isfinite, pi, sqrt
from typing import Any

import numpy as np

from ..layers.controller_settings import HIGHEST_RATIO, SETTLE_TIMES, damping_ratio

LOWEST_K_P, HIGHEST_K_P = ((2.0 * pi / time) ** 2 for time in reversed(SETTLE_TIMES))
HIGHEST_K_D = 2.0 * HIGHEST_RATIO * sqrt(HIGHEST_K_P)
_DIGITS = 6
"""Decimal digits in which a gain that was typed is found again, although its settings have single precision."""


def of(settle_time: float, ratio: float) -> tuple[float, float]:
    """k_p [1/s²] and k_d [1/s] of a settle time [s] and a damping ratio."""
    omega = 2.0 * pi / settle_time
    return omega**2, 2.0 * ratio * omega


def round_k_p(settle_time: float) -> float:
    """The roundest k_p [1/s²] that has this settle time [s]."""
    exact = (2.0 * pi / settle_time) ** 2
    rounded = float(f"{exact:.{_DIGITS}g}")
    return rounded if np.float32(2.0 * pi / sqrt(rounded)) == np.float32(settle_time) else exact


def round_k_d(gain: float, ratio: float) -> float:
    """The roundest k_d [1/s] that has this damping ratio beside a k_p of `gain` [1/s²]."""
    exact = 2.0 * ratio * sqrt(gain)
    rounded = float(f"{exact:.{_DIGITS}g}")
    return rounded if np.float32(rounded / (2.0 * sqrt(gain))) == np.float32(ratio) else exact


def k_p(settings: Any) -> float:
    """Proportional gain [1/s²] of a look-at's settings."""
    return round_k_p(settings.settle_time)


def k_d(settings: Any) -> float:
    """Derivative gain [1/s] of a look-at's settings."""
    return round_k_d(k_p(settings), damping_ratio(settings))


def set_k_p(settings: Any, gain: float) -> None:
    """Set the settle time. A custom damping keeps k_d; the other choices keep their damping ratio."""
    if not isfinite(gain) or _same(gain, k_p(settings)):
        return
    kept = k_d(settings)
    settings.settle_time = 2.0 * pi / sqrt(_decimal(gain))
    if settings.damping == "CUSTOM":
        set_k_d(settings, kept)


def set_k_d(settings: Any, gain: float) -> None:
    """Set a custom damping ratio."""
    if not isfinite(gain) or _same(gain, k_d(settings)):
        return
    settings.damping_ratio = min(_decimal(gain) / (2.0 * sqrt(k_p(settings))), HIGHEST_RATIO)
    if settings.damping != "CUSTOM":
        settings.damping = "CUSTOM"


def _same(one: float, other: float) -> bool:
    """Whether two gains are one in Blender's single precision: a gain that is read and set again changes nothing."""
    return np.float32(one) == np.float32(other)


def _decimal(gain: float) -> float:
    """What was typed, without the error of Blender's single precision."""
    return float(str(np.float32(gain)))
