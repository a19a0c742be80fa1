"""Switch the whole body response on or off."""

import bpy

from ..rig.look_at.body import layers
from ..rig.settings import choice, switch
from . import polling, reporting, selection


class LOOKAT_PD_OT_whole_body(polling.OfLookAt, bpy.types.Operator):
    """Include hips, arms, feet and eyes in the motion, where the rig has them; the amounts are kept"""

    bl_idname = "lookat_pd.whole_body"
    bl_label = "Whole Body"

    use: switch(
        "Whole Body", "Enable all responses of the body and the eyes; otherwise only those that are on by default", True
    )

    group: choice(
        "Part",
        "The responses to switch",
        (
            ("ALL", "Whole Body", "Hips, arms, feet and eyes"),
            ("BODY", "Body", "Hips, arms and feet"),
        ),
        "ALL",
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        layers.switch_whole_body(bone.lookat_pd, self.use, "" if self.group == "ALL" else "body")
        if self.use and self.group == "ALL":
            reporting.take_over_eyes(self, context.scene, bone.id_data, bone.name)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_whole_body,))
