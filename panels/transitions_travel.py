"""Clips in place, clips that travel, and clips that follow a path."""

import bpy

from ..operators import drawing
from ..operators.travel import draw_speed
from . import status
from .sidebar import TransitionsPanel
from .transitions import copy_settings


class LOOKAT_PD_PT_transitions_travel(TransitionsPanel, bpy.types.Panel):
    bl_label = "Travel"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_travel
        layout.prop(settings, "removed")
        button = layout.operator("lookat_pd.in_place", icon="PINNED")
        copy_settings(settings, button, ("removed",))
        layout.separator()
        draw_speed(layout, settings)
        button = layout.operator("lookat_pd.travelling", icon="FORWARD")
        copy_settings(settings, button, ("use_feet_speed", "speed", "direction", "turn_speed", "use_feet_turn"))
        layout.separator()
        layout.prop(settings, "path")
        layout.prop(settings, "ease")
        layout.prop(settings, "lock_path_feet")
        row = layout.row()
        row.enabled = settings.path is not None
        button = row.operator("lookat_pd.follow_path", icon="CURVE_PATH")
        button.path = settings.path.name if settings.path is not None else ""
        copy_settings(settings, button, ("use_feet_speed", "speed", "ease", "lock_path_feet"))
        if settings.path is None:
            status.draw_reason(layout, context, "Choose the curve that the clip follows")


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_PT_transitions_travel,))
