"""Where IK controls and poles go so that a limb takes a pose."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..sampling.own_channels import along, location_axes
from ..sampling.sampler import Samples


@dataclass(frozen=True)
class IKGoal:
    """What inverse kinematics reaches for, and what follows it."""

    goal: str
    """The control that is moved."""
    turner: str
    """The control that is turned: the goal itself, or a heel control that turns the end about another point."""
    end: str
    """The bone that they carry; the goal itself where that comes to the end of the limb."""

    def change(
        self,
        armature: bpy.types.Object,
        seen: Samples,
        basis: Array,
        turn: Array,
        place: Array,
        carried: "Carried | None" = None,
    ) -> tuple[Array, Array]:
        """What is added to the channels, so that the end turns by `turn` (F, 4) in armature space and comes to `place`
        (F, 3): a rotation (F, 4) of the turner, on the right, and a location (F, 3) of the goal.

        seen: the rig as it is, with the rotation `basis` (F, 4) in the channels of the goal. carried: what else moves
        the goal at the same time.
        """
        row, end = seen.bones.index(self.turner), seen.bones.index(self.end)
        own, pivot = seen.rotations[:, row], seen.positions[:, row]
        # Where the end comes by the turn alone.
        shift = place - pivot - rotation.rotate(turn, seen.positions[:, end] - pivot)
        axes, base = location_axes(armature, seen, self.goal, basis), own
        if carried is not None:
            shift = shift - (carried.place - seen.positions[:, seen.bones.index(self.goal)])
            axes = rotation.to_matrix(carried.turn) @ axes
            base = rotation.multiply(carried.turn, own) if self.turner == self.goal else own
        local = rotation.multiply(rotation.inverse(base), rotation.multiply(turn, own))
        return local, along(axes, shift)


@dataclass(frozen=True)
class Carried:
    """How what a goal is attached to moves it."""

    turn: Array
    """(F, 4), by how much that turns in armature space."""
    place: Array
    """(F, 3), where the goal is then without a change of its own."""


def across(vectors: Array, axis: Array) -> Array:
    """The part of vectors (F, 3) across unit vectors (F, 3)."""
    return vectors - axis * np.sum(vectors * axis, axis=-1, keepdims=True)


def pole_place(
    pole: Array, base: Array, axis: Array, towards: Array, least: Array | float = 0.0, away: Array | None = None
) -> Array:
    """Where a pole (F, 3) is to be so that it lies in the direction `towards` (F, 3) from the line of its limb: through
    `base` (F, 3) along the unit vectors `axis` (F, 3).

    least: length of a direction, up to which there is none and the pole keeps its own. away: (F, 1), distance from
    `base`; None: the pole keeps its distance from the line, and its place along that.
    """
    beside, wanted = across(pole - base, axis), across(towards, axis)
    direction = np.where(np.linalg.norm(wanted, axis=-1, keepdims=True) > least, wanted, beside)
    if away is not None:
        return base + away * rotation.normalize(direction)
    return pole - beside + np.linalg.norm(beside, axis=-1, keepdims=True) * rotation.normalize(direction)
