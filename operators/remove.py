"""Remove a look-at."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.settings import text
from . import polling, selection


class LOOKAT_PD_OT_remove(polling.OfLookAt, bpy.types.Operator):
    """Remove the look-at with its settings and their keys; baked keys are kept"""

    bl_idname = "lookat_pd.remove"
    bl_label = "Remove Look-at PD"

    bone: text("Bone", "Bone whose look-at is removed; leave empty for the displayed one", options={"SKIP_SAVE"})
    armature: text("Armature", "Armature of that bone; leave empty for the displayed one", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.named_look_at(context, self.armature, self.bone)
        look_at_edit.remove(bone.id_data, bone.name)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_remove,))
