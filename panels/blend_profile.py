"""The profile of the next transition: a sub-panel of the transitions panel."""

import bpy
from bl_ui.utils import PresetPanel

from ..lookat_pd.message import Message
from ..operators import drawing, reporting, selection
from ..rig.transitions import blend_profiles, profile_settings
from ..translations import messages
from . import rows
from .sidebar import TransitionsPanel

_ICONS = {"BONES": "BONE_DATA", "COLLECTION": "GROUP_BONE", "CURVES": "FCURVE"}


class LOOKAT_PD_UL_profile(bpy.types.UIList):
    """The rows of the profile; for a bone the first one that fits counts."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.6)
        row.prop(item, "pattern", text="", icon=_ICONS[item.kind], emboss=False)
        if item.filter == "BLEND":
            row.prop(item, "factor", text="", emboss=False)
        else:
            row.prop(item, "filter", text="", emboss=False)


class LOOKAT_PD_PT_profile_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Blend Profiles"
    preset_subdir = profile_settings.SUBFOLDER
    preset_extensions = {profile_settings.ENDING}
    preset_operator = "lookat_pd.profile_preset"
    preset_add_operator = "lookat_pd.profile_preset_add"


class LOOKAT_PD_PT_transitions_profile(TransitionsPanel, bpy.types.Panel):
    bl_label = "Blend Profile"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.scene.lookat_pd_transition, "use_profile", text="")

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        LOOKAT_PD_PT_profile_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_transition
        layout.active = settings.use_profile
        kind, of, has = "LOOKAT_PD_UL_profile", "lookat_pd.profile_row", len(settings.profile_rows) > 0
        rows.draw_list(layout, settings, kind, "profile_rows", "profile_index", of, rows=3, removes=has, moves=has)
        if 0 <= settings.profile_index < len(settings.profile_rows):
            self._draw_row(layout, settings.profile_rows[settings.profile_index], selection.armature(context))

    @staticmethod
    def _draw_row(layout: bpy.types.UILayout, item: bpy.types.PropertyGroup, armature: bpy.types.Object) -> None:
        layout.prop(item, "kind")
        if item.kind == "COLLECTION":
            layout.prop_search(item, "pattern", armature.data, "collections_all", icon="GROUP_BONE")
        else:
            layout.prop(item, "pattern")
        row = profile_settings.row_of(item)
        number = 0 if row is None else blend_profiles.count(row, armature)
        layout.label(text=_found(item.kind, number), icon="INFO" if number else "ERROR", translate=False)
        layout.prop(item, "filter")
        if item.filter == "BLEND":
            layout.prop(item, "factor", slider=True)
            layout.prop(item, "delay")


def _found(kind: str, number: int) -> str:
    """How much a row names on the armature, as a sentence."""
    if kind != "CURVES":
        return messages.translate(reporting.bones(number))
    one, several = "1 property of the current action", "{count} properties of the current action"
    return messages.translate(Message(one if number == 1 else several, count=number))


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_UL_profile, LOOKAT_PD_PT_profile_presets, LOOKAT_PD_PT_transitions_profile)
)
