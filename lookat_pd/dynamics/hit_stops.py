"""Joints that hits turn by a largest angle at most: stops that take up no more than what they must.

The change of velocity v by an impulse minimizes 1/2 v^T M v - f^T v, with the generalized impulse f. With stops it is
the minimum among those with which no joint turns too far: the impulses of the stops act at their own joints alone, so
that the momentum of all others is kept. The minimum is unique and changes continuously with f. Source: Moreau,
Unilateral contact and dry friction in finite freedom dynamics, 1988, for the principle; Boyd, Vandenberghe, Convex
Optimization, 2004, section 11.3, for the barrier method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..rotation import Array

_SOFTER = 0.2
"""Factor of the weight of the barriers from one minimization to the next."""
_SOFT, _HARD = 10.0, 1e-8
"""The first and the last weight of the barriers, as fractions of the work of the impulse."""
_NEWTON, _HALVED = 30, 40
"""Largest number of steps of a minimization, and how often a step is halved at most."""
_DONE = 1e-8
"""A minimization ends if a step promises less than this fraction of the weight of the barriers."""


@dataclass(frozen=True)
class Stop:
    """A stop of a joint at one time: |before + size rows v| is at most `largest`, for the velocities v (m,) of all
    degrees of freedom."""

    before: Array
    """(3,) [rad]."""
    size: float
    """The offset [s] by a velocity of 1."""
    rows: Array
    """(3, m)."""


def stopped(masses: Array, pushed: Array, stops: Sequence[Stop], largest: float) -> Array:
    """The velocities (m,) of a body with the mass matrix (m, m) after a generalized impulse (m,), with stops of which
    none is at its end before."""
    before = np.stack([stop.before for stop in stops])
    rows = np.stack([stop.size * stop.rows for stop in stops])

    def room(v: Array) -> tuple[Array, Array]:
        places = before + rows @ v
        return places, largest**2 - np.sum(places * places, axis=-1)

    def value(v: Array, weight: float) -> float:
        left = room(v)[1]
        if np.any(left <= 0.0):
            return np.inf
        return float(0.5 * v @ masses @ v - pushed @ v - weight * np.sum(np.log(left)))

    v = np.zeros(len(pushed))
    scale = largest / max(float(np.linalg.norm(rows @ np.linalg.solve(masses, pushed), axis=-1).max()), 1e-300)
    work = float(pushed @ np.linalg.solve(masses, pushed)) * min(scale, 1.0)
    weight = _SOFT * work
    while weight > _HARD * work:
        weight *= _SOFTER
        for _ in range(_NEWTON):
            places, left = room(v)
            pulls = np.einsum("kim,ki->km", rows, places) / left[:, None]
            slope = masses @ v - pushed + 2.0 * weight * pulls.sum(axis=0)
            stiff = np.einsum("kim,kin->mn", rows / left[:, None, None], rows) * 2.0 * weight
            step = -np.linalg.solve(masses + stiff + 4.0 * weight * pulls.T @ pulls, slope)
            gain = -float(slope @ step)
            if gain < _DONE * weight:
                break
            now, part = value(v, weight), 1.0
            for _ in range(_HALVED):
                if value(v + part * step, weight) <= now - 0.1 * part * gain:
                    break
                part *= 0.5
            else:
                break
            v = v + part * step
    return v
