"""Dynamics: masses, interpolation of keys, and reaching."""

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import drawing, interpolate_keys, polling, reach, selection
from ..rig.dynamics import display, interpolation, masses, reaching
from ..rig.dynamics.settings import SIDED
from ..translations import messages
from . import advanced, compare_ghost, dynamics_plots, presets, status
from .sidebar import ArmaturePanel, FeaturePanel


class _SubPanel(ArmaturePanel):
    bl_parent_id = "LOOKAT_PD_PT_dynamics"


class LOOKAT_PD_PT_dynamics(FeaturePanel, bpy.types.Panel):
    bl_label = "Dynamics"
    feature = "dynamics"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_dynamics
        reason = interpolate_keys.why_not(context)
        if polling.why_no_armature(context) is None:
            presets.draw_dynamics(layout, settings)
            _draw_interpolation(layout, context, settings)
        status.draw_reason(layout, context, reason)
        row = layout.row()
        row.scale_y = 1.3
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.interpolate_keys", icon="KEYFRAME_HLT")
        if polling.why_no_armature(context) is None and interpolation.compared(selection.armature(context)):
            layout.operator("lookat_pd.dynamics_compare", icon="UV_SYNC_SELECT")
        compare_ghost.draw_button(layout, context)


class LOOKAT_PD_PT_dynamics_bone(_SubPanel, bpy.types.Panel):
    bl_label = "Active Bone"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _SubPanel.poll(context) and selection.bone(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = drawing.prepared(self.layout), selection.bone(context)
        own = bone.lookat_pd_body
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        column = layout.column(align=True)
        column.prop(own, "mass", text="Mass (kg)")
        row = column.row()
        row.active = own.mass == 0.0
        row.prop(own, "density")
        layout.prop(own, "use_own")
        column = layout.column()
        column.active = own.use_own
        _draw_strength(column, own)


class LOOKAT_PD_PT_dynamics_body(_SubPanel, bpy.types.Panel):
    bl_label = "Body"

    def draw(self, context: bpy.types.Context) -> None:
        layout, scene, armature = drawing.prepared(self.layout), context.scene, selection.armature(context)
        settings = armature.lookat_pd_body
        row = layout.row(align=True)
        row.prop(settings, "shape")
        if settings.shape == "MESHES":
            row.operator_context = "INVOKE_DEFAULT"
            row.operator("lookat_pd.measure_masses", text="", icon="FILE_REFRESH")
        else:
            layout.prop(settings, "radius")
        layout.prop(settings, "spread")
        if settings.spread != "VOLUME":
            layout.prop(settings, "build")
        layout.prop(settings, "scale")
        column = layout.column(align=True)
        column.prop(settings, "total_mass", text="Total Mass (kg)")
        column.prop(settings, "density", text="Density (kg/m³)")
        layout.prop(scene.lookat_pd_dynamics, "show_masses")
        body, problem = display.summary(scene, armature)
        if body is None:
            status.draw_reason(layout, context, problem)
            return
        layout.label(text=iface_("{:.1f} kg in {} bones").format(body.total, len(body.bones)), translate=False)
        name, most = body.heaviest
        layout.label(text=iface_("Heaviest: {}, {:.1f} kg").format(name, most), translate=False)
        warning = masses.warning(armature, body)
        if warning is not None:
            status.draw_long(layout, context, messages.translate(warning), "ERROR")
        bone = selection.bone(context)
        if bone is not None and bone.name in body.bones:
            share = body.properties.mass[body.bones.index(bone.name)]
            layout.label(text=f"{bone.name}: {share:.2f} kg", icon="BONE_DATA", translate=False)


class LOOKAT_PD_PT_dynamics_reach(_SubPanel, bpy.types.Panel):
    bl_label = "Reach"
    # Elsewhere it is how far limits reach.
    bl_translation_context = "Operator"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_dynamics
        column = layout.column(align=True)
        column.prop(settings, "point")
        if settings.point == "PALM" or (settings.point in SIDED and settings.both_hands):
            column.prop(settings, "palm_gap")
        column.prop(settings, "length")
        column.prop(settings, "lean")
        if advanced.is_on(context):
            column.prop(settings, "soft_reach")
        column = layout.column(align=True)
        column.prop(settings, "goal")
        if settings.goal == "OBJECT":
            column.prop(settings, "target")
            if settings.target is not None and settings.target.type == "ARMATURE":
                column.prop_search(settings, "subtarget", settings.target.pose, "bones")
        _draw_other_hand(layout, context, settings)
        layout.prop(settings, "duration", text="Duration (s)")
        column = layout.column(align=True)
        column.prop(settings, "follow_goal")
        column = column.column(align=True)
        column.active = settings.method == "OPTIMAL"
        column.prop(settings, "keep_velocity")
        if settings.goal == "OBJECT":
            column.prop(settings, "match_orientation")
        column.prop(settings, "approach")
        if settings.approach != "FREE":
            column.prop(settings, "approach_distance", text="Distance")
        _draw_vias(layout, settings)
        layout.prop(settings, "method")
        if advanced.is_on(context):
            layout.prop(settings, "passes" if settings.method == "SMOOTHING" else "timing")
        column = layout.column(align=True)
        column.prop(settings, "use_gravity")
        column.prop(settings, "use_limits")
        column.prop(settings, "joint_damping")
        column = layout.column(align=True)
        column.active = settings.method == "OPTIMAL"
        column.prop(settings, "avoid_body")
        column.prop(settings, "obstacles")
        column = layout.column(align=True)
        column.prop(settings, "after")
        if settings.after != "HOLD":
            column.prop(settings, "hold", text="Hold (s)")
            column.prop(settings, "blend", text="Blend (s)")
        reason = reach.why_not(context)
        status.draw_reason(layout, context, reason)
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.reach", icon="KEYFRAME_HLT")
        dynamics_plots.draw_reaches(layout, reaching.kept.of(selection.armature(context)))


def _draw_interpolation(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
    layout.prop(settings, "keys")
    # Over the whole width: the names of the laws are long.
    layout.prop(settings, "between", text="")
    layout.prop(settings, "at_keys")
    if settings.between == "TORQUE_CHANGE":
        if advanced.is_on(context):
            layout.prop(settings, "torque_cost")
        column = layout.column(align=True)
        column.prop(settings, "use_gravity")
        column.prop(settings, "use_limits")
        column.prop(settings, "joint_damping")
        return
    _draw_strength(layout, settings)
    column = layout.column(align=True)
    column.prop(settings, "use_gravity")
    column.prop(settings, "use_limits")
    column.prop(settings, "inertia")
    row = column.row()
    row.active = settings.inertia == "TRUE"
    row.prop(settings, "weight", slider=True)
    column = layout.column(align=True)
    row = column.row()
    row.active = settings.at_keys == "PASS"
    row.prop(settings, "swing_past", slider=True)
    column.prop(settings, "settle", text="Settle (s)")


def _draw_strength(layout: bpy.types.UILayout, settings) -> None:
    """The strength of the joints: of the scene, or of one bone."""
    layout.prop(settings, "passive")
    column = layout.column(align=True)
    if settings.passive:
        column.prop(settings, "stiffness")
        column.prop(settings, "damping")
        column = layout.column(align=True)
        column.label(text="Tails and hair swing live with:")
        column.operator("lookat_pd.add_springs", icon="ADD")
        return
    column.prop(settings, "tension", slider=True)
    column.prop(settings, "limit")
    if settings.limit == "STRENGTH":
        column.prop(settings, "strength")
    elif settings.limit == "TORQUE":
        column.prop(settings, "torque", text="Torque (N m)")
    column.prop(settings, "friction")


def _draw_other_hand(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
    column = layout.column(align=True)
    column.prop(settings, "both_hands")
    if not settings.both_hands:
        return
    column.prop(settings, "other_target")
    if settings.other_target is not None and settings.other_target.type == "ARMATURE":
        column.prop_search(settings, "other_subtarget", settings.other_target.pose, "bones")
    other = reach.other_hand_shown(context)
    if other:
        column.label(text=iface_("Other hand: {}").format(other), icon="BONE_DATA", translate=False)


def _draw_vias(layout: bpy.types.UILayout, settings) -> None:
    column = layout.column(align=True)
    for n, via in enumerate(settings.vias):
        row = column.row(align=True)
        row.prop(via, "target")
        row.operator("lookat_pd.via_remove", text="", icon="X").index = n
        column.prop(via, "time")
        if settings.both_hands:
            column.prop(via, "hand")
    column.operator("lookat_pd.via_add", icon="ADD")


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_PT_dynamics,
        LOOKAT_PD_PT_dynamics_bone,
        LOOKAT_PD_PT_dynamics_body,
        LOOKAT_PD_PT_dynamics_reach,
    )
)
