"""Limbs that only inverse kinematics poses, without a switch: the target of their constraint and its pole are keyed so
that the limb takes a pose."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, channels
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..controls import switch_property
from ..controls.goals import IKGoal, pole_place
from ..detection import limb_controls
from ..sampling.own_channels import along, location_axes, own_rotation, parent_orientation
from ..sampling.posed_bones import posed_bones
from ..sampling.sampler import Samples

_COPIES = ("COPY_ROTATION", "COPY_TRANSFORMS")


@dataclass(frozen=True)
class GoalLimb:
    """A limb of two bones."""

    owner: str
    """Bone that has the constraint."""
    constraint: str
    bones: tuple[str, str]
    """Bones that the constraint poses, the upper one first."""
    goal: str
    """Bone to which it reaches."""
    pole: str
    """Bone to which it bends, "" for no pole."""
    end: str
    """The bone below that is turned by the goal, "" if there is none."""
    tip: tuple[float, float, float]
    """(3,) in the frame of the lower bone at rest, the point that comes to the goal."""
    bend: tuple[float, float, float]
    """(3,) in the frame of the upper bone, the direction that turns to the pole."""
    pole_elsewhere: bool = False
    """Whether the pole is no bone of the armature."""
    turned: bool = False
    """Whether the constraint also gives the lower bone the orientation of the goal (*Rotation*)."""

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

    def check(self, armature: bpy.types.Object, into: str) -> None:
        """Raise RigError if goal and pole cannot be keyed."""
        actions.check_curves(armature, dict.fromkeys(self.moved, LOCATION), into)
        actions.check_curves(armature, {self.goal: armature.pose.bones[self.goal].rotation_mode}, into)

    def write(
        self,
        work: BakeTransaction,
        samples: Samples,
        seen: Samples,
        names: Sequence[str],
        wanted: Array,
        *,
        wholly: bool = False,
    ) -> list[str]:
        """Key goal and pole, so that the bones have orientations (F, n, 4) in armature space, of the joints `names`;
        returns the keyed bones.

        samples: as animated. seen: with all that was keyed before. wholly: whether the bones of the limb are keyed as
        well, which decides what goal and pole leave open, and the end turns with the limb if it is no joint; the parent
        of the upper bone is sampled then. Frames in which no bone of the limb turns and nothing above moves it keep
        their values.
        """
        turns = {name: wanted[:, names.index(name)] for name in self.held if name in names}
        rows = {name: samples.bones.index(name) for name in self.sampled}
        upper, lower = self.bones

        if wholly and self.end and self.end not in turns:
            turn = _from_animation(samples, turns, lower)
            turns[self.end] = rotation.multiply(turn, samples.rotations[:, rows[self.end]])
        places = {name: samples.positions[:, row] for name, row in rows.items()}
        base = seen.positions[:, rows[upper]]
        arm = rotation.rotate(rotation.inverse(samples.rotations[:, rows[upper]]), places[lower] - places[upper])
        elbow = base + rotation.rotate(turns[upper], arm)
        tip = elbow + rotation.rotate(turns[lower], samples.sizes[:, rows[lower], None] * np.array(self.tip))
        still = np.linalg.norm(base - places[upper], axis=-1) < _NOTHING * np.linalg.norm(arm, axis=-1)
        for bone, turn in turns.items():
            still &= rotation.distance(turn, samples.rotations[:, rows[bone]]) < _NOTHING
        if still.all():
            return []
        basis = {name: channels.to_quaternion(seen.channel(name)[1], samples.channel(name)[0]) for name in self.moved}
        turn, turns_goal = rotation.identity(len(tip)), self.end in turns or self.turned
        if turns_goal:
            turn = self._turn_of_goal(samples, seen, turns)
        control = IKGoal(self.goal, self.goal, self.goal)
        local, move = control.change(work.armature, seen, basis[self.goal], turn, tip)
        moves = {self.goal: move}
        if self.pole:
            line = rotation.normalize(tip - base)
            pole = base + rotation.rotate(_from_animation(samples, turns, upper), places[self.pole] - places[upper])
            there = pole_place(pole, base, line, rotation.rotate(turns[upper], np.array(self.bend)), _NOTHING)
            axes = location_axes(work.armature, seen, self.pole, basis[self.pole])
            moves[self.pole] = along(axes, there - seen.positions[:, rows[self.pole]])
        changed: list[tuple[str, str, Array]] = [
            (bone, LOCATION, seen.raw[LOCATION][:, rows[bone]] + move) for bone, move in moves.items()
        ]
        if turns_goal:
            now, mode = seen.channel(self.goal)[1], samples.channel(self.goal)[0]
            changed.append((self.goal, mode, channels.turned(now, mode, local)))
        if wholly:
            changed += self._turned(work.armature, samples, seen, turns)
        for bone, mode, values in changed:
            raw = samples.raw[LOCATION][:, rows[bone]] if mode == LOCATION else samples.channel(bone)[1]
            work.write(bone, mode, samples.frames, np.where(still[:, None], raw, values), raw)
        return list(moves)

    def _turn_of_goal(self, samples: Samples, seen: Samples, turns: dict[str, Array]) -> Array:
        """By how much (F, 4) the goal turns from how it is seen, for orientations (F, 4) of the limb."""
        row, lying = samples.bones.index(self.goal), turns[self.bones[1]]
        if not self.turned:
            lying = rotation.multiply(_from_animation(samples, turns, self.end), samples.rotations[:, row])
        return rotation.multiply(lying, rotation.inverse(seen.rotations[:, row]))

    def _turned(
        self, armature: bpy.types.Object, samples: Samples, seen: Samples, turns: dict[str, Array]
    ) -> list[tuple[str, str, Array]]:
        """The bones of the limb with the modes and values of their own rotations, for orientations (F, 4)."""
        found = []
        for bone in self.bones:
            mode = samples.channel(bone)[0]
            above = turns[self.bones[0]] if bone == self.bones[1] else parent_orientation(armature, seen, bone)
            own = own_rotation(armature, bone, above, turns[bone])
            found.append((bone, mode, channels.of_rotations(own, mode)))
        return found


def _from_animation(samples: Samples, turns: dict[str, Array], bone: str) -> Array:
    """By how much (F, 4) a bone turns from the animation to its orientation (F, 4)."""
    return rotation.multiply(turns[bone], rotation.inverse(samples.rotations[:, samples.bones.index(bone)]))


_NOTHING = 1e-6
"""An angle [rad], or a displacement as a fraction of the length of a bone, that counts as none."""


def find(
    armature: bpy.types.Object,
    bones: Iterable[str],
    refusal: Callable[[str, bpy.types.PoseBone, bpy.types.Constraint], RigError],
    *,
    but: Callable[[], Collection[tuple[str, str]]] = tuple,
) -> list[GoalLimb]:
    """The limbs of which inverse kinematics poses one of the bones. refusal: the error for a bone whose constraint
    has no goal that can be keyed, which is raised. but: gives the names of the owner and of the constraint of those
    that are left out; called if there is any."""
    asked, limbs = list(bones), []
    for owner, constraint in _constraints(armature):
        line = [armature.pose.bones[name] for name in posed_bones(owner, constraint)]
        ends = _turned_by(armature, constraint.subtarget, line[0]) if line else []
        if not {bone.name for bone in (*line, *ends)} & set(asked):
            continue
        if (owner.name, constraint.name) in but():
            continue
        if len(line) != 2 or constraint.target != armature or constraint.influence < 1.0:
            raise refusal(next(bone.name for bone in (*line, *ends) if bone.name in asked), owner, constraint)
        if constraint.use_rotation and ends:
            raise RigError(
                "'{target}' turns both '{lower}', by the setting Rotation of the constraint '{constraint}', and "
                "'{end}'; turn Rotation off, so that each can take its own rotation.",
                target=constraint.subtarget,
                lower=line[0].name,
                constraint=constraint.name,
                end=ends[0].name,
            )
        at_pole = constraint.pole_target is not None
        own_pole = constraint.pole_subtarget if constraint.pole_target == armature else ""
        lower, angle = line[0].bone, constraint.pole_angle
        point = lower.tail_local if constraint.use_tail else owner.bone.head_local
        limbs.append(
            GoalLimb(
                owner.name,
                constraint.name,
                (line[1].name, lower.name),
                constraint.subtarget,
                own_pole,
                ends[0].name if ends else "",
                tuple(lower.matrix_local.inverted() @ point),
                (np.cos(angle), 0.0, np.sin(angle)),
                at_pole and not own_pole,
                constraint.use_rotation,
            )
        )
    return limbs


def switches(armature: bpy.types.Object) -> list[tuple[str, str]]:
    """Owner and constraint of the limbs that switch between IK and FK by an influence with keys or a driver."""
    own = [limb for limb in limb_controls.find(armature) if limb.direct and limb.goal in armature.pose.bones]
    return [limb.switch for limb in own if switch_property.is_animated(armature, limb)]


def _constraints(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """The inverse kinematics that acts, with its owners."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type == "IK" and not constraint.mute and constraint.influence > 0.0:
                yield owner, constraint


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


def moved_bone(armature: bpy.types.Object, bone: str) -> str:
    """The bone that is meant where `bone` is the target of the inverse kinematics of a limb; `bone` itself
    otherwise."""
    for owner, constraint in _constraints(armature):
        if constraint.subtarget == bone and constraint.target == armature:
            ends = _turned_by(armature, bone, owner)
            return ends[0].name if ends else owner.name
    return bone
