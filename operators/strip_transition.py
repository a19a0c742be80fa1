"""Add a transition between two NLA strips."""

from collections.abc import Generator, Sequence

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..lookat_pd.progress import subrange
from ..rig.animation.key_settings import KeptKeys
from ..rig.transitions import strips
from ..rig.transitions.settings import BLEND_ITEMS, PoseSource, blend_method, blend_time, damping_ratio
from ..rig.transitions.splice import Blend
from ..rig.transitions.visual import visual_feet, visual_transition
from ..translations import messages
from . import drawing, inertialize, polling, reporting, selection, smooth_pop
from .blending import Blended, FootLocking, draw_method
from .job import ModalJob
from .key_choice import KeyChoice


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no strips can be joined, as a sentence; None if they can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    armature = selection.armature(context)
    data = armature.animation_data if armature is not None else None
    if data is not None and data.use_tweak_mode:
        return "Leave NLA tweak mode"
    if armature is None or len(strips.selected(armature)) != 2:
        return "Select two strips of the armature in the NLA editor"
    return None


class LOOKAT_PD_OT_strip_transition(
    PoseSource, KeptKeys, Blended, FootLocking, KeyChoice, ModalJob, bpy.types.Operator
):
    """Add a strip with a transition from the first of two selected strips to the second, without a pop"""

    bl_idname = "lookat_pd.strip_transition"
    bl_label = "Add Transition between Strips"
    why_not = staticmethod(why_not)

    blend: blend_time("Time in seconds until only the second strip plays")
    method: blend_method(BLEND_ITEMS)
    damping_ratio: damping_ratio()

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "pose_source")
        draw_method(layout, self)
        self.draw_blend(layout)
        layout.prop(self, "lock_feet")
        if self.pose_source == "KEYS":
            self.draw_keys(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Adding a transition: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        armature = selection.armature(context)
        chosen = strips.selected(armature)
        if len(chosen) != 2:
            raise RigError(
                "{strips} strips of '{armature}' are selected; select the two strips to join.",
                strips=len(chosen),
                armature=armature.name,
            )
        self.check_feet(context)
        self.job = self._join(context.scene, armature, chosen, self.how(context))

    def _join(
        self,
        scene: bpy.types.Scene,
        armature: bpy.types.Object,
        chosen: Sequence[bpy.types.NlaStrip],
        blend: Blend,
    ) -> Generator[float, None, Message]:
        """Add the transition, and return what was done. Raises LookAtError."""
        yield 0.0
        first, second = chosen
        feet, part = None, 0.5 if self.lock_feet else 1.0
        if self.pose_source == "VISUAL":
            job = visual_transition.blend_at(scene, armature, strips.cut_frame(armature, first, second), blend)
            seen = yield from subrange(job, 0.0, part)
            if self.lock_feet:
                ends = int(first.frame_start), int(second.frame_end)
                feet = yield from subrange(visual_feet.lock_through(scene, armature, [seen], *ends), part, 1.0)
            return smooth_pop.summary(smooth_pop.Smoothed([smooth_pop.SmoothedPop(seen.frame, seen.how.label)], feet))
        made = strips.join(armature, first, second, blend, scene=scene)
        if self.lock_feet:
            feet = yield from strips.lock_feet(scene, armature, first, second, made)
        strips.with_keys(armature, made, self.writer())
        return Message(
            "Added strip '{strip}' from frame {first} to {last} ({blend:.2f} s){feet}.",
            strip=made.strip.name,
            first=made.first,
            last=made.last,
            blend=made.blend,
            feet=inertialize.locked(feet),
        )

    def finish(self, context: bpy.types.Context, result: Message) -> None:
        reporting.report_info(self, result)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_strip_transition,))
