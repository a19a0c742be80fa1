"""Remove a look-at."""

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import resolve as look_at
from ..rig.settings import text
from . import polling, reporting, selection


class LOOKAT_PD_OT_remove(polling.OfLookAt, bpy.types.Operator):
    """Remove the look-at with its settings and their keys; baked keys are kept"""

    bl_idname = "lookat_pd.remove"
    bl_label = "Remove Look-at PD"

    bone: text("Bone", "Bone whose look-at is removed; leave empty for the displayed one", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        name = self.bone or selection.look_at_bone(context).name
        if name not in look_at.bones_with_look_at(armature):
            return reporting.report_error(
                self,
                Message(
                    "Bone '{name}' of '{armature}' has no look-at; select a bone with a look-at.",
                    name=name,
                    armature=armature.name,
                ),
            )
        look_at_edit.remove(armature, name)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_remove,))
