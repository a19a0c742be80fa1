"""Writing the present Blender file in formats that are not Blender's own, by its exporters."""

import argparse
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import bpy
import numpy as np

from ..lookat_pd.errors import FileError
from ..lookat_pd.message import Message
from ..rig.animation import actions, keys
from ..rig.animation.channels import channel
from ..rig.detection import moving_actions
from . import blender_call, gltf_clips, retime

BONES, ACTIONS = ("deform", "all"), ("new", "all")
"""What of a character a .glb has."""
_AT_REST = {"location": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}
_NO_TURN = {"rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_euler": (0.0, 0.0, 0.0)}


def _gltf(path: Path, temporary: Path, options: argparse.Namespace, made: Collection[str]) -> None:
    blender_call.enable("io_scene_gltf2")
    if options.export_actions == "new":
        _leave_out_clips(made)
    _hold_poses()
    only_deforming = options.export_bones == "deform" and _deforming_bones_suffice()
    rate = retime.rate(bpy.context.scene)
    clips = gltf_clips.take(bpy.context.scene, options.seen) if only_deforming else []
    made_from, content = options.made_from, None
    if clips and made_from is not None:
        made_from += gltf_clips.state(bpy.context.scene)
        content = gltf_clips.base(options.former, made_from)
    if content is None:
        _export_gltf(path, temporary, only_deforming=only_deforming)
    else:
        temporary.write_bytes(content)
    if clips:
        gltf_clips.add(temporary, clips, rate, made_from)


def _export_gltf(path: Path, temporary: Path, *, only_deforming: bool) -> None:
    with retime.for_gltf(bpy.context.scene):
        blender_call.call(
            bpy.ops.export_scene.gltf,
            _complaint(path),
            filepath=str(temporary),
            export_format="GLB",
            # Each action a clip, those on muted NLA tracks too: that is how the importer keeps the other clips.
            export_animation_mode="ACTIONS",
            export_def_bones=only_deforming,
            export_cameras=True,
            export_lights=True,
        )


def _fbx(path: Path, temporary: Path, options: argparse.Namespace, made: Collection[str]) -> None:
    blender_call.enable("io_scene_fbx")
    _hold_poses()
    blender_call.call(
        bpy.ops.export_scene.fbx,
        _complaint(path),
        filepath=str(temporary),
        # A leaf bone is no bone of the character, and keys that are left out as needless do not come back.
        add_leaf_bones=False,
        bake_anim_simplify_factor=0.0,
        bake_anim_use_nla_strips=False,
        # As with .glb, each action is a clip.
        bake_anim_use_all_actions=True,
        path_mode="ABSOLUTE",
    )


def _usd(path: Path, temporary: Path, options: argparse.Namespace, made: Collection[str]) -> None:
    """USD has the motion of the scene over its frames."""
    scene = bpy.context.scene
    armatures = [item for item in scene.objects if item.type == "ARMATURE"]
    if len(set(made)) > max(1, len(armatures)):
        raise FileError(
            "A .usd holds one motion of each character, and {count} were made; give one --action, or another --format.",
            count=len(set(made)),
            code="format-cannot-hold",
        )
    before = scene.frame_start, scene.frame_end
    ranges = [
        item.animation_data.action.frame_range
        for item in scene.objects
        if item.animation_data is not None and item.animation_data.action is not None
    ]
    if ranges:
        scene.frame_start = int(min(first for first, _ in ranges))
        scene.frame_end = int(max(last for _, last in ranges))
    try:
        blender_call.call(
            bpy.ops.wm.usd_export,
            _complaint(path),
            filepath=str(temporary),
            export_animation=True,
            export_armatures=True,
        )
    finally:
        scene.frame_start, scene.frame_end = before


def _complaint(path: Path) -> Message:
    return Message("{path} cannot be exported", path=path, code="not-exported")


