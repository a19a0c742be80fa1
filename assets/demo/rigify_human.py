"""A generated Rigify human, without a trace of how it was made in the user's preferences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import addon_utils
import bpy
from mathutils import Matrix

# What an animator of this character works with; the rest stays one click away in the rig's own panel.
SHOWN_COLLECTIONS = {"Torso", "Arm.L (IK)", "Arm.R (FK)", "Leg.L (IK)", "Leg.R (IK)", "Root"}

EYES, FINGERS = ("eye", "upper_lid"), ("f_", "thumb", "palm")


@contextmanager
def rigify_enabled() -> Iterator[None]:
    """Rigify for as long as it is needed.

    Rigify's register() reads its own entry in the preferences, so it cannot be enabled without one
    (`default_set=False` fails); the entry is taken out again, unless the user had Rigify on.
    """
    if addon_utils.check("rigify")[1]:
        yield
        return
    preferences = bpy.context.preferences
    was_dirty = preferences.is_dirty
    rigify = addon_utils.enable("rigify", default_set=True)
    if rigify is None:
        raise RuntimeError("Rigify comes with Blender but could not be enabled")
    if not rigify.RIGIFY_PARAMETER_TABLE:
        rigify.register_rig_parameters()
    try:
        yield
    finally:
        addon_utils.disable("rigify", default_set=True)
        preferences.is_dirty = was_dirty
        # Disabled, it leaves a handler that fails in files to come.
        handlers = bpy.app.handlers.load_post
        for left in [found for found in handlers if found.__module__.partition(".")[0] == "rigify"]:
            handlers.remove(left)


@contextmanager
def active_scene(scene: bpy.types.Scene) -> Iterator[None]:
    """Operators act on the scene of the context: make that `scene`, in object mode, and go back afterwards."""
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    window = bpy.context.window
    before = bpy.context.scene
    if before == scene:
        yield
    elif window is None:
        with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
            yield
    else:
        window.scene = scene
        try:
            yield
        finally:
            window.scene = before


def generate_human(scene: bpy.types.Scene, name: str, *, light: bool = False) -> bpy.types.Object:
    """Add Rigify's human metarig, generate the rig `name` from it at the world's origin, and remove the metarig.

    light: eyes and upper lids in place of the whole face, and fingers without controls; less than half the bones.
    """
    armatures, texts = set(bpy.data.armatures), set(bpy.data.texts)
    with active_scene(scene), rigify_enabled():
        bpy.ops.object.armature_human_metarig_add()
        metarig = bpy.context.object
        metarig.matrix_world = Matrix()  # the operator puts it at the 3D cursor
        metarig.data.rigify_rig_basename = name
        if light:
            _lighten(metarig)
        bpy.ops.pose.rigify_generate()
        rig = metarig.data.rigify_target_rig
        if light:
            _hang_eyes_on_head(rig)
        if bpy.context.object and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.data.objects.remove(metarig)
    for left_over in set(bpy.data.armatures) - armatures - {rig.data}:  # the metarig's, and Rigify's working copy
        bpy.data.armatures.remove(left_over)
    for script in set(bpy.data.texts) - texts:
        # It makes Rigify's panels of this rig; registered, it would ask for trust whenever the file is opened.
        script.use_module = False
    rig.name = name
    rig.data.name = rig.name
    _tuck_widgets_away(scene, rig)
    _show_main_controls(rig)
    return rig


def _lighten(metarig: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bones = metarig.data.edit_bones
    for side in "LR":
        eye, lid = bones[f"eye.{side}"], bones.new(f"upper_lid.{side}")
        lid.head, lid.tail, lid.roll = eye.head, eye.tail, eye.roll
        eye.parent = lid.parent = bones["spine.006"]
    for bone in (*bones["face"].children_recursive, bones["face"]):
        bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in metarig.pose.bones:
        if bone.name.startswith(EYES):
            bone.rigify_type = "basic.super_copy"
        elif bone.name.startswith(FINGERS):
            # One bone as it is, and none that copies it.
            bone.name, bone.rigify_type = f"DEF-{bone.name}", "basic.raw_copy"


def _hang_eyes_on_head(rig: bpy.types.Object) -> None:
    """On the control, not on the bone that copies it: then nothing comes between the two."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for bone in bones:
        if bone.name.startswith(EYES):
            bone.parent = bones["head"]


def _tuck_widgets_away(scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    shapes = {bone.custom_shape for bone in rig.pose.bones if bone.custom_shape}
    for collection in scene.collection.children:
        if shapes.intersection(collection.objects):
            collection.name = f"{rig.name} Widgets"
            collection.hide_render = True
            for layer in scene.view_layers:
                layer.layer_collection.children[collection.name].exclude = True


def _show_main_controls(rig: bpy.types.Object) -> None:
    for collection in rig.data.collections_all:
        collection.is_visible = collection.name in SHOWN_COLLECTIONS
    rig.show_in_front = True
