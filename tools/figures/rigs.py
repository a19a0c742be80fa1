"""Rigs and clips of other makers, and what is measured of all of them in one way."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from lookat_pd.rotation import Array
from standalone import load

actions = load("rig.animation.actions")
edit, look_at = load("rig.look_at.edit"), load("rig.look_at.resolve")

PERSON = 1.75
"""The height [m] to which all characters are scaled in the tables."""
LONGEST = 150
"""Frames of a clip that are measured."""
Line = tuple[str, str]
"""The head of a table and one of its rows; or "" and a remark, which the page does not have."""
DEMO = "generated Rigify human"
AXES: dict[str, tuple[str, str]] = {
    DEMO: ("-Y", "Z"),
    "blend/m2m_human_ymca_2025.blend": ("-Y", "Z"),
    "blend/rig-kaiju.blend": ("-Y", "Z"),
    "bvh/cmu_131_01_start_walk_stop.bvh": ("-Y", "Z"),
    "bvh/cmu_131_02_start_walk_stop.bvh": ("-Y", "Z"),
    "bvh/fair1_dab.bvh": ("-Y", "Z"),
    "bvh/fair1_zombie.bvh": ("-Y", "Z"),
    "fbx/cmu_91_48.fbx": ("-Y", "Z"),
    "fbx/cmu_91_50.fbx": ("-Y", "Z"),
    "gltf/godot_platformer_robot.glb": ("-Y", "Z"),
    "gltf/kaykit_knight.glb": ("-Y", "Z"),
    "gltf/khronos_fox.glb": ("-Y", "Z"),
    "gltf/m2m_snake.glb": ("-Y", "Z"),
    "gltf/robot_expressive.glb": ("-Z", "-Y"),
    "vrm/cryptovoxels.vrm": ("Y", "Z"),
}
"""File to its true forward and up in the armature's space."""


def opened(names: Sequence[str]) -> Iterator[tuple[str, bpy.types.Object]]:
    """Each file whose name contains one of the names, or all, and its armature."""
    folder = Path(os.environ["LOOKAT_PD_RIGS"])
    for file in AXES:
        if not names or any(name in file for name in names):
            yield file, open_demo() if file == DEMO else open_rig(folder / file)


def open_rig(path: Path) -> bpy.types.Object:
    """The armature of a file, in a new scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 30
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        return next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
    return import_rig(path)


def import_rig(path: Path) -> bpy.types.Object:
    """The armature of a file, imported into the scene."""
    before = set(bpy.context.scene.objects)
    if path.suffix == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path))
    elif path.suffix == ".bvh":
        upright = {"axis_forward": "Y", "axis_up": "Z"} if path.name.startswith("fair1") else {}
        bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, **upright)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    return next(item for item in bpy.context.scene.objects if item not in before and item.type == "ARMATURE")


def open_demo() -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    load("assets.demo.human").build_scene()
    rig = bpy.data.objects["Human"]
    for bone in list(look_at.bones_with_look_at(rig)):
        edit.remove(rig, bone)
    return rig


def clips_of(rig: bpy.types.Object) -> Iterator[tuple[str, int, int]]:
    """Have the armature play each of its clips: name, first and last frame; once nothing, if it has none."""
    clips = [a for a in bpy.data.actions if any(s.target_id_type == "OBJECT" for s in a.slots) and moves(rig, a)]
    data = rig.animation_data
    if not clips or data is None:
        yield "rest pose", 1, 60
        return
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    for clip in sorted(clips, key=lambda clip: clip.name):
        if data.action is not None:
            data.action = None
        for bone in rig.pose.bones:
            bone.matrix_basis.identity()
        data.action = clip
        data.action_slot = next(slot for slot in clip.slots if slot.target_id_type == "OBJECT")
        first, last = (round(frame) for frame in clip.frame_range)
        yield clip.name, first, max(min(last, first + LONGEST), first + 2)


def moves(rig: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an action has curves of this armature's bones."""
    slot = next(slot for slot in action.slots if slot.target_id_type == "OBJECT")
    paths = {curve.data_path for curve in actions.curves(action, slot)}
    return any(actions.rotation_path(b.name, b.rotation_mode) in paths for b in rig.pose.bones)


def places(rig: bpy.types.Object, feet: Sequence[str], frames: range) -> Array:
    """Positions (F, k, 3) of bones in the world."""

    def heads(seen: bpy.types.Object) -> list[Array]:
        return [np.array(seen.matrix_world @ seen.pose.bones[name].head) for name in feet]

    return np.array(evaluated(rig, frames, heads)).reshape(len(frames), len(feet), 3)


def evaluated(rig: bpy.types.Object, frames: Iterable[int], read: Callable[[bpy.types.Object], Any]) -> list:
    """What `read` makes of the evaluated armature at each frame."""
    values = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        values.append(read(rig.evaluated_get(bpy.context.evaluated_depsgraph_get())))
    return values


def hide_meshes() -> None:
    """Spare evaluating what is not measured."""
    for item in bpy.data.objects:
        item.hide_viewport = item.hide_viewport or item.type == "MESH"


@contextmanager
def restored(rig: bpy.types.Object) -> Iterator[None]:
    """Have the armature play the same action in the same pose afterwards; what was made meanwhile is deleted."""
    known = set(bpy.data.actions)
    data = rig.animation_data_create()
    action, slot = data.action, data.action_slot
    poses = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    try:
        yield
    finally:
        data.action = action
        if action is not None:
            data.action_slot = slot
        for made in set(bpy.data.actions) - known:
            bpy.data.actions.remove(made)
        for bone in rig.pose.bones:
            bone.matrix_basis = poses[bone.name]
