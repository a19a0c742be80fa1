"""How the bones of a chain divide a turn: soft limits, and shares that spill over where a bone is at its limit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .rotation import Array


def soft_limit(angle: ArrayLike, limit: ArrayLike, edge: ArrayLike) -> Array:
    """Clamp angles >= 0 to `limit`, unchanged up to limit - edge, then bending over to reach it at limit + edge.

    All in radians, broadcasting; the slope is continuous. The edge is never wider than the limit.
    """
    angle, limit = np.asarray(angle, float), np.asarray(limit, float)
    edge = np.minimum(edge, limit)
    safe = np.where(edge > 0.0, edge, 1.0)
    bend = limit - np.clip(limit + edge - angle, 0.0, 2.0 * safe) ** 2 / (4.0 * safe)
    return np.where(angle <= limit - edge, angle, np.where(edge > 0.0, bend, limit))


@dataclass(frozen=True)
class Sharing:
    """Divides a turn over bones in proportion to their shares; where one is at its limit the others take the rest.

    Each bone turns by soft_limit(share * level), where the level is what makes the bones' sum the turn. The level is
    read from a table, exact at the kinks: what little is lost between them the aiming bone makes up.
    """

    shares: Array
    limits: Array
    edges: Array
    levels: Array
    sums: Array

    @classmethod
    def of(cls, shares: ArrayLike, limits: ArrayLike, edge: float) -> "Sharing":
        """shares (n,) > 0, limits (n,) [rad], edge: width of the soft edge [rad]."""
        shares, limits = np.asarray(shares, float), np.asarray(limits, float)
        edges = np.minimum(edge, limits)
        kinks = np.linspace(limits - edges, limits + edges, 9) / shares
        levels = np.unique(np.concatenate(([0.0], kinks.ravel())))
        sums = soft_limit(shares * levels[:, None], limits, edges).sum(axis=-1)
        return cls(shares, limits, edges, levels, sums)

    @property
    def reach(self) -> float:
        """The largest turn [rad] that all bones together can make."""
        return float(self.sums[-1])

    def divide(self, turn: Array) -> Array:
        """Turns (...) >= 0 [rad] to the bones' turns (..., n), which sum to the turn or to the reach."""
        level = np.interp(turn, self.sums, self.levels)
        return soft_limit(self.shares * level[..., None], self.limits, self.edges)
