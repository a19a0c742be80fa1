"""Copy the settings of a look-at as JSON, for a game engine."""

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at import engine_settings
from . import polling, reporting, selection


class LOOKAT_PD_OT_copy_settings(polling.OfLookAt, bpy.types.Operator):
    """Copy the settings of the displayed look-at to the clipboard as JSON for a game engine"""

    bl_idname = "lookat_pd.copy_settings"
    bl_label = "Copy Settings as JSON"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        text = engine_settings.as_json(bone.id_data, bone.name)
        if bpy.app.background:
            # There is no clipboard.
            print(text, end="")
        else:
            context.window_manager.clipboard = text
        reporting.report_info(self, Message("Copied the settings of the look-at on '{bone}' as JSON.", bone=bone.name))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_copy_settings,))
