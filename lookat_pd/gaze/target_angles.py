"""A target in the frame of the head, and the chain while its bones are rotated from the root up."""

from copy import copy
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..curves import cubic_step
from ..rotation import Array
from .turn_distribution import TurnDistribution

_POLE = np.radians(60.0), np.radians(85.0), np.radians(90.0)
_LEAST = 1e-30


class ForwardKinematics:
    """Forward kinematics of the chain while it is solved from the root up: finished bones move those above them."""

    def __init__(self, rotations: Array, positions: Array, eye_height: Array | float = 0.0) -> None:
        """eye_height: (n,) or a number, how far above the origin of the head the aim starts."""
        self.rotations, self.positions, self.eye_height = rotations, positions, eye_height
        self.delta = rotation.identity(len(rotations))
        self.origin: Array = positions[:, 0]
        self.done = 0
        self._deltas: list[Array] = []
        self._head_rotation: Array | None = None
        self._head_position: Array | None = None

    def copy(self) -> "ForwardKinematics":
        """An independent copy of the current state."""
        other = copy(self)
        other._deltas = list(self._deltas)
        return other

    @property
    def deltas(self) -> Array:
        """(n, done, 4) how the bones done so far are turned, in the space of the input."""
        return self._deltas[0] if len(self._deltas) == 1 else np.concatenate(self._deltas, axis=1)

    def turn(self, stage: slice, offsets: Array) -> None:
        """Apply the local offsets (n, stage, 4) of the bones of a stage."""
        # In the outer space an offset has the same angle, about an axis that rotates with the bone.
        own = np.empty_like(offsets)
        own[..., 0] = offsets[..., 0]
        own[..., 1:] = rotation.rotate(self.rotations[:, stage], offsets[..., 1:])
        # The accumulated rotation of each bone's parent, and last that of the children of the last bone.
        deltas = rotation.accumulate(self.delta, own)
        self.delta = deltas[:, -1]
        first = max(stage.start, 1)
        if stage.stop > first:
            arms = self.positions[:, first : stage.stop] - self.positions[:, first - 1 : stage.stop - 1]
            self.origin = self.origin + rotation.rotate(deltas[:, first - stage.start : -1], arms).sum(axis=1)
        self._deltas.append(deltas[:, 1:])
        self.done = stage.stop
        self._head_rotation = self._head_position = None

    def move_head(self, shift: Array) -> None:
        """Move the remaining bones by `shift` (n, 3)."""
        self.origin = self.origin + shift
        self._head_position = None

    @property
    def head_rotation(self) -> Array:
        """Orientation of the head (n, 4) due to the finished bones."""
        if self._head_rotation is None:
            self._head_rotation = rotation.multiply(self.delta, self.rotations[:, -1])
        return self._head_rotation

    @property
    def head_position(self) -> Array:
        if self._head_position is None:
            arm = self.positions[:, -1] - self.positions[:, max(self.done - 1, 0)]
            self._head_position = self.origin + rotation.rotate(self.delta, arm)
        return self._head_position


@dataclass(frozen=True)
class TargetAngles:
    """A target in the frame of the head: yaw to the left and pitch up [rad], and a weight that is 0 if it is too
    near."""

    yaw: Array
    pitch: Array
    near: Array
    parallax: Array | float = 0.0
    """The angle [rad] at the origin of the head between the aim and what is in line with it, as far away as the
    target."""

    @classmethod
    def of(
        cls,
        head: Array,
        direction: Array,
        axes: tuple[Array, Array, Array],
        near: float,
        eye_height: Array | float = 0.0,
    ) -> "TargetAngles":
        """head: (n, 4). direction: (n, 3) to the target. axes: forward, up and right in the head's frame.

        near: distance within which a target is too close to be looked at. eye_height: how far above the origin of the
        head the aim starts, (n,) or a number; the pitch is what the head turns until the target is ahead of that place.
        """
        local = rotation.rotate(rotation.inverse(head), direction)
        ahead, above, aside = (rotation.dot(local, axis) for axis in axes)
        yaw = np.arctan2(-aside, ahead)
        # Straight behind, always use the same side, independent of rounding.
        yaw = np.where(yaw < -np.pi + 1e-6, yaw + 2.0 * np.pi, yaw)
        distance = np.sqrt(rotation.dot(local, local))
        nearness = cubic_step(distance / near) if near > 0.0 else (distance > 0.0).astype(float)
        pitch = np.arctan2(above, np.sqrt(ahead * ahead + aside * aside))
        if np.any(eye_height):
            # What is as far above the head as the eyes are, at this distance: nearer targets are let go.
            parallax = np.arcsin(np.clip(eye_height * nearness / np.maximum(distance, _LEAST), -1.0, 1.0))
            return cls(yaw, pitch - parallax, nearness, parallax)
        return cls(yaw, pitch, nearness)

    def __getitem__(self, frames: slice) -> "TargetAngles":
        parallax = self.parallax[frames] if isinstance(self.parallax, np.ndarray) else self.parallax
        return TargetAngles(self.yaw[frames], self.pitch[frames], self.near[frames], parallax)

    def ahead(self, forward: Array, up: Array) -> tuple[Array, Array]:
        """The directions (n, 3) or (3,) from the origin of the head to what is in line with the aim, and their up: a
        roll about them leaves the aim on the target. forward, up: (3,) in the head's frame."""
        if not np.any(self.parallax):
            return forward, up
        cos, sin = np.cos(self.parallax)[:, None], np.sin(self.parallax)[:, None]
        return cos * forward + sin * up, cos * up - sin * forward

    def weight(self, distribution: tuple[TurnDistribution, TurnDistribution, TurnDistribution]) -> Array:
        """Weight of the yaw: 0 if the target is too near, and straight above or below, where yaw is undefined."""
        fade = self._from_pole(distribution[1].largest_turn, distribution[2].largest_turn)
        return self.near * (1.0 - cubic_step(fade))

    def _from_pole(self, up: float, down: float) -> Array:
        begin = np.clip(np.where(self.pitch > 0.0, up, down), _POLE[0], _POLE[1])
        return np.clip((np.abs(self.pitch) - begin) / (_POLE[2] - begin), 0.0, 1.0)

    def reached(
        self,
        distribution: tuple[TurnDistribution, TurnDistribution, TurnDistribution],
        yaw: Array,
        pitch: Array,
        edge: float,
    ) -> Array:
        """Whether the head, last of the chain, can make the remaining turn within its limits."""
        across, up, down = (max(s.largest_turn - edge, 0.0) + 1e-9 for s in distribution)
        return (
            (np.abs(yaw) <= across)
            & (np.where(pitch > 0.0, pitch <= up, -pitch <= down))
            & (self.near >= 1.0)
            & (self._from_pole(distribution[1].largest_turn, distribution[2].largest_turn) <= 0.0)
        )


def unwrap(angles: Array) -> Array:
    """Angles (n,) without jumps of whole turns, as numpy's, which is slow where there is nothing to do."""
    return np.unwrap(angles) if np.any(np.abs(np.diff(angles)) >= np.pi) else angles


def near_branch(yaw: Array, start: float) -> Array:
    """Angles (n,) unwrapped along time, starting with the branch nearest to `start`."""
    unwrapped = unwrap(yaw)
    return unwrapped + 2.0 * np.pi * np.round((start - unwrapped[0]) / (2.0 * np.pi))


def nearest_turn(yaw: Array, reference: Array) -> Array:
    """Angles (n,) plus the multiple of 2 pi that is nearest to the reference."""
    return yaw + 2.0 * np.pi * np.round((reference - yaw) / (2.0 * np.pi))
