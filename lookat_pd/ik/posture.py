"""How the joints of a body prefer to turn: stiffness, hinges, and the natural range of their bend."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array

STIFFEST = 0.99
"""Largest stiffness: a joint always gives way where nothing else reaches the target."""
HINGE = 0.9
"""Stiffness of a hinge about the axes perpendicular to its own."""
STEADY = 0.2
"""Sine of the bend at which the animated bend decides as much about the axis of a hinge as the given axis."""


@dataclass(frozen=True)
class Posture:
    """The preferences of n joints, which the method `nearest_pose` keeps. Raises InvalidArgument."""

    stiffness: ArrayLike
    """(n,), 0 to 0.99, the fraction of its rotation that a joint leaves to the others."""
    hinges: ArrayLike
    """(n, 3), the axis of each hinge in the joint's frame, zeros for a ball joint; a hinge bends in the positive
    direction."""
    minimum: ArrayLike
    """(n,) [rad], the smallest bend of each hinge: the angle about its axis from the direction of the bone before to
    that of its own bone, 0 if straight."""
    maximum: ArrayLike
    """(n,) [rad], the largest bend of each hinge."""

    def __post_init__(self) -> None:
        n = checks.numbers("stiffness", self.stiffness).size
        for name, shape in (("stiffness", (n,)), ("minimum", (n,)), ("maximum", (n,))):
            object.__setattr__(self, name, checks.exactly(name, getattr(self, name), *shape))
        object.__setattr__(self, "stiffness", np.clip(np.asarray(self.stiffness), 0.0, STIFFEST))
        axes = checks.array("hinges", self.hinges, n, 3)
        length = np.linalg.norm(axes, axis=-1, keepdims=True)
        object.__setattr__(self, "hinges", axes / np.where(length > 0.0, length, 1.0))
        low, high = np.asarray(self.minimum), np.asarray(self.maximum)
        if np.any(low > high):
            joint = int(np.argmax(low > high))
            raise InvalidArgument(
                "The minimum bend {low:.6g}° of joint {joint} is above the maximum {high:.6g}°; swap them.",
                joint=joint,
                low=float(np.degrees(low[joint])),
                high=float(np.degrees(high[joint])),
            )

    def __len__(self) -> int:
        return len(np.asarray(self.stiffness))

    @cached_property
    def is_hinge(self) -> Array:
        """(n,) bool."""
        return np.any(np.asarray(self.hinges) != 0.0, axis=-1)

    @cached_property
    def compliance(self) -> Array:
        """(n, 3, 3): the inverse weights of rotations about the joint's axes."""
        return (1.0 - np.asarray(self.stiffness))[:, None, None] ** 2 * np.where(
            self.is_hinge[:, None, None], self.along + (1.0 - HINGE) ** 2 * (np.eye(3) - self.along), np.eye(3)
        )

    def hinged(self, joint: int, along: Array) -> Array:
        """The square root of `compliance` (..., 3, 3) of one hinge, whose axis is that of the projections `along` (...,
        3, 3)."""
        free = 1.0 - float(np.asarray(self.stiffness)[joint])
        return free * (along + (1.0 - HINGE) * (np.eye(3) - along))

    @cached_property
    def along(self) -> Array:
        """(n, 3, 3): the projections on the axes of the hinges, 0 for ball joints."""
        axes = np.asarray(self.hinges)
        return axes[:, :, None] * axes[:, None, :]

    def bend(self, before: Array, after: Array, rotations: Array) -> Array:
        """The bend (..., n) [rad] of joints with local rotations (..., n, 4). before, after: (..., n, 3), the bone
        before in the frame of the parent, and the own bone in that of the joint."""
        axis, bone = rotation.rotate(rotations, self.hinges), rotation.rotate(rotations, after)
        return np.arctan2(np.sum(axis * rotation.cross(before, bone), axis=-1), np.sum(before * bone, axis=-1))

    def take(self, joints: Array) -> "Posture":
        """The preferences of some of the joints."""
        stiffness, hinges, minimum, maximum = (
            np.asarray(part)[joints] for part in (self.stiffness, self.hinges, self.minimum, self.maximum)
        )
        return Posture(stiffness, hinges, minimum, maximum)

    def as_bent(self, offsets: Array, rotations: Array, before: Array | None = None) -> "Posture":
        """The posture with those hinges reversed that an animation clearly bends the other way.

        offsets: (F, n, 3), the own bone of each joint. rotations: (F, n, 4), local. before: (F, n, 3), the bone before,
        in the frame of the parent; by default those of a chain.
        """
        if before is None:
            before = np.concatenate((offsets[:, :1], offsets[:, :-1]), axis=1)
        bends = np.median(self.bend(before, offsets, rotations), axis=0)
        wrong = self.is_hinge & (bends < -STEADY)
        wrong[0] = False
        return replace(self, hinges=np.where(wrong[:, None], -1.0, 1.0) * self.hinges) if wrong.any() else self
