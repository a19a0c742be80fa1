"""Smooth a pop of the animation."""

from collections.abc import Generator, Sequence
from math import ceil
from typing import NamedTuple

import blf
import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.message import Message, joined
from ..lookat_pd.progress import subrange
from ..rig.animation import actions
from ..rig.animation.key_settings import KeptKeys
from ..rig.feet.contact_report import ContactReport
from ..rig.sampling import scene_time
from ..rig.settings import choice, integer, switch, text
from ..rig.transitions import pop_smoothing, pops
from ..rig.transitions.settings import POP_ITEMS, PoseSource, blend_method, blend_time, damping_ratio
from ..rig.transitions.visual import visual_feet, visual_transition
from ..translations import messages
from . import drawing, inertialize, polling, reporting, selection
from .blending import Blended, FootLocking, draw_method
from .job import ModalJob
from .key_choice import KeyChoice

_WIDTH, _EDGES = 360, 64
"""Least width of the dialog, and what is beside a line with an icon in it [pixels at a scale of 1]."""
_NO_POP = "No pop was found in the frame range of the scene; go to the frame of the pop and smooth that frame."


def dialog_width(context: bpy.types.Context, line: str) -> int:
    """Width of the dialog [pixels at a scale of 1] in which a line with an icon is not cut."""
    blf.size(0, context.preferences.ui_styles[0].widget.points)
    return max(_WIDTH, ceil(blf.dimensions(0, line)[0]) + _EDGES)


def why_no_keys(armature: bpy.types.Object) -> str | None:
    """The reason why there are no keys to smooth, as a sentence; None if there are."""
    reason = polling.why_no_action(armature)
    if reason is not None:
        return reason
    data = armature.animation_data
    if data.action_slot is None:
        return "The action has no slot selected for this armature; select a slot in the Action editor"
    return "The action is empty" if actions.is_empty(data.action, data.action_slot) else None


class SmoothedPop(NamedTuple):
    """A pop that was smoothed."""

    frame: float
    method: str
    """Label of the method, which for an automatic choice is that of the one that was chosen."""


class Smoothed(NamedTuple):
    """What was smoothed, and what locking the feet did, None where they are not locked or not planted."""

    pops: Sequence[SmoothedPop]
    feet: ContactReport | None = None


def summary(smoothed: Smoothed) -> Message:
    """Which pops were smoothed and how, as a sentence."""
    listed = joined(
        ", ",
        (Message("{frame:g} ({method})", frame=pop.frame, method=iface_(pop.method)) for pop in smoothed.pops),
    )
    values = {"pops": len(smoothed.pops), "frames": listed, "feet": inertialize.locked(smoothed.feet)}
    if len(smoothed.pops) == 1:
        return Message("Smoothed {pops} pop at frame {frames}{feet}.", **values)
    return Message("Smoothed {pops} pops at frame {frames}{feet}.", **values)


