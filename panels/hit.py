"""Hits: the list of impulses, how the body gives way, and the angles of the last bake."""

import bpy

from ..operators import drawing, hit, selection
from ..rig.dynamics import hitting
from . import advanced, dynamics_plots, status
from .sidebar import ArmaturePanel


class LOOKAT_PD_PT_dynamics_hit(ArmaturePanel, bpy.types.Panel):
    bl_label = "Hit"
    bl_parent_id = "LOOKAT_PD_PT_dynamics"

    def draw(self, context: bpy.types.Context) -> None:
        layout, armature = drawing.prepared(self.layout), selection.armature(context)
        settings = armature.lookat_pd_hits
        for n, item in enumerate(settings.hits):
            _draw_hit(layout, armature, item, n)
        layout.operator("lookat_pd.hit_add", icon="ADD")
        status.draw_reason(layout, context, hit.why_no_bone(context))
        column = layout.column(align=True)
        column.prop(settings, "settle_time", text="Settle Time (s)")
        column.prop(settings, "damping_ratio", slider=True)
        column.prop(settings, "contact", text="Contact (s)")
        column = layout.column(align=True)
        column.prop(settings, "stiffness")
        column.prop(settings, "largest_angle")
        if advanced.is_on(context):
            column.prop(settings, "joints")
        column.prop(settings, "length")
        column.prop(settings, "hips")
        column = layout.column(align=True)
        column.prop(settings, "use_follow")
        column.prop(settings, "use_limits")
        column.prop(settings, "use_switch")
        column.prop(settings, "use_relative")
        status.draw_reason(layout, context, hit.why_not(context))
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.hit", icon="KEYFRAME_HLT")
        dynamics_plots.draw_hits(layout, hitting.kept.of(armature))


def _draw_hit(layout: bpy.types.UILayout, armature: bpy.types.Object, item: bpy.types.PropertyGroup, n: int) -> None:
    box = layout.box()
    row = box.row(align=True)
    row.prop(item, "frame")
    row.operator("lookat_pd.hit_remove", text="", icon="X").index = n
    column = box.column(align=True)
    column.prop_search(item, "bone", armature.pose, "bones")
    column.prop(item, "impulse", text="Impulse (N s)")
    column.prop(item, "source")
    if item.source is None:
        column.prop(item, "direction")


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_dynamics_hit,))
