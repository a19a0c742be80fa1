"""Edit the chain of a look-at."""

import bpy
from bpy.props import EnumProperty

from ..lookat_pd.errors import LookAtError
from ..rig import look_at_edit
from . import current


class _ChainOperator:
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))


class LOOKAT_PD_OT_chain_detect(_ChainOperator, bpy.types.Operator):
    """Find the chain from the rig again, with fitting shares, settle factors and limits"""

    bl_idname = "lookat_pd.chain_detect"
    bl_label = "Detect Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        try:
            look_at_edit.fill_chain(bone.id_data, bone.name)
        except LookAtError as error:
            return current.complain(self, error)
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_add(_ChainOperator, bpy.types.Operator):
    """Add the active bone to the end of the chain"""

    bl_idname = "lookat_pd.chain_add"
    bl_label = "Add Bone to Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        owner, active = current.look_at_bone(context), current.bone(context)
        settings = owner.lookat_pd
        if active is None or any(item.bone == active.name for item in settings.chain):
            return current.complain(self, "Make a bone active that is not in the chain yet, and try again.")
        item = settings.chain.add()
        item.bone = active.name
        settings.chain_index = len(settings.chain) - 1
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_remove(_ChainOperator, bpy.types.Operator):
    """Take the highlighted bone out of the chain"""

    bl_idname = "lookat_pd.chain_remove"
    bl_label = "Remove Bone from Chain"

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = current.look_at_bone(context).lookat_pd
        if not 0 < settings.chain_index < len(settings.chain):
            return current.complain(
                self, "The aiming bone stays in its chain; highlight another bone, or remove the look-at."
            )
        look_at_edit.take_link(settings, settings.chain_index)
        settings.chain_index -= 1
        return {"FINISHED"}


class LOOKAT_PD_OT_chain_move(_ChainOperator, bpy.types.Operator):
    """Move the highlighted bone towards the head or away from it"""

    bl_idname = "lookat_pd.chain_move"
    bl_label = "Move Bone in Chain"

    direction: EnumProperty(
        name="Direction", items=(("UP", "Up", "Towards the head"), ("DOWN", "Down", "Away from the head"))
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = current.look_at_bone(context).lookat_pd
        begin, end = settings.chain_index, settings.chain_index + (-1 if self.direction == "UP" else 1)
        if not (1 <= begin < len(settings.chain) and 1 <= end < len(settings.chain)):
            current.tell(self, "The aiming bone stays first in its chain.")
            return {"CANCELLED"}
        settings.chain.move(begin, end)
        settings.chain_index = end
        return {"FINISHED"}


CLASSES = (LOOKAT_PD_OT_chain_detect, LOOKAT_PD_OT_chain_add, LOOKAT_PD_OT_chain_remove, LOOKAT_PD_OT_chain_move)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
