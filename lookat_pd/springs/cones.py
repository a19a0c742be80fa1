"""Cones within which bones swing, about what they hang on: how far they are, and the ends to which they come.

Ends give way, colliders do not: a tail that something pushes beyond its cone goes beyond it, and not into that. The
least angles do by which it is out of the colliders, as if the ends were stiff springs, and goes back by and by.
"""

from dataclasses import dataclass

import numpy as np

from ..rotation import Array

GIVES = np.array([0.01, 0.05])
"""Parts of what swings, and rates, yield to a torque in a step by which ends of cones do."""

_BACK = 1e-4
"""Angle [rad] by which a bone goes back at least, at once, that is beyond its cone."""


@dataclass(frozen=True)
class Ends:
    """The ends to which bones of c chains of s bones may come in some steps."""

    limits: Array
    """(c, s) [rad], infinite for those that do not come to it."""
    bends: Array
    """(c, s, s) how bones are swung from what they hang on, by the swings of their chain."""
    yields: Array
    """(k, c, s, s) how swings, or their rates, change by torques on these."""
    masses: Array
    """(k, c, s, s) how those change by the torques, without what the ends give."""
    softness: Array
    """(k, c, s) by how much ends yield by themselves."""

    def left(self, swings: Array, part: float) -> Array:
        """(c, s) how far bones with these swings (c, s, 2) may stay beyond their cones [rad], of which they go back by
        a part at least."""
        bends = self.bends @ swings
        excess = np.maximum(np.sqrt((bends * bends).sum(axis=-1)) - self.limits, 0.0)
        return np.maximum((1.0 - part) * excess - _BACK, 0.0)


class Cones:
    """Those of c chains of s bones. limits: (c, s) [rad]. above: (c, s) the bone on which each hangs. hangs: (c, s)
    whether it hangs on one. A state here is (c, 2 s, 2): swings, then rates."""

    def __init__(self, limits: Array, above: Array, hangs: Array) -> None:
        self.limits, self.above, self.hangs = limits, above, hangs
        chains, size = limits.shape
        self.bends = np.tile(np.eye(size), (chains, 1, 1))
        """(c, s, s) see `Ends`."""
        chain, bone = np.nonzero(hangs)
        self.bends[chain, bone, above[chain, bone]] -= 1.0

    def excess(self, state: Array) -> Array:
        """(c, s) how far bones are beyond their cones [rad], below 0 within."""
        bends = self.bends @ state[:, : self.limits.shape[1]]
        return np.sqrt((bends * bends).sum(axis=-1)) - self.limits

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

    def respond(self, yields: Array) -> tuple[Array, Array]:
        """`Ends.yields` and `masses` of chains that yield (k, c, s, s) to torques on bones."""
        own = yields @ np.swapaxes(self.bends, 1, 2)
        return own, self.bends @ own

    def ends(self, state: Array, swung: Array, response: tuple[Array, Array], softness: Array) -> Ends | None:
        """The ends to which bones may come. swung: (c, s) angles by which they may swing. response: see `respond`.
        softness: see `Ends`."""
        room = swung + np.take_along_axis(swung, self.above, axis=1) * self.hangs
        near = self.excess(state) > -room
        if not near.any():
            return None
        return Ends(np.where(near, self.limits, np.inf), self.bends, *response, softness)
