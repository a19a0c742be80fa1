"""Spring transitions: the difference at a cut is the free motion of a damped spring.

The use of the PD controller beyond looking that the talk on FINAL FANTASY XVI proposes (Kawachi et al., CEDEC 2024).
Unlike `inertialization.transition`, velocity is kept in every direction, so a joint that moves away from the
destination swings out and comes back, and a damping ratio below 1 overshoots.
"""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, curves
from ..pd import second_order
from ..rotation import Array
from . import cut

DAMPING_RATIOS = (0.1, 5.0)
"""Smallest and largest damping ratio of `transition`."""
FREE = 0.75
"""Fraction of the blend with the free motion of the spring; over the rest it fades to zero."""
_SETTLED = float(np.log(1.0 / 0.0136) / (2.0 * np.pi))
"""Decay rate, in units of the frequency, with which 1.36 % are left after the settle time, as of a critically damped
spring."""


def settle_time(duration: ArrayLike, damping_ratio: float = 1.0) -> Array:
    """The settle time [s] of the spring of a blend of this duration [s].

    Three quarters of it; shorter for damping ratios with which less than 98.6 % would have decayed by then. Raises
    InvalidArgument.
    """
    damping_ratio = checks.number("damping ratio", damping_ratio, *DAMPING_RATIOS)
    slowest = damping_ratio - np.sqrt(max(damping_ratio**2 - 1.0, 0.0))
    return FREE * min(1.0, slowest / _SETTLED) * checks.array("blend time", duration)


def glide(damping_ratio: float = 1.0) -> float:
    """Fraction of the blend for which a velocity would persist: an offset of -glide T v that moves with v has no
    acceleration at the start, and with a ratio of 1 or more no overshoot. Raises InvalidArgument."""
    settled = settle_time(1.0, damping_ratio)
    return float(damping_ratio * settled / np.pi)


def transition(
    previous: ArrayLike,
    target: ArrayLike,
    dt: float,
    duration: ArrayLike,
    *,
    kind: str = "rotation",
    damping_ratio: float = 1.0,
) -> Array:
    """The destination `target` (F, B, ...) with a difference to the previous output that moves as a spring.

    Arguments, result and errors as for `inertialization.transition`; the settle time is that of `settle_time`.
    Position and velocity of the output are continuous. damping_ratio: 1 is critical, below it overshoots.
    """
    previous, target = cut.checked(previous, target, kind)
    duration = cut.checked_duration(dt, duration, target)
    damping_ratio = checks.number("damping ratio", damping_ratio, *DAMPING_RATIOS)
    result, count = target.copy(), cut.frames_blended(dt, duration, target)
    if not count:
        return result
    x0, v0 = cut.offset(previous, target, dt, kind)
    times = cut.times(dt, target[:count])
    length = np.where(duration > 0.0, duration, 1.0)
    omega = 2.0 * np.pi / settle_time(length, damping_ratio)
    motion = second_order.free_decay(times, omega, damping_ratio)
    fade = curves.cubic_step((1.0 - times / length) / (1.0 - FREE))
    offset = (fade * motion[..., 0, 0])[..., None] * x0 + (fade * motion[..., 0, 1])[..., None] * v0
    done = times >= duration - cut.FRAME * dt
    result[:count] = np.where(done[..., None], target[:count], cut.displaced(target[:count], offset, kind))
    return result