_Export = Callable[[Path, Path, argparse.Namespace, Collection[str]], None]
EXPORTERS: dict[str, _Export] = {
    ".glb": _gltf,
    ".fbx": _fbx,
    ".usd": _usd,
}
"""By the suffix of the file. The last argument are the names of the actions that were made."""


def _leave_out_clips(made: Collection[str]) -> None:
    """Remove the clips of characters that were not made now, unless something plays them. The present file is read
    anew for each input."""
    armatures = [item for item in bpy.data.objects if item.type == "ARMATURE"]
    played = {
        strip.action
        for item in bpy.data.objects
        if item.animation_data is not None
        for track in item.animation_data.nla_tracks
        if not track.mute
        for strip in track.strips
    }
    played |= {item.animation_data.action for item in bpy.data.objects if item.animation_data is not None}
    # Layers are played by constraints.
    owners = [*bpy.data.objects, *(bone for armature in armatures for bone in armature.pose.bones)]
    played |= {getattr(constraint, "action", None) for owner in owners for constraint in owner.constraints}
    for action in list(bpy.data.actions):
        if action.name in made or action in played:
            continue
        pairs = ((armature, slot) for armature in armatures for slot in action.slots)
        if any(moving_actions.moves_bones(armature, action, slot) for armature, slot in pairs):
            bpy.data.actions.remove(action)


def _deforming_bones_suffice() -> bool:
    """Whether every armature has a skin; bones on which objects hang count as deforming from now on."""
    objects = bpy.data.objects
    skinned = {modifier.object for item in objects for modifier in item.modifiers if modifier.type == "ARMATURE"}
    armatures = [item for item in objects if item.type == "ARMATURE"]
    if not armatures or any(armature not in skinned for armature in armatures):
        return False
    for item in objects:
        if item.parent_type == "BONE" and item.parent in armatures and item.parent_bone in item.parent.data.bones:
            item.parent.data.bones[item.parent_bone].use_deform = True
    _remove_shapes_of_controls(armatures)
    return True


def _remove_shapes_of_controls(armatures: Sequence[bpy.types.Object]) -> None:
    """The controls are left out, and so are the hidden meshes that they are drawn as."""
    shapes = {bone.custom_shape for armature in armatures for bone in armature.pose.bones} - {None}
    for shape in shapes:
        if not shape.visible_get() and not shape.children:
            bpy.data.objects.remove(shape)


def _hold_poses() -> None:
    for armature in bpy.data.objects:
        if armature.type == "ARMATURE" and armature.animation_data is not None:
            _hold(armature)


def _hold(armature: bpy.types.Object) -> None:
    """Key, once in every action of the armature, what is posed but not animated by it: else it is exported at rest."""
    posed = list(_posed(armature))
    for action, slot in _moving(armature):
        bag = actions.channelbag(action, slot)
        if bag is None:
            continue
        animated = {curve.data_path for curve in bag.fcurves}
        first = np.array([action.curve_frame_range[0]])
        for bone, path, values in posed:
            if path not in animated:
                for index, value in enumerate(values):
                    curve = actions.new_curve(bag, path, index, bone)
                    keys.Keys.dense(first, np.array([value])).write(curve)


def _posed(armature: bpy.types.Object) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Bone, data path and value of every transform that is not as at rest."""
    for bone in armature.pose.bones:
        name = channel(bone.rotation_mode)[0]
        turned = _NO_TURN.get(name)
        for prop, rest in {**_AT_REST, **({name: turned} if turned is not None else {})}.items():
            value = tuple(getattr(bone, prop))
            if not np.allclose(value, rest, atol=1e-7):
                yield bone.name, bone.path_from_id(prop), value


def _moving(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """Every action that moves the armature's bones: the exporter makes clips of those that nothing plays as well."""
    for action in bpy.data.actions:
        for slot in action.slots:
            if action.is_editable and moving_actions.moves_bones(armature, action, slot):
                yield action, slot
