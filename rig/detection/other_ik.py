"""Inverse kinematics that no limb switches: other limbs reach for the same, or it poses the last bone of a limb as
well."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ..sampling.posed_bones import posed_bones
from . import limbs
from .switched_limbs import RigCopies


@dataclass(frozen=True)
class OtherIK:
    """An IK constraint."""

    owner: str
    """The bone that has it."""
    constraint: str
    bones: tuple[str, ...]
    """Those that it poses, the end of the chain first."""
    target: bpy.types.Object
    subtarget: str
    """`target`, `subtarget`: what it reaches for; no bone is ""."""

    @property
    def label(self) -> str:
        return self.subtarget or self.target.name

    def influence(self, rig: bpy.types.Object) -> float:
        """The influence, 0 to 1, on an evaluated rig."""
        return float(rig.pose.bones[self.owner].constraints[self.constraint].influence)

    def end(self, armature: bpy.types.Object) -> tuple[str, bool]:
        """The bone that comes to the target, and whether its tip does or its head: the hand or foot below the chain, or
        the last bone of the chain."""
        for line in _limbs(armature):
            if self.bones[0] in line[1:-1]:
                return line[line.index(self.bones[0]) + 1], False
        return self.bones[0], True

    def is_limb(self, armature: bpy.types.Object) -> bool:
        """Whether its chain is the upper part of an arm or leg, or all of it."""
        end, at_tip = self.end(armature)
        return not at_tip or any(end in line[2:3] for line in _limbs(armature))


def of(armature: bpy.types.Object, bones: Sequence[str]) -> OtherIK | None:
    """The inverse kinematics that poses one of these bones, or the limb above one of them; None if there is none."""
    above = {armature.pose.bones[name].parent for name in bones}
    nearest = {bone.name for bone in above if bone is not None}
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type != "IK" or constraint.mute or not posed_bones(owner, constraint):
                continue
            other_ik = read(owner, constraint)
            if {*bones} & {*other_ik.bones} or (other_ik.bones[0] in nearest and other_ik.end(armature)[0] in bones):
                return other_ik
    return None


def read(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> OtherIK:
    line = tuple(posed_bones(owner, constraint))
    return OtherIK(owner.name, constraint.name, line, constraint.target, constraint.subtarget)


def moved(armature: bpy.types.Object, other_ik: OtherIK) -> tuple[bpy.types.Object, str]:
    """The object and its bone, "" for the object itself, that is moved to move the target."""
    if other_ik.target != armature:
        return other_ik.target, other_ik.subtarget
    control = RigCopies(armature).control_of_target(other_ik.subtarget, other_ik.bones[-1])
    return armature, control or other_ik.subtarget


def refusal(armature: bpy.types.Object, other_ik: OtherIK, bone: str) -> RigError:
    """Why a bone that it poses, or the hand or foot below, cannot be keyed, and what to do instead."""
    if other_ik.is_limb(armature) and other_ik.end(armature)[1]:
        return RigError(
            "The constraint '{constraint}' on '{owner}' poses '{end}' together with its limb; let it pose the two "
            "bones above '{end}' only, or move and key '{target}' itself.",
            constraint=other_ik.constraint,
            owner=other_ik.owner,
            end=other_ik.bones[0],
            target=other_ik.label,
        )
    if other_ik.target != armature:
        return RigError(
            "The limb of '{bone}' is posed by the constraint '{constraint}' on '{owner}', whose target '{target}' is "
            "no bone of '{armature}'; choose a bone of '{armature}' as the target, or move and key '{target}' itself.",
            constraint=other_ik.constraint,
            owner=other_ik.owner,
            bone=bone,
            target=other_ik.label,
            armature=armature.name,
        )
    return posed_already(bone, other_ik.constraint, other_ik.owner)


def posed_already(bone: str, constraint: str, owner: str) -> RigError:
    """The error about a bone that a constraint poses."""
    return RigError(
        "Bone '{bone}' is already posed by the constraint '{constraint}' on '{owner}'; mute "
        "the constraint, or choose other bones.",
        bone=bone,
        constraint=constraint,
        owner=owner,
    )


def _limbs(armature: bpy.types.Object) -> list[list[str]]:
    """The bones of each arm and leg."""
    with suppress(LookAtError):
        arms, legs = limbs.limb_lines(armature)
        return [*arms, *legs]
    return []
