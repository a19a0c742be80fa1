"""Switch the whole body response on or off."""

import bpy

from ..rig.look_at.body import layers
from ..rig.settings import switch
from . import polling, reporting, selection


class LOOKAT_PD_OT_whole_body(polling.OfLookAt, bpy.types.Operator):
    """Include hips, arms, feet and eyes in the motion, where the rig has them; the amounts are kept"""

    bl_idname = "lookat_pd.whole_body"
    bl_label = "Whole Body"

    use: switch(
        "Whole Body", "Enable all responses of the body and the eyes; otherwise only those that are on by default", True
    )

    @reporting.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        layers.switch_whole_body(bone.lookat_pd, self.use)
        if self.use:
            reporting.take_over_eyes(self, context.scene, bone.id_data, bone.name)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_whole_body,))
