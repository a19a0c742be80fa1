"""Several effectors of one body: the list of effectors, and the bake to actions."""

import bpy
import numpy as np

from ..lookat_pd.message import Message
from ..rig.animation.stored_settings import read
from ..rig.ik import body, body_bake, body_settings
from . import polling, reporting, selection
from .ik_bake import BakeIK


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    armature = selection.armature(context)
    effectors = body_settings.effectors(armature, np.array([context.scene.frame_current]))
    if not effectors:
        return "Add the bones to move, such as hands and feet"
    return polling.refusal(body.resolve, armature, effectors)


class LOOKAT_PD_OT_ik_effector_add(bpy.types.Operator):
    """Add the selected bones to the list of effectors, or an empty row if there are none; feet get a high priority"""

    bl_idname = "lookat_pd.ik_effector_add"
    bl_label = "Add Effectors"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.poll(cls, polling.why_no_armature(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        body_settings.add(
            selection.armature(context), [bone.name for bone in selection.selected_bones(context)] or [""]
        )
        return {"FINISHED"}


class LOOKAT_PD_OT_ik_effector_remove(bpy.types.Operator):
    """Remove the highlighted effector and the keys of its weight"""

    bl_idname = "lookat_pd.ik_effector_remove"
    bl_label = "Remove Effector"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = polling.why_no_armature(context)
        if reason is None:
            settings = read(selection.armature(context), "lookat_pd_ik_body")
            if not 0 <= settings.effectors_index < len(settings.effectors):
                reason = "Select an effector in the list"
        return polling.poll(cls, reason)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        body_settings.remove(armature, armature.lookat_pd_ik_body.effectors_index)
        return {"FINISHED"}


class LOOKAT_PD_OT_ik_body_bake(BakeIK, bpy.types.Operator):
    """Make all effectors of the list follow their targets over the frame range and key the bones of the body"""

    bl_idname = "lookat_pd.ik_body_bake"
    bl_label = "Bake Effectors"
    why_not = staticmethod(why_not)

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        armature = selection.armature(context)
        options = self.bake_options(context)
        effectors = body_settings.effectors(armature, np.arange(self.frame_start, self.frame_end + 1))
        self.job = body_bake.bake(context.scene, armature, effectors, body_settings.tuning(armature), options)

    def finish(self, context: bpy.types.Context, result: body_bake.BodyBakeResult) -> None:
        for bone, control in result.redirected.items():
            reporting.report_info(self, body_bake.redirection(bone, control))
        self.report_softened(result.soft_frames, reporting.millimetres(context.scene, result.largest_softened))
        missing = result.missing
        if missing:
            bone, count = max(missing.items(), key=lambda item: item[1])
            reporting.report_info(
                self,
                Message(
                    "Baked {bones} into {where} ({seconds:.2f} s); '{bone}' does not reach its target at "
                    "{count} of {frames} frames.",
                    bones=reporting.bones(len(result.bones)),
                    **self.baked,
                    bone=bone,
                    count=count,
                    frames=len(result.frames),
                ),
            )
            return
        missed = result.largest_error if result.in_reach.any() else 0.0
        self.report_baked(len(result.bones), reporting.millimetres(context.scene, missed))


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_ik_effector_add, LOOKAT_PD_OT_ik_effector_remove, LOOKAT_PD_OT_ik_body_bake)
)
