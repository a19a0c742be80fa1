"""The integrators of the second-order system: one row each.

Stepping, stability limits, validation and the menu of integrators are made from this table, so a new integrator is one
more row.

Source: the PD look-at of FINAL FANTASY XVI (Kawachi et al., CEDEC 2024); Stable PD: Tan, Liu, Turk 2011.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array
from .second_order import Step, apply, check_tuning, free_decay, to_matrix


@dataclass(frozen=True)
class Integrator:
    """One way to step the system x'' = k_p (g - x) - k_d x'."""

    id: str
    """What the solvers call it; in capitals the identifier in Blender."""
    label: str
    description: str
    """`label`, `description`: name and tooltip."""
    step: Callable[[float, Array, Array, int, float], Step]
    """One step from (h [s], omega, zeta, degree, feed_forward); its response is to the goal and its slope, or, of an
    exact one, to all degree + 1 coefficients of the goal's polynomial."""
    limit: Callable[[float, float], float]
    """The largest stable step [s] from (zeta, omega)."""
    is_exact: bool = False
    """A step of any length is right, so it is never divided."""
    is_default: bool = False
    """Whether it is the default; true for exactly one row."""

    @property
    def identifier(self) -> str:
        """In Blender's enumerations."""
        return self.id.upper()


def _exact_step(h: float, omega: Array, zeta: Array, degree: int, feed_forward: float) -> Step:
    """Homogeneous solution about the particular one that a polynomial goal has."""
    transition = free_decay(h, omega, zeta)
    lag = 2.0 * zeta / omega
    columns = []
    for power in range(degree + 1):
        particular = _particular_solution(power, omega, lag, feed_forward)
        end = np.stack(
            (
                sum(c * h**n for n, c in enumerate(particular)),
                sum(n * c * h ** (n - 1) for n, c in enumerate(particular) if n),
            )
            if power
            else (particular[0], np.zeros_like(omega)),
            axis=-1,
        )
        start = np.stack((particular[0], particular[1] if power else np.zeros_like(omega)), axis=-1)
        columns.append(end - apply(transition, start))
    return Step(transition, np.stack(columns, axis=-1))


def _particular_solution(power: int, omega: Array, lag: Array, feed_forward: float) -> list[Array]:
    """Coefficients of the polynomial motion that follows the goal t**power for ever."""
    goal = [np.zeros_like(omega) for _ in range(power + 1)]
    goal[power] = np.ones_like(omega)
    if power:
        goal[power - 1] = feed_forward * lag * power
    motion: list[Array] = [np.zeros_like(omega) for _ in range(power + 3)]
    for n in range(power, -1, -1):
        motion[n] = goal[n] - lag * (n + 1) * motion[n + 1] - (n + 1) * (n + 2) * motion[n + 2] / omega**2
    return motion[: power + 1]


def _stable_step(h: float, omega: Array, zeta: Array, degree: int, feed_forward: float) -> Step:
    """Stable PD: the force of the state at the end of the step."""
    k_p, k_d = omega**2, 2.0 * zeta * omega
    scale = 1.0 / (1.0 + h * k_d)
    return _discrete_step(h, k_p, k_d, scale, 1.0 - h * (h * k_p + k_d) * scale, feed_forward)


def _euler_step(h: float, omega: Array, zeta: Array, degree: int, feed_forward: float) -> Step:
    """Semi-implicit Euler: the force of the state at the start of the step."""
    k_p, k_d = omega**2, 2.0 * zeta * omega
    return _discrete_step(h, k_p, k_d, np.ones_like(omega), 1.0 - h * k_d, feed_forward)


def _discrete_step(h: float, k_p: Array, k_d: Array, scale: Array, from_v: Array, feed_forward: float) -> Step:
    """v += h F, x += h v; the columns of the response are the goal and its slope."""
    from_x, from_slope = h * k_p * scale, feed_forward * h * k_d * scale
    transition = to_matrix(((1.0 - h * from_x, h * from_v), (-from_x, from_v)))
    return Step(transition, to_matrix(((h * from_x, h * from_slope), (from_x, from_slope))))


# Blender saves the number of a row with the look-at: append new ones at the end.
INTEGRATORS: dict[str, Integrator] = {
    row.id: row
    for row in (
        Integrator(
            "exact",
            "Exact",
            "Closed form: the same motion at every frame rate",
            _exact_step,
            lambda zeta, omega: inf,
            is_exact=True,
            is_default=True,
        ),
        Integrator(
            "stable",
            "Stable PD",
            "Implicit step once per frame, as in game engines",
            _stable_step,
            lambda zeta, omega: 2.0 / 3.0 * (zeta + sqrt(zeta**2 + 3.0)) / omega,
        ),
        Integrator(
            "euler",
            "Euler",
            "Semi-implicit Euler step once per frame, subdivided where it would be unstable",
            _euler_step,
            lambda zeta, omega: 2.0 * (sqrt(zeta**2 + 1.0) - zeta) / omega,
        ),
    )
}


def default() -> Integrator:
    """The integrator where none is chosen."""
    return next(row for row in INTEGRATORS.values() if row.is_default)


def check_integrator(integrator: str) -> None:
    if not checks.is_one_of(integrator, INTEGRATORS):
        raise InvalidArgument(
            "Integrator {integrator!r} is unknown; use one of {integrators}.",
            integrator=checks.shown(integrator),
            integrators=", ".join(INTEGRATORS),
        )


def step_limit(settle_time: float, damping_ratio: float, integrator: str) -> float:
    """Largest stable step [s] of an integrator; infinite for "exact".

    settle_time [s] > 0, damping_ratio >= 0. Raises InvalidArgument otherwise. Source: eigenvalues of the step matrix
    at -1; the often quoted rule k_d / k_p > h for Stable PD is wrong for damping ratios above 1.
    """
    check_integrator(integrator)
    check_tuning(settle_time, damping_ratio)
    settle_time, damping_ratio = (
        checks.number(name, value) for name, value in (("settle time", settle_time), ("damping ratio", damping_ratio))
    )
    zeta, omega = damping_ratio, 2.0 * pi / settle_time
    return INTEGRATORS[integrator].limit(zeta, omega)


def make_step(
    length: float,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike,
    integrator: str = "exact",
    *,
    degree: int = 1,
    feed_forward: float = 0.0,
    count: int = 1,
) -> Step:
    """The step of `length` seconds, made of `count` equal ones where the integrator is not exact.

    settle_time [s] and damping_ratio broadcast to any shape. `feed_forward` is the fraction of the goal's velocity
    that the damping term sees. The goal's polynomial has `degree` up to 3; integrators that are not exact take the
    goal at the start of each of their steps, as an engine does.
    """
    row = INTEGRATORS[integrator]
    settle_time, zeta = np.broadcast_arrays(np.asarray(settle_time, float), np.asarray(damping_ratio, float))
    omega = 2.0 * pi / settle_time
    if row.is_exact:
        return row.step(length, omega, zeta, degree, feed_forward)
    h = length / count
    single = row.step(h, omega, zeta, degree, feed_forward)
    transition = np.broadcast_to(np.eye(2), single.transition.shape)
    response = np.zeros((*single.transition.shape[:-1], degree + 1))
    for n in range(count):
        transition = single.transition @ transition
        response = single.transition @ response + single.response @ _goal_at(n * h, degree)
    return Step(transition, response)


def _goal_at(time: float, degree: int) -> Array:
    """(2, degree + 1): value and slope at `time` of the monomials 1, t, t^2, ..."""
    powers = np.arange(degree + 1)
    return np.stack((time**powers, powers * time ** np.maximum(powers - 1, 0)))
