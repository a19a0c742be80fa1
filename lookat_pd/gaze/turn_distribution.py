"""Distribution of a turn over the bones of a chain: soft limits, and shares that pass to others at a limit."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..rotation import Array


def soft_limit(angle: ArrayLike, limit: ArrayLike, edge: ArrayLike) -> Array:
    """Clamp angles >= 0 to `limit`, unchanged up to limit - edge, then compressed to reach it at limit + edge.

    All in radians, broadcasting; the slope is continuous. The edge is never wider than the limit.
    """
    angle, limit = np.asarray(angle, float), np.asarray(limit, float)
    edge = np.minimum(edge, limit)
    below = angle <= limit - edge
    if below.shape == angle.shape and below.all():
        return angle
    safe = np.where(edge > 0.0, edge, 1.0)
    bend = limit - np.clip(limit + edge - angle, 0.0, 2.0 * safe) ** 2 / (4.0 * safe)
    return np.where(below, angle, np.where(edge > 0.0, bend, limit))


def turn_axes(up: Array, right: Array) -> Array:
    """Columns (n, 3, 3) up, right and forward, from the first two (n, 3): unit axes, square to each other."""
    return np.stack((up, right, rotation.cross(up, right)), axis=-1)


def turn_vectors(yaw: Array, pitch: Array, axes: Array) -> Array:
    """Rotation vectors (F, n, 3) of yaws (F, n) [rad] about `up` after pitches (F, n) about `right`.

    axes: (n, 3, 3), as `turn_axes` makes them. The same as the logarithm of the product of both rotations.
    """
    cos_yaw, sin_yaw, cos_pitch, sin_pitch = (f(0.5 * angle.T) for angle in (yaw, pitch) for f in (np.cos, np.sin))
    aside = cos_yaw * sin_pitch
    scale = rotation.vector_scale(cos_yaw * cos_pitch, np.sqrt(sin_yaw * sin_yaw + aside * aside))
    sin_yaw = scale * sin_yaw
    parts = np.empty((len(aside), 3, aside.shape[1]))
    parts[:, 0], parts[:, 1], parts[:, 2] = sin_yaw * cos_pitch, scale * aside, sin_yaw * sin_pitch
    return (axes @ parts).transpose(2, 0, 1)


@dataclass(frozen=True)
class TurnLimits:
    """The largest turns of n bones, and the room for overshoot."""

    yaw: Array
    pitch_up: Array
    pitch_down: Array
    """`yaw`, `pitch_up`, `pitch_down`: (n,) [rad]."""
    goal: float
    """Fraction of them, up to 1, that contains all goals."""
    up: Array
    right: Array
    """`up`, `right`: (n, 3) unit axes, perpendicular to each other, in each bone's own frame: a turn is a yaw about
    `up` after a pitch about `right`, with an unlimited roll."""
    rolled: bool = False
    """Whether goals roll, too: yaw and pitch are then those of the forward axis."""

    def __getitem__(self, bones: slice) -> "TurnLimits":
        arrays = (self.yaw, self.pitch_up, self.pitch_down)
        yaw, pitch_up, pitch_down = (a[bones] for a in arrays)
        return TurnLimits(yaw, pitch_up, pitch_down, self.goal, self.up[bones], self.right[bones], self.rolled)

    def apply(self, offsets: Array) -> Array:
        """Rotations (..., n, 4) within the limits: values beyond the range of the goals are compressed smoothly."""
        # A rotation no larger than the smallest goal of its bone is within all goals.
        least = self.goal * np.minimum(self.yaw, np.minimum(self.pitch_up, self.pitch_down))
        far = np.flatnonzero(np.any(offsets[..., 0] < np.cos(0.5 * least), axis=tuple(range(offsets.ndim - 2))))
        if not len(far):
            return offsets
        bones = slice(far[0], far[-1] + 1)
        some, free = self[bones], offsets[..., bones, :]
        bent = (some._bent_aim if self.rolled else some._bent)(free)
        if bent is free:
            return offsets
        result = offsets.copy(order="K")
        result[..., bones, :] = bent
        return result

    def _bent_aim(self, offsets: Array) -> Array:
        """As `_bent`, by yaw and pitch of the forward axis; the roll about it stays."""
        forward = rotation.cross(self.up, self.right)
        aim = rotation.rotate(offsets, forward)
        ahead, above, aside = (rotation.dot(aim, axis) for axis in (forward, self.up, self.right))
        yaw, pitch = np.arctan2(-aside, ahead), np.arctan2(above, np.hypot(ahead, aside))
        new_yaw = 2.0 * self._held(0.5 * yaw, self.yaw)
        new_pitch = 2.0 * self._held(0.5 * pitch, np.where(pitch > 0.0, self.pitch_up, self.pitch_down))
        free = (new_yaw == yaw) & (new_pitch == pitch)
        roll = rotation.multiply(rotation.inverse(self._turn(yaw, pitch)), offsets)
        return np.where(free[..., None], offsets, rotation.multiply(self._turn(new_yaw, new_pitch), roll))

    def _turn(self, yaw: Array, pitch: Array) -> Array:
        """Rotations (..., n, 4) by a yaw after a pitch, (..., n) each."""
        return rotation.multiply(rotation.exp(yaw[..., None] * self.up), rotation.exp(pitch[..., None] * self.right))

    def _bent(self, offsets: Array) -> Array:
        """As `apply`, where some rotations may be beyond the goals' range."""
        w, vector, forward = offsets[..., 0], offsets[..., 1:], rotation.cross(self.up, self.right)
        above, aside, ahead = (rotation.dot(vector, axis) for axis in (self.up, self.right, forward))
        yaw = np.arctan2(above, w)
        # Without the yaw, no rotation about `up` remains.
        upright = np.sqrt(w * w + above * above)
        aside, ahead = np.cos(yaw) * aside + np.sin(yaw) * ahead, np.cos(yaw) * ahead - np.sin(yaw) * aside
        pitch = np.arctan2(aside, upright)
        new_yaw = self._held(yaw, self.yaw)
        new_pitch = self._held(pitch, np.where(pitch > 0.0, self.pitch_up, self.pitch_down))
        free = (new_yaw == yaw) & (new_pitch == pitch)
        if free.all():
            return offsets
        length = np.sqrt(upright * upright + aside * aside)
        upright, aside = length * np.cos(new_pitch), length * np.sin(new_pitch)
        rest = np.concatenate((upright[..., None], aside[..., None] * self.right + ahead[..., None] * forward), axis=-1)
        held = rotation.multiply(rotation.exp(2.0 * new_yaw[..., None] * self.up), rest)
        return np.where(free[..., None], offsets, held)

    def _held(self, half: Array, limit: Array) -> Array:
        """Half angles (..., n), unchanged up to the range of the goals, then smoothly compressed towards the limit."""
        begin = 0.5 * self.goal * limit
        room = 0.5 * limit - begin
        beyond = np.maximum(np.abs(half) - begin, 0.0)
        bend = np.tanh(beyond / np.where(room > 0.0, room, 1.0)) * room
        return np.where(beyond > 0.0, np.sign(half) * (begin + bend), half)


