"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing. Bones that may come to the ends of their cones as well have both found together (`cone_contacts`).
"""

from functools import cached_property

import numpy as np

from ..rotation import Array
from .colliders import TRUE
from .cone_contacts import ConeContacts
from .cones import Ends

_SOFT = 1e-6
"""Part by which contacts that act alike are softened, so that their forces are known."""
_CLOSED = 1e-9
"""Part of the largest gap up to which one is closed."""
_BACK = 0.5
"""Part by which a bone beyond its cone goes back in a round in which it is found how it lies."""
_ROUNDS = 4
"""Most times that it is seen what else is touched by what is pushed out."""


class Contacts:
    """p contacts that may come to be, over some steps."""

    def __init__(
        self,
        chains: Array,
        gaps: Array,
        normals: Array,
        moves: Array,
        drift: Array,
        friction: Array,
        softness: Array,
        yields: Array,
        dt: float,
        ends: Ends | None = None,
    ) -> None:
        """chains: (p,) that of each. gaps: (p,) distances from touching [m]. normals: (p, 3) out of the colliders.
        moves: (p, 2 s, 3) how the point that touches moves with the swings of its chain. drift: (p, 3) how it moves
        away from the collider in a step by itself [m]. friction: (p,). yields: (k, c, s, s) by how much swings, and
        rates, of chains yield to torques. softness: (p, k) by how much contacts themselves yield. ends: of cones."""
        self.chains, self.gaps, self.friction, self.dt, self.ends = chains, gaps, friction, dt, ends
        self.normals, self.moves, self.drift = normals, moves, drift
        self.count, self.several, self._every = len(moves), yields.shape[1] > 1, yields.shape[1]
        levels = len(yields)
        self.yields = yields[:, chains] if self.several else yields
        self.pushed = (moves @ normals[..., None])[..., 0]
        """(p, 2 s) how gaps change with the swings of their chains."""
        self.weighed = (self.yields @ self.pushed.reshape(self.count, yields.shape[-1], 2)).reshape(
            levels, *self.pushed.shape
        )
        """(k, p, 2 s) how swings, and rates, of chains change by forces."""
        self.mass = self.weighed @ self.pushed.T
        if self.several:
            self.mass *= chains[:, None] == chains
        diagonal = self.mass.reshape(levels, -1)[:, :: self.count + 1]
        diagonal *= 1.0 + _SOFT
        diagonal += softness.T + 1e-30
        self._solved: dict[bytes, Array] = {}

    @cached_property
    def with_ends(self) -> ConeContacts:
        """Those and the ends of cones."""
        assert self.ends is not None, "the caller has asked"
        return ConeContacts(self.ends, self.chains, self.pushed, self.weighed, self.mass)

    def opened(self, state: Array) -> Array:
        """(p,) by how much the swings of a state (c, 2 s, 2) open gaps."""
        if not self.several:
            return self.pushed.dot(state.reshape(2, -1)[0])
        return np.add.reduce(self.pushed * state.reshape(self._every, 2, -1)[self.chains, 0], axis=1)

    def forces(self, gaps: Array, active: Array) -> Array:
        """(k, p) pushes that close gaps (k, p) below 0 where active; none pulls."""
        gaps = gaps[:, None]
        found = (gaps @ self._inverse(active))[:, 0]
        pulls = found[0] < 0.0
        if TRUE in pulls.tobytes():
            rest = active & ~pulls
            if rest.any():
                found = (gaps @ self._inverse(rest))[:, 0]
        return np.maximum(found, 0.0, out=found)

    def _inverse(self, active: Array) -> Array:
        """(k, p, p) minus the inverse of the active rows of the masses, 0 elsewhere."""
        key = active.tobytes()
        found = self._solved.get(key)
        if found is None:
            rows = np.flatnonzero(active)
            found = np.zeros(self.mass.shape)
            if len(rows) == 1:
                found[:, rows, rows] = -1.0 / self.mass[:, rows, rows]
            else:
                found[:, rows[:, None], rows] = -_inverted(self.mass, self.chains, rows)
            self._solved[key] = found
        return found

    def push_out(self, lift: float, swings: Array) -> Array:
        """(2 c s,) changes of swings (c, s, 2) that bring all out of the colliders, by `lift` [m] more than that."""
        if self.ends is not None:
            bent, left = (self.ends.bends @ swings)[None], self.ends.left(swings, 0.0)
            return self._with_ends(*self.with_ends.solved(self.gaps[None], swings, bent, left, lift))
        active = self.gaps < 0.0
        for _ in range(_ROUNDS):
            forces = self.forces((self.gaps - lift)[None], active)[0]
            # What is pushed out of one collider may be pushed into another.
            left = forces @ self.mass[0] + self.gaps < -lift
            if not np.any(left & ~active):
                break
            active = active | left
        return self._swings(forces)

    def carried(self, move: Array, swings: Array) -> Array:
        """A change of swings (c, s, 2) by (2 c s,) with which nothing goes in: what touches is in balance, and nothing
        pulls."""
        if self.several:
            gaps = self.gaps + np.add.reduce(self.pushed * move.reshape(self._every, -1)[self.chains], axis=1)
        else:
            gaps = self.gaps + self.pushed @ move
        if self.ends is not None:
            bent = (self.ends.bends @ (swings + move.reshape(swings.shape)))[None]
            left = self.ends.left(swings, _BACK)
            return move + self._with_ends(*self.with_ends.solved(gaps[None], swings, bent, left))
        active, forces = gaps < 0.0, np.zeros(self.count)
        for _ in range(4 * self.count + 4):
            forces = gaps @ self._inverse(active)[0]
            wrong = np.where(active, forces, 0.0)
            if wrong.min() >= 0.0:
                wrong = np.where(active, 0.0, forces @ self.mass[0] + gaps)
                if wrong.min() >= -_CLOSED * np.abs(gaps).max():
                    break
            worst = np.zeros(int(self.chains.max()) + 1)
            np.minimum.at(worst, self.chains, wrong)
            # One at a time of each chain, or they take turns.
            active = active ^ ((wrong < 0.0) & (wrong == worst[self.chains]))
        return move + self._swings(forces)

    def _with_ends(self, forces: Array, torques: Array) -> Array:
        """(2 c s,) how swings change by forces (1, p) and torques (1, c, s, 2) at ends of cones."""
        return self._swings(forces[0]) + self.with_ends.change(torques)[0].ravel()

    def _swings(self, forces: Array) -> Array:
        """(2 c s,) how swings change by forces (p,)."""
        if not self.several:
            return forces @ self.weighed[0]
        result = np.zeros((self._every, self.pushed.shape[1]))
        np.add.at(result, self.chains, forces[:, None] * self.weighed[0])
        return result.ravel()


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverses of the rows' parts of matrices (k, p, p) that have nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[:, rows[:, None], rows])
    result = np.zeros((len(mass), len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[:, own[:, None], own] = np.linalg.inv(mass[:, rows[own][:, None], rows[own]])
    return result
