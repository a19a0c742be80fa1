"""How the bones of a chain divide a turn: soft limits, and shares that spill over where a bone is at its limit."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..rotation import Array


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
class TurnLimits:
    """The largest turns of n bones, and how much of them is left for overshoot.

    yaw, pitch_up, pitch_down: (n,) [rad]. goal: fraction of them, up to 1, within which all goals lie. up, right:
    (n, 3) unit axes, square to each other, in each bone's own frame: a turn is a yaw about `up` after a pitch about
    `right`, with a roll that has no limit.
    """

    yaw: Array
    pitch_up: Array
    pitch_down: Array
    goal: float
    up: Array
    right: Array

    def __getitem__(self, bones: slice) -> "TurnLimits":
        arrays = (self.yaw, self.pitch_up, self.pitch_down)
        yaw, pitch_up, pitch_down = (a[bones] for a in arrays)
        return TurnLimits(yaw, pitch_up, pitch_down, self.goal, self.up[bones], self.right[bones])

    def apply(self, offsets: Array) -> Array:
        """Rotations (..., n, 4) within the limits: what lies beyond the goals' range bends over to stay inside."""
        # A rotation by no more than the least goal of its bone leaves neither its yaw nor its pitch beyond theirs.
        least = self.goal * np.minimum(self.yaw, np.minimum(self.pitch_up, self.pitch_down))
        if np.all(offsets[..., 0] >= np.cos(0.5 * least)):
            return offsets
        w, vector, forward = offsets[..., 0], offsets[..., 1:], rotation.cross(self.up, self.right)
        above, aside, ahead = (rotation.dot(vector, axis) for axis in (self.up, self.right, forward))
        yaw = np.arctan2(above, w)
        # What is left without the yaw has nothing about `up`.
        upright = np.hypot(w, above)
        aside, ahead = np.cos(yaw) * aside + np.sin(yaw) * ahead, np.cos(yaw) * ahead - np.sin(yaw) * aside
        pitch = np.arctan2(aside, upright)
        new_yaw = self._held(yaw, self.yaw)
        new_pitch = self._held(pitch, np.where(pitch > 0.0, self.pitch_up, self.pitch_down))
        free = (new_yaw == yaw) & (new_pitch == pitch)
        if np.all(free):
            return offsets
        length = np.hypot(upright, aside)
        upright, aside = length * np.cos(new_pitch), length * np.sin(new_pitch)
        rest = np.concatenate((upright[..., None], aside[..., None] * self.right + ahead[..., None] * forward), axis=-1)
        held = rotation.multiply(rotation.exp(2.0 * new_yaw[..., None] * self.up), rest)
        return np.where(free[..., None], offsets, held)

    def _held(self, half: Array, limit: Array) -> Array:
        """Half angles (..., n), unchanged and smooth up to the goals' range, then towards the limit."""
        begin = 0.5 * self.goal * limit
        room = 0.5 * limit - begin
        beyond = np.maximum(np.abs(half) - begin, 0.0)
        bend = np.tanh(beyond / np.where(room > 0.0, room, 1.0)) * room
        return np.where(beyond > 0.0, np.sign(half) * (begin + bend), half)


@dataclass(frozen=True)
class TurnDistribution:
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
    def of(cls, shares: ArrayLike, limits: ArrayLike, edge: float) -> "TurnDistribution":
        """shares (n,) > 0, limits (n,) [rad], edge: width of the soft edge [rad]."""
        return _share_out(tuple(np.asarray(shares, float).tolist()), tuple(np.asarray(limits, float).tolist()), edge)

    @property
    def reach(self) -> float:
        """The largest turn [rad] that all bones together can make."""
        return float(self.sums[-1])

    def divide(self, turn: Array) -> Array:
        """Turns (...) >= 0 [rad] to the bones' turns (..., n), which sum to the turn or to the reach."""
        level = np.interp(turn, self.sums, self.levels)
        return soft_limit(self.shares * level[..., None], self.limits, self.edges)


@lru_cache(maxsize=256)
def _share_out(shares: tuple[float, ...], limits: tuple[float, ...], edge: float) -> TurnDistribution:
    """A chain is solved again and again with the same shares and limits."""
    some, most = np.array(shares), np.array(limits)
    edges = np.minimum(edge, most)
    kinks = np.linspace(most - edges, most + edges, 9) / some
    levels = np.unique(np.concatenate(([0.0], kinks.ravel())))
    sums = soft_limit(some * levels[:, None], most, edges).sum(axis=-1)
    return TurnDistribution(some, most, edges, levels, sums)
