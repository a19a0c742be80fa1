"""Swings that are no wider than they may be, and rates that are no faster: chains are held there as by a force.

Where that only set back the bones that are too wide, what hangs on them would be pulled along in each step, and rest at
another place than where all forces are in balance.
"""

import numpy as np

from ..rotation import Array
from . import complementarity
from .pushes import WIDEST

FASTEST = 300.0
"""Largest rate of a swing [rad/s]: more than a radian a step is no motion."""


def yields(shapes: Array, response: Array) -> Array:
    """(k, c, s, s) by how much swings, or their rates, yield to torques, from modes (c, s, s) by columns and what these
    do, (c, s, k)."""
    parts = np.moveaxis(response, -1, 0)[..., None, :]
    return (shapes * parts) @ np.swapaxes(shapes, 1, 2)


class Widest:
    """That of chains of any size. chains: bones (c, s) of those of each, and how swings and rates yield to torques in a
    step, (2, c, s, s)."""

    def __init__(self, chains: list[tuple[Array, Array]]) -> None:
        self._chains = chains

    def within(self, z: Array, rate: Array) -> tuple[Array, Array]:
        """Swings and rates (m,)."""
        rate = rate * np.minimum(1.0, FASTEST / np.maximum(np.abs(rate), FASTEST))
        if np.abs(z).max(initial=0.0) <= WIDEST:
            return z, rate
        z, rate = z.copy(), rate.copy()
        for rows, own in self._chains:
            wide = np.flatnonzero((np.abs(z[rows]) > WIDEST).any(axis=1))
            if len(wide):
                some = rows[wide]
                z[some], rate[some] = _held(z[some], rate[some], own[:, wide])
        return z, rate


def _held(z: Array, rate: Array, own: Array) -> tuple[Array, Array]:
    """Swings and rates (c, s) of chains, by how they yield (2, c, s, s)."""
    angle = np.abs(z)
    unit = z / np.maximum(angle, 1e-300)
    wide = angle > WIDEST
    masses = own * np.real(unit[..., None] * unit[:, None].conj())
    # A stiff mode may swing back within a step.
    every = np.arange(z.shape[1])
    masses[..., every, every] = np.maximum(masses[..., every, every], 1e-30)
    found, held = complementarity.pushes(masses[0], WIDEST - angle, wide, wide)
    z = z - (own[0] @ (found * unit)[..., None])[..., 0]
    outward = np.real(rate * unit.conj())
    found, _ = complementarity.pushes(masses[1], -outward, held & (outward > 0.0), held)
    rate = rate - (own[1] @ (found * unit)[..., None])[..., 0]
    # What holds them is across the sphere, and may leave them a little too wide.
    return z * np.minimum(1.0, WIDEST / np.maximum(np.abs(z), WIDEST)), rate
