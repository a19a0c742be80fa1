"""Key a setting of a look-at: Blender's own key button cannot reach settings that live on a bone."""

import bpy
from bpy.props import EnumProperty

from ..lookat_pd.errors import LookAtError
from ..rig import look_at_edit
from . import current


class LOOKAT_PD_OT_key(bpy.types.Operator):
    """Insert a key for this setting at the current frame, or delete the one that is there"""

    bl_idname = "lookat_pd.key"
    bl_label = "Key Look-at Setting"
    bl_options = {"REGISTER", "UNDO"}

    setting: EnumProperty(
        name="Setting",
        items=(
            ("use", "Look", "Whether to look at the target"),
            ("influence", "Influence", "How much to look at it"),
            ("active_target", "Active Target", "Which target to look at"),
        ),
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        try:
            look_at_edit.toggle_key(bone.id_data, bone.name, self.setting, context.scene.frame_current)
        except LookAtError as error:
            return current.complain(self, error)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_key)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_key)
