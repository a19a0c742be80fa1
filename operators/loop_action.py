"""Make an action cyclic."""

from collections.abc import Generator

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.animation.key_settings import KeptKeys
from ..rig.sampling import scene_time
from ..rig.sampling.action_names import action_name
from ..rig.settings import choice, integer, switch
from ..rig.transitions import loop
from ..rig.transitions.settings import LOOP_END_ITEMS, PoseSource, blend_time
from ..rig.transitions.splice import Blend
from ..rig.transitions.visual import visual_loop
from ..translations import messages
from . import drawing, inertialize, reporting, selection
from .blending import Blended, FootLocking, Played
from .job import ModalJob
from .key_choice import KeyChoice


class LOOKAT_PD_OT_loop_action(
    PoseSource, KeptKeys, Blended, FootLocking, Played, KeyChoice, ModalJob, bpy.types.Operator
):
    """Make a cyclic copy of an action, whose end leads into its start without a pop; or a cycle of the visual pose"""

    bl_idname = "lookat_pd.loop_action"
    bl_label = "Loop Action"
    why_not = staticmethod(inertialize.why_not)

    action: action_name("Action", "Action to loop; leave empty for the current action")
    use_range: switch("Frame Range", "Loop only a part of the action")
    frame_start: integer("Start", "First frame of the loop", 1)
    frame_end: integer("End", "Last frame of the loop; it has the same pose as the first", 25)
    use_auto_blend: switch("Automatic Blend", "Derive the blend time from the difference", True)
    blend: blend_time("Time in seconds in which the ends are blended into each other")
    ends: choice("Change", "What is changed so that the ends meet", LOOP_END_ITEMS)
    in_place: switch("In Place", "Remove the motion of the root on the ground plane")
    cycles: switch("Cycles Modifiers", "Repeat the F-curves indefinitely; not available if the root turns", True)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.action = ""
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "pose_source")
        keys = self.pose_source == "KEYS"
        if keys:
            layout.prop(self, "action", icon="ACTION")
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        self.draw_blend(layout)
        for name in ("ends", "in_place", "lock_feet", *(("cycles", "assign") if keys else ())):
            layout.prop(self, name)
        if keys:
            self.draw_keys(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Looping: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        if self.use_range and self.frame_end <= self.frame_start:
            raise RigError(
                "The range {first} to {last} is empty or reversed; enter the smaller frame first.",
                first=self.frame_start,
                last=self.frame_end,
            )
        blend = self.how(context)
        self.check_feet(context)
        if self.pose_source == "VISUAL":
            self.job = self._loop_visual(context.scene, selection.armature(context), blend)
            return
        action = inertialize.find_action(self.action or inertialize.current_action(context), "action")
        self.job = self._loop_keys(context.scene, selection.armature(context), action, blend)

    def finish(self, context: bpy.types.Context, result: Message) -> None:
        reporting.report_info(self, result)

    def _loop_keys(
        self, scene: bpy.types.Scene, armature: bpy.types.Object, action: bpy.types.Action, blend: Blend
    ) -> Generator[float, None, Message]:
        """Make the cyclic action, and return what was done. Raises LookAtError."""
        yield 0.0
        result = yield from loop.looping(
            armature,
            action,
            self.frame_start if self.use_range else None,
            self.frame_end if self.use_range else None,
            blend,
            ends=self.ends,
            in_place=self.in_place,
            cycles=self.cycles,
            assign=self.assign,
            lock_feet=self.feet,
            scene=scene,
            writer=self.writer(),
        )
        self.report_unlocked(result.unlocked)
        repeats = (
            "" if result.cycles or not self.cycles else "; the root rotates over a cycle, so the F-curves do not repeat"
        )
        return Message(
            "'{action}' loops over frames {first} to {last} ({blend:.2f} s at each end){feet}{repeats}.",
            action=result.action.name,
            first=result.first,
            last=result.last,
            blend=result.blend,
            feet=inertialize.locked(result.feet),
            repeats=Message(repeats),
        )

    def _loop_visual(
        self, scene: bpy.types.Scene, armature: bpy.types.Object, blend: Blend
    ) -> Generator[float, None, Message]:
        """Close the visual pose, and return what was done. Raises LookAtError."""
        first, last = scene_time.key_range(scene)
        if self.use_range:
            first, last = self.frame_start, self.frame_end
        options = {"ends": self.ends, "in_place": self.in_place, "lock_feet": self.feet}
        made = yield from visual_loop.closed(scene, armature, first, last, blend, **options)
        self.report_unlocked(made.unlocked)
        return Message(
            "The visual pose of '{armature}' loops over frames {first} to {last} ({blend:.2f} s at each end){feet}.",
            armature=armature.name,
            first=first,
            last=last,
            blend=made.blend,
            feet=inertialize.locked(made.feet),
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_loop_action,))
