"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing; friction takes away no more of the slip than the contact's force allows.
"""

import numpy as np

from ..rotation import Array

_SOFT = 1e-6
"""Part by which contacts that act alike are softened, so that their forces are known."""
_CLOSED = 1e-9
"""Part of the largest gap up to which one is closed."""
_ROUNDS = 4
"""Most times that it is seen what else is touched by what is pushed out."""


class Contacts:
    """p contacts that may come to be, over some steps.

    A state here is the swings of all c s bones, each in two parts, then their rates: (2, 2 c s).
    """

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
    ) -> None:
        """chains: (p,) that of each. gaps: (p,) distances from touching [m]. normals: (p, 3) out of the colliders.
        moves: (p, 2 s, 3) how the point that touches moves with the swings of its chain. drift: (p, 3) how it moves
        away from the collider in a step by itself [m]. friction: (p,). yields: (k, c, s, s) by how much swings, and
        rates, of chains yield to torques. softness: (p, k) by how much contacts themselves yield."""
        self.chains, self.gaps, self.friction = chains, gaps, friction
        self._count, size = moves.shape[:2]
        count, self._several, levels = self._count, yields.shape[1] > 1, len(yields)
        every = yields.shape[1]
        yields = yields[:, chains] if self._several else yields
        pushed = (moves @ normals[..., None])[..., 0]
        fall = np.add.reduce(drift * normals, axis=1)
        weighed = (yields @ pushed.reshape(count, -1, 2)).reshape(levels, count, size)
        self._mass = weighed @ pushed.T
        if self._several:
            self._mass *= chains[:, None] == chains
        diagonal = self._mass.reshape(levels, -1)[:, :: count + 1]
        diagonal *= 1.0 + _SOFT
        diagonal += softness.T + 1e-30
        self._solved: dict[bytes, Array] = {}
        # By the bones of all chains.
        self._place = np.arange(count)[:, None], chains[:, None] * size + np.arange(size)
        self._whole = size * every
        self._sees, self._pushes = self._spread(pushed[None])[0].T, self._spread(weighed)
        own = [fall]
        self._slips = bool(friction.any())
        if self._slips:
            across = np.eye(3) - normals[:, :, None] * normals[:, None]
            self._slide = 1.0 / np.add.reduce(np.abs(self._mass), axis=2)[..., None]
            heavy = (yields @ moves.reshape(count, -1, 6)).reshape(levels, *moves.shape)
            slips = self._spread((moves @ across)[None])[0].transpose(1, 0, 2).reshape(self._whole, -1)
            drags = self._spread(heavy).transpose(0, 1, 3, 2).reshape(levels, -1, self._whole)
            self._slides = np.ascontiguousarray(slips)
            self._sees = np.concatenate((self._sees, slips), axis=1)
            self._pushes = np.concatenate((self._pushes, -drags), axis=1)
            own.append((across @ drift[..., None])[..., 0].reshape(-1))
        carried = np.concatenate(own)
        self._carried = np.stack((carried, carried / dt))
        self._begun = self._carried[None]
        self._last = np.zeros(0)

    def _spread(self, values: Array) -> Array:
        """Values (k, p, 2 s, ...) for the bones of a chain as those for all, (k, p, 2 c s, ...)."""
        if not self._several:
            return values
        result = np.zeros((*values.shape[:2], self._whole, *values.shape[3:]))
        result[:, *self._place] = values
        return result

    def begin(self, swings: Array, steps: int) -> None:
        """Take some steps from these swings (2 c s,)."""
        count = self._count
        self._begun = np.tile(self._carried, (steps, 1, 1))
        first = self.gaps - swings @ self._sees[:, :count]
        self._begun[:, 0, :count] = first + np.arange(1.0, steps + 1.0)[:, None] * self._carried[0, :count]
        if self._slips:
            self._last = swings @ self._slides

    def stop(self, step: int, state: Array) -> bool:
        """Change a state, as it is after this of the steps, by the contacts; whether there is any."""
        count = self._count
        seen = state @ self._sees
        slid = seen[0, count:].copy() if self._slips else self._last
        seen += self._begun[step]
        gaps = seen[:, :count]
        if gaps[0].min() >= 0.0:
            self._last = slid
            return False
        forces = self._forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
        if not self._slips:
            state += (forces[:, None] @ self._pushes)[:, 0]
            return True
        slips = seen[:, count:]
        slips[0] -= self._last
        slips = slips.reshape(2, count, 3)
        slips *= self._slide
        size = np.sqrt(np.add.reduce(slips * slips, axis=2))
        size += 1e-30
        slips *= np.minimum(1.0, self.friction * forces / size)[..., None]
        gaps[:] = forces
        change = (seen[:, None] @ self._pushes)[:, 0]
        state += change
        self._last = slid + change[0] @ self._slides
        return True

    def _forces(self, gaps: Array, active: Array) -> Array:
        """(k, p) pushes that close gaps (k, p) below 0 where active; none pulls."""
        gaps = gaps[:, None]
        found = (gaps @ self._inverse(active))[:, 0]
        if found[0].min() < 0.0:
            rest = active & (found[0] >= 0.0)
            if rest.any():
                found = (gaps @ self._inverse(rest))[:, 0]
        return np.maximum(found, 0.0)

    def _inverse(self, active: Array) -> Array:
        """(k, p, p) minus the inverse of the active rows of the masses, 0 elsewhere."""
        key = active.tobytes()
        if key not in self._solved:
            rows = np.flatnonzero(active)
            result = np.zeros(self._mass.shape)
            if len(rows) == 1:
                result[:, rows, rows] = -1.0 / self._mass[:, rows, rows]
            else:
                result[:, rows[:, None], rows] = -_inverted(self._mass, self.chains, rows)
            self._solved[key] = result
        return self._solved[key]

    def push_out(self, lift: float) -> Array:
        """(2 c s,) changes of swings that bring all out of the colliders, by `lift` [m] more than that."""
        active = self.gaps < 0.0
        for _ in range(_ROUNDS):
            forces = self._forces((self.gaps - lift)[None], active)[0]
            # What is pushed out of one collider may be pushed into another, or out of its cone.
            left = forces @ self._mass[0] + self.gaps < -lift
            if not np.any(left & ~active):
                break
            active = active | left
        return forces @ self._pushes[0, : self._count]

    def carried(self, move: Array) -> Array:
        """A change of swings (2 c s,) by which nothing goes in: what touches is in balance, and nothing pulls."""
        gaps = self.gaps + move @ self._sees[:, : self._count]
        active, forces = gaps < 0.0, np.zeros(self._count)
        for _ in range(4 * self._count + 4):
            forces = gaps @ self._inverse(active)[0]
            wrong = np.where(active, forces, 0.0)
            if wrong.min() >= 0.0:
                wrong = np.where(active, 0.0, forces @ self._mass[0] + gaps)
                if wrong.min() >= -_CLOSED * np.abs(gaps).max():
                    break
            worst = np.zeros(int(self.chains.max()) + 1)
            np.minimum.at(worst, self.chains, wrong)
            # One at a time of each chain, or they take turns.
            active = active ^ ((wrong < 0.0) & (wrong == worst[self.chains]))
        return move + forces @ self._pushes[0, : self._count]


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverses of the rows' parts of matrices (k, p, p) that have nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[:, rows[:, None], rows])
    result = np.zeros((len(mass), len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[:, own[:, None], own] = np.linalg.inv(mass[:, rows[own][:, None], rows[own]])
    return result
