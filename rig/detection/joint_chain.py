"""From a bone to the chain that ends there: which joints turn, and what stands in their way."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.ik.soft_reach import MOST, SOFTNESS
from ...lookat_pd.rotation import Array
from ..animation import editable
from ..sampling import plain_chain, posed_bones
from ..settings import Properties, integer
from . import body_joints, limb_controls, other_ik
from . import bone_limits as limits

WHOLE = 0
"""A chain's length that reaches up to the root."""
UNDETECTED = 2
"""A chain's length if no limb is detected."""
_MECHANISM = ("MCH-", "ORG-", "DEF-")


def length_of_chain(**own: Any) -> Any:
    """The property of the number of bones in a chain. own: further keywords of `bpy.props`."""
    description = "Number of bones in the chain; 0 for all up to the root or to a pinned bone"
    return integer("Chain Length", description, UNDETECTED, max=1000, min=WHOLE, soft_max=20, **own)


def soft_reach(own: Properties) -> Any:
    """The property of how gradually limbs become straight."""
    return own.number(
        "Soft Reach",
        "Fraction of a limb's length over which it becomes straight (soft IK), so that elbows and knees do not snap "
        "where targets leave the reach and come back; 0 for a limb that is straight exactly at its full length",
        SOFTNESS,
        max=MOST,
        soft_max=0.1,
        precision=3,
        subtype="FACTOR",
    )


@dataclass(frozen=True)
class JointChain:
    """Bones that turn so that a point of the last one, the effector, comes to a target."""

    armature: bpy.types.Object
    joints: tuple[str, ...]
    """Names, the base first."""
    effector: str
    """The bone whose tip or head is meant."""
    at_tip: bool
    turn_effector: bool
    """Whether the effector, being no joint itself, is turned to keep or take an orientation."""
    parent: str
    """The bone above the base, "" for none."""
    limits: ik.Limits | None
    """Limits of the joints, None where all are free; end_effector_limits likewise."""
    end_effector_limits: ik.Limits | None
    plain: bool
    """Whether each bone is the parent of the next."""
    rests: Array = field(repr=False)
    """(b, 4) of the bones that turn: rest rotation relative to their parents."""
    posture: ik.Posture | None = field(default=None, repr=False)

    @property
    def bones(self) -> tuple[str, ...]:
        """All that turn, the base first."""
        return (*self.joints, self.effector) if self.turn_effector else self.joints

    @property
    def seen(self) -> tuple[str, ...]:
        """Bones that must be checked, the effector first, since errors name the first."""
        named = (self.effector, *reversed(self.joints), *((self.parent,) if self.parent else ()))
        return tuple(dict.fromkeys(named))


# Which bones


def resolve(
    armature: bpy.types.Object | None,
    effector: str,
    *,
    length: int = WHOLE,
    base: str = "",
    at_tip: bool = True,
    turn_effector: bool = False,
    pinned: bool = False,
    skipped: Collection[str] = (),
    check: Callable[[Sequence[str]], object] | None = None,
) -> JointChain:
    """The chain that ends with `effector`. Raises LookAtError.

    length: how many bones turn at most, WHOLE for all; base: the first that turns, instead. at_tip: whether the
    effector's tip is brought to the target, or its head, and then the effector turns only where `turn_effector` says
    so. pinned: the effector may be a pinned bone, which is to stay where it is. skipped: bones that do not turn. check:
    raises RigError for bones that cannot turn, instead of for all that another inverse kinematics poses.
    """
    armature = editable.check_bones(armature, (effector, *((base,) if base else ())))
    joints = _joints(armature, effector, length, base, at_tip, pinned=pinned, skipped=skipped)
    turn_effector = turn_effector and not at_tip
    bones = armature.pose.bones
    turned = [*joints, effector] if turn_effector else joints
    if check is None:
        check_free(armature, turned)
    else:
        check(turned)
    first = bones[joints[0]]
    parent = first.parent.name if first.parent is not None and first.bone.use_inherit_rotation else ""
    rests = _rests(armature, turned, parent)
    allowed = limits.read(armature, joints, rests[: len(joints)])
    if allowed is not None and allowed.all_locked:
        raise RigError(
            "All bones from '{first}' to '{last}' are locked; unlock an axis of one of them (Bone "
            "> Inverse Kinematics).",
            first=joints[0],
            last=joints[-1],
        )
    return JointChain(
        armature,
        tuple(joints),
        effector,
        at_tip,
        turn_effector,
        parent,
        allowed,
        limits.read(armature, [effector], rests[-1:]) if turn_effector else None,
        _is_plain(armature, (*joints, effector)),
        rests,
        body_joints.posture(armature, joints),
    )


def limb(armature: bpy.types.Object, effector: str, *, at_tip: bool) -> str:
    """The base of the limb, tail or spine of `effector`, below any pinned bone; "" if none with two joints is known."""
    if effector not in armature.pose.bones:
        return ""
    tip = armature.pose.bones[effector]
    line = [bone for bone in (*((tip,) if at_tip else ()), *tip.parent_recursive) if not is_mechanism(bone)]
    base = body_joints.base_of(armature, effector, line)
    if not base:
        return ""
    try:
        joints = _joints(armature, effector, WHOLE, base, at_tip)
    except RigError:
        return ""
    return joints[0]


