"""Pin bones so that inverse kinematics does not move them."""

import bpy

from . import polling, selection


class LOOKAT_PD_OT_ik_pin(bpy.types.Operator):
    """Pin the selected bones so that inverse kinematics does not move them, or unpin them if all are pinned"""

    bl_idname = "lookat_pd.ik_pin"
    bl_label = "Pin Selected Bones"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = polling.why_no_armature(context)
        if reason is None and not selection.selected_bones(context):
            reason = "Select bones in pose mode"
        return polling.poll(cls, reason)

    def execute(self, context: bpy.types.Context) -> set[str]:
        bones = selection.selected_bones(context)
        pinned = all(bone.lookat_pd_ik_pin for bone in bones)
        for bone in bones:
            bone.lookat_pd_ik_pin = not pinned
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_ik_pin,))
