"""The look-at, in the 3D viewport's sidebar and in the Bone Constraints tab: the same settings in both."""

from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.message import Message
from ..operators import bake, bake_actions, drawing, live_follow, look_at_keys, polling, select_target, selection
from ..operators import edit_live as edit_live_button
from ..rig.look_at import edit_live, facing
from ..rig.look_at import resolve as look_at
from ..rig.look_at.body import layers
from ..translations import messages
from . import (
    advanced,
    body_response,
    compare_ghost,
    directing,
    newcomer,
    plots,
    presets,
    rows,
    status,
)


class LOOKAT_PD_UL_chain(bpy.types.UIList):
    """The bones of a look-at's chain."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        split = layout.split(factor=0.38)
        split.label(text=item.bone or "…", icon="BONE_DATA", translate=False)
        row = split.row(align=True)
        row.prop(item, "share", text="")
        row.prop(item, "settle_factor", text="")


class LOOKAT_PD_UL_actions(bpy.types.UIList):
    """The actions that move the armature, to be checked."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        first, last = item.frame_range
        row = layout.row()
        row.use_property_split = False
        row.prop(item.lookat_pd, "checked", text="")
        row.label(text=item.name, icon="ACTION", translate=False)
        frames = row.row()
        frames.alignment = "RIGHT"
        frames.label(text=f"{first:g} - {last:g}", translate=False)

    def filter_items(self, context, data, property) -> tuple[list[int], list[int]]:
        names = [action.name for action in data.actions]
        shown = {action.name for action in bake_actions.listed(context)}
        flags = [self.bitflag_filter_item if name in shown else 0 for name in names]
        if self.filter_name:
            helper = bpy.types.UI_UL_list
            matching = helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, data.actions)
            flags = [one & other for one, other in zip(flags, matching, strict=True)]
        return flags, []


class _LookAtPanel:
    """A panel of the displayed look-at, in any place of the interface."""

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    @classmethod
    def settings(cls, context: bpy.types.Context):
        bone = selection.look_at_bone(context)
        return bone.lookat_pd if bone is not None else None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.why_no_look_at(context) is None

    def prepared(self) -> bpy.types.UILayout:
        return drawing.prepared(self.layout)


