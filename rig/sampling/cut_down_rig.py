"""Cut-down rigs: a copy of an armature that has only the bones that some bones depend on, stepped in its place.

A look-at needs a few dozen of the hundreds of bones of a control rig. A copy of those is evaluated many times faster
and gives exactly the same matrices. Where a rig cannot be followed, `CannotCutDown` says why, and the whole rig is
stepped.
"""

import ast
import math
from collections.abc import Collection, Iterable, Iterator, Set
from typing import Any, TypeVar

import bpy

from ...lookat_pd.message import Message
from ..animation.data_paths import any_bone
from . import fingerprint, own_data, posed_bones
from .own_data import TEMPORARY

_FUNCTIONS = ("abs", "bool", "clamp", "float", "int", "len", "lerp", "max", "min", "pow", "round", "smoothstep", "sum")
_PLAIN_NAMES = frozenset((*vars(math), *_FUNCTIONS, "frame"))
"""What the expression of a driver may name beside its variables and depend on nothing else."""
_Copied = TypeVar("_Copied", bpy.types.Object, bpy.types.Armature)


class CannotCutDown(Exception):
    """A rig has something that cannot be followed. reason: what, as a sentence for a note."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def needed_bones(armature: bpy.types.Object, bones: Iterable[str]) -> set[str]:
    """The bones that the pose of `bones` depends on within their armature, with these. Raises CannotCutDown."""
    pose = armature.pose.bones
    reads, always = _driven(armature)
    chains = _chains(armature)
    needed: set[str] = set()
    waiting = [*bones, *always]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in pose:
            continue
        needed.add(name)
        bone = pose[name]
        if bone.parent is not None:
            waiting.append(bone.parent.name)
        waiting.extend(reads.get(name, ()))
        waiting.extend(chains.get(name, ()))
        for handle in (bone.bone.bbone_custom_handle_start, bone.bone.bbone_custom_handle_end):
            if handle is not None:
                waiting.append(handle.name)
        for constraint in bone.constraints:
            waiting.extend(_subtargets(constraint, armature))
    return needed


def all_bones(scene: bpy.types.Scene, armature: bpy.types.Object) -> set[str]:
    """All bones of an armature, of which `build` makes a copy that can stand in for it. Raises CannotCutDown where the
    copy might be posed otherwise."""
    _check_data(armature.data)
    _driven(armature)
    read = fingerprint.dependencies(scene, [armature]).values()
    check_alone(scene, [item for item in read if item not in (armature, armature.data)], [armature])
    return set(armature.data.bones.keys())


def build(scene: bpy.types.Scene, armature: bpy.types.Object, keep: Set[str]) -> bpy.types.Object:
    """A copy of an armature with the bones `keep` alone, linked to a temporary scene. `remove` takes it away.

    Whatever of the copy reads the armature reads the copy itself. Raises CannotCutDown, and leaves nothing then.
    """
    _check_data(armature.data)
    data = _ordinary_copy(armature.data)
    try:
        if not keep >= set(data.bones.keys()):
            _keep_bones(data, keep)
        copy = _ordinary_copy(armature)
    except RuntimeError as error:
        bpy.data.armatures.remove(data)
        raise CannotCutDown(
            Message("'{armature}' cannot be copied, because Blender refuses edit mode now.", armature=armature.name)
        ) from error
    copy.data = data
    _forget_clips(copy)
    for item in (copy, *copy.pose.bones):
        own_data.forget_others(item)
    scene.collection.objects.link(copy)
    for item, original in ((copy, armature), (data, armature.data)):
        share_action(original, item)
        _keep_drivers(item, original, keep, {armature: copy, armature.data: data})
    for bone in copy.pose.bones:
        bone.custom_shape = None
        for constraint in bone.constraints:
            _redirect(constraint, armature, copy)
    return copy


def _check_data(data: bpy.types.Armature) -> None:
    """Raise CannotCutDown where a copy of an armature's data would not be animated as that is."""
    if data.animation_data is not None and len(data.animation_data.nla_tracks):
        raise CannotCutDown(
            Message(
                "The armature data '{data}' has NLA tracks, which a copy of the rig would not play; bake them into an "
                "action to solve faster.",
                data=data.name,
            )
        )


