"""The conversation of a scene: its characters, turns and amounts; a panel below the look-at's."""

import bpy

from ..operators import converse, drawing, preferences
from ..rig.look_at.directing import conversation_settings
from ..translations import messages
from . import status
from .sidebar import FeaturePanel


class LOOKAT_PD_UL_people(bpy.types.UIList):
    """The characters of a conversation, with their personalities."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        name = item.called or (item.armature.name if item.armature is not None else "…")
        split = layout.split(factor=0.5)
        split.label(text=name, icon="ARMATURE_DATA", translate=False)
        split.prop(item, "personality", text="")


class LOOKAT_PD_UL_turns(bpy.types.UIList):
    """The turns of a conversation: frame, speaker and text."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        split = layout.split(factor=0.25)
        split.prop(item, "frame", text="", emboss=False)
        split = split.split(factor=0.5)
        split.label(text=item.speaker.name if item.speaker is not None else "…", translate=False)
        split.prop(item, "text", text="", emboss=False)


class LOOKAT_PD_PT_sidebar_conversation(FeaturePanel, bpy.types.Panel):
    bl_label = "Conversation"
    feature = "conversation"
    bl_parent_id = "LOOKAT_PD_PT_sidebar"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        is_there = conversation_settings.exists(context.scene)
        return super().poll(context) or (is_there and preferences.shows(cls.feature))

    def draw(self, context: bpy.types.Context) -> None:
        layout, scene = drawing.prepared(self.layout), context.scene
        reason = converse.why_not(context)
        status.draw_reason(layout, context, reason)
        layout.operator("lookat_pd.converse", icon="COMMUNITY")
        if not conversation_settings.exists(scene):
            return
        settings = scene.lookat_pd_conversation
        problem = conversation_settings.problem(scene)
        if problem:
            status.draw_long(layout, context, messages.translate(problem), "ERROR")
        self._draw_people(layout, settings)
        self._draw_turns(layout, settings)
        column = layout.column(align=True)
        for name in ("glances", *conversation_settings.AMOUNTS, "breathing"):
            column.prop(settings, name, slider=True)
        layout.prop(settings, "objects")
        layout.prop(settings, "seed")
        layout.prop(settings, "end")
        layout.operator("lookat_pd.conversation_remove", icon="X")

    @staticmethod
    def _draw_people(layout: bpy.types.UILayout, settings) -> None:
        layout.template_list("LOOKAT_PD_UL_people", "", settings, "people", settings, "people_index", rows=2)
        if 0 <= settings.people_index < len(settings.people):
            person = settings.people[settings.people_index]
            layout.prop(person, "called")
            layout.prop(person, "sound")

    @staticmethod
    def _draw_turns(layout: bpy.types.UILayout, settings) -> None:
        layout.prop(settings, "use_markers")
        row = layout.row()
        rows = row.column()
        if not settings.use_markers:
            rows.template_list("LOOKAT_PD_UL_turns", "", settings, "turns", settings, "turns_index", rows=3)
        column = row.column(align=True)
        column.operator("lookat_pd.turn_add", text="", icon="ADD")
        if settings.use_markers:
            return
        column.operator("lookat_pd.turn_remove", text="", icon="REMOVE")
        if 0 <= settings.turns_index < len(settings.turns):
            turn = settings.turns[settings.turns_index]
            for name in ("speaker", "frame", "at"):
                layout.prop(turn, name)
        column = layout.column(align=True)
        column.operator("lookat_pd.turns_from_file", icon="FILE_FOLDER")
        column.operator("lookat_pd.turns_from_sounds", icon="SOUND")


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_UL_people, LOOKAT_PD_UL_turns, LOOKAT_PD_PT_sidebar_conversation)
)
