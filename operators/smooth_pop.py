"""Smooth a pop of the animation."""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.message import Message, joined
from ..rig.animation import actions
from ..rig.look_at import edit as look_at_edit
from ..rig.sampling import scene_time
from ..rig.transitions import join, pops
from ..rig.transitions.as_seen import seen_transition
from ..rig.transitions.settings import POP_ITEMS, PoseSource, blend_time, damping_ratio
from ..translations import messages
from . import current, inertialize
from .blending import Blended, draw_method
from .job import ModalJob

_NO_POP = "No pop was found in the frame range of the scene; go to the frame of the pop and smooth that frame."


def why_no_keys(armature: bpy.types.Object) -> str | None:
    """The reason why there are no keys to smooth, as a sentence; None if there are."""
    data = armature.animation_data
    if data is None or data.action is None:
        return "The armature has no action; assign one in the Action editor"
    if data.action_slot is None:
        return "The action has no slot selected for this armature; select a slot in the Action editor"
    return "The action is empty" if actions.is_empty(data.action, data.action_slot) else None


class SmoothedPop(NamedTuple):
    """A pop that was smoothed. method: its label, which for an automatic choice is that of the one that was chosen."""

    frame: float
    method: str


def summary(smoothed: Sequence[SmoothedPop]) -> Message:
    """Which pops were smoothed and how, as a sentence."""
    listed = joined(
        ", ",
        (Message("{frame:g} ({method})", frame=pop.frame, method=iface_(pop.method)) for pop in smoothed),
    )
    if len(smoothed) == 1:
        return Message("Smoothed {pops} pop at frame {frames}.", pops=1, frames=listed)
    return Message("Smoothed {pops} pops at frame {frames}.", pops=len(smoothed), frames=listed)


class LOOKAT_PD_OT_smooth_pop(PoseSource, Blended, ModalJob, bpy.types.Operator):
    """Remove the pop at this frame by decaying the jump from the frame before"""

    bl_idname = "lookat_pd.smooth_pop"
    bl_label = "Smooth Pop"
    why_not = staticmethod(inertialize.why_not)

    where: EnumProperty(
        name="Scope",
        items=(
            ("FRAME", "Frame", "Smooth the pop at one frame"),
            ("ALL", "Detected", "Detect all pops in the frame range of the scene and smooth each of them"),
        ),
    )
    frame: IntProperty(name="Frame", description="First frame after the pop; the current frame if not set")
    use_auto_blend: BoolProperty(
        name="Automatic Blend", description="Derive the blend time from the size of the pop", default=True
    )
    blend: blend_time("Time in seconds in which the pop decays", 0.2)
    method: EnumProperty(name="Method", description="Method of blending the difference", items=POP_ITEMS)
    damping_ratio: damping_ratio()
    only_selected: BoolProperty(name="Selected Bones Only", description="Do not change other bones")
    into: EnumProperty(
        name="Into",
        items=(
            ("CURRENT", "Current Action", "Change the keys of the current action"),
            ("NEW", "New Action", "Change a copy of the current action; the original is kept"),
        ),
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.frame = context.scene.frame_current
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = current.prepared(self.layout)
        layout.prop(self, "pose_source")
        layout.prop(self, "where")
        if self.where == "FRAME":
            layout.prop(self, "frame")
        draw_method(layout, self)
        self.draw_blend(layout)
        layout.prop(self, "only_selected")
        if self.pose_source == "KEYS":
            layout.prop(self, "into")

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_no_keys(current.armature(context)) if self.pose_source == "KEYS" else None

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Smoothing pops: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        if not self.properties.is_property_set("frame"):
            self.frame = context.scene.frame_current
        self.job = self._smooth_seen(context) if self.pose_source == "SEEN" else self._smooth_keys(context)

    def finish(self, context: bpy.types.Context, result: Sequence[SmoothedPop]) -> None:
        current.report_info(self, summary(result))

    def _smooth_keys(self, context: bpy.types.Context) -> Generator[float, None, Sequence[SmoothedPop]]:
        """Smooth the keys, and return the frames of the pops. Raises LookAtError, after which nothing has changed."""
        yield 0.0
        armature = current.armature(context)
        original = armature.animation_data.action
        # Smoothing may fail at the last of several pops, so a copy is changed until all are done.
        copy = original.copy()
        slot = copy.slots[armature.animation_data.action_slot.identifier]
        try:
            frames = self._smooth(context, armature, copy, slot, original.name)
            if self.into == "CURRENT":
                self._smooth(context, armature, original, armature.animation_data.action_slot, original.name)
        except LookAtError:
            bpy.data.actions.remove(copy)
            raise
        if self.into == "NEW":
            copy.name = f"{original.name} smooth"
            join.use(armature, copy, slot)
        else:
            bpy.data.actions.remove(copy)
        return frames

    def _smooth_seen(self, context: bpy.types.Context) -> Generator[float, None, Sequence[SmoothedPop]]:
        """Smooth the evaluated pose, and return the frames of the pops. Raises LookAtError, as `_smooth_keys`."""
        armature = current.armature(context)
        scene, bones = context.scene, self._bones(armature)
        if self.where == "FRAME":
            seen = yield from seen_transition.blend_at(scene, armature, self.frame, self.how(context), bones=bones)
            return [SmoothedPop(self.frame, seen.how.label)]
        first, last = scene_time.key_range(scene)
        made = yield from seen_transition.smooth_all(scene, armature, first, last, self.how(context), bones=bones)
        if not made:
            raise RigError(_NO_POP)
        return [SmoothedPop(pop.frame, seen.how.label) for pop, seen in made]

    def _bones(self, armature: bpy.types.Object) -> set[str] | None:
        """The bones to smooth; None for all."""
        if not self.only_selected:
            return None
        return {bone.name for bone in armature.pose.bones if look_at_edit.is_selected(bone)}

    def _smooth(
        self,
        context: bpy.types.Context,
        armature: bpy.types.Object,
        action: bpy.types.Action,
        slot: bpy.types.ActionSlot,
        called: str,
    ) -> list[SmoothedPop]:
        """Smooth the pops. called: the action's name in messages."""
        bones, blend, scene = self._bones(armature), self.how(context), context.scene
        options = {"slot": slot, "scene": scene, "called": called}
        if self.where == "FRAME":
            made = pops.smooth(armature, action, self.frame, blend, bones=bones, **options)
            return [SmoothedPop(self.frame, made.how.label)]
        found = pops.by_frame(pops.find(armature, action, scene.frame_start, scene.frame_end, slot=slot))
        smoothed = []
        for frame, here in found.items():
            leaping = {pop.bone for pop in here} & (bones if bones is not None else {pop.bone for pop in here})
            if leaping:
                made = pops.smooth(armature, action, int(frame), blend, bones=leaping, **options)
                smoothed.append(SmoothedPop(frame, made.how.label))
        if not smoothed:
            raise RigError(_NO_POP)
        return smoothed


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_smooth_pop,))