def _ordinary_copy(item: _Copied) -> _Copied:
    """A copy that can be edited: that of a library override is an override itself, which has no edit mode."""
    copy = item.copy()
    if copy.override_library is not None:
        copy.make_local(clear_liboverride=True)
    return copy


def _forget_clips(copy: bpy.types.Object) -> None:
    """Leave a copy only the NLA tracks that play: Blender relates all curves of the others to its bones, too."""
    animation = copy.animation_data
    if animation is None or animation.use_tweak_mode:
        return
    playing = fingerprint.playing_tracks(animation)
    for track in [track for track in animation.nla_tracks if track not in playing]:
        animation.nla_tracks.remove(track)


def remove(copy: bpy.types.Object) -> None:
    """Take a cut-down rig out of the file."""
    data = copy.data
    stacks = [item.constraints for item in (copy, *copy.pose.bones)]
    actions = {getattr(constraint, "action", None) for stack in stacks for constraint in stack}
    bpy.data.objects.remove(copy)
    for action in actions:
        # What is tried on it is kept for the next copy.
        if action is not None and action.users == 0 and TEMPORARY not in action:
            bpy.data.actions.remove(action)
    if data.users == 0:
        bpy.data.armatures.remove(data)


def check_alone(
    scene: bpy.types.Scene, items: Iterable[bpy.types.Object | None], armatures: Collection[bpy.types.Object]
) -> None:
    """Raise CannotCutDown where something that `items`, copies and targets, depend on depends on a whole rig in turn.

    Offsets on the copy would not reach that. armatures: those that copies stand for.
    """
    seen: set[bpy.types.ID] = set()
    waiting = list(items)
    while waiting:
        seen.update(fingerprint.dependencies(scene, waiting).values())
        waiting = [other for item in seen for other in _modified_by(item) if other not in seen]
    for armature in armatures:
        if armature in seen:
            raise CannotCutDown(
                Message(
                    "'{item}', which moves '{armature}' or is a target, depends on '{armature}' in turn; let it depend "
                    "on something else to solve faster.",
                    item=_dependent(scene, seen - {*armatures, *scene.objects}, armature).name,
                    armature=armature.name,
                )
            )


def _dependent(scene: bpy.types.Scene, items: Iterable[bpy.types.ID], armature: bpy.types.Object) -> bpy.types.ID:
    """One of some items that depends on an armature, an object if one does; the armature itself if none does."""
    by_name = sorted(items, key=lambda item: (not isinstance(item, bpy.types.Object), item.name_full))
    reads = ((item, fingerprint.dependencies(scene, [item, *_modified_by(item)])) for item in by_name)
    return next((item for item, read in reads if armature in read.values()), armature)


def _modified_by(item: bpy.types.ID) -> Iterator[bpy.types.ID]:
    """What the modifiers of an object read."""
    for modifier in getattr(item, "modifiers", ()):
        for setting in modifier.bl_rna.properties:
            if setting.type == "POINTER":
                value = getattr(modifier, setting.identifier)
                if isinstance(value, bpy.types.Object):
                    yield value


def share_action(original: bpy.types.ID, other: bpy.types.ID) -> None:
    """Animate other data, a scene or a copy of an armature, with the action of the original."""
    data = original.animation_data
    if data is not None and data.action is not None and data.action_slot is not None:
        # To create what is there has Blender relate all scenes anew.
        own = other.animation_data or other.animation_data_create()
        if (own.action, own.action_slot_handle) != (data.action, data.action_slot_handle):
            own.action, own.action_slot = data.action, data.action_slot


def _driven(armature: bpy.types.Object) -> tuple[dict[str, set[str]], set[str]]:
    """The bones that drivers of each bone read, and those that drivers of the object as a whole read."""
    reads: dict[str, set[str]] = {}
    always: set[str] = set()
    for item in (armature, armature.data):
        for curve in item.animation_data.drivers if item.animation_data else ():
            owner = any_bone(curve.data_path)
            _check_expression(curve)
            into = reads.setdefault(owner, set()) if owner else always
            for variable in curve.driver.variables:
                for target in variable.targets:
                    if target.id in (armature, armature.data):
                        into.update(filter(None, (target.bone_target, any_bone(target.data_path))))
    return reads, always


