"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing; friction takes away no more of the slip than the contact's force allows.
"""

import numpy as np

from .. import rotation
from ..rotation import Array

_SOFT = 1e-6
"""Part by which contacts that act alike are softened, so that their forces are known."""
_ROUNDS = 4
"""Most times that it is seen what else is touched by what is pushed out."""
_MOST_TURN = 0.4
"""Largest angle [rad] by which a bone is pushed out at once."""


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
        chain_mass: Array,
        dt: float,
    ) -> None:
        """chains: (p,) that of each. gaps: (p,) distances from touching [m]. normals: (p, 3) out of the colliders.
        moves: (p, 2 s, 3) how the point that touches moves with the swings of its chain. drift: (p, 3) how it moves
        away from the collider in a step by itself [m]. friction: (p,). softness: (p,) added to their inverse masses.
        chain_mass: (c, s, s) inverse masses of the chains."""
        self.chains, self.gaps, self.friction = chains, gaps, friction
        count, size = moves.shape[:2]
        pushed = (moves @ normals[..., None])[..., 0]
        fall = rotation.dot(drift, normals)
        self._fall = np.array((fall, fall / dt))
        weighed = (chain_mass[chains] @ pushed.reshape(count, -1, 2)).reshape(count, size)
        self._mass = (pushed @ weighed.T) * (chains[:, None] == chains)
        self._mass[np.diag_indices(count)] *= 1.0 + _SOFT
        self._mass[np.diag_indices(count)] += softness + 1e-30
        self._solved: dict[bytes, tuple[Array, Array]] = {}
        # By the bones of all chains.
        self._place = np.arange(count)[:, None], chains[:, None] * size + np.arange(size)
        self._whole = len(chain_mass) * size
        self._moved, self._pushes = self._spread(pushed).T, self._spread(weighed)
        self._slips = bool(friction.any())
        if self._slips:
            across = np.eye(3) - normals[:, :, None] * normals[:, None]
            slide = 1.0 / np.abs(self._mass).sum(axis=1)[:, None]
            heavy = (chain_mass[chains] @ moves.reshape(count, -1, 6)).reshape(moves.shape)
            drags, slips = np.swapaxes(heavy, 1, 2), across @ np.swapaxes(moves, 1, 2) * slide[..., None]
            whole = np.array([[self._spread(values[:, n]) for n in range(3)] for values in (drags, slips)])
            whole = np.swapaxes(whole, 1, 2).reshape(2, 3 * count, -1)
            self._drags, self._slides = whole[0], np.ascontiguousarray(whole[1].T)
            own = (across @ drift[..., None])[..., 0] * slide
            self._carried = np.array((own, own / dt))

    def _spread(self, values: Array) -> Array:
        """Values (p, 2 s) for the bones of a chain as those for all, (p, 2 c s)."""
        if self._whole == values.shape[1]:
            return values
        result = np.zeros((len(values), self._whole))
        result[self._place] = values
        return result

    def begun(self, swings: Array, steps: int) -> Array:
        """(steps, 2, p) what distances and their rates are after each of some steps, besides what swings (2 c s,) and
        rates add, from the first swings."""
        result = np.empty((steps, 2, len(self.gaps)))
        result[:, 0] = self.gaps - swings @ self._moved + np.arange(1, steps + 1)[:, None] * self._fall[0]
        result[:, 1] = self._fall[1]
        return result

    def added(self, state: Array) -> Array:
        """(2, p) what a state adds to distances and their rates."""
        return state @ self._moved

    def _forces(self, wanted: Array, active: Array) -> Array:
        """(k, p) pushes that make contacts move by what is wanted (k, p), where active; none pulls."""
        for _ in range(2):
            key = active.tobytes()
            if key not in self._solved:
                rows = np.flatnonzero(active)
                self._solved[key] = rows, _inverted(self._mass, self.chains, rows)
            rows, inverse = self._solved[key]
            found = wanted[:, rows] @ inverse
            pulls = found[0] < 0.0
            if not pulls.any() or pulls.all():
                break
            active = active.copy()
            active[rows[pulls]] = False
        result = np.zeros(wanted.shape)
        result[:, rows] = np.maximum(found, 0.0)
        return result

    def push_out(self, lift: float) -> Array:
        """(2 c s,) changes of swings that bring all out of the colliders, by `lift` [m] more than that."""
        active = self.gaps < 0.0
        for _ in range(_ROUNDS):
            forces = self._forces((lift - self.gaps)[None], active)
            # What is pushed out of one collider may be pushed into another, or out of its cone.
            left = (forces @ self._mass)[0] + self.gaps < -lift
            if not np.any(left & ~active):
                break
            active = active | left
        change = (forces @ self._pushes)[0]
        return change * min(1.0, _MOST_TURN / max(float(np.abs(change).max()), 1e-12))

    def stop(self, gaps: Array, state: Array, last: Array) -> None:
        """Change a state by the contacts of a step that begun with the last swings (2 c s,).

        gaps: (2, p) distances and their rates after it.
        """
        forces = self._forces(np.maximum(-gaps, 0.0), gaps[0] < 0.0)
        if self._slips:
            moved = state.copy()
            moved[0] -= last
            slips = (moved @ self._slides).reshape(self._carried.shape)
            slips += self._carried
            size = np.maximum(np.sqrt(rotation.dot(slips, slips)), 1e-30)
            slips *= np.minimum(1.0, self.friction * forces / size)[..., None]
            state -= slips.reshape(2, -1) @ self._drags
        state += forces @ self._pushes


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverse of the rows' part of a matrix that has nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[np.ix_(rows, rows)])
    result = np.zeros((len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[np.ix_(own, own)] = np.linalg.inv(mass[np.ix_(rows[own], rows[own])])
    return result
