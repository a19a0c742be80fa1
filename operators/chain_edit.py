"""Edit the chain of a look-at."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.settings import choice
from . import polling, reporting, selection


class LOOKAT_PD_OT_chain_detect(polling.OfLookAt, bpy.types.Operator):
    """Detect the chain from the rig again and reset its shares, settle factors and limits"""

    bl_idname = "lookat_pd.chain_detect"
    bl_label = "Detect Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        look_at_edit.fill_chain(bone.id_data, bone.name)
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_add(polling.OfLookAt, bpy.types.Operator):
    """Add the active bone to the end of the chain"""

    bl_idname = "lookat_pd.chain_add"
    bl_label = "Add Bone to Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        owner, active = selection.look_at_bone(context), selection.bone(context)
        settings = owner.lookat_pd
        is_other = active is not None and active.id_data == owner.id_data
        if not is_other or any(item.bone == active.name for item in settings.chain):
            return reporting.report_error(
                self, "The active bone is already in the chain; make another bone active and try again."
            )
        item = settings.chain.add()
        item.bone = active.name
        settings.chain_index = len(settings.chain) - 1
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_remove(polling.OfLookAt, bpy.types.Operator):
    """Remove the highlighted bone from the chain"""

    bl_idname = "lookat_pd.chain_remove"
    bl_label = "Remove Bone from Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = selection.look_at_bone(context).lookat_pd
        if not 0 < settings.chain_index < len(settings.chain):
            return reporting.report_error(
                self,
                "The aiming bone cannot be removed from its chain; select another bone of the list, or "
                "remove the look-at.",
            )
        look_at_edit.take_link(settings, settings.chain_index)
        settings.chain_index -= 1
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_move(polling.OfLookAt, bpy.types.Operator):
    """Move the highlighted bone up or down in the chain"""

    bl_idname = "lookat_pd.chain_move"
    bl_label = "Move Bone in Chain"

    direction: choice("Direction", "", (("UP", "Up", "Towards the head"), ("DOWN", "Down", "Away from the head")))

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = selection.look_at_bone(context).lookat_pd
        begin, end = settings.chain_index, settings.chain_index + (-1 if self.direction == "UP" else 1)
        if not (1 <= begin < len(settings.chain) and 1 <= end < len(settings.chain)):
            reporting.report_info(self, "The aiming bone is always the first bone of its chain.")
            return {"CANCELLED"}
        settings.chain.move(begin, end)
        settings.chain_index = end
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_chain_detect, LOOKAT_PD_OT_chain_add, LOOKAT_PD_OT_chain_remove, LOOKAT_PD_OT_chain_move)
)
