"""Which bones give way to hits: those that are hit, the bones above them up to the hips, and what hangs on these."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import dropwhile

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ..animation import editable
from ..detection import joint_chain, limb_controls, limbs
from ..detection import vocabulary as words
from ..detection.limb_controls import LimbControls
from ..detection.names import read_names
from . import goal_limbs
from .goal_limbs import GoalLimb

_AXIAL = words.TORSO | words.HEAD | words.NECK | words.TAIL
_SMALL = words.DIGIT | words.FACE | words.HELPER


@dataclass(frozen=True)
class HitJoints:
    """Bones that turn by hits."""

    hit: tuple[str, ...]
    """For each hit, the bone that turns because of it."""
    struck: tuple[str, ...]
    """For each hit, the bone in whose middle it acts."""
    line: tuple[str, ...]
    """The bones of `hit` and those above that give way."""
    followers: tuple[str, ...]
    """Bones below these that give way as well."""
    switched: tuple[LimbControls, ...]
    """Limbs that switch between IK and FK."""
    goals: tuple[GoalLimb, ...] = ()
    """Limbs in IK without a switch."""

    @property
    def held(self) -> tuple[str, ...]:
        """Bones that turn by their goals, and not by channels of their own."""
        return tuple(name for limb in self.goals for name in limb.held if name in (*self.line, *self.followers))

    def without(self, switched: Iterable[LimbControls]) -> tuple[str, ...]:
        """All bones that turn where inverse kinematics poses these limbs. Raises RigError if one of them is hit."""
        held = {name for limb in switched for name in limb.turned}
        caught = next((name for name in self.line if name in held), None)
        if caught is not None:
            raise RigError(
                "Bone '{bone}' cannot give way because inverse kinematics poses its limb; enable 'Switch Limbs to FK', "
                "or hit another bone.",
                bone=caught,
            )
        return (*self.line, *(name for name in self.followers if name not in held))


def find(
    armature: bpy.types.Object | None,
    bones: Sequence[str],
    heavy: Sequence[str],
    *,
    length: int = 0,
    follow: bool = True,
    keeps_switches: bool = False,
) -> HitJoints:
    """The bones that give way when `bones` are hit. Raises LookAtError.

    heavy: names of the bones with mass. length: how many bones of each line turn, 0 for all up to the hips. follow:
    whether what hangs on these, such as head and arms, gives way too. keeps_switches: whether limbs that inverse
    kinematics poses by an influence with keys or a driver are among `switched`, and not `goals`.
    """
    armature = editable.check_bones(armature, bones)
    legs = _legs(armature)
    moving = {*heavy, *limb_controls.controls_of(armature, heavy).values()}
    hit, struck, line = [], [], dict[str, None]()
    for bone in bones:
        control = limb_controls.control_of(armature, bone)
        if control == bone:
            control = goal_limbs.moved_bone(armature, bone)
        if not control:
            raise joint_chain.no_control(bone)
        above = _below_hips(armature, limb_controls.line(armature, control), legs)
        if not above:
            raise RigError(
                "Bone '{bone}' holds the whole body and cannot give way; hit a bone above or below the hips.", bone=bone
            )
        loaded = _with_mass(armature, above, moving)
        if not loaded:
            raise RigError(
                "Bone '{bone}' and the bones above it move no mass; hit a bone of the body, or give the bone a mass.",
                bone=bone,
            )
        hit.append(loaded[0])
        # A control may be anywhere; what it turns is hit.
        struck.append(control if loaded[0] == control and not armature.data.bones[bone].use_deform else bone)
        line |= dict.fromkeys(loaded[: length or None])
    switches = goal_limbs.switches(armature) if keeps_switches else []
    goals = goal_limbs.find(armature, line, _refusal, but=lambda: switches)
    posed = {name for limb in goals for name in limb.held}
    free = [name for name in line if name not in posed]
    joint_chain.check_free(armature, free[:1], but=switches)
    joint_chain.check_free(armature, free, but=switches)
    followers = _followers(armature, line, heavy) if follow else []
    concerned = {*line, *followers}
    # Limbs whose goals are moved need not switch.
    switching = (limb for limb in limb_controls.find(armature) if not posed & set(limb.turned))
    switched = [limb for limb in switching if concerned & set(limb.turned)]
    return HitJoints(tuple(hit), tuple(struck), tuple(line), tuple(followers), tuple(switched), tuple(goals))


def _refusal(bone: str, _: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> RigError:
    return RigError(
        "Bone '{bone}' cannot give way because the constraint '{constraint}' poses it; give the constraint "
        "two bones, full influence and a bone of the same armature as its target, or hit another bone.",
        bone=bone,
        constraint=constraint.name,
    )


def _legs(armature: bpy.types.Object) -> list[str]:
    """The first bone of each leg."""
    with suppress(LookAtError):
        return [line[0] for line in limbs.limb_lines(armature)[1]]
    return []


def _below_hips(armature: bpy.types.Object, line: Sequence[str], legs: Sequence[str]) -> list[str]:
    """The bones of a line, its end first, up to the one that carries all legs or, without legs, the first of all."""
    bones = armature.pose.bones

    def carries(name: str) -> bool:
        return name not in legs and len(legs) > 1 and all(bones[name] in bones[leg].parent_recursive for leg in legs)

    names = []
    for name, read in zip(line, read_names(line), strict=True):
        if name == words.RIGIFY_HIPS or carries(name) or (bones[name].parent is None and read.has(words.ROOT)):
            break
        names.append(name)
    if names and not legs and len(names) > 1 and bones[names[-1]].parent is None:
        names.pop()
    return names


def _with_mass(armature: bpy.types.Object, line: list[str], moving: Collection[str]) -> list[str]:
    """A line, its end first, without the bones at its end that carry none of `moving`: a finger, an ear, a handle."""

    def carries(name: str) -> bool:
        return name in moving or any(bone.name in moving for bone in armature.pose.bones[name].children_recursive)

    return list(dropwhile(lambda name: not carries(name), line))


def _followers(armature: bpy.types.Object, line: Iterable[str], heavy: Sequence[str]) -> list[str]:
    """Controls below a line that turn something with mass: of the trunk, head, arms, legs and tail if they are known by
    name, else all but small parts."""
    limb_bones: set[str] = set()
    with suppress(LookAtError):
        for lines in limbs.limb_lines(armature):
            limb_bones.update(name for limb in lines for name in limb)
    controls = dict.fromkeys(filter(None, limb_controls.controls_of(armature, heavy).values()))
    names, result = list(controls), []
    above = limb_controls.lines(armature, names)
    for name, read in zip(names, read_names(names), strict=True):
        known = name in limb_bones or read.has(_AXIAL | words.COLLAR) or not limb_bones
        if name in line or not known or read.has(_SMALL):
            continue
        bone = armature.pose.bones[name]
        if not set(above[name][1:]) & set(line) or all(bone.lock_rotation):
            continue
        with suppress(RigError):
            joint_chain.check_free(armature, [name])
            result.append(name)
    return result
