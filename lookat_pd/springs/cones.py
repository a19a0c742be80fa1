"""Cones within which bones swing, about what they hang on: how far they are, and contacts at their ends."""

import numpy as np

from ..rotation import Array
from .contacts import GIVES, Ends


class Cones:
    """Those of c chains of s bones. limits: (c, s) [rad]. above: (c, s) the bone on which each hangs. hangs: (c, s)
    whether it hangs on one. A state here is (c, 2 s, 2): swings, then rates."""

    def __init__(self, limits: Array, above: Array, hangs: Array) -> None:
        self.limits, self.above, self.hangs = limits, above, hangs

    def _bends(self, state: Array) -> Array:
        """(c, s, 2) how bones are swung from what they hang on."""
        z = state[:, : self.limits.shape[1]]
        return z - np.take_along_axis(z, self.above[..., None], axis=1) * self.hangs[..., None]

    def widest(self, state: Array) -> float:
        """How far a bone is beyond its cone [rad]."""
        return float((np.sqrt((self._bends(state) ** 2).sum(axis=-1)) - self.limits).max())

    def within(self, state: Array) -> Array:
        """The state with bones that are beyond their cones at their ends, from root to tip."""
        chains, size = self.limits.shape
        state, rows = state.copy(), np.arange(chains)
        for bone in range(size):
            above = state[rows, self.above[:, bone]] * self.hangs[:, bone, None]
            bend = state[:, bone] - above
            angle = np.sqrt((bend**2).sum(axis=-1))
            state[:, bone] = above + bend * np.minimum(1.0, self.limits[:, bone] / np.maximum(angle, 1e-12))[:, None]
        return state

    def _near(self, state: Array, swung: Array) -> tuple[Array, Array, Array, Array]:
        """Chains (q,) and bones (q,) that may come to the ends of their cones, with how all bend (c, s, 2) and by what
        angles (c, s). swung: (c, s) angles by which bones may swing."""
        bends = self._bends(state)
        angles = np.sqrt((bends**2).sum(axis=-1))
        room = swung + np.take_along_axis(swung, self.above, axis=1) * self.hangs
        chain, bone = np.nonzero(self.limits - angles < room)
        return chain, bone, bends, angles

    def ends(self, state: Array, swung: Array, yields: Array) -> Ends | None:
        """The ends of cones to which bones may come in steps. swung: see `_near`. yields: by how much bones yield in a
        step, see `Contacts`."""
        chain, bone, _, _ = self._near(state, swung)
        if not len(chain):
            return None
        size = self.limits.shape[1]
        sees = np.zeros((len(chain), 2, size, 2))
        below = np.flatnonzero(self.hangs[chain, bone])
        for part in (0, 1):
            sees[np.arange(len(chain)), part, bone, part] = 1.0
            sees[below, part, self.above[chain, bone][below], part] = -1.0
        softness = GIVES * yields[:, chain, bone, bone].T
        return Ends(chain, sees.reshape(2 * len(chain), -1), self.limits[chain, bone], softness)

    def rows(self, state: Array, swung: Array, yields: Array) -> list[tuple[Array, ...]]:
        """Bones at the ends of their cones as these are now, as contacts along one axis whose distances are angles, as
        `Contacts` has them. swung, yields: see `ends`."""
        chain, bone, bends, angles = self._near(state, swung)
        if not len(chain):
            return []
        gaps = self.limits - angles
        rows = np.arange(len(chain))
        outward = bends[chain, bone] / np.maximum(angles[chain, bone], 1e-9)[:, None]
        moves = np.zeros((len(chain), self.limits.shape[1], 2, 3))
        moves[rows, bone, :, 0] = -outward
        below = np.flatnonzero(self.hangs[chain, bone])
        moves[below, self.above[chain, bone][below], :, 0] = outward[below]
        none, normals = np.zeros((len(chain), 3)), np.tile([1.0, 0.0, 0.0], (len(chain), 1))
        moves = moves.reshape(len(chain), -1, 3)
        softness = GIVES[: len(yields)] * yields[:, chain, bone, bone].T
        return [(chain, gaps[chain, bone], normals, moves, none, none[:, 0], softness)]
