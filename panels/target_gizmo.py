"""A handle at the target of the displayed look-at in pose mode: the target is moved by it without being selected."""

import bpy
from mathutils import Matrix

from ..operators import move_target, select_target, selection
from ..rig.look_at import overlay
from .viewport import ring

_SIZE, _ALPHA = 0.14, 0.8


class LOOKAT_PD_GGT_target(bpy.types.GizmoGroup):
    """Moves the target at which the displayed look-at looks now."""

    bl_label = "Look-at Target"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "POSE" or not _is_wanted(context):
            return False
        shown = selection.look_at_bone(context)
        if shown is None or shown.lookat_pd.mute or move_target.why_not(context) is not None:
            return False
        armature = shown.id_data
        if armature.data.pose_position != "POSE" or not armature.visible_in_viewport_get(context.space_data):
            return False
        # What is active has handles of Blender's own.
        target, active = select_target.target(context), selection.bone(context)
        is_active = active is not None and target.object == active.id_data and target.bone == active.name
        return not is_active and target.object.visible_get()

    def setup(self, context: bpy.types.Context) -> None:
        self.handle, _ = ring(self, "lookat_pd.move_target", _SIZE, _ALPHA)

    def draw_prepare(self, context: bpy.types.Context) -> None:
        place = overlay.place(select_target.target(context))
        self.handle.hide = place is None
        if place is not None:
            self.handle.matrix_basis = Matrix.Translation(place)


def _is_wanted(context: bpy.types.Context) -> bool:
    """Whether the viewport shows targets and gizmos."""
    view, options = context.space_data, context.scene.lookat_pd_overlay
    return view.show_gizmo and view.overlay.show_overlays and options.show and options.show_target


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_GGT_target,))
