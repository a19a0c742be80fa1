"""What moves a bone of a rig with controls: limbs that switch between IK and FK, and the control behind any bone."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import LookAtError
from . import limbs
from . import vocabulary as words

_LAYERS = ("ORG-", "DEF-", "MCH-")
_TWEAK = "tweak"
_KINDS = re.compile(r"_(fk|ik|tweak)(?=[._-]|$)|^tweak_")
_PIECE = re.compile(r"(?<=[._-][LRlr])\.\d{3}$")
"""The number of a piece of a limb's bone."""


@dataclass(frozen=True)
class LimbControls:
    """A limb that either its FK controls turn or its IK control moves.

    shown: its bones from the body outwards, which have the pose of whichever is in use. turned: the FK control of each.
    goal: the IK control of the last; moved: the bone that has the pose of the last in IK. switch: names of a bone and
    of its constraint, whose influence is 1 for IK and 0 for FK.
    """

    shown: tuple[str, ...]
    turned: tuple[str, ...]
    goal: str
    moved: str
    switch: tuple[str, str]


def is_generated(armature: bpy.types.Object) -> bool:
    """Whether Rigify generated the rig."""
    return "rig_id" in armature.data and words.RIGIFY_HIPS in armature.pose.bones


def find(armature: bpy.types.Object) -> list[LimbControls]:
    """The arms and legs of a generated rig that switch between IK and FK; none on other rigs."""
    if not is_generated(armature):
        return []
    lines: list[list[str]] = []
    with suppress(LookAtError):
        arms, legs = limbs.limb_lines(armature)
        lines = [*arms, *legs]
    found = []
    for line in lines:
        limb = _limb(armature, line[:3])
        if limb is not None:
            found.append(limb)
    return found


def _limb(armature: bpy.types.Object, turned: Sequence[str]) -> LimbControls | None:
    bones = armature.pose.bones
    base = [_KINDS.sub("", name) for name in turned]
    shown = [words.RIGIFY_LAYER + name for name in base]
    goal = _worded(base[-1], "_ik")
    if len(turned) < 3 or goal not in bones or any(name not in bones for name in shown):
        return None
    for constraint in bones[shown[-1]].constraints:
        if constraint.type == "COPY_TRANSFORMS" and constraint.subtarget not in ("", turned[-1]):
            return LimbControls(tuple(shown), tuple(turned), goal, constraint.subtarget, (shown[-1], constraint.name))
    return None


def base_of(armature: bpy.types.Object, limb: LimbControls) -> str:
    """The bone that has the pose of a limb's first one in IK, a control that turns the limb; "" if there is none."""
    constraints = armature.pose.bones[limb.shown[0]].constraints
    names = (c.subtarget for c in constraints if c.type == "COPY_TRANSFORMS")
    return next((name for name in names if name not in ("", limb.turned[0]) and name in armature.pose.bones), "")


def pole_of(armature: bpy.types.Object, limb: LimbControls) -> str:
    """The pole to which a limb bends in IK; "" if none is in use."""
    in_use = (c for c in _with_poles(armature, limb) if not c.mute and c.influence > 0.5)
    return next((c.pole_subtarget for c in in_use), "")


def poles_of(armature: bpy.types.Object, limb: LimbControls) -> set[str]:
    """The poles of a limb, in use or not."""
    return {c.pole_subtarget for c in _with_poles(armature, limb)}


def _with_poles(armature: bpy.types.Object, limb: LimbControls) -> list[bpy.types.Constraint]:
    """The IK constraints of a limb that have a pole."""
    base = base_of(armature, limb)
    below = [b for b in armature.pose.bones if base and b.parent is not None and b.parent.name == base]
    return [c for bone in below for c in bone.constraints if c.type == "IK" and c.pole_subtarget]


def control_of(armature: bpy.types.Object, bone: str) -> str:
    """The FK or body control that turns what `bone` shows, which may be any bone of a generated rig, and itself on
    others; "" if it is not known."""
    bones = armature.pose.bones
    if not is_generated(armature):
        return bone
    if bone == "hips":
        return words.RIGIFY_HIPS
    if bone == "chest" and "neck" in bones:
        # The chest turns these controls of the spine.
        return next((n for n in line(armature, "neck") if n.startswith("spine_fk")), "")
    core = bone
    for layer in _LAYERS:
        core = core.removeprefix(layer)
    core = _KINDS.sub("", core)
    if core == bone:
        return bone
    for name in (core, _PIECE.sub("", core)):
        for control in (_worded(name, words.RIGIFY_TURNED), name):
            if control in bones and not _is_tweak(control):
                return control
    shown = bones.get(words.RIGIFY_LAYER + core)
    if shown is None:
        return ""
    copied = (bones.get(c.subtarget) for c in shown.constraints if c.type == "COPY_TRANSFORMS")
    source = next((other for other in copied if other is not None), shown)
    above = (source, *source.parent_recursive)
    return next((b.name for b in above if not b.name.startswith(_LAYERS) and not _is_tweak(b.name)), "")


def is_mechanism(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone of a generated rig is none to be turned by hand: a layer of Rigify's own, or a tweak."""
    return is_generated(armature) and (bone.startswith(_LAYERS) or _is_tweak(bone))


def holds_properties(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone is there for its custom properties only: it deforms nothing, and neither moves nor turns."""
    pose_bone = armature.pose.bones[bone]
    if pose_bone.bone.use_deform or not all((*pose_bone.lock_location, *pose_bone.lock_rotation)):
        return False
    return any(isinstance(pose_bone[key], int | float) for key in pose_bone.keys() if not key.startswith("lookat_pd"))


def shown_by(armature: bpy.types.Object, control: str) -> str:
    """The bone that has the pose of a control, in FK and in IK: another one in limbs of generated rigs."""
    name = words.RIGIFY_LAYER + _KINDS.sub("", control)
    return name if is_generated(armature) and name in armature.pose.bones else control


def line(armature: bpy.types.Object, bone: str) -> list[str]:
    """The controls that turn `bone`, its own first, and those above it."""
    found: list[str] = []
    pose_bone = armature.pose.bones[bone]
    for above in (pose_bone, *pose_bone.parent_recursive):
        control = _in_line(armature, above.name) if is_generated(armature) else above.name
        if control and control not in found:
            found.append(control)
    return found


def _in_line(armature: bpy.types.Object, bone: str) -> str:
    """The control of an ancestor; mechanism bones without one are left out."""
    if bone.startswith(words.RIGIFY_LAYER) or _is_tweak(bone):
        return control_of(armature, bone)
    return "" if bone.startswith(_LAYERS) else bone


def _worded(name: str, word: str) -> str:
    """A bone's name with a word before its side and number, as Rigify names controls."""
    return re.sub(r"(?=([._-][LRlr])?(\.\d+)?$)", word, name, count=1)


def _is_tweak(bone: str) -> bool:
    return _TWEAK in bone.split(".", maxsplit=1)[0].split("_")
