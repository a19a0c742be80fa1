"""What moves a bone of a rig with controls: limbs that switch between IK and FK, and the control behind any bone."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import LookAtError
from ..animation.outside_controls import OutsideControl
from . import limbs, switched_limbs
from . import vocabulary as words
from .switched_limbs import LimbControls, RigCopies

_LAYERS = ("ORG-", "DEF-", "MCH-")
_TWEAK = "tweak"
_KINDS = re.compile(r"_(fk|ik|tweak)(?=[._-]|$)|^tweak_")
_PIECE = re.compile(r"(?<=[._-][LRlr])\.\d{3}$")
"""The number of a piece of a limb's bone."""
_MOST_KEPT = 16


@dataclass(frozen=True)
class _Redirected:
    """The controls of a rig that Rigify did not generate."""

    limbs: tuple[LimbControls, ...]
    """Those that switch."""
    controls: dict[str, str]
    """Controls by bone the FK or body control that turns it, "" if there is none, for all bones that are no such
    control."""
    shown: dict[str, str]
    """Shown by control the bone that has its pose."""


def is_generated(armature: bpy.types.Object) -> bool:
    """Whether Rigify generated the rig."""
    return "rig_id" in armature.data and words.RIGIFY_HIPS in armature.pose.bones


def has_controls(armature: bpy.types.Object) -> bool:
    """Whether the bones of the body have controls: Rigify generated the rig, they copy bones that deform nothing, or
    limbs switch."""
    if is_generated(armature):
        return True
    redirected = _redirected(armature)
    return bool(redirected.controls or redirected.limbs)


def may_switch(armature: bpy.types.Object) -> bool:
    """Whether limbs may switch between IK and FK: quick, for what is drawn often."""
    return is_generated(armature) or any(item.type == "IK" for bone in armature.pose.bones for item in bone.constraints)


def find(armature: bpy.types.Object) -> list[LimbControls]:
    """The arms and legs of a rig that switch between IK and FK."""
    if not is_generated(armature):
        return [*_redirected(armature).limbs]
    lines: list[list[str]] = []
    with suppress(LookAtError):
        arms, legs = limbs.limb_lines(armature)
        lines = [*arms, *legs]
    limbs_of_rig = []
    for line in lines:
        limb = _limb(armature, line[:3])
        if limb is not None:
            limbs_of_rig.append(limb)
    return limbs_of_rig


def _limb(armature: bpy.types.Object, turned: Sequence[str]) -> LimbControls | None:
    bones = armature.pose.bones
    base = [_KINDS.sub("", name) for name in turned]
    shown = [words.RIGIFY_LAYER + name for name in base]
    goal = _worded(base[-1], "_ik")
    if len(turned) < 3 or goal not in bones or any(name not in bones for name in shown):
        return None
    for constraint in bones[shown[-1]].constraints:
        if constraint.type == "COPY_TRANSFORMS" and constraint.subtarget not in ("", turned[-1]):
            moved, switch = constraint.subtarget, (shown[-1], constraint.name)
            return LimbControls(tuple(shown), tuple(turned), goal, moved, switch, heel=_heel(armature, goal, moved))
    return None


def _heel(armature: bpy.types.Object, goal: str, moved: str) -> str:
    """The nearest control above the last bone of a limb in IK, unless the IK control is above that and nothing else
    turns what is in between: "" then."""
    heel = ""
    for bone in armature.pose.bones[moved].parent_recursive if moved in armature.pose.bones else ():
        if bone.name == goal:
            return ""
        if not heel and not bone.name.startswith(_LAYERS) and not any(bone.lock_rotation):
            heel = bone.name
        if any(not item.mute and item.influence > 0.0 for item in bone.constraints):
            break
    return heel


