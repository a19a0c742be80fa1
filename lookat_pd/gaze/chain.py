"""What a look-at is about: the chain of bones that turns, what is looked at from when, and what is found.

Bones are listed head first. Angles are in radians, times in seconds.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array
from .turn_distribution import soft_limit


@dataclass(frozen=True)
class Chain:
    """What the chain's bones can do, head first; arrays over its b bones, angles in radians.

    shares: fractions of the turn, above 0. settle_factors: times the look-at's settle time. yaw_limits (either side),
    pitch_up_limits, pitch_down_limits: largest offsets. compensates_lag: whether the bone makes up for those below that
    lag; the head always does, and those that do stand first. forward, up: (b, 3) unit axes in each bone's own frame
    that point where the character faces and up when at rest; forward[0] is the aim axis. soft_edge: width over which
    limits set in. near: distance within which a target is too close to be looked at, and the head turns to its animated
    pose.
    """

    shares: Array
    settle_factors: Array
    yaw_limits: Array
    pitch_up_limits: Array
    pitch_down_limits: Array
    compensates_lag: Array
    forward: Array
    up: Array
    soft_edge: float = np.radians(5.0)
    near: float = 0.0
    eyes_take: float = 0.0
    eyes_reach: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torso_from: float = 0.0

    def __post_init__(self) -> None:
        count = len(self.shares)
        if not count:
            raise InvalidArgument("The chain has no bones; add at least the aiming bone.")
        numbers = ("shares", "settle_factors", "yaw_limits", "pitch_up_limits", "pitch_down_limits")
        for name in numbers:
            values = np.asarray(getattr(self, name), dtype=float)
            least = 0.0 if name.endswith("limits") else 1e-9
            if values.shape != (count,) or not np.all(np.isfinite(values) & (values >= least)):
                raise InvalidArgument(
                    "The chain's {name} must be {count} positive numbers.",
                    name=Message(name.replace("_", " ")),
                    count=count,
                )
            object.__setattr__(self, name, values)
        if not (0.0 <= self.eyes_take <= 1.0 and min(*self.eyes_reach, self.torso_from) >= 0.0):
            raise InvalidArgument("The share of the eyes must be between 0 and 1, and its angles 0 or more.")
        compensates_lag = np.asarray(self.compensates_lag, dtype=bool).copy()
        compensates_lag[0] = True
        if np.any(compensates_lag[1:] & ~compensates_lag[:-1]):
            raise InvalidArgument(
                "The bones that compensate for the lag must be the first of the chain; reorder the chain."
            )
        object.__setattr__(self, "compensates_lag", compensates_lag)
        up = np.asarray(self.up, float)
        forward = rotation.normalize(self.forward)
        up = rotation.normalize(up - np.sum(up * forward, axis=-1, keepdims=True) * forward)
        object.__setattr__(self, "forward", forward)
        object.__setattr__(self, "up", up)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def right(self) -> Array:
        """(b, 3) axes about which a bone pitches up."""
        return rotation.cross(self.forward, self.up)

    def left_to_eyes(self, yaw: Array, pitch: Array) -> tuple[Array, Array]:
        """The part of a turn (n,) that the eyes make, not the chain."""
        if not self.eyes_take:
            return np.zeros_like(yaw), np.zeros_like(pitch)
        across, up, down = self.eyes_reach
        return (
            np.sign(yaw) * soft_limit(self.eyes_take * np.abs(yaw), across, across),
            np.sign(pitch)
            * np.where(
                pitch > 0.0,
                soft_limit(self.eyes_take * np.abs(pitch), up, up),
                soft_limit(self.eyes_take * np.abs(pitch), down, down),
            ),
        )

    def joined_by_torso(self, turn: Array) -> Array:
        """The part of a turn (n,) that the torso shares in: what goes beyond its threshold."""
        if not self.torso_from:
            return turn
        return turn - np.sign(turn) * soft_limit(np.abs(turn), self.torso_from, 0.5 * self.torso_from)


@dataclass(frozen=True)
class Event:
    """At `time` [s] the look-at turns to the target of that index, or off where it is None."""

    time: float
    target: int | None


@dataclass(frozen=True)
class Solution:
    """What `solve` found, over F frames and b bones, head first.

    offsets: (F, b, 4) local rotations to multiply on the right of the animated ones; where the look-at is off and
    released they are the identity, exactly. wanted: (F, b, 4) the bones' orientations, and position: (F, 3) the head's
    place, in the space of the input. error: (F,) angle [rad] between aim axis and target, nan where there is no target.
    settled: (F,) whether every controller has arrived; reachable: (F,) whether the target is within the chain's limits.
    looked_at: (F,) index of the target, -1 for none.
    """

    offsets: Array
    wanted: Array
    position: Array
    error: Array
    settled: Array
    reachable: Array
    looked_at: Array
