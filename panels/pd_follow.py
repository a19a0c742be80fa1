"""PD Follow: the active object or pose bone follows a target, or lags behind its own animation."""

import bpy

from ..lookat_pd.message import Message
from ..operators import drawing, pd_follow, pd_follow_bake, preferences
from ..rig.layers import live
from ..rig.pd_follow import follow_chains, follow_kind
from ..rig.pd_follow.owners import Owner
from ..rig.pd_follow.settings import KEYABLE
from ..translations import messages
from . import advanced, rows, status
from .sidebar import FeaturePanel


class LOOKAT_PD_PT_pd_follow(FeaturePanel, bpy.types.Panel):
    bl_label = "PD Follow"
    feature = "pd_follow"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preferences.shows(cls.feature) and context.object is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        reason = pd_follow.why_no_owner(context)
        if reason is not None:
            status.draw_reason(layout, context, reason)
            return
        owner = pd_follow.owner(context)
        row = layout.row(align=True)
        row.label(text=owner.label, icon="BONE_DATA" if owner.bone else "OBJECT_DATA", translate=False)
        if not owner.follows:
            self._draw_add(layout, len([one for one in pd_follow.chosen(context) if not one.follows]))
            return
        settings = owner.settings
        row.prop(settings, "mute", text="", icon="HIDE_ON" if settings.mute else "HIDE_OFF", emboss=False)
        row.operator("lookat_pd.pd_follow_remove", text="", icon="X", emboss=False)
        if parent := follow_chains.parent_that_follows(owner):
            text = messages.translate(Message("On the result of '{name}'", name=parent.bone))
            layout.label(text=text, icon="CON_CHILDOF", translate=False)
        column = layout.column()
        column.active = not settings.mute
        self._draw_target(column, settings)
        self._draw_controller(column, context, settings)
        if pd_follow.why_no_copy(context) is None:
            column.operator("lookat_pd.pd_follow_copy", icon="COPYDOWN")
        self._draw_keyed(column, context, owner)
        self._draw_bake(layout, context, owner)

    @staticmethod
    def _draw_add(layout: bpy.types.UILayout, count: int) -> None:
        if count < 2:
            layout.operator("lookat_pd.pd_follow_add", icon="ADD")
            return
        text = messages.translate(Message("Add PD Follow to {count} Bones", count=count))
        layout.operator("lookat_pd.pd_follow_add", icon="ADD", text=text, translate=False)

    @staticmethod
    def _draw_target(layout: bpy.types.UILayout, settings) -> None:
        layout.prop(settings, "target")
        if settings.target is not None and settings.target.type == "ARMATURE":
            layout.prop_search(settings, "subtarget", settings.target.pose, "bones", text="Bone")
        layout.prop(settings, "use_location")
        layout.prop(settings, "turn")
        if settings.turn == "AIM":
            layout.prop(settings, "aim_axis")
        row = layout.row(align=True)
        row.active = settings.target is not None
        row.prop(settings, "keep_offset")
        if settings.keep_offset:
            row.operator("lookat_pd.pd_follow_offset", text="", icon="FILE_REFRESH")

    @staticmethod
    def _draw_controller(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        rows.draw_controller(layout, settings)
        row = layout.row()
        row.use_property_split = False
        row.prop(settings, "feed_forward", slider=True)
        if not advanced.is_on(context):
            return
        column = layout.column(align=True)
        if settings.use_location:
            column.prop(settings, "max_speed")
        if settings.turn != "NONE":
            column.prop(settings, "max_turn")
        layout.prop(settings, "integrator")

    @staticmethod
    def _draw_keyed(layout: bpy.types.UILayout, context: bpy.types.Context, owner: Owner) -> None:
        for name in KEYABLE:
            row = layout.row(align=True)
            row.prop(owner.settings, name, slider=True)
            icon = rows.ICONS[pd_follow.key_state(owner, name, context.scene.frame_current)]
            row.operator("lookat_pd.pd_follow_key", text="", icon=icon, emboss=False).setting = name

    @staticmethod
    def _draw_bake(layout: bpy.types.UILayout, context: bpy.types.Context, owner: Owner) -> None:
        if error := live.status(context.scene, owner.object, owner.bone, follow_kind.NAME).error:
            layout.label(text=messages.translate(error), icon="ERROR", translate=False)
        reason = pd_follow_bake.why_not(context)
        status.draw_reason(layout, context, reason)
        rows.draw_bake(layout, "lookat_pd.pd_follow_bake", reason)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_pd_follow,))
