"""What the head sees: the chain carried along by the bones that have turned, and a target in the head's frame."""

from copy import copy
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .turn_distribution import TurnDistribution

_POLE = np.radians(60.0), np.radians(85.0), np.radians(90.0)


class Carried:
    """The chain while it is being turned from the root up: what is done carries what is above it."""

    def __init__(self, rotations: Array, positions: Array) -> None:
        self.rotations, self.positions = rotations, positions
        self.delta = rotation.identity(len(rotations))
        self.origin = positions[:, 0]
        self.done = 0
        self.deltas: list[Array] = []

    def copy(self) -> "Carried":
        """The same so far; what is turned from here on is turned in one of them only."""
        other = copy(self)
        other.deltas = list(self.deltas)
        return other

    def turn(self, stage: slice, offsets: Array) -> None:
        """Give the stage's bones their local offsets (n, stage, 4)."""
        # Seen from outside the bone, an offset turns as much, about an axis that is turned with the bone.
        own = np.empty_like(offsets)
        own[..., 0] = offsets[..., 0]
        own[..., 1:] = rotation.rotate(self.rotations[:, stage], offsets[..., 1:])
        for bone in range(stage.start, stage.stop):
            if bone:
                arm = self.positions[:, bone] - self.positions[:, bone - 1]
                self.origin = self.origin + rotation.rotate(self.delta, arm)
            self.delta = rotation.multiply(self.delta, own[:, bone - stage.start])
            self.deltas.append(self.delta)
            self.done = bone + 1

    def move_head(self, shift: Array) -> None:
        """Move everything from here up by `shift` (n, 3)."""
        self.origin = self.origin + shift

    @property
    def head_rotation(self) -> Array:
        """Head orientation (n, 4) as the bones done so far carry it."""
        return rotation.multiply(self.delta, self.rotations[:, -1])

    @property
    def head_position(self) -> Array:
        last = max(self.done - 1, 0)
        return self.origin + rotation.rotate(self.delta, self.positions[:, -1] - self.positions[:, last])


@dataclass(frozen=True)
class TargetAngles:
    """A target as the head sees it: yaw to the left and pitch up [rad], and how far it is from being too near."""

    yaw: Array
    pitch: Array
    near: Array

    @classmethod
    def of(cls, head: Array, direction: Array, axes: tuple[Array, Array, Array], near: float) -> "TargetAngles":
        """head: (n, 4). direction: (n, 3) to the target. axes: forward, up and right in the head's frame.

        near: distance within which a target is too close to be looked at.
        """
        local = rotation.rotate(rotation.inverse(head), direction)
        ahead, above, aside = (rotation.dot(local, axis) for axis in axes)
        yaw = np.arctan2(-aside, ahead)
        # Straight behind is one place: always the same side of it, whatever the rounding.
        yaw = np.where(yaw < -np.pi + 1e-6, yaw + 2.0 * np.pi, yaw)
        distance = np.sqrt(rotation.dot(local, local))
        nearness = np.clip(distance / near, 0.0, 1.0) if near > 0.0 else (distance > 0.0).astype(float)
        return cls(yaw, np.arctan2(above, np.hypot(ahead, aside)), nearness**2 * (3.0 - 2.0 * nearness))

    def weight(self, sharing: tuple[TurnDistribution, TurnDistribution, TurnDistribution]) -> Array:
        """How much of the yaw to take: none when too near, none straight above or below where it means nothing."""
        fade = self._from_pole(sharing[1].reach, sharing[2].reach)
        return self.near * (1.0 - fade**2 * (3.0 - 2.0 * fade))

    def _from_pole(self, up: float, down: float) -> Array:
        begin = np.clip(np.where(self.pitch > 0.0, up, down), _POLE[0], _POLE[1])
        return np.clip((np.abs(self.pitch) - begin) / (_POLE[2] - begin), 0.0, 1.0)

    def reached(
        self,
        sharing: tuple[TurnDistribution, TurnDistribution, TurnDistribution],
        yaw: Array,
        pitch: Array,
        edge: float,
    ) -> Array:
        """Whether the head, last of the chain, can make the turn that is left without meeting a limit."""
        across, up, down = (max(s.reach - edge, 0.0) + 1e-9 for s in sharing)
        return (
            (np.abs(yaw) <= across)
            & (np.where(pitch > 0.0, pitch <= up, -pitch <= down))
            & (self.near >= 1.0)
            & (self._from_pole(sharing[1].reach, sharing[2].reach) <= 0.0)
        )


def near_branch(yaw: Array, start: float) -> Array:
    """Angles (n,) unwrapped along time, beginning with the turn nearest to `start`."""
    unwrapped = np.unwrap(yaw)
    return unwrapped + 2.0 * np.pi * np.round((start - unwrapped[0]) / (2.0 * np.pi))


def nearest_turn(yaw: Array, reference: Array) -> Array:
    """Angles (n,) with the whole turns that bring each nearest to its reference."""
    return yaw + 2.0 * np.pi * np.round((reference - yaw) / (2.0 * np.pi))
