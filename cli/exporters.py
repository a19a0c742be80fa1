"""Writing the present Blender file in formats that are not Blender's own, by its exporters."""

import argparse
from collections.abc import Callable
from pathlib import Path

import bpy

from . import retime, still_pose
from .blender_call import call, enable


def _gltf(path: Path, temporary: Path, options: argparse.Namespace) -> None:
    enable("io_scene_gltf2")
    _hold_poses()
    with retime.for_gltf(bpy.context.scene):
        call(
            bpy.ops.export_scene.gltf,
            f"{path} cannot be exported",
            filepath=str(temporary),
            export_format="GLB",
            # Each action a clip, those on muted NLA tracks too: that is how the importer keeps the other clips.
            export_animation_mode="ACTIONS",
            export_cameras=True,
            export_lights=True,
        )


def _fbx(path: Path, temporary: Path, options: argparse.Namespace) -> None:
    enable("io_scene_fbx")
    _hold_poses()
    call(
        bpy.ops.export_scene.fbx,
        f"{path} cannot be exported",
        filepath=str(temporary),
        # A leaf bone is no bone of the character, and keys that are left out as needless do not come back.
        add_leaf_bones=False,
        bake_anim_simplify_factor=0.0,
        bake_anim_use_nla_strips=False,
        # As with .glb, each action is a clip.
        bake_anim_use_all_actions=True,
        path_mode="ABSOLUTE",
    )


def _usd(path: Path, temporary: Path, options: argparse.Namespace) -> None:
    """USD has the motion of the scene over its frames."""
    scene = bpy.context.scene
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
        call(
            bpy.ops.wm.usd_export,
            f"{path} cannot be exported",
            filepath=str(temporary),
            export_animation=True,
            export_armatures=True,
        )
    finally:
        scene.frame_start, scene.frame_end = before


EXPORTERS: dict[str, Callable[[Path, Path, argparse.Namespace], None]] = {".glb": _gltf, ".fbx": _fbx, ".usd": _usd}
"""By the suffix of the file."""


def _hold_poses() -> None:
    for armature in bpy.data.objects:
        if armature.type == "ARMATURE" and armature.animation_data is not None:
            still_pose.hold(armature)
