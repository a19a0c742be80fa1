"""Inverse kinematics: the chain of the active bone, its solver, and the operators."""

import math

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import contacts, drawing, ik_bake, ik_body, ik_drag, ik_switch, polling, selection
from ..rig.detection import body_joints, limb_controls
from ..rig.ik import preview as ik_preview
from ..rig.ik import setup as ik_setup
from . import advanced, plots, rows, status
from .sidebar import ArmaturePanel, FeaturePanel

_MOST_JOINTS = 12
_SHOWN = 1e-4
"""Fraction of a chain's length from which on it is said that a soft reach leaves it before its target."""


class LOOKAT_PD_PT_ik(FeaturePanel, bpy.types.Panel):
    bl_label = "IK"
    feature = "ik"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        self.layout.operator_menu_enum("lookat_pd.ik_preset", "preset", text="", icon="PRESET")

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_ik
        reason = polling.why_no_armature(context)
        if reason is not None:
            status.draw_reason(layout, context, reason)
            return
        row = layout.row()
        row.scale_y = 1.3
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.ik_drag", icon="VIEW_PAN")
        status.draw_reason(layout, context, ik_drag.why_not(context))
        self._draw_chain(layout, context, settings)
        self._draw_goal(layout, context, settings)

    @staticmethod
    def _draw_chain(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        column = layout.column(align=True)
        column.prop(settings, "point")
        column.prop(settings, "extent")
        if settings.extent == "LENGTH":
            column.prop(settings, "length")
        column.prop(settings, "orientation", text="Rotation")
        _draw_pole(layout, settings)
        bone = selection.bone(context)
        if bone is not None:
            row = layout.row(align=True)
            row.prop(bone, "lookat_pd_ik_pin", text="Pin Active Bone")
            if selection.selected_bones(context):
                row.operator("lookat_pd.ik_pin", text="", icon="PINNED")
        status.draw_reason(layout, context, ik_bake.why_no_chain(context))

    @staticmethod
    def _draw_goal(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        layout.separator()
        layout.prop(settings, "follow")
        if settings.follow == "TARGET":
            layout.prop(settings, "target")
            if settings.target is not None and settings.target.type == "ARMATURE":
                layout.prop_search(settings, "subtarget", settings.target.pose, "bones")
        layout.prop(settings, "use_offset")
        layout.prop(settings, "smoothness", text="Smoothness (s)")
        layout.prop(settings, "ease", text="Ease (s)")
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.ik_bake", icon="KEYFRAME_HLT")
        reason = ik_bake.why_not(context)
        if reason is not None and ik_bake.why_no_chain(context) is None:
            status.draw_reason(layout, context, reason)


class _SubPanel(ArmaturePanel):
    bl_parent_id = "LOOKAT_PD_PT_ik"


class LOOKAT_PD_PT_ik_solver(_SubPanel, bpy.types.Panel):
    bl_label = "Solver"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_ik
        column = layout.column(align=True)
        # Over the whole width: names of solvers are long.
        column.prop(settings, "method", text="")
        column.prop(settings, "soft_reach")
        if advanced.is_on(context):
            column.prop(settings, "iterations")
            column.prop(settings, "as_published")
        _draw_convergence(layout, context)


class LOOKAT_PD_PT_ik_joints(_SubPanel, bpy.types.Panel):
    bl_label = "Joints"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and ik_bake.why_no_chain(context) is None

    def draw(self, context: bpy.types.Context) -> None:
        layout, armature = self.layout, selection.armature(context)
        chain = ik_setup.chain(armature, selection.bone(context).name, context.scene.lookat_pd_ik)
        joints = body_joints.joints(armature, chain.joints)
        for joint in joints[:_MOST_JOINTS]:
            settings = armature.pose.bones[joint.bone].lookat_pd_ik_joint
            row = layout.row()
            row.prop(settings, "use_custom", text="")
            row.label(text=joint.bone, translate=False)
            if not settings.use_custom:
                row.label(text=joint.part.label)
            column = layout.column(align=True)
            if settings.use_custom:
                column.prop(settings, "part", text="")
                column.prop(settings, "stiffness", slider=True)
                if any(joint.hinge):
                    row = column.row(align=True)
                    row.prop(settings, "minimum", text="Minimum")
                    row.prop(settings, "maximum", text="Maximum")
            else:
                column.label(text=_detected_values(joint), translate=False)
        if len(joints) > _MOST_JOINTS:
            layout.label(text="...", translate=False)


def _detected_values(joint: body_joints.BodyJoint) -> str:
    text = iface_("stiffness {:.2f}").format(joint.part.stiffness)
    if joint.part.bend is None:
        return text
    low, high = (math.degrees(angle) for angle in joint.part.bend)
    return f"{text}, {low:.0f}° - {high:.0f}°"


class LOOKAT_PD_UL_ik_effectors(bpy.types.UIList):
    """The effectors of a body, each with its target and weight."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        split = layout.split(factor=0.75)
        text = item.bone if item.target is None else f"{item.bone} → {item.target.name}"
        split.label(text=text, translate=False, icon="PINNED" if item.target is None else "BONE_DATA")
        split.prop(item, "weight", text="", slider=True)


class LOOKAT_PD_PT_ik_body(_SubPanel, bpy.types.Panel):
    bl_label = "Several Effectors"

    def draw(self, context: bpy.types.Context) -> None:
        layout, armature = drawing.prepared(self.layout), selection.armature(context)
        settings = armature.lookat_pd_ik_body
        chosen = 0 <= settings.effectors_index < len(settings.effectors)
        kind, of = "LOOKAT_PD_UL_ik_effectors", "lookat_pd.ik_effector"
        rows.draw_list(layout, settings, kind, "effectors", "effectors_index", of, rows=4, removes=chosen)
        if chosen:
            self._draw_effector(layout, armature, settings.effectors[settings.effectors_index])
        column = layout.column(align=True)
        column.prop(settings, "balance")
        column.prop(settings, "move_hips")
        column.prop(settings, "soft_reach")
        column.prop(settings, "ease", text="Ease (s)")
        layout.prop(context.scene.lookat_pd_ik, "hold_effectors")
        status.draw_reason(layout, context, ik_body.why_not(context))
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.ik_body_bake", icon="KEYFRAME_HLT")

    @staticmethod
    def _draw_effector(layout: bpy.types.UILayout, armature: bpy.types.Object, item) -> None:
        column = layout.column(align=True)
        column.prop_search(item, "bone", armature.pose, "bones", icon="BONE_DATA")
        column.prop(item, "target", text="Target")
        if item.target is not None and item.target.type == "ARMATURE":
            column.prop_search(item, "subtarget", item.target.pose, "bones", icon="BONE_DATA")
        column = layout.column(align=True)
        column.prop(item, "use_position")
        column.prop(item, "orientation", text="Rotation")
        if item.target is not None:
            column.prop(item, "use_offset")
        _draw_pole(column, item)
        column = layout.column(align=True)
        column.prop(item, "weight")
        column.prop(item, "priority")


class LOOKAT_PD_PT_ik_contacts(_SubPanel, bpy.types.Panel):
    bl_label = "Contacts"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_ik
        layout.prop(settings, "contact_surface")
        surface = settings.contact_surface
        if surface is not None and surface.type == "ARMATURE":
            layout.prop_search(settings, "contact_bone", surface.pose, "bones")
        column = layout.column(align=True)
        column.prop(settings, "contact_speed")
        row = column.row()
        row.active = surface is None
        row.prop(settings, "contact_height")
        layout.prop(settings, "contact_blend", text="Blend (s)")
        column = layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        column.operator("lookat_pd.ik_contacts", text="Clean Up Detected").where = "FOUND"
        row, scene = column.row(align=True), context.scene
        row.enabled = scene.use_preview_range
        marked = row.operator("lookat_pd.ik_contacts", text="Clean Up Preview Range")
        marked.where = "MARKED"
        marked.contact_start, marked.contact_end = scene.frame_preview_start, scene.frame_preview_end
        marked.use_scene_range = False
        marked.frame_start, marked.frame_end = scene.frame_start, scene.frame_end
        feet = column.operator("lookat_pd.clean_foot_skate")
        feet.speed, feet.height, feet.release = settings.contact_speed, settings.contact_height, settings.contact_blend
        reason = contacts.why_not(context)
        if reason is None and not scene.use_preview_range:
            reason = "Set a preview range (P in the timeline) to mark a contact"
        status.draw_reason(layout, context, reason)
        status.draw_reason(layout, context, contacts.why_no_feet(context))


class LOOKAT_PD_PT_ik_switch(_SubPanel, bpy.types.Panel):
    bl_label = "IK-FK"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and limb_controls.may_switch(selection.armature(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.ik_switch", text="Switch to FK").to = "FK"
        row.operator("lookat_pd.ik_switch", text="Switch to IK").to = "IK"
        status.draw_reason(layout, context, ik_switch.why_not(context))


def _draw_pole(layout: bpy.types.UILayout, settings) -> None:
    """The pole target, with more room for its label than properties have: the Japanese one is long."""
    split = layout.split(factor=0.45)
    row = split.row()
    row.alignment = "RIGHT"
    row.label(text="Pole Target")
    split.prop(settings, "pole", text="")


def _draw_convergence(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The convergence of the solver on a logarithmic scale, with the result below."""
    bone = selection.bone(context)
    convergence = (
        None if bone is None else ik_preview.convergence(context.scene, selection.armature(context), bone.name)
    )
    if convergence is None:
        return
    if convergence.key not in _errors:
        _errors.clear()
        _errors[convergence.key] = convergence.solve()
    errors = _errors[convergence.key]
    box = layout.box()
    curves = {"error": ik_preview.heights(errors)}
    box.template_icon(plots.icon("ik", convergence.key, lambda: curves), scale=6.0)
    if not convergence.in_reach:
        box.label(text="Out of reach", icon="INFO")
    elif convergence.softened > _SHOWN:
        # Almost straight: that is meant, and no error of the solver.
        text = iface_("Soft reach: {:.2f} % before the target").format(100.0 * convergence.softened)
        box.label(text=text, translate=False, icon="INFO")
    share = iface_("{:.3f} % remaining, {} iterations").format(100.0 * errors[-1], len(errors) - 1)
    box.label(text=share, translate=False)


_errors: dict = {}
"""The last displayed solve, by the values it depends on."""

_register, _unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_UL_ik_effectors,
        LOOKAT_PD_PT_ik,
        LOOKAT_PD_PT_ik_solver,
        LOOKAT_PD_PT_ik_joints,
        LOOKAT_PD_PT_ik_body,
        LOOKAT_PD_PT_ik_contacts,
        LOOKAT_PD_PT_ik_switch,
    )
)


def register() -> None:
    _register()


def unregister() -> None:
    _errors.clear()
    _unregister()