class LOOKAT_PD_OT_smooth_pop(PoseSource, KeptKeys, Blended, FootLocking, KeyChoice, ModalJob, bpy.types.Operator):
    """Remove the pop at this frame by decaying the jump from the frame before"""

    bl_idname = "lookat_pd.smooth_pop"
    bl_label = "Smooth Pop"
    why_not = staticmethod(inertialize.why_not)

    where: choice(
        "Scope",
        "",
        (
            ("FRAME", "Frame", "Smooth the pop at one frame"),
            ("ALL", "Detected", "Detect all pops in the frame range of the scene and smooth each of them"),
        ),
    )
    frame: integer("Frame", "First frame after the pop; the current frame if not set")
    use_auto_blend: switch("Automatic Blend", "Derive the blend time from the size of the pop", True)
    blend: blend_time("Time in seconds in which the pop decays", 0.2)
    method: blend_method(POP_ITEMS)
    damping_ratio: damping_ratio()
    only_selected: switch("Selected Bones Only", "Do not change other bones")
    into: choice(
        "Into",
        "",
        (
            ("CURRENT", "Current Action", "Change the keys of the current action"),
            ("NEW", "New Action", "Change a copy of the current action; the original is kept"),
        ),
    )

    asked: text(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        here = self.frame = context.scene.frame_current
        nearest = self._nearest(context, here) if self.where == "FRAME" else here
        if nearest == here:
            return super().invoke(context, event)
        # Another frame than that which is seen is never changed unasked.
        self.frame = round(nearest)
        question = Message(
            "There is no pop at frame {here}; the nearest one is at frame {nearest}.", here=here, nearest=self.frame
        )
        self.asked = messages.translate(question)
        width = dialog_width(context, self.asked)
        return context.window_manager.invoke_props_dialog(self, width=width, confirm_text=iface_("Smooth"))

    def _nearest(self, context: bpy.types.Context, here: int) -> float:
        """The frame of the pop that is nearest to a frame; that frame where none is known, as for it to be smoothed."""
        armature, settings = selection.armature(context), context.scene.lookat_pd_transition
        if self.pose_source == "VISUAL":
            known = [item.frame for item in settings.visual_pops]
            return min(known, key=lambda at: abs(at - here), default=here)
        if why_no_keys(armature) is not None:
            return here
        data = armature.animation_data
        try:
            found = pops.near(armature, data.action, here, slot=data.action_slot)
        except LookAtError:
            return here
        return here if found is None else found

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        if self.asked:
            layout.label(text=self.asked, icon="QUESTION", translate=False)
        layout.prop(self, "pose_source")
        layout.prop(self, "where")
        if self.where == "FRAME":
            layout.prop(self, "frame")
        draw_method(layout, self)
        self.draw_blend(layout)
        row = layout.row()
        row.active = not self.only_selected
        row.prop(self, "lock_feet")
        layout.prop(self, "only_selected")
        if self.pose_source == "KEYS":
            layout.prop(self, "into")
            self.draw_keys(layout)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_no_keys(selection.armature(context)) if self.pose_source == "KEYS" else None

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Smoothing pops: {percent} %   (Esc cancels)", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        self.asked = ""
        if not self.properties.is_property_set("frame"):
            self.frame = context.scene.frame_current
        self.check_feet(context)
        self.job = self._smooth_visual(context) if self.pose_source == "VISUAL" else self._smooth_keys(context)

    def finish(self, context: bpy.types.Context, result: Smoothed) -> None:
        reporting.report_info(self, summary(result))

    def _smooth_keys(self, context: bpy.types.Context) -> Generator[float, None, Smoothed]:
        """Smooth the keys. Raises LookAtError, after which nothing has changed."""
        yield 0.0
        armature, scene = selection.armature(context), context.scene
        bones, data = self._bones(armature), armature.animation_data
        by_frame = {self.frame: bones}
        if self.where == "ALL":
            here = pops.find(armature, data.action, scene.frame_start, scene.frame_end, slot=data.action_slot)
            by_frame = pops.bones_by_frame(here, bones)
            if not by_frame:
                raise RigError(_NO_POP)
        made = yield from pop_smoothing.smooth(
            scene,
            armature,
            by_frame,
            self.how(context),
            into=self.into,
            lock_feet=self.feet if self._locks else False,
            shorten=self.where == "ALL",
            writer=self.writer(),
        )
        self.report_unlocked(made.unlocked)
        return Smoothed([SmoothedPop(frame, how.how.label) for frame, how in made.blends.items()], made.feet)

    def _smooth_visual(self, context: bpy.types.Context) -> Generator[float, None, Smoothed]:
        """Smooth the visual pose. Raises LookAtError, as `_smooth_keys`."""
        armature = selection.armature(context)
        scene, bones = context.scene, self._bones(armature)
        first, last = scene_time.key_range(scene)
        part = 0.6 if self._locks else 1.0
        if self.where == "FRAME":
            job = visual_transition.blend_at(scene, armature, self.frame, self.how(context), bones=bones)
            made = [(yield from subrange(job, 0.0, part))]
        else:
            job = visual_transition.smooth_all(scene, armature, first, last, self.how(context), bones=bones)
            made = [seen for _, seen in (yield from subrange(job, 0.0, part))]
            if not made:
                raise RigError(_NO_POP)
        feet = None
        if self._locks:
            feet = yield from subrange(visual_feet.lock_through(scene, armature, made, first, last), part, 1.0)
        return Smoothed([SmoothedPop(seen.frame, seen.how.label) for seen in made], feet)

    @property
    def _locks(self) -> bool:
        """Whether feet are locked: where only selected bones may change, legs are not corrected."""
        return self.lock_feet and not self.only_selected

    def _bones(self, armature: bpy.types.Object) -> set[str] | None:
        """The bones to smooth; None for all."""
        if not self.only_selected:
            return None
        return {bone.name for bone in armature.pose.bones if selection.is_chosen(bone)}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_smooth_pop,))
