"""From a list of effectors to the joints of a body: which bones turn, and which bone moves it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.checks import repeated
from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.ik.body_objectives import HIGH, LOW, NORMAL
from ...lookat_pd.rotation import Array
from ..animation import editable
from ..animation.outside_controls import OutsideControl
from ..detection import body_joints, bone_limits, joint_chain, limb_controls, limbs, stance
from ..detection.limb_controls import LimbControls
from ..feet.contact_plan import Contact
from ..sampling import plain_chain, targets
from ..sampling.targets import Target
from ..settings import plain
from .effector_goal import check_point
from .settings import EffectorFollowing

PRIORITIES = {"HIGH": HIGH, "NORMAL": NORMAL, "LOW": LOW}
ORIENTATIONS = ("FREE", "KEEP", "TARGET", "AIM")


@dataclass(frozen=True)
class BodyEffector(plain(EffectorFollowing)):
    """A bone and what it is to do, with the settings of `EffectorFollowing` under their names. Its weight is a number
    or (F,)."""

    bone: str
    """Bone that follows the target."""
    target: Target | None = None
    """What it follows; None pins the bone where it is animated."""
    contact: Contact | None = None
    """When the bone touches the target, or the world without one: it keeps place and orientation relative to that,
    instead of all else."""
    tip: bool = False
    """Place the tip on the target, not the head."""
    pole: Target | None = None
    """What the limb that ends with the bone bends towards."""

    @property
    def is_pin(self) -> bool:
        return self.target is None

    @property
    def keeps_orientation(self) -> bool:
        return self.orientation == "KEEP" or self.is_pin or self.contact is not None


@dataclass(frozen=True)
class JointTree:
    """Bones that turn so that all effectors reach their targets."""

    armature: bpy.types.Object
    joints: tuple[str, ...]
    """Names of the joints, parents first."""
    shown: tuple[str, ...]
    """The bones that have the pose of the joints, others than these in limbs that switch between IK and FK."""
    parents: tuple[int, ...]
    """(n,) their indices, -1 for the first."""
    effectors: tuple[int, ...]
    """For each effector the index of its joint."""
    parent: str
    """The bone above the first joint, "" for none."""
    moves: bool
    """Whether the first joint changes its location too."""
    rests: Array
    """(n, 4), rest rotations relative to the parents."""
    aims: Array
    """(k, 3), the axis of each effector that points at the target."""
    limits: ik.Limits | None
    posture: ik.Posture
    limbs: tuple[LimbControls, ...]
    """Limbs that an IK control moves as well."""
    outside: dict[str, OutsideControl]
    """By name the IK controls that are no bones of the armature."""
    plain: bool
    """Whether forward kinematics predicts the pose."""
    still: Array
    """(n,) whether a joint does not turn."""

    @property
    def joints_of_effectors(self) -> tuple[str, ...]:
        """The joint of each effector."""
        return tuple(self.joints[joint] for joint in self.effectors)

    @property
    def has_heels(self) -> bool:
        """Whether a control of its own turns the end of a limb, as in a paw: it turns as the paw moves."""
        return any(limb.heel for limb in self.limbs)

    @property
    def seen(self) -> tuple[str, ...]:
        """The bones that are sampled."""
        above = (self.parent,) if self.parent else ()
        controls = [name for limb in self.limbs for name in (limb.goal, limb.turner, limb.moved)]
        moved = [name for name in controls if name not in self.outside]
        return tuple(dict.fromkeys((*self.joints, *self.shown, *moved, *above)))

    def influences(self, rig: bpy.types.Object) -> Array:
        """The influence of IK (g,) on each limb of an evaluated rig."""
        return np.array([limb.influence(rig) for limb in self.limbs])


def resolve(
    armature: bpy.types.Object | None, effectors: Sequence[BodyEffector], *, move_hips: bool = True
) -> JointTree:
    """The body that the effectors move: all bones from their common ancestor, above the legs, to each of them. Raises
    LookAtError."""
    if not effectors:
        raise RigError("There is no effector; add the bones to move, such as hands and feet.")
    armature = editable.check_bones(armature, [effector.bone for effector in effectors])
    for effector in effectors:
        _check(armature, effector)
    names = [control_of(armature, effector.bone) for effector in effectors]
    _check_once(effectors, names)
    lines = limb_controls.lines(armature, names)
    top = _top(armature, list(lines.values()))
    joints = _joints(lines, top)
    rows = {name: n for n, name in enumerate(joints)}
    above = limb_controls.lines(armature, joints)
    parents = [next((rows[b] for b in above[n][1:] if b in rows), -1) for n in joints]
    controlled = limb_controls.has_controls(armature)
    limbs_of = tuple(limb for limb in limb_controls.find(armature) if set(limb.turned) <= set(joints))
    shown = dict(pair for limb in limbs_of for pair in zip(limb.turned, limb.shown, strict=True))
    if controlled:
        joint_chain.check_free(armature, joints, but=[limb.switch for limb in limbs_of if limb.direct])
    else:
        _check_plain(armature, joints)
    _check_targets(armature, effectors, joints)
    first = armature.pose.bones[joints[0]]
    parent = first.parent.name if first.parent is not None and first.bone.use_inherit_rotation else ""
    rests = _rests(armature, joints, parents, parent)
    posture = body_joints.posture(armature, joints)
    # What takes an orientation turns for it; the joints above need not.
    soft = np.asarray(posture.stiffness).copy()
    soft[[rows[n] for n, e in zip(names, effectors, strict=True) if e.orientation != "FREE" or e.keeps_orientation]] = (
        0.0
    )
    moves = move_hips and _may_move(first)
    return JointTree(
        armature,
        tuple(joints),
        tuple(shown.get(name, name) for name in joints),
        tuple(parents),
        tuple(rows[name] for name in names),
        parent,
        moves,
        rests,
        np.array([_aim(armature, name) for name in names]),
        bone_limits.read(armature, joints, rests),
        replace(posture, stiffness=soft),
        limbs_of,
        _outside(armature, limbs_of),
        not controlled,
        np.zeros(len(joints), dtype=bool),
    )


def _check_once(effectors: Sequence[BodyEffector], names: Sequence[str]) -> None:
    """Raise RigError where two effectors are moved by the same control, of these names."""
    double = repeated(names)
    if double is not None:
        raise _twice(effectors[double].bone, effectors[names.index(names[double])].bone)


def _check_targets(armature: bpy.types.Object, effectors: Sequence[BodyEffector], joints: Sequence[str]) -> None:
    """Raise RigError where a target or a pole is not there, or moves with what reaches for it."""
    for effector in effectors:
        for target in (effector.target, effector.pole):
            if target is not None and target.object is not None:
                targets.check_exists(armature, target.object, target.bone)
                if effector.contact is None and targets.rides_on(target.object, target.bone, armature, joints):
                    raise RigError(
                        "The target '{target}' moves with the body; choose a target that does not.",
                        target=target.label,
                    )


def with_still_trunk(body: JointTree) -> JointTree:
    """The body of which only the limbs of the effectors turn. Raises RigError if an effector has no limb."""
    still = np.ones(len(body.joints), dtype=bool)
    for effector in body.effectors:
        limb = limb_of(body, effector)
        if len(limb) < 2:
            raise RigError(
                "Bone '{bone}' is not the end of a limb that could hold it; choose a hand, a foot or the head.",
                bone=body.joints[effector],
            )
        still[limb] = False
    locks = np.repeat(still[:, None], 3, axis=1)
    limits = body.limits
    if limits is None:
        limits = ik.Limits(locks=locks, rest=body.rests)
    else:
        limits = replace(limits, locks=np.asarray(limits.locks) | locks)
    return replace(body, limits=limits, still=still)


def limb_of(body: JointTree, effector: int) -> list[int]:
    """The joints of the limb that ends with a joint, the base first; two bones above it if none is detected."""
    line = [effector]
    while body.parents[line[-1]] > 0:
        line.append(body.parents[line[-1]])
    base = joint_chain.limb(body.armature, body.joints[effector], at_tip=False)
    names = [body.joints[joint] for joint in line]
    count = names.index(base) + 1 if base in names else 1 + joint_chain.UNDETECTED
    return line[:count][::-1]


def rides_on_limb(body: JointTree, effector: int, target: Target, frames: Array) -> Array:
    """The frames (F,) at which a target moves with the limb that ends with a joint."""
    if target.object is None:
        return np.zeros(len(frames), dtype=bool)
    armature, limb = body.armature, [body.joints[joint] for joint in limb_of(body, effector)]
    if not body.plain:
        controls = limb_controls.controls_of(armature, armature.pose.bones.keys())
        limb = [bone for bone, name in controls.items() if name in limb]
    item, bone = target.object, target.bone
    return targets.rides_at(item, bone, armature, limb, frames)


def control_of(armature: bpy.types.Object, bone: str) -> str:
    """The joint that an effector means: its control, if that is another bone. Raises RigError."""
    control = limb_controls.control_of(armature, bone)
    if not control and not limb_controls.is_generated(armature):
        raise RigError("Bone '{bone}' is no part of the body; choose a hand, a foot, the head or the spine.", bone=bone)
    if not control or joint_chain.is_mechanism(armature.pose.bones[control]):
        raise joint_chain.no_control(bone)
    return control


def _twice(bone: str, other: str) -> RigError:
    if bone == other:
        return RigError("Bone '{bone}' is listed twice as an effector; remove one of them.", bone=bone)
    return RigError(
        "The effectors '{bone}' and '{other}' are the same part of the body; remove one of them.",
        bone=bone,
        other=other,
    )


def _check(armature: bpy.types.Object, effector: BodyEffector) -> None:
    """Raise RigError if there is nothing that the effector can do."""
    target = effector.target
    if effector.contact is None and not effector.use_position and effector.orientation == "FREE":
        raise RigError(
            "Effector '{bone}' has neither position nor orientation; enable one, or remove the effector.",
            bone=effector.bone,
        )
    if target is None and effector.orientation in ("TARGET", "AIM"):
        raise RigError("Effector '{bone}' has no target to turn to; choose an object.", bone=effector.bone)
    if target is None or target.object is not None:
        return
    check_point(target)
    if effector.orientation == "TARGET":
        raise RigError("A point has no orientation; choose an object as the target of '{bone}'.", bone=effector.bone)


def _top(armature: bpy.types.Object, effectors: Sequence[list[str]]) -> str:
    """The first joint: the lowest bone above all effectors, given with what is above them, and above the legs."""
    lines = list(effectors)
    with suppress(LookAtError):
        lines += [limb_controls.line(armature, line[0]) for line in limbs.limb_lines(armature)[1]]
    common = [name for name in lines[0] if all(name in line for line in lines)]
    if not common:
        raise RigError(
            "The effectors have no common parent bone; choose bones of one skeleton, or bake them one at a time."
        )
    return common[0]


def _joints(lines: dict[str, list[str]], top: str) -> list[str]:
    """The bones from the first joint to all effectors, parents first."""
    found: dict[str, int] = {}
    for line in lines.values():
        inner = line[: line.index(top) + 1]
        found |= {name: len(line) - n for n, name in enumerate(inner)}
    return sorted(found, key=lambda name: found[name])


def _outside(armature: bpy.types.Object, limbs_of: Sequence[LimbControls]) -> dict[str, OutsideControl]:
    found: dict[str, OutsideControl] = {}
    for limb in limbs_of:
        controls = limb_controls.outside_of(armature, limb)
        found |= {name: controls[name] for name in (limb.goal, limb.moved) if name in controls}
    return found


def _check_plain(armature: bpy.types.Object, joints: Sequence[str]) -> None:
    joint_chain.check_free(armature, joints)
    for name in joints:
        if not plain_chain.is_plain(armature, (name,), harmless=bone_limits.is_local):
            raise RigError(
                "Bone '{bone}' has constraints, so that several effectors cannot be solved together; mute its "
                "constraints, or bake one effector at a time.",
                bone=name,
            )


def _may_move(bone: bpy.types.PoseBone) -> bool:
    free = not (bone.bone.use_connect and bone.parent is not None) and not any(bone.lock_location)
    return free and bone.bone.use_local_location and (bone.parent is None or bone.bone.use_inherit_rotation)


def _rests(armature: bpy.types.Object, joints: Sequence[str], parents: Sequence[int], parent: str) -> Array:
    bones = armature.data.bones
    found = rotation.from_matrix(np.array([bones[name].matrix_local for name in joints])[:, :3, :3])
    first = rotation.from_matrix(np.array(bones[parent].matrix_local)[:3, :3]) if parent else rotation.IDENTITY
    above = np.array([found[n] if n >= 0 else first for n in parents])
    return rotation.multiply(rotation.inverse(above), found)


def _aim(armature: bpy.types.Object, bone: str) -> Array:
    """The axis of a bone that looks: forward for the head and the spine, along the bone for all others."""
    if body_joints.detected(armature, bone).part.id in ("neck", "spine"):
        rest = rotation.from_matrix(np.array(armature.data.bones[bone].matrix_local)[:3, :3])
        return rotation.rotate(rotation.inverse(rest), stance.of(armature).axes.forward)
    return np.array([0.0, 1.0, 0.0])
