"""Pops of the visual pose: find them, and edit the transitions that smooth them."""

from collections.abc import Sequence
from typing import Any

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.layers import live
from ..rig.sampling import scene_time
from ..rig.settings import integer, text
from ..rig.transitions.visual import visual_keys, visual_offsets, visual_pops
from ..rig.transitions.visual.visual_pops import VisualPop
from ..translations import messages
from . import drawing, inertialize, polling, reporting, selection
from .job import INTO, Into, ModalJob


def why_no_transitions(context: bpy.types.Context) -> str | None:
    """The reason why there are no transitions to edit, as a sentence; None if there are."""
    reason = inertialize.why_not(context)
    if reason is None and not visual_offsets.of(selection.armature(context)):
        return "Smooth a pop of the visual pose first"
    return reason


class LOOKAT_PD_OT_find_visual_pops(ModalJob, bpy.types.Operator):
    """List the frames at which the visual pose jumps, with the bone that jumps most and the cause"""

    bl_idname = "lookat_pd.find_visual_pops"
    bl_label = "Find Visual Pops"
    why_not = staticmethod(inertialize.why_not)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Searching for pops: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        scene = context.scene
        live.finish(scene)
        first, last = scene_time.key_range(scene, scene.frame_start, scene.frame_end)
        self.job = visual_pops.find(scene, selection.armature(context), first, last)

    def finish(self, context: bpy.types.Context, result: Any) -> None:
        settings, armature = context.scene.lookat_pd_transition, selection.armature(context)
        settings.visual_pops.clear()
        for pop in result:
            _fill(settings.visual_pops.add(), armature, pop)
        text = "Found {count} pops of the visual pose."
        if len(result) == 1:
            text = "Found {count} pop of the visual pose."
        reporting.report_info(self, Message(text, count=len(result)))


def _fill(item: bpy.types.bpy_struct, armature: bpy.types.Object, pop: VisualPop) -> None:
    item.frame, item.bone = pop.frame, visual_pops.label(armature, pop.bones[0])
    item.turn, item.cause = pop.turn, messages.translate(pop.cause)


class LOOKAT_PD_OT_remove_visual_transitions(polling.Explained, bpy.types.Operator):
    """Remove visual transitions, so that the pops are back"""

    bl_idname = "lookat_pd.remove_visual_transitions"
    bl_label = "Remove Visual Transitions"
    why_not = staticmethod(why_no_transitions)

    frame: integer("Frame", "Frame of the pop; those at all frames if not set")
    action: text("Action", "Action of the only transition to remove; empty for any")

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature, only = selection.armature(context), self.properties.is_property_set("frame")
        transitions = [action for action in visual_offsets.of(armature) if self.action in ("", action.name)]
        if only:
            transitions = [
                action for action in transitions if visual_offsets.note_of(action).get("frame") == self.frame
            ]
        if not transitions:
            raise RigError(
                "There is no visual transition at frame {frame}; choose one from the list.", frame=self.frame
            )
        for action in transitions:
            visual_offsets.remove(armature, action)
        reporting.report_info(self, Message("Removed {count} visual transitions.", count=len(transitions)))
        return {"FINISHED"}


class LOOKAT_PD_OT_key_visual_transitions(Into, ModalJob, bpy.types.Operator):
    """Replace the constraints of the visual transitions by keys of the bones and controls that you animate"""

    bl_idname = "lookat_pd.key_visual_transitions"
    bl_label = "Key Visual Transitions"
    why_not = staticmethod(inertialize.why_not)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_no_transitions(context)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_into(drawing.prepared(self.layout))

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Keying transitions: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        live.finish(context.scene)
        self.job = visual_keys.write(context.scene, selection.armature(context), self.into, writer=self.writer())

    def finish(self, context: bpy.types.Context, result: Sequence[visual_keys.WrittenKeys]) -> None:
        controls = {bone for written in result for bone in written.controls}
        text = Message(
            "Keyed {bones} from frame {first} to {last} into {where}.",
            bones=reporting.bones(len(controls)),
            first=min(written.first for written in result),
            last=max(written.last for written in result),
            where=INTO[self.into],
        )
        reporting.report_info(self, text)


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_find_visual_pops,
        LOOKAT_PD_OT_key_visual_transitions,
        LOOKAT_PD_OT_remove_visual_transitions,
    )
)
