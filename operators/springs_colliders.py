"""What springs collide with: add empties, make bones colliders, take them from the mesh, remove them.

No postponed annotations: Blender reads them.
"""

import bpy

from ..lookat_pd.message import Message
from ..rig.animation import editable
from ..rig.settings import choice, text
from ..rig.springs import collider_settings, colliders, mesh_colliders, springs_edit
from . import polling, reporting, selection, springs


class LOOKAT_PD_OT_add_spring_collider(bpy.types.Operator):
    """Add an empty at the 3D cursor that springs do not pass through. Scale it, parent it to a bone or animate it"""

    bl_idname = "lookat_pd.add_spring_collider"
    bl_label = "Add Collider"
    bl_options = {"REGISTER", "UNDO"}

    shape: choice("Shape", "Shape of the collider", collider_settings.SHAPES)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.scene is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        springs_edit.add_collider(context.scene, self.shape)
        return {"FINISHED"}


def why_no_bones(context: bpy.types.Context) -> str | None:
    """The reason why there are no bones to be made colliders, as a sentence; None if there are."""
    reason = springs.why_no_character(context)
    if reason is None and not selection.selected_bones(context):
        reason = "Select bones in pose mode"
    return reason


class LOOKAT_PD_OT_spring_bone_colliders(polling.Explained, bpy.types.Operator):
    """Make the selected bones colliders: springs do not pass through them. Their radius is set in the panel"""

    bl_idname = "lookat_pd.spring_bone_colliders"
    bl_label = "Selected Bones as Colliders"
    bl_options = {"REGISTER", "UNDO"}
    why_not = staticmethod(why_no_bones)

    def execute(self, context: bpy.types.Context) -> set[str]:
        springs_edit.make_colliders(selection.selected_bones(context))
        return {"FINISHED"}


class LOOKAT_PD_OT_spring_colliders_from_mesh(polling.Explained, bpy.types.Operator):
    """Make the bones of the body colliders, each as thick as the mesh around it. Bones that swing are left out"""

    bl_idname = "lookat_pd.spring_colliders_from_mesh"
    bl_label = "Colliders from Mesh"
    bl_options = {"REGISTER", "UNDO"}
    why_not = staticmethod(springs.why_no_character)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        assert armature is not None, "otherwise why_not gives the reason"
        made = mesh_colliders.make(armature)
        text = "Made a collider of a bone." if len(made) == 1 else "Made colliders of {count} bones."
        reporting.report_info(self, Message(text, count=len(made)))
        return {"FINISHED"}


class LOOKAT_PD_OT_spring_collider_remove(bpy.types.Operator):
    """Let springs pass through it again; an empty is kept"""

    bl_idname = "lookat_pd.spring_collider_remove"
    bl_label = "Remove Collider"
    bl_options = {"REGISTER", "UNDO"}

    object: text("Object", "Object that is a collider, or whose bones are; nothing for all colliders of the scene")
    bone: text("Bone", "Bone that is a collider; nothing for all of the object")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.scene is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        every = colliders.on(context.scene)
        gone = [one for one in every if self.object in ("", one.object.name) and self.bone in ("", one.bone)]
        for collider in gone:
            editable.check_local(collider.object)
        for collider in gone:
            collider.settings.exists = False
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_add_spring_collider,
        LOOKAT_PD_OT_spring_bone_colliders,
        LOOKAT_PD_OT_spring_colliders_from_mesh,
        LOOKAT_PD_OT_spring_collider_remove,
    )
)
