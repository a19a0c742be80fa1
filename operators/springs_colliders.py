"""What springs collide with: add empties, make bones colliders, take them from the mesh, remove them.

No postponed annotations: Blender reads them.
"""

import bpy
from mathutils import Vector

from ..lookat_pd.message import Message
from ..rig.animation import editable
from ..rig.settings import choice, text
from ..rig.springs import collider_settings, colliders, mesh_colliders, springs_edit
from . import polling, reporting, selection, springs, viewports


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


def active_collider(context: bpy.types.Context) -> colliders.Collider | None:
    """The collider along the active bone."""
    bone = selection.bone(context) if context.mode == "POSE" else None
    if bone is None:
        return None
    return next((one for one in colliders.of_object(bone.id_data) if one.bone == bone.name), None)


def side_of(collider: colliders.Collider, view: bpy.types.RegionView3D) -> tuple[Vector, Vector]:
    """The middle of the collider along a bone in the world, and from there to where its outline is seen if its radius
    is 1."""
    matrix = collider.object.matrix_world @ collider.item.matrix
    along = matrix.col[1].xyz
    inverse = view.view_matrix.inverted()
    across = along.cross(inverse.col[2].xyz)
    if across.length < 1e-3 * along.length:
        # The bone points at the viewer.
        across = inverse.col[0].xyz
    return matrix @ Vector((0.0, 0.5 * collider.item.bone.length, 0.0)), across.normalized() * along.length


def why_no_radius(context: bpy.types.Context) -> str | None:
    """The reason why no radius can be dragged, as a sentence; None if one can."""
    reason = springs.why_no_character(context)
    if reason is None and active_collider(context) is None:
        reason = "Make the active bone a collider first"
    return reason


class LOOKAT_PD_OT_spring_collider_radius(polling.Explained, viewports.DraggedValue, bpy.types.Operator):
    """Drag the radius of the collider along the active bone. Esc: back"""

    bl_idname = "lookat_pd.spring_collider_radius"
    bl_label = "Drag Collider Radius"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_no_radius)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        collider = active_collider(context)
        if not self.find_view(context, event) or collider is None:
            return reporting.report_error(self, "A radius is dragged at its collider in a 3D viewport.")
        self._object, self._bone = collider.object.name, collider.bone
        return self.begin(context)

    def value(self, context: bpy.types.Context) -> float:
        return self._collider().settings.radius

    def set_value(self, context: bpy.types.Context, value: float) -> None:
        self._collider().settings.radius = value

    def drag(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        middle, side = side_of(self._collider(), self._view)
        away = self.under(event, middle) - middle
        self.set_value(context, abs(away.dot(side)) / max(side.length_squared, 1e-12))

    def _collider(self) -> colliders.Collider:
        return colliders.Collider(bpy.data.objects[self._object], self._bone)


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_add_spring_collider,
        LOOKAT_PD_OT_spring_bone_colliders,
        LOOKAT_PD_OT_spring_colliders_from_mesh,
        LOOKAT_PD_OT_spring_collider_remove,
        LOOKAT_PD_OT_spring_collider_radius,
    )
)
