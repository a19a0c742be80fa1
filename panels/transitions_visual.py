"""Transitions of the visual pose: the pops that were found, why, and the transitions that smooth them."""

import bpy

from ..operators import drawing, selection
from ..rig.layers import live
from ..rig.transitions import profile_settings
from ..rig.transitions.settings import POP_ITEMS, has_damping
from ..rig.transitions.visual import visual_kind, visual_offsets, visual_pops
from ..translations import messages
from . import status
from .sidebar import TransitionsPanel

_METHODS = {identifier for identifier, *_ in POP_ITEMS}
_ICONS = {"SOLVING": "TIME", "STOPPED": "PAUSE", "ERROR": "ERROR"}
"""Of transitions by how they are doing."""


class LOOKAT_PD_UL_visual_pops(bpy.types.UIList):
    """The pops of the visual pose, in order of time."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.2)
        row.label(text=f"{item.frame}", translate=False)
        row = row.split(factor=0.75)
        row.label(text=item.bone, icon="BONE_DATA", translate=False)
        row.label(text=f"{item.turn * 57.2958:.0f}°", translate=False)


class LOOKAT_PD_PT_transitions_visual(TransitionsPanel, bpy.types.Panel):
    bl_label = "Visual Pose"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        layout.operator("lookat_pd.find_visual_pops", icon="VIEWZOOM")
        if len(settings.visual_pops):
            layout.template_list(
                "LOOKAT_PD_UL_visual_pops", "", settings, "visual_pops", settings, "visual_pop_index", rows=3
            )
            self._draw_cause(layout, context, settings)
        column = layout.column(align=True)
        for where, text in (("FRAME", "Smooth Pop at This Frame"), ("ALL", "Smooth All Pops")):
            column.operator_context = "INVOKE_DEFAULT" if where == "FRAME" else "EXEC_DEFAULT"
            button = column.operator("lookat_pd.smooth_pop", text=text, icon="SMOOTHCURVE")
            _set_blend(button, settings, where)
        self._draw_transitions(layout, context, selection.armature(context))

    @staticmethod
    def _draw_cause(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        if 0 <= settings.visual_pop_index < len(settings.visual_pops):
            status.draw_long(layout, context, settings.visual_pops[settings.visual_pop_index].cause, "INFO")

    @staticmethod
    def _draw_transitions(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        made = visual_offsets.of(armature)
        if not made:
            return
        column, reasons = layout.column(align=True), []
        for action in made:
            note = visual_offsets.note_of(action)
            found = live.status(context.scene, armature, "", visual_kind.NAME, visual_offsets.number_of(action))
            reasons += [(found.error, "ERROR")] if found.error else [(text, "INFO") for text in found.notes]
            row = column.row(align=True)
            bones = note.get("bones") or [""]
            names = visual_pops.label(armature, bones[0]) + (f" + {len(bones) - 1}" if len(bones) > 1 else "")
            row.label(
                text=f"{note.get('frame')} … {note.get('last')}  {names}",
                icon=_ICONS.get(found.state, "ANIM"),
                translate=False,
            )
            button = row.operator("lookat_pd.remove_visual_transitions", text="", icon="X", emboss=False)
            button.frame, button.action = note.get("frame", 0), action.name
        for reason, icon in reasons:
            status.draw_long(layout, context, messages.translate(reason), icon)
        layout.operator("lookat_pd.remove_visual_transitions", text="Remove All", icon="TRASH")
        layout.operator_menu_enum("lookat_pd.key_visual_transitions", "into", text="Write as Keys", icon="KEY_HLT")


def _set_blend(button, settings, where: str) -> None:
    """Set the properties of a button from the settings of the panel."""
    button.pose_source, button.where = "VISUAL", where
    button.profile, button.lock_feet = profile_settings.used(settings), settings.lock_feet
    button.use_auto_blend, button.blend = settings.use_auto_blend, settings.blend
    if settings.method in _METHODS:
        button.method = settings.method
    if has_damping(settings):
        button.damping_ratio = settings.damping_ratio


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_UL_visual_pops, LOOKAT_PD_PT_transitions_visual))
