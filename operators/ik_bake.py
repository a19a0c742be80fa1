"""Bake inverse kinematics onto actions, with progress, and Esc to leave everything as it was."""

import bpy
from bpy.props import EnumProperty

from ..lookat_pd.errors import LookAtError
from ..rig.bake import Options
from ..rig.ik import bake as ik_bake
from ..rig.ik import goals
from ..rig.ik import setup as ik_setup
from ..translations import messages
from . import current, job

INTO = (
    ("NEW", "New Action", "A copy of the current action with the result in it; the original is kept"),
    ("CURRENT", "Current Action", "Replace the keys of the chain's bones in the current action"),
    ("LAYER", "NLA Layer", "A new NLA track above the animation that holds only the difference"),
)


class LOOKAT_PD_OT_ik_bake(job.Job, job.Frames, bpy.types.Operator):
    """Let the effector follow its target over the frame range, as keys on the bones of its chain"""

    bl_idname = "lookat_pd.ik_bake"
    bl_label = "Bake IK"
    bl_options = {"REGISTER", "UNDO"}

    into: EnumProperty(name="Into", description="Where the keys go; all other bones stay as they are", items=INTO)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "into")
        self.draw_frames(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(f"Baking IK: {percent} %   Esc: cancel")

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        settings, bone = context.scene.lookat_pd_ik, current.bone(context)
        chain = ik_setup.chain(current.armature(context), bone.name, settings)
        goal = ik_setup.goal(chain, settings)
        goals.check(chain, goal)
        options = Options(self.frame_start, self.frame_end, self.into)
        self.job = ik_bake.bake_goal(context.scene, chain, goal, ik_setup.tuning(settings), options)

    def finish(self, context: bpy.types.Context, result: ik_bake.Result) -> None:
        count = int(result.in_reach.sum())
        where = {"NEW": "a new action", "CURRENT": "the current action", "LAYER": "a new NLA layer"}[self.into]
        missed = 1000.0 * result.largest_error * context.scene.unit_settings.scale_length
        frames, bones = len(result.frames), len(result.chain.bones)
        if not count:
            current.tell(self, f"Baked {bones} bones into {where}; the target is out of reach at all {frames} frames.")
        elif count < frames:
            current.tell(
                self,
                f"Baked {bones} bones into {where} ({self.seconds:.2f} s); the target is out of reach at "
                f"{frames - count} of {frames} frames, at the others at most {missed:.2f} mm are left.",
            )
        else:
            current.tell(
                self, f"Baked {bones} bones into {where} ({self.seconds:.2f} s); at most {missed:.2f} mm are left."
            )


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to bake, as a sentence; None where there is."""
    reason = why_no_chain(context)
    if reason is not None:
        return reason
    settings = context.scene.lookat_pd_ik
    if settings.follow == "TARGET" and settings.target is None:
        return "Choose a target to follow"
    if settings.follow == "PATH" and current.bone(context).motion_path is None:
        return "Calculate the bone's motion path first (Pose > Motion Paths)"
    return None


def why_no_chain(context: bpy.types.Context) -> str | None:
    """Why there is no chain to work on, as a sentence; None where there is."""
    reason = current.why_no_armature(context)
    if reason is not None:
        return reason
    bone = current.bone(context)
    if bone is None:
        return "Select the bone that is to be moved, a hand say"
    try:
        ik_setup.chain(current.armature(context), bone.name, context.scene.lookat_pd_ik)
    except LookAtError as error:
        return messages.translate(str(error))
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_ik_bake)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_ik_bake)
