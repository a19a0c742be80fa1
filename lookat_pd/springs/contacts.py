"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing; friction takes away no more of the slip than the contact's force allows.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array

_SOFT = 0.05
"""Part of its length at which a contact at a bone's joint acts at least: nothing turns a bone about its end there."""
_MOST_TURN = 0.4
"""Largest angle [rad] by which a bone is pushed out at once."""


@dataclass(frozen=True)
class Contacts:
    """p contacts that may come to be."""

    chains: Array
    """(p,) their chains."""
    gaps: Array
    """(p,) distances from touching [m] at the swings where they were found."""
    normals: Array
    """(p, 3) out of the colliders."""
    moves: Array
    """(p, 2 s, 3) how the point that touches moves with the swings of the chain's bones."""
    drift: Array
    """(p, 3) how it moves in a step away from the collider by itself [m]."""
    friction: Array
    """(p,)"""
    softness: Array
    """(p,) what is added to the inverse mass of each."""
    inverse_mass: Array
    """(c, s, s) of the chains."""

    def __post_init__(self) -> None:
        pushed = (self.moves @ self.normals[..., None])[..., 0]
        object.__setattr__(self, "pushed", pushed)
        shape = len(pushed), -1, 2
        weighed = self.inverse_mass[self.chains] @ pushed.reshape(shape)
        mass = np.tensordot(pushed, weighed.reshape(pushed.shape), axes=(1, 1))
        mass *= self.chains[:, None] == self.chains
        mass[np.diag_indices(len(mass))] += self.softness
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "solved", {})
        object.__setattr__(self, "own", (np.arange(len(self.inverse_mass))[:, None] == self.chains).astype(float))
        slide = np.abs(mass).sum(axis=1)
        object.__setattr__(self, "slide", slide[:, None, None])

    def gaps_at(self, moved: Array, step: int) -> Array:
        """(p,) distances so many steps later. moved: (c, 2 s) by how much the swings have changed."""
        along = (self.pushed[:, None] @ moved[self.chains][..., None])[:, 0, 0]
        return self.gaps + step * self.fall + along

    @property
    def fall(self) -> Array:
        return rotation.dot(self.drift, self.normals)

    def forces(self, wanted: Array, active: Array) -> Array:
        """(p, k) pushes that make contacts move by what is wanted (p, k), where active; none pulls."""
        for _ in range(2):
            rows = np.flatnonzero(active)
            result = np.zeros(wanted.shape)
            found = self._solve(rows, wanted[rows])
            result[rows] = np.maximum(found, 0.0)
            pulls = found[:, 0] < 0.0
            if not pulls.any() or pulls.all():
                break
            active = active.copy()
            active[rows[pulls]] = False
        return result

    def _solve(self, rows: Array, wanted: Array) -> Array:
        key = rows.tobytes()
        if key not in self.solved:
            self.solved[key] = _inverted(self.mass, self.chains, rows)
        return self.solved[key] @ wanted

    def changes(self, forces: Array) -> Array:
        """(c, s, 2, k) how swings change by forces (p, 3, k) on what touches."""
        pushed = (self.moves @ forces).reshape(len(forces), -1)
        size, count = self.inverse_mass.shape[1], forces.shape[-1]
        gathered = (self.own @ pushed).reshape(-1, size, 2 * count)
        return (self.inverse_mass @ gathered).reshape(-1, size, 2, count)

    def push_out(self, lift: float) -> Array:
        """(c, s, 2) changes of swings that bring all out of the colliders, by `lift` [m] more than that."""
        active = self.gaps < 0.0
        forces = self.forces((lift - self.gaps)[:, None], active)
        change = self.changes(self.normals[..., None] * forces[:, None])[..., 0]
        size = np.sqrt((change**2).sum(axis=-1).max(axis=-1))
        return change * (np.minimum(1.0, _MOST_TURN / np.maximum(size, 1e-12)))[:, None, None]

    def stop(self, gaps: Array, state: Array, before: Array, dt: float) -> Array:
        """(c, s, 2, 2) changes of swings and rates by the contacts in a step.

        gaps: (p,) after the step. state: (c, 2 s, 2) swings and rates. before: (c, 2 s) swings before the step.
        """
        both = state[self.chains]
        both[..., 0] -= before[self.chains]
        slips = np.swapaxes(self.moves, 1, 2) @ both
        slips[..., 0] += self.drift
        slips[..., 1] += self.drift / dt
        into = (self.normals[:, None] @ slips)[:, 0]
        wanted = np.stack((-gaps, np.maximum(-into[:, 1], 0.0)), axis=1)
        pushes = self.forces(wanted, gaps < 0.0)
        normals = self.normals[..., None]
        forces = normals * pushes[:, None]
        if self.friction.any():
            slips -= normals * into[:, None]
            held = slips / self.slide
            size = np.sqrt((held**2).sum(axis=1, keepdims=True))
            most = self.friction[:, None, None] * pushes[:, None]
            forces -= held * np.minimum(1.0, most / np.maximum(size, 1e-30))
        return self.changes(forces)


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverse of the rows' part of a matrix that has nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[np.ix_(rows, rows)])
    result = np.zeros((len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[np.ix_(own, own)] = np.linalg.inv(mass[np.ix_(rows[own], rows[own])])
    return result


def softness(inverse_mass: Array, lengths: Array) -> Array:
    """(c, s) what a contact at each bone is softened by. inverse_mass: (c, s, s); lengths: (c, s)."""
    return np.diagonal(inverse_mass, axis1=1, axis2=2) * (_SOFT * lengths) ** 2
