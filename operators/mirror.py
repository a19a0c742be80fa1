"""Mirror a look-at to the other side."""

import bpy

from ..lookat_pd.errors import LookAtError
from ..rig import look_at_copy
from . import current


class LOOKAT_PD_OT_mirror(bpy.types.Operator):
    """Give the bone on the other side the same look-at; its chain and its target change sides too"""

    bl_idname = "lookat_pd.mirror"
    bl_label = "Mirror Look-at"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = current.look_at_bone(context)
        try:
            bone = look_at_copy.mirror(context.scene, source.id_data, source.name)
        except LookAtError as error:
            return current.complain(self, error)
        current.tell(self, f"Mirrored the look-at on '{source.name}' to '{bone}'.")
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_mirror)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_mirror)
