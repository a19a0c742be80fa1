"""Contacts with colliders and ends of cones together, chain by chain: forces by which ends give way to colliders.

c chains have s bones and up to p contacts each; there are k levels, swings and their rates.
"""

import numpy as np

from ..rotation import Array
from . import complementarity
from .cones import Ends

_ALONE = 0.1
"""Part of what they give by which ends do where no contact presses."""
_FAR = 1e9
"""The gap of a contact that is none."""


class ConeContacts:
    """Those of some steps. chains: (n,) of the contacts. pushed (n, 2 s), weighed (k, n, 2 s), mass (k, n, n): see
    `Contacts`."""

    def __init__(self, ends: Ends, chains: Array, pushed: Array, weighed: Array, mass: Array) -> None:
        self._ends = ends
        count, size = ends.limits.shape
        self._limits, self._size = ends.limits, size
        firsts = np.searchsorted(chains, np.arange(count)) if len(chains) else np.zeros(count, dtype=int)
        self._chain, self._slot = chains, np.arange(len(chains)) - firsts[chains]
        most = int(self._slot.max(initial=-1)) + 1
        self._most, levels = most, len(ends.masses)
        self._masses = np.zeros((levels, count, most + size, most + size))
        every = np.arange(most + size)
        self._masses[..., every[:most], every[:most]] = 1.0
        own = chains[:, None] == chains
        first, second = np.nonzero(own)
        self._masses[:, chains[first], self._slot[first], self._slot[second]] = mass[:, first, second]
        self._crossed = np.zeros((levels, count, most, size, 2))
        """How gaps change with torques at the ends."""
        apart = pushed.reshape(len(chains), size, 2).transpose(0, 2, 1)
        self._crossed[:, chains, self._slot] = np.swapaxes(apart @ ends.yields[:, chains], -1, -2)
        self._soft = ends.softness
        self._own = most + np.arange(size)

    def solved(self, gaps: Array, state: Array, bent: Array, left: Array, lift: float = 0.0) -> tuple[Array, Array]:
        """Forces (k, n) at contacts with these gaps (k, n), and torques (k, c, s, 2) on what bones are swung by from
        what they hang on.

        state: (c, s, 2) swings, by whose bends the ends are where they are. bent: (k, c, s, 2) bends, then their rates,
        as they would be without these forces. left: see `Ends.left`. lift: by how much more what is inside comes out.
        """
        most = self._most
        here = self._ends.bends @ state
        angles = np.maximum(np.sqrt((here * here).sum(axis=-1)), 1e-12)
        outward = here / angles[..., None]
        whole = np.empty((len(self._masses), *self._limits.shape[:1], most + self._size))
        whole[..., :most] = _FAR
        whole[:, self._chain, self._slot] = gaps
        whole[..., most:] = -(outward * bent).sum(axis=-1)
        whole[0, :, most:] += self._limits + left
        masses = self._masses.copy()
        masses[..., most:, most:] = self._ends.masses * (outward @ np.swapaxes(outward, 1, 2))
        pressed = (whole[0, :, :most] < 0.0).any(axis=-1)
        masses[..., self._own, self._own] += self._soft * np.where(pressed, 1.0, _ALONE)[:, None]
        if most:
            cross = -(self._crossed * outward[:, None]).sum(axis=-1)
            masses[..., :most, most:], masses[..., most:, :most] = cross, np.swapaxes(cross, -1, -2)
        among = np.isfinite(whole[0]) & (whole[0] < 0.5 * _FAR)
        whole[0] = np.where(among, whole[0], _FAR)
        active = whole[0] < 0.0
        whole[0, :, :most] -= lift * active[:, :most]
        found = np.zeros(whole.shape)
        found[0], touching = complementarity.pushes(masses[0], whole[0], active, among)
        for level in range(1, len(whole)):
            begun = touching & (whole[level] < 0.0)
            found[level], _ = complementarity.pushes(masses[level], whole[level], begun, touching)
        torques = -found[..., most:, None] * outward
        return found[:, self._chain, self._slot], torques

    def change(self, torques: Array) -> Array:
        """(k, c, s, 2) how swings, and rates, change by these torques (k, c, s, 2)."""
        return self._ends.yields @ torques