def base_of(armature: bpy.types.Object, limb: LimbControls) -> str:
    """The bone that has the pose of a limb's first one in IK, a control that turns the limb; "" if there is none."""
    if limb.posed:
        return limb.posed[0]
    constraints = armature.pose.bones[limb.shown[0]].constraints
    names = (c.subtarget for c in constraints if c.type == "COPY_TRANSFORMS")
    return next((name for name in names if name not in ("", limb.turned[0]) and name in armature.pose.bones), "")


def pole_of(armature: bpy.types.Object, limb: LimbControls) -> str:
    """The pole to which a limb bends in IK; "" if none is in use."""
    # The influence of inverse kinematics that poses the FK controls is the switch.
    in_use = (pole for c, pole in _with_poles(armature, limb) if not c.mute and (limb.direct or c.influence > 0.5))
    return next(in_use, "")


def poles_of(armature: bpy.types.Object, limb: LimbControls) -> set[str]:
    """The poles of a limb, in use or not."""
    return {pole for _, pole in _with_poles(armature, limb)}


def outside_of(armature: bpy.types.Object, limb: LimbControls) -> dict[str, OutsideControl]:
    """By name the controls of a limb that are no bones of its armature."""
    return switched_limbs.outside_of(armature, limb.posed[0]) if limb.posed else {}


def chain_of(armature: bpy.types.Object, limb: LimbControls) -> tuple[str, ...]:
    """The two bones that inverse kinematics poses as the first two of a limb, each the parent of the next and with its
    rotation; () if they are not known, or are the FK controls."""
    bones, base = armature.pose.bones, base_of(armature, limb)
    if limb.direct or not base:
        return ()
    lines = (item.bones[::-1] for item in switched_limbs.solvers(armature) if base in item.bones)
    for line in lines:
        chain = line[line.index(base) :]
        if len(chain) == 2 and bones[chain[1]].parent == bones[base] and bones[chain[1]].bone.use_inherit_rotation:
            return chain
    return ()


def _with_poles(armature: bpy.types.Object, limb: LimbControls) -> list[tuple[bpy.types.Constraint, str]]:
    """The IK constraints of a limb that have a pole, and the pole."""
    base = base_of(armature, limb)
    if limb.posed:
        solvers = switched_limbs.solvers(armature)
        return [(item.constraint, item.pole) for item in solvers if item.pole and base in item.bones]
    below = [b for b in armature.pose.bones if base and b.parent is not None and b.parent.name == base]
    return [(c, c.pole_subtarget) for bone in below for c in bone.constraints if c.type == "IK" and c.pole_subtarget]


def control_of(armature: bpy.types.Object, bone: str) -> str:
    """The FK or body control that turns what `bone` shows, itself where nothing else turns it; "" if it is not
    known."""
    return controls_of(armature, (bone,))[bone]


def controls_of(armature: bpy.types.Object, bones: Iterable[str]) -> dict[str, str]:
    """By bone what `control_of` says. The rig is read once."""
    if is_generated(armature):
        return {bone: _generated_control(armature, bone) for bone in bones}
    controls = _redirected(armature).controls
    return {bone: controls.get(bone, bone) for bone in bones}


def _generated_control(armature: bpy.types.Object, bone: str) -> str:
    bones = armature.pose.bones
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
    """Whether a bone is none to be turned by hand: a layer of Rigify's own or a tweak, or one that copies a control."""
    if not is_generated(armature):
        return bone in _redirected(armature).controls
    return bone.startswith(_LAYERS) or _is_tweak(bone)