def _check_expression(curve: bpy.types.FCurve) -> None:
    """Raise CannotCutDown where a driver runs Python that may read whatever there is."""
    driver = curve.driver
    if driver.type != "SCRIPTED" or driver.is_simple_expression:
        return
    try:
        nodes = ast.walk(ast.parse(driver.expression.strip(), mode="eval"))
    except SyntaxError:
        # Blender evaluates it no more than Python does.
        return
    known = {variable.name for variable in driver.variables} | _PLAIN_NAMES
    if driver.use_self or {node.id for node in nodes if isinstance(node, ast.Name)} - known:
        raise CannotCutDown(
            Message(
                "The driver of '{path}' runs Python that may read anything; give it an expression of its variables "
                "alone to solve faster.",
                path=curve.data_path,
            )
        )


def _chains(armature: bpy.types.Object) -> dict[str, set[str]]:
    """The bones of each chain that a constraint solves, by each of its bones: all of them turn together."""
    found: dict[str, set[str]] = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type in posed_bones.TYPES:
                names = {bone.name, *posed_bones.posed_bones(bone, constraint)}
                for name in names:
                    found.setdefault(name, set()).update(names)
    return found


def _subtargets(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> Iterator[str]:
    """The bones of its own armature that a constraint follows."""
    for item in (constraint, *getattr(constraint, "targets", ())):
        if getattr(item, "target", None) == armature and getattr(item, "subtarget", ""):
            yield item.subtarget
    if getattr(constraint, "pole_target", None) == armature and constraint.pole_subtarget:
        yield constraint.pole_subtarget


def _redirect(constraint: bpy.types.Constraint, armature: bpy.types.Object, copy: bpy.types.Object) -> None:
    for item in (constraint, *getattr(constraint, "targets", ())):
        if getattr(item, "target", None) == armature:
            item.target = copy
    if getattr(constraint, "pole_target", None) == armature:
        constraint.pole_target = copy


def _keep_drivers(
    item: bpy.types.ID, original: bpy.types.ID, keep: Collection[str], own: dict[Any, bpy.types.ID]
) -> None:
    """Leave a copy the drivers of bones that it keeps. own: what they shall read instead of what they read now."""
    if original.animation_data is None:
        return
    animation = item.animation_data_create()
    if not len(animation.drivers):
        for curve in original.animation_data.drivers:
            if _is_kept(curve, keep):
                animation.drivers.from_existing(src_driver=curve)
    for curve in list(animation.drivers):
        if not _is_kept(curve, keep):
            animation.drivers.remove(curve)
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id in own:
                    target.id = own[target.id]


def _is_kept(curve: bpy.types.FCurve, keep: Collection[str]) -> bool:
    owner = any_bone(curve.data_path)
    return not owner or owner in keep


def _keep_bones(data: bpy.types.Armature, keep: Collection[str]) -> None:
    """Remove all other bones, in an edit mode that the window never sees.

    Blender takes the scene of an edit mode for the one that is shown, and writes what it evaluates there back to the
    data: so that scene has nothing but the bones, without animation, and is another one than that of the sampling. They
    are in a collection that viewports leave out: nothing is evaluated of all these bones.
    """
    if data.animation_data is not None:
        data.animation_data_clear()
    scene = bpy.data.scenes.new("Look-at PD Bones")
    hidden = bpy.data.collections.new("Look-at PD Bones")
    item = bpy.data.objects.new("Look-at PD Bones", data)
    try:
        scene[TEMPORARY] = True
        hidden.hide_viewport = True
        scene.collection.children.link(hidden)
        hidden.objects.link(item)
        layer = scene.view_layers[0]
        layer.objects.active = item
        with bpy.context.temp_override(scene=scene, view_layer=layer, active_object=item, object=item):
            bpy.ops.object.mode_set(mode="EDIT")
            for bone in [bone for bone in data.edit_bones if bone.name not in keep]:
                data.edit_bones.remove(bone)
            bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        bpy.data.batch_remove((item, hidden, scene))
