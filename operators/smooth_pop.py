"""Smooth a leap of the animation away."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import actions, look_at_edit
from ..rig.transitions import join, pops
from . import current, inertialize
from .blending import Blended


class LOOKAT_PD_OT_smooth_pop(Blended, bpy.types.Operator):
    """Make the animation run smoothly into this frame: the leap from the frame before dies away, nothing else moves"""

    bl_idname = "lookat_pd.smooth_pop"
    bl_label = "Smooth Pop"
    bl_options = {"REGISTER", "UNDO"}

    where: EnumProperty(
        name="Where",
        items=(
            ("FRAME", "Frame", "Smooth the leap into one frame"),
            ("ALL", "Found", "Find all leaps in the scene's frame range and smooth each"),
        ),
    )
    frame: IntProperty(name="Frame", description="First frame after the pop; not set: the current one")
    use_auto_blend: BoolProperty(name="Automatic Blend", description="As long as suits the leap", default=True)
    blend: FloatProperty(
        name="Blend", description="Seconds in which the leap dies away", default=0.2, min=0.0, soft_max=1.0
    )
    only_selected: BoolProperty(name="Selected Bones Only", description="Leave other bones as they are")
    into: EnumProperty(
        name="Into",
        items=(
            ("CURRENT", "Current Action", "Change the keys of the current action"),
            ("NEW", "New Action", "Change a copy; the original is kept"),
        ),
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.frame = context.scene.frame_current
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "where")
        if self.where == "FRAME":
            layout.prop(self, "frame")
        self.draw_blend(layout)
        layout.prop(self, "only_selected")
        layout.prop(self, "into")

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = current.armature(context)
        if not self.properties.is_property_set("frame"):
            self.frame = context.scene.frame_current
        original = armature.animation_data.action
        # The smoothing of several pops may fail at the last one: what is changed is a copy until all is done.
        copy = original.copy()
        slot = copy.slots[armature.animation_data.action_slot.identifier]
        try:
            frames = self._smooth(context, armature, copy, slot, original.name)
            if self.into == "CURRENT":
                self._smooth(context, armature, original, armature.animation_data.action_slot, original.name)
        except LookAtError as error:
            bpy.data.actions.remove(copy)
            return current.complain(self, error)
        if self.into == "NEW":
            copy.name = f"{original.name} smooth"
            join.use(armature, copy, slot)
        else:
            bpy.data.actions.remove(copy)
        listed = ", ".join(f"{frame:g}" for frame in frames)
        current.tell(self, f"Smoothed {len(frames)} pop{'s' if len(frames) != 1 else ''} at frame {listed}.")
        return {"FINISHED"}

    def _smooth(
        self,
        context: bpy.types.Context,
        armature: bpy.types.Object,
        action: bpy.types.Action,
        slot: bpy.types.ActionSlot,
        called: str,
    ) -> list[float]:
        """Smooth and return the frames. called: the action's name in messages."""
        bones = None
        if self.only_selected:
            bones = {bone.name for bone in armature.pose.bones if look_at_edit.is_selected(bone)}
        if self.where == "FRAME":
            options = {"bones": bones, "slot": slot, "scene": context.scene, "called": called}
            pops.smooth(armature, action, self.frame, self.seconds, **options)
            return [float(self.frame)]
        scene = context.scene
        found = pops.by_frame(pops.find(armature, action, scene.frame_start, scene.frame_end, slot=slot))
        smoothed = []
        for frame, here in found.items():
            leaping = {pop.bone for pop in here} & (bones if bones is not None else {pop.bone for pop in here})
            if leaping:
                options = {"bones": leaping, "slot": slot, "scene": scene, "called": called}
                pops.smooth(armature, action, int(frame), self.seconds, **options)
                smoothed.append(frame)
        if not smoothed:
            raise RigError(
                "No pop was found between the scene's first and last frame; go to one and smooth that frame."
            )
        return smoothed


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to smooth, as a sentence; None where there is."""
    reason = inertialize.why_not(context)
    if reason is not None:
        return reason
    armature = current.armature(context)
    data = armature.animation_data
    if data is None or data.action is None:
        return "The armature plays no action; choose one in the Action editor"
    if data.action_slot is None:
        return "The action has no slot chosen for this armature; choose one in the Action editor"
    return "The action is empty" if actions.is_empty(data.action, data.action_slot) else None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_smooth_pop)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_smooth_pop)
