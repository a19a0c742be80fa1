"""The linear second-order system x'' = k_p (g - x) - k_d x': its steps as matrices, and its free motion.

With omega = 2 pi / settle_time and damping ratio zeta: k_p = omega**2, k_d = 2 zeta omega. One step of length h
maps the state (x, v) and the goal's polynomial over the step to the next state; where nothing is clamped the map
is the same at every step, so a whole motion is one linear recurrence (`recurrences`).

The integrators that make such steps are in `integrators`.

Source: the PD look-at of FINAL FANTASY XVI (Kawachi et al., CEDEC 2024).
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array

CLAMPED_STEP = 1.0 / 240.0
"""Longest step [s] wherever a clamp breaks the closed form, so that all frame rates still agree."""
DAMPING_RATIOS = {"CRITICAL": 1.0, "RESPONSIVE": 2.0**-0.5}
"""Of the choices of damping that have one."""
MOST_DAMPING = 1e6
MOST_SUBSTEPS = 10_000
"""Into so many steps one is divided at most."""


def check_tuning(settle_time: ArrayLike, damping_ratio: ArrayLike) -> None:
    settle_time = checks.numbers("settle time", settle_time)
    if not np.all(np.isfinite(settle_time) & (settle_time > 0.0)):
        raise InvalidArgument(
            "The settle time must be longer than 0 seconds, not {settle_time}.", settle_time=checks.shown(settle_time)
        )
    if not np.all((settle_time >= checks.SHORTEST_STEP) & (settle_time <= checks.LONGEST_STEP)):
        raise InvalidArgument(
            "The settle time must be from {least:g} to {most:g} seconds, not {settle_time}.",
            least=checks.SHORTEST_STEP,
            most=checks.LONGEST_STEP,
            settle_time=checks.shown(settle_time),
        )
    damping_ratio = checks.numbers("damping ratio", damping_ratio)
    if not np.all((damping_ratio >= 0.0) & (damping_ratio <= MOST_DAMPING)):
        raise InvalidArgument(
            "The damping ratio must be from 0 to {most:g}, not {damping_ratio}.",
            most=MOST_DAMPING,
            damping_ratio=checks.shown(damping_ratio),
        )


def substeps(length: float, longest: float) -> int:
    """How many equal steps of at most `longest` seconds make `length` seconds. Raises InvalidArgument."""
    return max(1, ceil(_parts(length, longest) - 1e-9))


def stable_substeps(length: float, limit: float) -> int:
    """How many equal steps, each shorter than the stability limit, make `length` seconds. Raises InvalidArgument."""
    return 1 if length < limit else floor(_parts(length, limit)) + 1


def _parts(length: float, longest: float) -> float:
    if not length <= MOST_SUBSTEPS * longest:
        raise InvalidArgument(
            "A time step of {length:g} s would be divided into {count:.3g}, more than {most}; use a higher frame rate "
            "or a longer settle time.",
            length=length,
            count=length / longest,
            most=MOST_SUBSTEPS,
        )
    return length / longest


@dataclass(frozen=True)
class Step:
    """One step as matrices: next state = transition @ (x, v) + response @ goal coefficients."""

    transition: Array
    """Transition (..., 2, 2) of the state."""
    response: Array
    """Response (..., 2, degree + 1), for the goal c0 + c1 t + c2 t^2 + ... over the step, t in seconds from its start.
    Leading axes are those of the settle times."""

    def __call__(self, state: Array, coefficients: Array) -> Array:
        """state (..., 2) and goal coefficients (..., degree + 1) to the next state (..., 2)."""
        return apply(self.transition, state) + apply(self.response, coefficients)


def apply(matrix: Array, vector: Array) -> Array:
    """matrix (..., 2, n) @ vector (..., n), broadcasting; on so short an axis plain sums beat einsum and matmul."""
    rows = []
    for row in range(matrix.shape[-2]):
        total = matrix[..., row, 0] * vector[..., 0]
        for column in range(1, matrix.shape[-1]):
            total = total + matrix[..., row, column] * vector[..., column]
        rows.append(total)
    result = np.empty((*rows[0].shape, len(rows)))
    for row, total in enumerate(rows):
        result[..., row] = total
    return result


def free_decay(h: ArrayLike, omega: ArrayLike, zeta: ArrayLike) -> Array:
    """Transition matrices (..., 2, 2) of the undriven system over h seconds; everything broadcasts."""
    h, omega, zeta = np.asarray(h, float), np.asarray(omega, float), np.asarray(zeta, float)
    a = zeta * omega
    turning = omega * np.sqrt(np.abs(1.0 - zeta**2))
    under, over = zeta < 1.0, zeta > 1.0
    decay = np.exp(-a * h)
    cosine, sine = decay, decay * h
    safe = np.where(turning > 0.0, turning, 1.0)
    if np.any(under):
        cosine = np.where(under, decay * np.cos(turning * h), cosine)
        sine = np.where(under & (turning > 0.0), decay * np.sin(turning * h) / safe, sine)
    if np.any(over):
        # Two real poles: the slow one is omega^2 / (a + turning), which loses no digits and never overflows.
        slow, spread = np.exp(-np.where(over, omega**2 / (a + safe), 0.0) * h), np.where(over, 2.0 * turning * h, 0.0)
        cosine = np.where(over, slow * (1 + np.exp(-spread)) / 2, cosine)
        sine = np.where(over & (turning > 0.0), -slow * np.expm1(-spread) / (2.0 * safe), sine)
    return to_matrix(((cosine + a * sine, sine), (-(omega**2) * sine, cosine - a * sine)))


@lru_cache(maxsize=64)
def largest_response(damping_ratio: float, feed_forward: float = 0.0) -> float:
    """How far from 0 goals that stay within 1 can ever drive the state: 1 where nothing overshoots.

    It is the total variation of the step response, 1.09 for a ratio of 0.707.
    """
    times = np.linspace(0.0, 40.0, 4001)
    start = np.array([-1.0, 2.0 * damping_ratio * feed_forward])
    away = apply(free_decay(times, 1.0, damping_ratio), start)[:, 0]
    return max(1.0, float(np.sum(np.abs(np.diff(away)))))


def to_matrix(rows: tuple[tuple[Array, ...], ...]) -> Array:
    """Rows of components (...), broadcast, as one matrix (..., m, n)."""
    result = np.empty((len(rows), len(rows[0]), *np.broadcast_shapes(*(part.shape for row in rows for part in row))))
    for m, row in enumerate(rows):
        for n, part in enumerate(row):
            result[m, n] = part
    return np.moveaxis(result, (0, 1), (-2, -1))
