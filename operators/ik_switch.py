"""Switch limbs of rigs with controls between IK and FK over a range of frames, keeping their poses."""

import math
from dataclasses import replace
from typing import Any

import bpy

from ..lookat_pd.message import Message
from ..rig.animation.bake_options import BakeOptions
from ..rig.controls import limb_switch
from ..rig.controls.limb_fit import SwitchResult
from ..rig.settings import choice, text
from ..translations import messages
from . import drawing, job, polling, reporting, selection


def _bones(context: bpy.types.Context) -> list[str]:
    return [bone.name for bone in selection.selected_bones(context)]


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no limb can be switched, as a sentence; None if one can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    bones = _bones(context)
    if not bones:
        return "Select a control of the arm or leg"
    return polling.refusal_of_bones(limb_switch.limbs_of, selection.armature(context), bones)


def arguments(context: bpy.types.Context, armature: bpy.types.Object, bone: str, state: str) -> dict[str, Any]:
    """The arguments that switch the limb of a bone, with the frames and the destination of the last run. Raises
    LookAtError if it cannot be switched so."""
    last = context.window_manager.operator_properties_last(LOOKAT_PD_OT_ik_switch.bl_idname)
    frames = job.scene_range(context.scene) if last.use_scene_range else (last.frame_start, last.frame_end)
    options = BakeOptions(*frames, _into(armature, last.into))
    limb_switch.check(context.scene, armature, [bone], state, options)
    return {
        "to": state,
        "limb": bone,
        "into": last.into,
        "use_scene_range": last.use_scene_range,
        "frame_start": frames[0],
        "frame_end": frames[1],
    }


def _into(armature: bpy.types.Object, into: str) -> str:
    return into if armature.animation_data is not None and armature.animation_data.action else "NEW"


class LOOKAT_PD_OT_ik_switch(job.Bake, bpy.types.Operator):
    """Key IK-FK of the selected limbs over the frame range, and the controls that take over, so that the pose stays"""

    bl_idname = "lookat_pd.ik_switch"
    bl_label = "Switch IK-FK"
    why_not = staticmethod(why_not)

    to: choice(
        "To",
        "What poses the limbs in these frames",
        (
            ("FK", "FK", "The FK controls pose the limbs"),
            ("IK", "IK", "The IK controls pose the limbs"),
        ),
    )
    limb: text("Limb", "A bone of the limb to switch, instead of the selected ones", options={"HIDDEN", "SKIP_SAVE"})
    into: choice(
        "Into",
        "Action that receives the keys; keys of other bones do not change",
        (
            ("CURRENT", "Current Action", "Replace the keys of the limb's controls in the current action"),
            job.NEW,
        ),
    )

    def draw(self, context: bpy.types.Context) -> None:
        drawing.prepared(self.layout).prop(self, "to")
        super().draw(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Switching IK-FK: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        armature, bones = selection.armature(context), [self.limb] if self.limb else _bones(context)
        options = replace(self.bake_options(context), into=_into(armature, self.into))
        self.job = limb_switch.switch(context.scene, armature, bones, self.to, options)

    def finish(self, context: bpy.types.Context, result: SwitchResult) -> None:
        for limb in result.skipped:
            reporting.report_info(self, limb_switch.skipping(limb, self.to))
        reporting.report_info(
            self,
            Message(
                "Switched {limbs} to {state} from frame {first} to {last}; the joints are off by at most {missed:.2f} "
                "mm, the bones by {angle:.1f}°.",
                limbs=", ".join(limb.turned[-1] if self.to == "FK" else limb.goal for limb in result.limbs),
                state=self.to,
                first=int(result.frames[0]),
                last=int(result.frames[-1]),
                missed=reporting.millimetres(context.scene, float(result.errors.max())),
                angle=math.degrees(float(result.turned.max())),
            ),
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_ik_switch,))
