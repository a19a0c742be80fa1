"""Copy a look-at to other bones."""

import bpy
from bpy.props import BoolProperty

from ..lookat_pd.errors import LookAtError
from ..rig import look_at_copy
from . import current


class LOOKAT_PD_OT_copy(bpy.types.Operator):
    """Give the other selected bones look-ats with the settings of the one shown, each with its own chain"""

    bl_idname = "lookat_pd.copy"
    bl_label = "Copy Look-at to Selected Bones"
    bl_options = {"REGISTER", "UNDO"}

    use_target: BoolProperty(
        name="Copy Target", description="Let them look at the same target; else they keep theirs", default=True
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = current.look_at_bone(context)
        bones = current.other_selected_bones(context)
        try:
            look_at_copy.copy(context.scene, source.id_data, source.name, bones, with_target=self.use_target)
        except LookAtError as error:
            return current.complain(self, error)
        many = "s" if len(bones) > 1 else ""
        current.tell(self, f"Copied the look-at on '{source.name}' to {len(bones)} bone{many}.")
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to copy or nowhere to copy it to; None where there is."""
    reason = current.why_no_look_at(context)
    if reason is None and not current.other_selected_bones(context):
        reason = "In pose mode, select the bones that are to look as well"
    return reason


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_copy)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_copy)