def _joints(
    armature: bpy.types.Object,
    effector: str,
    length: int,
    base: str,
    at_tip: bool,
    *,
    pinned: bool = False,
    skipped: Collection[str] = (),
) -> list[str]:
    """Names of the bones that turn, the base first. Raises RigError."""
    tip = armature.pose.bones[effector]
    if base and base != effector and armature.pose.bones[base] not in tip.parent_recursive:
        raise RigError(
            "Bone '{effector}' is not a descendant of '{base}'; choose an effector below '{base}', or another base.",
            effector=effector,
            base=base,
        )
    for bone in (armature.pose.bones[base],) if base else (tip,) if at_tip else ():
        if is_mechanism(bone):
            raise no_control(bone.name)
    if tip.lookat_pd_ik_pin and not pinned:
        raise RigError("Bone '{effector}' is pinned; unpin it, or choose another effector.", effector=effector)
    joints: list[str] = []
    for bone in (*((tip,) if at_tip else ()), *tip.parent_recursive):
        if bone.lookat_pd_ik_pin or (not base and length and len(joints) == length):
            break
        if not is_mechanism(bone) and bone.name not in skipped:
            joints.append(bone.name)
        if bone.name == base:
            break
    if len(joints) < 2:
        control = limb_controls.control_of(armature, effector)
        if control not in ("", effector) and longest(armature, control, at_tip) > 1:
            raise _moves_limb(armature, effector, control)
    if not joints:
        raise RigError(
            "Bone '{effector}' has no parent that can rotate; choose a bone further down the chain.", effector=effector
        )
    if len(joints) == 1 and length != 1:
        raise RigError(
            "The chain of '{effector}' has only one bone, '{bone}', because nothing above it can rotate; choose a bone "
            "further down.",
            effector=effector,
            bone=joints[0],
        )
    if len(joints) == 1:
        raise RigError(
            "The chain of '{effector}' has only one bone, '{bone}'; increase the chain length, or "
            "choose a bone further down.",
            effector=effector,
            bone=joints[0],
        )
    return joints[::-1]


def _moves_limb(armature: bpy.types.Object, effector: str, control: str) -> RigError:
    """The error about an effector whose limb another control turns, in FK."""
    seen = armature.evaluated_get(bpy.context.view_layer.depsgraph)
    if any(control in limb.turned and limb.is_in_ik(seen) for limb in limb_controls.find(armature)):
        return RigError(
            "Bone '{effector}' moves its limb in IK and turns no other bone; switch the limb to FK and choose "
            "'{control}', or add the bone to the effectors.",
            effector=effector,
            control=control,
        )
    return RigError(
        "Bone '{effector}' moves its limb and turns no other bone; choose '{control}', which turns the same "
        "limb, or add the bone to the effectors.",
        effector=effector,
        control=control,
    )


def is_mechanism(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone of a generated Rigify rig is not there to be turned by hand."""
    return bone.name.startswith(_MECHANISM) and "rig_id" in bone.id_data.data


def longest(armature: bpy.types.Object, effector: str, at_tip: bool) -> int:
    """How many bones the chain of `effector` may have at most."""
    try:
        return len(_joints(armature, effector, WHOLE, "", at_tip))
    except RigError:
        return 0


def check_free(armature: bpy.types.Object, bones: Sequence[str], *, but: Collection[tuple[str, str]] = ()) -> None:
    """Raise RigError where another inverse kinematics poses one of the bones. but: names of the owner and of the
    constraint of those that may."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            if constraint.type not in posed_bones.TYPES or constraint.mute or constraint.influence == 0.0:
                continue
            if (owner.name, constraint.name) in but:
                continue
            line = posed_bones.posed_bones(owner, constraint)
            taken = next((name for name in bones if name in line), None)
            if taken is not None and constraint.type == "IK":
                raise other_ik.refusal(armature, other_ik.read(owner, constraint), taken)
            if taken is not None:
                raise other_ik.posed_already(taken, constraint.name, owner.name)
    for name in bones[1:]:
        if not armature.data.bones[name].use_inherit_rotation:
            raise RigError(
                "Bone '{bone}' does not inherit the rotation of its parent; enable Inherit Rotation, "
                "or start the chain at this bone.",
                bone=name,
            )


def _is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether the bones are each other's ancestors, with no constraint in between."""
    inner = plain_chain.line(armature, bones[-1], bones[:1])
    return plain_chain.is_plain(armature, (*inner, bones[0]), harmless=limits.is_local)


def no_control(bone: str) -> RigError:
    """The error about a bone of a generated rig that others move."""
    return RigError("Bone '{bone}' is not a control of this Rigify rig; choose the control that moves it.", bone=bone)


def _rests(armature: bpy.types.Object, bones: Sequence[str], parent: str) -> Array:
    matrices = np.array([armature.data.bones[name].matrix_local for name in ((parent,) if parent else ()) + (*bones,)])
    orientations = rotation.from_matrix(matrices[:, :3, :3])
    above = orientations[:-1] if parent else np.concatenate((rotation.identity(1), orientations[:-1]))
    return rotation.multiply(rotation.inverse(above), orientations[1:] if parent else orientations)
