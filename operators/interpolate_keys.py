"""Interpolate the selected keys with dynamics, with a progress display; Esc cancels without changes."""

from dataclasses import replace

import bpy
import numpy as np

from ..lookat_pd.dynamics import engine
from ..lookat_pd.message import Message, joined
from ..rig.dynamics import actuation, interpolation, setup
from ..translations import messages
from . import job, polling, reporting, selection

_FEW = 3


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be interpolated, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    bones = selection.selected_bones(context)
    if not bones:
        return "Select the bones to move in pose mode"
    steps = context.scene.lookat_pd_dynamics.between != "TORQUE_CHANGE"
    if steps and not engine.available():
        reason = _without_engine(actuation.needs_engine(context.scene, bones))
        if reason is not None:
            return reason
    armature = selection.armature(context)
    if armature.animation_data is None or armature.animation_data.action is None:
        return "Key at least two poses first"
    return None


def _without_engine(setting: str | None) -> str | None:
    """What to do about a setting that needs the engine, as a sentence."""
    if setting == "inertia":
        return "Inertia 'Reference' needs the physics engine MuJoCo; choose 'Actual Mass', or install the zip with it"
    if setting == "weight":
        return "Weight needs the physics engine MuJoCo to show loads; set it to 0, or install the zip with it"
    if setting == "passive":
        return "Passive bones need the physics engine MuJoCo; disable Passive, or install the zip with it"
    if setting == "limit":
        return "Torque limits need the physics engine MuJoCo; set Torque Limit to None, or install the zip with it"
    if setting == "friction":
        return "Friction needs the physics engine MuJoCo; set it to 0, or install the zip with it"
    return None


class LOOKAT_PD_OT_interpolate_keys(job.Bake, bpy.types.Operator):
    """Interpolate the keys of the selected bones as limbs with mass that pass through the keys"""

    bl_idname = "lookat_pd.interpolate_keys"
    bl_label = "Interpolate Keys"
    why_not = staticmethod(why_not)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Interpolating keys: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        bones = selection.selected_bones(context)
        request = setup.interpolation(context.scene, bones, self.frame_start, self.frame_end)
        request = replace(request, writer=self.writer())
        self.job = interpolation.start(context.scene, selection.armature(context), request, self.into)

    def finish(self, context: bpy.types.Context, result: interpolation.InterpolationResult) -> None:
        keys, bones = len(result.keys), reporting.bones(len(result.tree.bones))
        if not result.misses:
            reporting.report_info(
                self,
                Message(
                    "Interpolated {keys} poses of {bones} ({seconds:.2f} s); the motion passes through all of them.",
                    keys=keys,
                    bones=bones,
                    seconds=self.elapsed,
                ),
            )
            return
        named = joined(
            ", ",
            (
                Message(
                    "{frame:g} '{bone}' {angle:.1f}°", frame=miss.frame, bone=miss.bone, angle=np.degrees(miss.angle)
                )
                for miss in result.misses[:_FEW]
            ),
        )
        reporting.report_info(
            self,
            Message(
                "Interpolated {keys} poses of {bones} ({seconds:.2f} s); the torque limits miss {missed}: {listed}.",
                keys=keys,
                bones=bones,
                seconds=self.elapsed,
                missed=Message("1 key" if len(result.misses) == 1 else "{count} keys", count=len(result.misses)),
                listed=named,
            ),
        )


class LOOKAT_PD_OT_dynamics_compare(bpy.types.Operator):
    """Switch between the action before its keys were interpolated and the result"""

    bl_idname = "lookat_pd.dynamics_compare"
    bl_label = "Swap"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = polling.why_no_armature(context)
        if reason is None and interpolation.compared(selection.armature(context)) is None:
            reason = "Interpolate keys into a new action first"
        return polling.poll(cls, reason)

    def execute(self, context: bpy.types.Context) -> set[str]:
        interpolation.swap(selection.armature(context))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_interpolate_keys, LOOKAT_PD_OT_dynamics_compare)
)
