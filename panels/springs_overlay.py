"""Colliders of springs in the viewport, while an armature with springs or a collider is active, and a handle for the
radius of that along the active bone."""

import bpy
from mathutils import Matrix

from ..operators import selection, springs_colliders
from ..rig.springs import chains, colliders
from .viewport import Batch, draw_handlers, ring

_ALPHA, _CHOSEN = 0.35, 0.9
_SIZE = 0.06


def _draw(context: bpy.types.Context) -> None:
    view, item = context.space_data, context.active_object
    if item is None or not view.overlay.show_overlays or not view.overlay.show_bones or context.mode.startswith("EDIT"):
        return
    armature = selection.armature(context)
    swings = armature is not None and armature.pose is not None and any(True for _ in chains.on(armature))
    if not swings and not any(True for _ in colliders.of_object(item)):
        return
    colours, lines = context.preferences.themes[0].view_3d, Batch()
    for collider in colliders.on(context.scene):
        if collider.object.visible_get(view_layer=context.view_layer):
            active = collider.object == item and collider.bone in ("", getattr(context.active_pose_bone, "name", None))
            colour = colours.bone_pose_active if active else colours.bone_pose
            lines.add(colliders.rings(collider), colour, _CHOSEN if active else _ALPHA)
    lines.draw("LINES")


class LOOKAT_PD_GGT_collider(bpy.types.GizmoGroup):
    """Drags the radius of the collider along the active bone."""

    bl_label = "Drag Collider Radius"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        view = context.space_data
        is_shown = view.show_gizmo and view.overlay.show_overlays and view.overlay.show_bones
        return is_shown and springs_colliders.why_no_radius(context) is None

    def setup(self, context: bpy.types.Context) -> None:
        self.handle, _ = ring(self, "lookat_pd.spring_collider_radius", _SIZE, _CHOSEN)

    def draw_prepare(self, context: bpy.types.Context) -> None:
        collider = springs_colliders.active_collider(context)
        self.handle.hide = collider is None
        if collider is not None:
            middle, side = springs_colliders.side_of(collider, context.region_data)
            self.handle.matrix_basis = Matrix.Translation(middle + collider.settings.radius * side)


register, unregister = draw_handlers((_draw, "POST_VIEW"), classes=(LOOKAT_PD_GGT_collider,))
