"""Remove a look-at."""

import bpy
from bpy.props import StringProperty

from ..rig import look_at, look_at_edit
from . import current


class LOOKAT_PD_OT_remove(bpy.types.Operator):
    """Remove the look-at with its settings and their keys; what was baked stays"""

    bl_idname = "lookat_pd.remove"
    bl_label = "Remove Look-at PD"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(
        name="Bone", description="Bone whose look-at goes; empty for the one shown", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = current.armature(context)
        name = self.bone or current.look_at_bone(context).name
        if name not in look_at.bones_with_look_at(armature):
            return current.complain(self, f"Bone '{name}' of '{armature.name}' has no look-at to remove.")
        look_at_edit.remove(armature, name)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_remove)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_remove)