@dataclass(frozen=True)
class TurnDistribution:
    """Distributes a turn over bones in proportion to their shares; at the limit of a bone the others take the rest.

    Each bone turns by soft_limit(share * level), with the level for which the bones add up to the turn. The level is
    interpolated in a table that is exact at the kinks; the aiming bone compensates the small error between them.
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
    def largest_turn(self) -> float:
        """The largest turn [rad] of all bones together."""
        return float(self.sums[-1])

    def divide(self, turn: Array, count: int | None = None) -> Array:
        """Turns (...) >= 0 [rad] to turns of the bones (..., n), which add up to the turn or to the largest one.

        count: of so many bones only, the first ones.
        """
        level = np.interp(turn, self.sums, self.levels)
        turns = np.multiply(np.asarray(level)[..., None], self.shares[:count], order="F")
        return soft_limit(turns, self.limits[:count], self.edges[:count])


@lru_cache(maxsize=256)
def _share_out(shares: tuple[float, ...], limits: tuple[float, ...], edge: float) -> TurnDistribution:
    """Cached, because a chain is solved many times with the same shares and limits."""
    some, most = np.array(shares), np.array(limits)
    edges = np.minimum(edge, most)
    kinks = np.linspace(most - edges, most + edges, 9) / some
    levels = np.unique(np.concatenate(([0.0], kinks.ravel())))
    sums = soft_limit(some * levels[:, None], most, edges).sum(axis=-1)
    return TurnDistribution(some, most, edges, levels, sums)
