"""Add a look-at to the head."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import resolve as look_at
from ..rig.look_at.body import layers
from ..rig.settings import switch, text
from . import polling, reporting, selection


class LOOKAT_PD_OT_add(polling.Explained, bpy.types.Operator):
    """Make the head, and the neck and spine below it, look at a target"""

    bl_idname = "lookat_pd.add"
    bl_label = "Add Look-at PD"
    why_not = staticmethod(polling.why_no_armature)

    # The redo panel keeps the last names; a new call uses the current selection or the values of the button.
    bone: text(
        "Bone",
        "Bone that aims at the target; leave empty for the active bone or the detected head",
        options={"SKIP_SAVE"},
    )
    target: text(
        "Target", "Object to look at; leave empty for the other selected object, or a new empty", options={"SKIP_SAVE"}
    )
    new_target: switch(
        "New Target", "Add an empty in front of the face as the target if no other object is selected", True
    )

    whole_body: switch("Whole Body", "Include hips, arms, feet and eyes in the motion, where the rig has them")

    @reporting.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        bone = self._bone(context, armature)
        target = self._target(context)
        look_at_edit.add(context.scene, armature, bone, target, make_target=self.new_target)
        if self.whole_body:
            layers.switch_on(armature.pose.bones[bone].lookat_pd)
            reporting.take_over_eyes(self, context.scene, armature, bone)
        self.bone = bone
        look_at_edit.activate(armature, bone)
        return {"FINISHED"}

    def _bone(self, context: bpy.types.Context, armature: bpy.types.Object) -> str:
        if self.bone:
            return self.bone
        active = selection.bone(context)
        if context.mode == "POSE" and active is not None and look_at_edit.is_selected(active):
            return active.name
        return look_at.find_head(armature)

    def _target(self, context: bpy.types.Context) -> bpy.types.Object | None:
        if self.target:
            return selection.named_object(context, self.target)
        others = selection.other_selected_objects(context, selection.armature(context))
        return others[0] if others else None


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_add,))
