"""Choose between the two directions that a character may face."""

import bpy

from ..rig.look_at import facing
from ..rig.settings import choice
from . import polling, selection


class LOOKAT_PD_OT_choose_facing(polling.OfLookAt, bpy.types.Operator):
    """Use this direction as the forward axis of the character"""

    bl_idname = "lookat_pd.choose_facing"
    bl_label = "Choose Forward Axis"

    candidate: choice(
        "Direction",
        "Direction in which the character faces in its rest pose",
        (
            ("FIRST", "Detected", "The direction that most parts of the rig show"),
            ("SECOND", "Other Direction", "The other possible direction"),
            ("AUTO", "Automatic", "Detect the direction again each time"),
        ),
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        facing.choose(bone.id_data, bone.name, {"FIRST": 0, "SECOND": 1, "AUTO": -1}[self.candidate])
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_choose_facing,))