class _Main(_LookAtPanel):
    bl_label = "Look-at"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return True

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        advanced.draw_switch(self.layout, context)

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.prepared(), self.settings(context)
        newcomer.draw_fault(layout, context)
        reason = newcomer.why_no_selection(context) if settings is None else polling.why_no_look_at(context)
        if reason is not None:
            newcomer.draw_selection(layout, context, reason)
        elif settings is None:
            layout.label(text="Add a look-at to the head", icon="INFO")
            column = layout.column(align=True)
            column.operator("lookat_pd.add", icon="ADD")
            if context.scene.camera is not None:
                column.operator("lookat_pd.look_at_camera", icon="CAMERA_DATA")
        if settings is None:
            newcomer.draw_help(layout, context)
        if settings is None or reason is not None:
            return
        self._draw_list(layout, context)
        if _is_baked(context):
            _draw_baked(layout, context, selection.look_at_bone(context))
        else:
            self._draw_settings(layout, context, settings)
        self._draw_bake(layout, context, settings)

    @staticmethod
    def _draw_list(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        """A row for each look-at: bone and target, mute, remove; of characters that look at what is selected, too."""
        armature, shown = selection.armature(context), selection.look_at_bone(context)
        if select_target.is_selected(context) and armature is not None and polling.why_no_armature(context) is None:
            # A character without a look-at, at which others look.
            layout.operator("lookat_pd.add", icon="ADD")
        column = layout.column(align=True)
        for bone in selection.look_ats(context):
            settings, owner = bone.lookat_pd, bone.id_data
            target = settings.target.name if settings.target else "…"
            text = f"{bone.name} → {target}" if owner == armature else f"{owner.name}: {bone.name} → {target}"
            row = column.row(align=True)
            name = row.row(align=True)
            name.alignment = "LEFT"
            icon = "RADIOBUT_ON" if bone == shown else "RADIOBUT_OFF"
            show = name.operator("lookat_pd.show_look_at", text=text, translate=False, icon=icon, emboss=False)
            show.armature, show.bone = owner.name, bone.name
            ends = row.row(align=True)
            ends.alignment = "RIGHT"
            if settings.mute and edit_live.baked(owner, bone.name) is not None:
                # Its motion is in the keys: the eye would add it once more.
                show = ends.operator("lookat_pd.show_look_at", text="", icon="ACTION", emboss=False)
                show.armature, show.bone = owner.name, bone.name
            else:
                ends.prop(settings, "mute", text="", icon="HIDE_ON" if settings.mute else "HIDE_OFF", emboss=False)
            remove = ends.operator("lookat_pd.remove", text="", icon="X", emboss=False)
            remove.armature, remove.bone = owner.name, bone.name

    @staticmethod
    def _draw_settings(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        _draw_twice(layout, context, selection.look_at_bone(context))
        column = layout.column()
        column.active = not settings.mute
        _draw_target(column, context, settings)
        if settings.target is not None and settings.target.type == "ARMATURE":
            column.prop_search(settings, "subtarget", settings.target.pose, "bones", text="Bone")
        presets.draw_look_at(column, settings)
        rows.draw_controller(column, settings)
        _draw_step_response(column, settings)
        _draw_facing(layout, context, selection.look_at_bone(context))
        for name in ("use", "influence"):
            rows.draw_keyed(column, context, selection.look_at_bone(context), name)
        if look_at_keys.why_no_keys(context) is None:
            # Such keys are those of earlier versions and of scripts.
            column.operator("lookat_pd.move_keys", icon="ACTION")
        _draw_whole_body(column, settings)

    @staticmethod
    def _draw_bake(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        if _is_baked(context) and bake.why_not(context) is not None:
            compare_ghost.draw_button(layout, context)
            return
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.follow", icon="RESTRICT_SELECT_OFF")
        if context.scene.camera is not None:
            row.operator("lookat_pd.look_at_camera", text="", icon="CAMERA_DATA")
        reason, follow_reason = bake.why_not(context), live_follow.why_not(context)
        if follow_reason != reason:
            status.draw_reason(layout, context, follow_reason)
        status.draw_reason(layout, context, reason)
        rows.draw_bake(layout, "lookat_pd.bake", reason)
        compare_ghost.draw_button(layout, context)
        if not settings.mute:
            bone = selection.look_at_bone(context)
            status.draw(layout, context, bone.id_data, bone.name)


def _is_baked(context: bpy.types.Context) -> bool:
    """Whether the displayed look-at is muted because its motion is in the keys that play."""
    bone = selection.look_at_bone(context)
    return bone is not None and bone.lookat_pd.mute and edit_live.baked(bone.id_data, bone.name) is not None


def _draw_baked(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """What it is baked into, instead of settings that have no effect now, and the way back."""
    into = edit_live.baked(bone.id_data, bone.name).action.name
    column = layout.column()
    status.draw_long(column, context, messages.translate(Message("Baked into '{action}'", action=into)), "ACTION")
    column.operator("lookat_pd.edit_live", icon="HIDE_OFF")
    status.draw_reason(column, context, edit_live_button.why_not(context))
    column.operator("lookat_pd.remove", text="Delete Look-at", icon="TRASH")


def _draw_twice(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """A warning where a look-at is live on top of its own bake."""
    found = edit_live.baked(bone.id_data, bone.name)
    if found is None or bone.lookat_pd.mute:
        return
    box = layout.box()
    text = Message("Baked into '{action}' and live: it is added twice", action=found.action.name)
    status.draw_long(box, context, messages.translate(text), "ERROR")
    box.operator("lookat_pd.edit_live", icon="HIDE_OFF")
    row = box.row()
    row.use_property_split = False
    row.prop(bone.lookat_pd, "mute", text="Mute", icon="HIDE_ON")


def _draw_target(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
    """The target, with what picks it in the viewport and what selects it; of a selected one, its character."""
    row = layout.row(align=True)
    row.prop(settings, "target")
    row.operator("lookat_pd.pick_target", text="", icon="EYEDROPPER")
    if select_target.is_selected(context):
        row.operator("lookat_pd.select_character", text="", icon="ARMATURE_DATA")
    elif select_target.why_not_target(context) is None:
        row.operator("lookat_pd.select_target", text="", icon="RESTRICT_SELECT_OFF")


def _draw_facing(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """Where the detection of the forward axis is in doubt: what disagrees, and both candidates."""
    armature, chosen = bone.id_data, any(bone.lookat_pd.facing)
    doubt = facing.doubt(armature, bone.name)
    if doubt is None and not chosen:
        return
    box = layout.box()
    if doubt is not None:
        status.draw_long(box, context, messages.translate(doubt), "QUESTION")
    row = box.row(align=True)
    row.label(text="Forward", icon="ORIENTATION_NORMAL")
    if chosen:
        row.operator("lookat_pd.choose_facing", text="Detect Again", icon="LOOP_BACK").candidate = "AUTO"
        return
    for candidate, text in zip(("FIRST", "SECOND"), facing.labels(armature), strict=True):
        row.operator("lookat_pd.choose_facing", text=text, translate=False).candidate = candidate


def _draw_whole_body(layout: bpy.types.UILayout, settings) -> None:
    """One switch for all layers of the body: checked, not checked, or a dash with how many of them are on."""
    extent = layers.extent(settings)
    on = [layers.is_switched_on(layers.LAYERS[name], settings) for name in layers.whole_body()]
    text = iface_("Whole Body")
    if extent == "SOME":
        text = iface_("Whole Body ({} of {})").format(sum(on), len(on))
    icon = body_response.SWITCHES[extent]
    layout.operator("lookat_pd.whole_body", text=text, translate=False, icon=icon).use = extent != "ALL"


def _draw_step_response(layout: bpy.types.UILayout, settings) -> None:
    """The step response of the head over two settle times, with a mark at the first, and what the plot shows."""
    tuning = look_at.tuning(settings)
    key = tuning.settle_time, tuning.damping_ratio, tuning.max_speed
    split = layout.box().split(factor=0.4)
    plot = plots.icon(
        "step response",
        key,
        lambda: {"": look_at.step_response(tuning)},
        marks=(0.5,),
        faint=lambda: [np.full(2, look_at.STEP)],
    )
    split.template_icon(plot, scale=3.6)
    overshoot = look_at.step_response(tuning).max() / look_at.STEP - 1.0
    column = split.column(align=True)
    for text in (
        iface_("Turn by {:.0f}°").format(np.degrees(look_at.STEP)),
        iface_("Settled at {:.2f} s").format(tuning.settle_time),
        iface_("Overshoot {:.0f} %").format(100.0 * max(overshoot, 0.0)),
    ):
        column.label(text=text, translate=False)


class _SubPanel(_LookAtPanel):
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and not _is_baked(context)


class _Targets(_SubPanel):
    bl_label = "Targets"

    def draw(self, context: bpy.types.Context) -> None:
        directing.draw(self.prepared(), context, selection.look_at_bone(context))


class _Chain(_SubPanel):
    bl_label = "Chain"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.layout, self.settings(context)
        heads = layout.split(factor=0.4)
        heads.label(text="Bone")
        numbers = heads.row()
        for text in ("Share", "Settle"):
            numbers.label(text=text)
        kind, of = "LOOKAT_PD_UL_chain", "lookat_pd.chain"
        rows.draw_list(layout, settings, kind, "chain", "chain_index", of, rows=4, moves=True)
        if 0 <= settings.chain_index < len(settings.chain):
            item = settings.chain[settings.chain_index]
            layout.prop_search(item, "bone", settings.id_data.pose, "bones", icon="BONE_DATA")
        layout.operator("lookat_pd.chain_detect", icon="FILE_REFRESH")


class _Limits(_SubPanel):
    bl_label = "Limits"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.prepared(), self.settings(context)
        for item in look_at.named_links(settings):
            column = layout.column(align=True)
            column.label(text=item.bone, icon="BONE_DATA", translate=False)
            column.prop(item, "yaw_limit", text="Sideways")
            column.prop(item, "pitch_up_limit", text="Up")
            column.prop(item, "pitch_down_limit", text="Down")
        layout.prop(settings, "soft_edge")


class _Body(_SubPanel):
    bl_label = "Body"

    def draw_header(self, context: bpy.types.Context) -> None:
        body_response.draw_body_switch(self.layout, self.settings(context))

    def draw(self, context: bpy.types.Context) -> None:
        body_response.draw_body(self.prepared(), self.settings(context))


class _Eyes(_SubPanel):
    bl_label = "Eyes"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(self.settings(context).eyes, "use", text="")

    def draw(self, context: bpy.types.Context) -> None:
        body_response.draw_eyes(self.prepared(), self.settings(context))


_GESTURES = {
    "glance_yaw": "Sideways",
    "glance_pitch": "Up",
    "eyes_closed": "",
    "nod": "",
    "tilt": "",
    "gesture_yaw": "",
    "gesture_pitch": "",
    "stance": "",
}
"""The settings of gestures, and the labels of those that have longer names elsewhere."""


class _Gestures(_SubPanel):
    bl_label = "Gestures"

    def draw(self, context: bpy.types.Context) -> None:
        column = self.prepared().column(align=True)
        for name, text in _GESTURES.items():
            rows.draw_keyed(column, context, selection.look_at_bone(context), name, text=text and iface_(text))


class _More(_SubPanel):
    bl_label = "More"

    def draw(self, context: bpy.types.Context) -> None:
        # Over the whole width: these names are long.
        layout, settings = self.layout.column(), self.settings(context)
        for name in ("stabilize", "head_roll", "level_head", "feed_forward"):
            layout.prop(settings, name, slider=True)


class _LetGo(_SubPanel):
    bl_label = "Release"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.prepared(), self.settings(context)
        column = layout.column(align=True)
        column.prop(settings, "let_go_distance")
        column.prop(settings, "let_go_angle")
        column.prop(settings, "let_go_behind")
        if advanced.is_on(context):
            column = layout.column(align=True)
            column.prop(settings, "release_angle")
            column.prop(settings, "release_speed")
            column.prop(settings, "release_time", text="Time (s)")


class _Advanced(advanced.AdvancedPanel, _SubPanel):
    bl_label = "Advanced"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.prepared(), self.settings(context)
        layout.prop(settings, "aim_axis")
        layout.prop(settings, "aim_from")
        column = layout.column()
        column.prop(settings, "world_up")
        if settings.world_up == "OBJECT":
            column.prop(settings, "world_up_object")
        gains = layout.column(align=True)
        gains.prop(settings, "k_p", text="k_p (1/s²)")
        gains.prop(settings, "k_d", text="k_d (1/s)")
        layout.prop(settings, "head_speed")
        layout.prop(settings, "max_speed")
        layout.prop(settings, "method")
        layout.prop(settings, "integrator")
        if 0 <= settings.chain_index < len(settings.chain):
            item = settings.chain[settings.chain_index]
            layout.prop(item, "makes_up", text="Compensate Lag")
        layout.operator("lookat_pd.copy_settings", icon="COPYDOWN")


class _Actions(_LookAtPanel):
    bl_label = "Bake onto Actions"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.prepared()
        manager = context.window_manager
        layout.template_list("LOOKAT_PD_UL_actions", "", bpy.data, "actions", manager, "lookat_pd_action", rows=4)
        row = layout.row(align=True)
        for which, text in (("ALL", "All"), ("NONE", "None"), ("INVERT", "Invert")):
            row.operator("lookat_pd.check_actions", text=text).which = which
        reason = bake_actions.why_not(context)
        status.draw_reason(layout, context, reason)
        row = layout.row()
        row.enabled = reason is None
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("lookat_pd.bake_onto_actions", icon="KEYFRAME_HLT")


_SUBPANELS = {
    "": (_Targets, _Body, _Eyes, _Gestures, _Actions, _More),
    "more": (_Chain, _Limits, _LetGo, _Advanced),
}
"""The sub-panels of the main panel, and those of one of them."""
_SIDEBAR = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "Look-at PD"}
_CONSTRAINTS = {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "bone_constraint"}


def _panels(place: str, where: dict[str, str], main: dict[str, object]) -> list[type]:
    """The main panel and its sub-panels for one place in the interface."""
    parent = f"LOOKAT_PD_PT_{place}"
    panels = [type(parent, (_Main, bpy.types.Panel), {**where, **main})]
    for above, parts in _SUBPANELS.items():
        for panel in parts:
            within = f"{parent}_{above}" if above else parent
            name = f"{within}_{panel.bl_label.lower().replace(' ', '_')}"
            panels.append(type(name, (panel, bpy.types.Panel), {**where, "bl_parent_id": within}))
    return panels


CLASSES = (
    LOOKAT_PD_UL_chain,
    LOOKAT_PD_UL_actions,
    *_panels("sidebar", _SIDEBAR, {}),
    *_panels("bone_constraint", _CONSTRAINTS, {"bl_label": "Look-at PD"}),
)


register, unregister = bpy.utils.register_classes_factory(CLASSES)