def holds_properties(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone is there for its custom properties only: it deforms nothing, and neither moves nor turns."""
    pose_bone = armature.pose.bones[bone]
    if pose_bone.bone.use_deform or not all((*pose_bone.lock_location, *pose_bone.lock_rotation)):
        return False
    return any(isinstance(pose_bone[key], int | float) for key in pose_bone.keys() if not key.startswith("lookat_pd"))


def shown_by(armature: bpy.types.Object, control: str) -> str:
    """The bone that has the pose of a control, in FK and in IK: another one in limbs that switch."""
    if not is_generated(armature):
        return _redirected(armature).shown.get(control, control)
    name = words.RIGIFY_LAYER + _KINDS.sub("", control)
    return name if name in armature.pose.bones else control


def line(armature: bpy.types.Object, bone: str) -> list[str]:
    """The controls that turn `bone`, its own first, and those above it."""
    return lines(armature, (bone,))[bone]


def lines(armature: bpy.types.Object, bones: Iterable[str]) -> dict[str, list[str]]:
    """By bone its `line`. The rig is read once."""
    if is_generated(armature):
        return {bone: _generated_line(armature, bone) for bone in bones}
    controls, by_bone = _redirected(armature).controls, {}
    for bone in bones:
        both = (controls.get(name, name) for name in _above(armature, bone))
        by_bone[bone] = [*dict.fromkeys(filter(None, both))]
    return by_bone


def _above(armature: bpy.types.Object, bone: str) -> list[str]:
    """A bone and those above it."""
    pose_bone = armature.pose.bones[bone]
    return [above.name for above in (pose_bone, *pose_bone.parent_recursive)]


def _generated_line(armature: bpy.types.Object, bone: str) -> list[str]:
    found: list[str] = []
    names = _above(armature, bone)
    for name in names:
        control = _in_line(armature, name)
        # A control that is above the bone has its own place there: the hip end of a spine is turned by another one than
        # that of its name.
        if control and control not in found and (control == name or control not in names):
            found.append(control)
    return found


def _in_line(armature: bpy.types.Object, bone: str) -> str:
    """The control of an ancestor; mechanism bones without one are left out."""
    if bone.startswith(words.RIGIFY_LAYER) or _is_tweak(bone):
        return control_of(armature, bone)
    return "" if bone.startswith(_LAYERS) else bone


def _redirected(armature: bpy.types.Object) -> _Redirected:
    """The controls of a rig that Rigify did not generate, kept until its rest pose or its constraints change."""
    if not any(bone.constraints for bone in armature.pose.bones):
        return _Redirected((), {}, {})
    key = switched_limbs.content(armature)
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = _read(armature)
    return _kept[key]


def _read(armature: bpy.types.Object) -> _Redirected:
    bones, copies = armature.pose.bones, RigCopies(armature)
    switched: tuple[LimbControls, ...] = ()
    if copies.switches or copies.solvers:
        with suppress(LookAtError):
            switched = tuple(limbs.switched_limbs(armature))
    # A skeleton that copies another one has no controls; controls deform nothing.
    sources = ((bone.name, copies.source(bone.name)) for bone in bones if bone.bone.use_deform)
    controls = {name: source for name, source in sources if source != name and not bones[source].bone.use_deform}
    shown: dict[str, str] = {}
    for limb in switched:
        controls |= dict(zip(limb.shown, limb.turned, strict=True)) | dict(zip(limb.posed, limb.turned, strict=True))
        shown |= dict(zip(limb.turned, limb.shown, strict=True))
        # What is between the IK control and the bones that it moves.
        if limb.goal in bones:
            moved = [
                bone.name for bone in bones[limb.goal].children_recursive if bones[limb.moved] in _with_below(bone)
            ]
            controls |= dict.fromkeys((limb.goal, *moved), limb.turned[-1])
    for limb in switched:
        controls |= dict.fromkeys((pole for pole in poles_of(armature, limb) if pole in bones), "")
        for name in limb.turned:
            controls.pop(name, None)
    return _Redirected(switched, controls, shown)


def _with_below(bone: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    return [bone, *bone.children_recursive]


_kept: dict[tuple[object, ...], _Redirected] = {}
"""May be thrown away at any time."""


def _worded(name: str, word: str) -> str:
    """A bone's name with a word before its side and number, as Rigify names controls."""
    return re.sub(r"(?=([._-][LRlr])?(\.\d+)?$)", word, name, count=1)


def _is_tweak(bone: str) -> bool:
    return _TWEAK in bone.split(".", maxsplit=1)[0].split("_")
