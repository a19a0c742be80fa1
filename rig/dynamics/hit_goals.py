"""Limbs that only inverse kinematics poses, without a switch, give way to hits as well: the target of their constraint
and its pole are keyed so that the limb takes the pose."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..sampling.bone_location import own_displacement
from ..sampling.posed_bones import posed_bones
from ..sampling.sampler import Samples

_COPIES = ("COPY_ROTATION", "COPY_TRANSFORMS")


@dataclass(frozen=True)
class GoalLimb:
    """A limb of two bones. bones: those that the constraint poses, the upper one first. goal, pole: bones to which it
    reaches and bends; no pole is "". end: the bone below that is turned by the goal, "" if there is none."""

    constraint: str
    bones: tuple[str, str]
    goal: str
    pole: str
    end: str

    @property
    def held(self) -> tuple[str, ...]:
        """Bones whose own channels do not turn them."""
        return (*self.bones, *((self.end,) if self.end else ()))

    @property
    def moved(self) -> tuple[str, ...]:
        """Bones that change their location."""
        return (self.goal, *((self.pole,) if self.pole else ()))

    @property
    def sampled(self) -> tuple[str, ...]:
        return (*self.held, *self.moved)

    def write(
        self, work: BakeTransaction, samples: Samples, seen: Samples, names: Sequence[str], wanted: Array
    ) -> list[str]:
        """Key goal and pole, so that the bones have orientations (F, n, 4) in armature space, of the joints `names`;
        returns the keyed bones.

        samples: as animated. seen: with all that was keyed before. Frames in which no bone of the limb turns and
        nothing above moves it keep their values.
        """
        turns = {name: wanted[:, names.index(name)] for name in self.held if name in names}
        rows = {name: samples.bones.index(name) for name in self.sampled}

        def carried(bone: str, point: Array) -> Array:
            """A displacement (F, 3) from the animation as the bone carries it along."""
            return rotation.rotate(
                rotation.multiply(turns[bone], rotation.inverse(samples.rotations[:, rows[bone]])), point
            )

        upper, lower = self.bones
        places = {name: samples.positions[:, row] for name, row in rows.items()}
        base = seen.positions[:, rows[upper]]
        elbow = base + carried(upper, places[lower] - places[upper])
        goals = {self.goal: elbow + carried(lower, places[self.goal] - places[lower])}
        if self.pole:
            goals[self.pole] = base + carried(upper, places[self.pole] - places[upper])
        still = np.linalg.norm(base - places[upper], axis=-1) < _NOTHING * np.linalg.norm(
            places[lower] - places[upper], axis=-1
        )
        for bone, turn in turns.items():
            still &= rotation.distance(turn, samples.rotations[:, rows[bone]]) < _NOTHING
        if still.all():
            return []
        for bone, place in goals.items():
            row, raw = rows[bone], samples.raw[LOCATION][:, rows[bone]]
            moves = place - seen.positions[:, row]
            own = own_displacement(seen, bone, seen.rotations[:, row], moves)
            work.write(
                bone, LOCATION, samples.frames, np.where(still[:, None], raw, seen.raw[LOCATION][:, row] + own), raw
            )
        if self.end in turns:
            mode, raw = samples.channel(self.goal)
            row = rows[self.goal]
            last = samples.rotations[:, rows[self.end]]
            lying = rotation.multiply(
                rotation.multiply(turns[self.end], rotation.inverse(last)), samples.rotations[:, row]
            )
            offsets = rotation.multiply(rotation.inverse(seen.rotations[:, row]), lying)
            values = channels.turned(seen.channel(self.goal)[1], mode, offsets)
            work.write(self.goal, mode, samples.frames, np.where(still[:, None], raw, values), raw)
        return list(goals)


_NOTHING = 1e-6
"""An angle [rad], or a displacement as a fraction of the length of a bone, that counts as none."""


def find(armature: bpy.types.Object, bones: Iterable[str], *, but: Collection[tuple[str, str]] = ()) -> list[GoalLimb]:
    """The limbs of which inverse kinematics poses one of the bones. but: names of the owner and of the constraint of
    those that are left out. Raises RigError if their goals cannot be keyed."""
    asked, found = list(bones), []
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type != "IK" or constraint.mute or constraint.influence == 0.0:
                continue
            if (owner.name, constraint.name) in but:
                continue
            line = [armature.pose.bones[name] for name in posed_bones(owner, constraint)]
            ends = _turned_by(armature, constraint.subtarget, line[0]) if line else []
            if not {bone.name for bone in (*line, *ends)} & set(asked):
                continue
            if (
                len(line) != 2
                or constraint.target != armature
                or not constraint.subtarget
                or constraint.influence < 1.0
            ):
                raise RigError(
                    "Bone '{bone}' cannot give way because the constraint '{constraint}' poses it; give the constraint "
                    "two bones, full influence and a bone of the same armature as its target, or hit another bone.",
                    bone=next(bone.name for bone in (*line, *ends) if bone.name in asked),
                    constraint=constraint.name,
                )
            pole = constraint.pole_subtarget if constraint.pole_target == armature else ""
            names = line[1].name, line[0].name
            found.append(GoalLimb(constraint.name, names, constraint.subtarget, pole, ends[0].name if ends else ""))
    return found


def _turned_by(armature: bpy.types.Object, goal: str, last: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The children of the last bone of a limb that its goal turns."""
    return [
        bone
        for bone in last.children
        if any(
            c.type in _COPIES and not c.mute and c.influence > 0.0 and c.target == armature and c.subtarget == goal
            for c in bone.constraints
        )
    ]


def hit_bone(armature: bpy.types.Object, bone: str) -> str:
    """The bone that is hit where `bone` is the target of the inverse kinematics of a limb; `bone` itself otherwise."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type == "IK" and constraint.subtarget == bone and constraint.target == armature:
                ends = _turned_by(armature, bone, owner)
                return ends[0].name if ends else owner.name
    return bone
