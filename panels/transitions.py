"""Transitions: join two actions, find the best cut, smooth pops, make loops."""

from collections.abc import Sequence

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..operators import chain_actions, contacts, drawing, inertialize, selection, strip_transition
from ..operators.blending import draw_repeat
from ..rig.animation import key_settings
from ..rig.transitions import decay_preview, profile_settings
from ..rig.transitions.decay_preview import DecayPreview
from ..rig.transitions.settings import blends, has_damping
from . import plots, status
from .sidebar import FeaturePanel, TransitionsPanel

_BLEND = ("pose_source", "method", "use_auto_blend", "blend", "damping_ratio", *key_settings.NAMES)
_CUT_RANGE = ("use_cut_range", "source_start", "source_end", "destination_start", "destination_end")
_PARTS = {"head": "Head", "torso": "Torso", "arms": "Arms", "legs": "Legs"}


class LOOKAT_PD_UL_cuts(bpy.types.UIList):
    """The cuts that were found, the best first."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row()
        row.label(text=f"{item.source_frame} → {item.destination_frame}", translate=False)
        row.label(text=f"{100.0 * item.source_kept:.0f} · {100.0 * item.destination_kept:.0f} %", translate=False)
        row.label(text=f"{item.cost:.4f}", translate=False)


class LOOKAT_PD_PT_transitions(FeaturePanel, bpy.types.Panel):
    bl_label = "Transitions"
    feature = "transitions"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        self.layout.operator_menu_enum("lookat_pd.transition_preset", "preset", text="", icon="PRESET")

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        reason = inertialize.why_not(context)
        if reason is not None:
            status.draw_reason(layout, context, reason)
            return
        self._draw_clips(layout, settings)
        button = layout.operator("lookat_pd.best_cut", icon="VIEWZOOM")
        copy_settings(settings, button, _CUT_RANGE)
        if len(settings.cuts):
            row = layout.row()
            for caption in ("Cut", "Kept", "Cost"):
                row.label(text=caption)
            layout.template_list("LOOKAT_PD_UL_cuts", "", settings, "cuts", settings, "cut_index", rows=3)
        self._draw_join(layout, context, settings)

    @staticmethod
    def _draw_clips(layout: bpy.types.UILayout, settings) -> None:
        # Nothing may be written while drawing: the field of the source shows the current action.
        for action, frame in (("shown_source", "source_frame"), ("destination", "destination_frame")):
            column = layout.column(align=True)
            column.prop(settings, action, icon="ACTION")
            column.prop(settings, frame, text="Frame")

    @staticmethod
    def _draw_join(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        row = layout.row()
        row.scale_y = 1.3
        row.enabled = bool(settings.destination)
        button = row.operator("lookat_pd.inertialize", text="Join Actions", icon="ACTION_TWEAK")
        button.use_dialog = False
        clips = "source", "destination", "source_frame", "destination_frame", "repeat", "use_until", "until"
        hand_over(settings, button, (*clips, "root", "lock_feet", *_BLEND))
        if not settings.destination:
            status.draw_reason(layout, context, "Choose the destination of the transition")


class LOOKAT_PD_PT_transitions_cut(TransitionsPanel, bpy.types.Panel):
    bl_label = "Cut"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        draw_repeat(layout, settings)
        layout.prop(settings, "use_cut_range")
        if settings.use_cut_range:
            for name, text in (("source", "Source"), ("destination", "Destination")):
                column = layout.column(align=True)
                column.prop(settings, f"{name}_start", text=text)
                column.prop(settings, f"{name}_end", text="End")


class LOOKAT_PD_PT_transitions_blend(TransitionsPanel, bpy.types.Panel):
    bl_label = "Blend"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        layout.prop(settings, "pose_source")
        # Over the whole width: names of methods are long.
        layout.prop(settings, "method", text="")
        column = layout.column(align=True)
        column.active = blends(settings)
        column.prop(settings, "use_auto_blend")
        row = column.row()
        row.active = not settings.use_auto_blend
        row.prop(settings, "blend", text="Blend (s)")
        if has_damping(settings):
            column.prop(settings, "damping_ratio")
        layout.prop(settings, "root")
        layout.prop(settings, "lock_feet")
        key_settings.draw(layout, settings)
        preview = decay_preview.preview(context.scene, selection.armature(context))
        if preview is not None:
            layout.prop(settings, "compare")
            _draw_decays(layout, preview)


class LOOKAT_PD_PT_transitions_pops(TransitionsPanel, bpy.types.Panel):
    bl_label = "Pops and Loops"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        column = layout.column(align=True)
        hand_over(
            settings, column.operator("lookat_pd.smooth_pop", icon="SMOOTHCURVE"), ("lock_feet", *key_settings.NAMES)
        )
        hand_over(
            settings,
            column.operator("lookat_pd.loop_action", icon="FILE_REFRESH"),
            ("pose_source", "lock_feet", *key_settings.NAMES),
        )
        button = column.operator("lookat_pd.strip_transition", icon="NLA")
        # There is no cut between strips: they overlap or are adjacent.
        hand_over(settings, button, ["lock_feet", *(name for name in _BLEND if blends(settings) or name != "method")])
        status.draw_reason(column, context, strip_transition.why_not(context))
        button = column.operator("lookat_pd.chain_actions", icon="MARKER_HLT")
        hand_over(settings, button, ("root", "lock_feet", *_BLEND))
        status.draw_reason(column, context, chain_actions.why_not(context))
        layout.operator("lookat_pd.clean_foot_skate", icon="MOD_SIMPLEDEFORM")
        status.draw_reason(layout, context, contacts.why_no_feet(context))


def hand_over(settings, button, names: Sequence[str]) -> None:
    """Set the properties of a button from the settings of the panel, its profile included."""
    button.profile = profile_settings.used(settings)
    copy_settings(settings, button, names)


def copy_settings(settings, button, names: Sequence[str]) -> None:
    """Set the properties of a button from the settings of the panel."""
    for name in names:
        setattr(button, name, getattr(settings, name))


def _draw_decays(layout: bpy.types.UILayout, preview: DecayPreview) -> None:
    """The deviation of the body parts from the destination after the cut, in degrees, with their names below."""
    compared = preview.compared or {}
    key = tuple((part, values.tobytes()) for curves in (preview.parts, compared) for part, values in curves.items())
    box = layout.box()
    box.template_icon(plots.icon("transition", key, lambda: preview.parts, dashed=lambda: compared), scale=7.0)
    row = box.grid_flow(row_major=True, columns=2, align=True)
    for n, (part, values) in enumerate(preview.parts.items()):
        row.label(text=f"{iface_(_PARTS.get(part, 'All'))} {values[0]:.0f}°", icon=plots.ICONS[n], translate=False)
    if compared:
        for line, method in zip(("———", "- - -"), preview.methods, strict=True):
            box.label(text=f"{line}  {iface_(method)}", translate=False)
    box.label(text=f"0 … {preview.times[-1]:.1f} s", translate=False)


_register, _unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_UL_cuts,
        LOOKAT_PD_PT_transitions,
        LOOKAT_PD_PT_transitions_cut,
        LOOKAT_PD_PT_transitions_blend,
        LOOKAT_PD_PT_transitions_pops,
    )
)


def register() -> None:
    plots.register()
    _register()


def unregister() -> None:
    _unregister()
    plots.unregister()
