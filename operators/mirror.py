"""Mirror a look-at to the other side."""

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at import copy as look_at_copy
from . import copy, polling, reporting, selection


class LOOKAT_PD_OT_mirror(polling.OfLookAt, bpy.types.Operator):
    """Copy the look-at to the bone on the opposite side, with chain, body, eyes and targets mirrored"""

    bl_idname = "lookat_pd.mirror"
    bl_label = "Mirror Look-at"

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = selection.look_at_bone(context)
        bone, left_off = look_at_copy.mirror(context.scene, source.id_data, source.name)
        reporting.report_info(
            self, Message("Mirrored the look-at on '{source}' to '{bone}'.", source=source.name, bone=bone)
        )
        copy.tell_left_off(self, left_off)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_mirror,))
