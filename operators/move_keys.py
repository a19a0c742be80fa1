"""Move keys of look-ats from the clip to the shot."""

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at import resolve as look_at
from ..rig.look_at.directing import shot_keys
from . import polling, reporting, selection


def _look_ats(context: bpy.types.Context) -> list[tuple[bpy.types.Object, str]]:
    """The look-ats of the current character and, in Object Mode, of those that are selected."""
    armatures = [selection.look_at_armature(context)]
    if context.mode == "OBJECT":
        armatures += selection.selected_armatures(context)
    return [(armature, bone) for armature in dict.fromkeys(armatures) for bone in look_at.bones_with_look_at(armature)]


def why_not(context: bpy.types.Context) -> str | None:
    reason = polling.why_no_look_at(context)
    if reason is None and not any(shot_keys.in_clip(*one) for one in _look_ats(context)):
        return "The current action has no keys of look-ats"
    return reason


class LOOKAT_PD_OT_move_keys(polling.Explained, bpy.types.Operator):
    """Move the keys of the look-ats from the current action to the shot, so that they stay when the action changes"""

    bl_idname = "lookat_pd.move_keys"
    bl_label = "Move Keys to Shot"

    why_not = staticmethod(why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        count = shot_keys.move(_look_ats(context))
        reporting.report_info(self, Message("The keys of {count} settings were moved to the shot.", count=count))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_move_keys,))
