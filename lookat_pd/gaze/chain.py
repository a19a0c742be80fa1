"""Input and output of a look-at: the chain of bones, the events with their targets, and the solution.

Bones are listed head first. Angles are in radians, times in seconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array
from .turn_distribution import soft_limit

_MOST = 1e6
"""No share, factor or angle is beyond this."""
_PARALLEL, _NEAREST = 1e-9, 1e-30
_LARGE = np.radians(45.0)
"""A yaw beyond which necks twist uncomfortably."""


@dataclass(frozen=True)
class Chain:
    """Properties of the bones of a chain, head first; arrays over its b bones, angles in radians."""

    shares: Array
    """Fractions of the turn, above 0."""
    settle_factors: Array
    """Factors of the settle time."""
    yaw_limits: Array
    pitch_up_limits: Array
    pitch_down_limits: Array
    """`yaw_limits` (either side), `pitch_up_limits`, `pitch_down_limits`: largest offsets."""
    compensates_lag: Array
    """Whether the bone compensates the lag of those below; the head always does, and these bones are listed first."""
    forward: Array
    up: Array
    """`forward`, `up`: (b, 3) unit axes in each bone's own frame that point forward and up at rest; forward[0] is the
    aim axis."""
    soft_edge: float = np.radians(5.0)
    """Width of the smooth limits."""
    eye_height: float = 0.0
    """How far above the origin of the head, along its up, the aim starts: at the eyes."""
    eye_ahead: float = 0.0
    """How far ahead of it, which makes a difference only to how errors are measured."""
    near: float = 0.0
    """Distance within which a target is too close and the head returns to its animated pose."""
    eyes_take: float = 0.0
    eyes_reach: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torso_from: float = 0.0
    torso_more: float = 0.0
    level: float = 0.0
    """0 to 1, how far the head's up is rolled towards the world's."""
    most_roll: float = np.pi
    """The largest roll [rad] in the world that a look adds to that of the animated head; pi for any."""
    stabilize: float = 0.0
    """0 to 1, how much of the body's own motion the bones that compensate the lag cancel at once, instead of by their
    controllers."""
    head_speed: float = 0.0
    """Largest angular speed [rad/s] of the head where the target jumps, changes sides or passes fast; 0 for none."""

    def __post_init__(self) -> None:
        count = checks.numbers("shares", self.shares).size
        if not count:
            raise InvalidArgument("The chain has no bones; add at least the aiming bone.")
        numbers = ("shares", "settle_factors", "yaw_limits", "pitch_up_limits", "pitch_down_limits")
        for name in numbers:
            values = checks.numbers(name.replace("_", " "), getattr(self, name))
            least = 0.0 if name.endswith("limits") else 1e-9
            if values.shape != (count,) or not np.all((values >= least) & (values <= _MOST)):
                raise InvalidArgument(
                    "The chain's {name} must be {count} positive numbers.",
                    name=Message(name.replace("_", " ")),
                    count=count,
                )
            object.__setattr__(self, name, values)
        reach = checks.exactly("reach of the eyes", self.eyes_reach, 3)
        for name in ("soft_edge", "near", "torso_from", "head_speed"):
            object.__setattr__(self, name, checks.number(name.replace("_", " "), getattr(self, name), 0.0))
        object.__setattr__(self, "eye_height", checks.number("height of the eyes", self.eye_height))
        object.__setattr__(self, "eye_ahead", checks.number("height of the eyes", self.eye_ahead))
        object.__setattr__(self, "torso_more", checks.fraction("turn of the torso", self.torso_more))
        object.__setattr__(self, "level", checks.fraction("level of the head", self.level))
        object.__setattr__(self, "most_roll", checks.number("roll of the head", self.most_roll, 0.0))
        object.__setattr__(self, "stabilize", checks.fraction("stabilization", self.stabilize))
        if not (0.0 <= self.eyes_take <= 1.0 and reach.min() >= 0.0):
            raise InvalidArgument("The share of the eyes must be between 0 and 1, and its angles 0 or more.")
        compensates_lag = checks.exactly("bones that compensate for the lag", self.compensates_lag, count).astype(bool)
        compensates_lag[0] = True
        if np.any(compensates_lag[1:] & ~compensates_lag[:-1]):
            raise InvalidArgument(
                "The bones that compensate for the lag must be the first of the chain; reorder the chain."
            )
        object.__setattr__(self, "compensates_lag", compensates_lag)
        forward = rotation.normalize(checks.exactly("forward axes", self.forward, count, 3))
        up = rotation.normalize(checks.exactly("up axes", self.up, count, 3))
        up = up - np.sum(up * forward, axis=-1, keepdims=True) * forward
        if not np.all(np.linalg.norm(forward, axis=-1)) or np.any(np.linalg.norm(up, axis=-1) < _PARALLEL):
            raise InvalidArgument(
                "The forward and up axes of a chain's bone must not be zero or parallel; choose another aim axis."
            )
        up = rotation.normalize(up)
        object.__setattr__(self, "forward", forward)
        object.__setattr__(self, "up", up)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def right(self) -> Array:
        """(b, 3) axes about which a bone pitches up."""
        return rotation.cross(self.forward, self.up)

    @property
    def levels(self) -> bool:
        """Whether the head is rolled by what is up in the world."""
        return self.level > 0.0 or self.most_roll < np.pi

    def eye(self, rotations: Array, positions: Array, sizes: ArrayLike = 1.0) -> Array:
        """Where the aim starts (..., 3), of heads with orientations (..., 4) and sizes (...) at positions (..., 3)."""
        return positions + np.asarray(sizes)[..., None] * rotation.rotate(rotations, self.eye_place)

    @property
    def eye_place(self) -> Array:
        """Where the aim starts (3,) in the frame of the head."""
        return self.eye_height * self.up[0] + self.eye_ahead * self.forward[0]

    def ahead(self, distances: ArrayLike, sizes: ArrayLike = 1.0) -> Array:
        """The directions (..., 3) from heads of these sizes (...), in their frames, to what is in line with the aim at
        distances (...) from their origins. Raises InvalidArgument."""
        away = np.maximum(checks.array("distance", distances), _NEAREST)
        height = np.clip(checks.array("size of the head", sizes) * self.eye_height / away, -1.0, 1.0)[..., None]
        return height * self.up[0] + np.sqrt(1.0 - height * height) * self.forward[0]

    def aim_error(self, rotations: Array, positions: Array, targets: Array, sizes: ArrayLike = 1.0) -> Array:
        """The angle (...) [rad] between the aim of heads, as for `eye`, and targets (..., 3)."""
        aim = rotation.rotate(rotations, self.forward[0])
        return rotation.angle_between(aim, targets - self.eye(rotations, positions, sizes))

    def left_to_eyes(self, yaw: Array, pitch: Array) -> tuple[Array, Array]:
        """The part of a turn (n,) that the eyes make instead of the chain."""
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

    def furthered_by_torso(self, yaw: Array) -> Array:
        """What the torso turns further than its shares (n,) for a yaw (n,) that the neck should not make alone."""
        if not self.torso_more:
            return np.zeros_like(yaw)
        return self.torso_more * (yaw - np.sign(yaw) * soft_limit(np.abs(yaw), _LARGE, 0.5 * _LARGE))

    def joined_by_torso(self, turn: Array) -> Array:
        """The part of a turn (n,) above the threshold of the torso, which the torso shares."""
        if not self.torso_from:
            return turn
        return turn - np.sign(turn) * soft_limit(np.abs(turn), self.torso_from, 0.5 * self.torso_from)


@dataclass(frozen=True)
class Event:
    """At `time` [s] the look-at switches to the target of that index, or off if it is None."""

    time: float
    target: int | None


@dataclass(frozen=True)
class Solution:
    """What `solve` found, over F frames and b bones, head first."""

    offsets: Array
    """(F, b, 4) local rotations to multiply on the right of the animated ones; where the look-at is off and released,
    they are exactly the identity."""
    wanted: Array
    """(F, b, 4) orientations of the bones."""
    position: Array
    """Position (F, 3) of the head, in the space of the input."""
    error: Array
    """(F,) angle [rad] between aim axis and target, nan if there is no target."""
    settled: Array
    """(F,) whether every controller has arrived."""
    reachable: Array
    """(F,) whether the target is within the chain's limits."""
    looked_at: Array
    """(F,) index of the target, -1 for none."""
