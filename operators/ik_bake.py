"""Bake inverse kinematics to actions, with a progress display; Esc cancels without changes."""

import bpy

from ..lookat_pd.message import Message
from ..rig.ik import chain_bake, effector_goal
from ..rig.ik import setup as ik_setup
from ..translations import messages
from . import job, polling, reporting, selection


class BakeIK(job.Bake):
    """A bake of inverse kinematics."""

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking IK: {percent} %   Esc: cancel", percent=percent))

    def report_softened(self, frames: int, missed: float) -> None:
        """At how many frames a soft reach left limbs before their targets in reach, and by how much [mm] at most."""
        if frames:
            message = (
                "At {frames} frames, limbs that are almost straight end up to {missed:.2f} mm before their targets."
            )
            reporting.report_info(self, Message(message, frames=frames, missed=missed))

    def report_baked(self, bones: int, missed: float) -> None:
        """The result of a bake whose targets are all in reach. missed: largest error [mm]."""
        reporting.report_info(
            self,
            Message(
                "Baked {bones} into {where} ({seconds:.2f} s); the largest error is {missed:.2f} mm.",
                bones=reporting.bones(bones),
                **self.baked,
                missed=missed,
            ),
        )


def why_no_chain(context: bpy.types.Context) -> str | None:
    """The reason why there is no chain, as a sentence; None if there is one."""
    reason = polling.why_no_bone(context)
    if reason is not None:
        return reason
    bone = selection.bone(context)
    return polling.refusal(ik_setup.chain, selection.armature(context), bone.name, context.scene.lookat_pd_ik)


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can."""
    reason = why_no_chain(context)
    if reason is not None:
        return reason
    settings = context.scene.lookat_pd_ik
    if settings.follow == "TARGET" and settings.target is None:
        return "Choose a target to follow"
    if settings.follow == "PATH" and selection.bone(context).motion_path is None:
        return "Calculate the bone's motion path first (Pose > Motion Paths)"
    return None


class LOOKAT_PD_OT_ik_bake(BakeIK, bpy.types.Operator):
    """Make the effector follow its target over the frame range and key the bones of its chain"""

    bl_idname = "lookat_pd.ik_bake"
    bl_label = "Bake IK"
    why_not = staticmethod(why_not)

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        settings, bone = context.scene.lookat_pd_ik, selection.bone(context)
        chain = ik_setup.chain(selection.armature(context), bone.name, settings)
        goal = ik_setup.goal(chain, settings)
        effector_goal.check(chain, goal)
        options = self.bake_options(context)
        self.job = chain_bake.bake_goal(context.scene, chain, goal, ik_setup.tuning(settings), options)

    def finish(self, context: bpy.types.Context, result: chain_bake.IKBakeResult) -> None:
        self.report_softened(result.soft_frames, reporting.millimetres(context.scene, result.largest_softened))
        count = int(result.in_reach.sum())
        missed = reporting.millimetres(context.scene, result.largest_error)
        frames, bones = len(result.frames), len(result.chain.bones)
        if not count:
            reporting.report_info(
                self,
                Message(
                    "Baked {bones} into {where}; the target is out of reach at all {frames} frames.",
                    bones=reporting.bones(bones),
                    **self.baked,
                    frames=frames,
                ),
            )
        elif count < frames:
            reporting.report_info(
                self,
                Message(
                    "Baked {bones} into {where} ({seconds:.2f} s); the target is out of reach at "
                    "{out_of_reach} of {frames} frames, and the largest error at the others is "
                    "{missed:.2f} mm.",
                    bones=reporting.bones(bones),
                    **self.baked,
                    out_of_reach=frames - count,
                    frames=frames,
                    missed=missed,
                ),
            )
        else:
            self.report_baked(bones, missed)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_ik_bake,))
