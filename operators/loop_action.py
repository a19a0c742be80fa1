"""Make an action cyclic."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig.transitions import loop
from . import current, inertialize
from .blending import Blended, Played


class LOOKAT_PD_OT_loop_action(Blended, Played, bpy.types.Operator):
    """Make a cyclic copy of an action: its end runs into its start without a pop"""

    bl_idname = "lookat_pd.loop_action"
    bl_label = "Loop Action"
    bl_options = {"REGISTER", "UNDO"}

    action: StringProperty(name="Action", description="Action to loop; empty for the current one")
    use_range: BoolProperty(name="Frame Range", description="Loop only some of the action's frames")
    frame_start: IntProperty(name="Start", description="First frame of the loop", default=1)
    frame_end: IntProperty(
        name="End", description="Last frame of the loop, which shows the pose of the first", default=25
    )
    use_auto_blend: BoolProperty(name="Automatic Blend", description="As long as suits the difference", default=True)
    blend: FloatProperty(
        name="Blend", description="Seconds in which each end gives way to the other", default=0.3, min=0.0, soft_max=1.0
    )
    in_place: BoolProperty(name="In Place", description="Take the root's travel over the ground out")
    cycles: BoolProperty(
        name="Cycles Modifiers", description="Let the F-curves repeat for ever; not where the root turns", default=True
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, inertialize.why_not(context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.action = ""
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop_search(self, "action", bpy.data, "actions", icon="ACTION")
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        self.draw_blend(layout)
        layout.prop(self, "in_place")
        layout.prop(self, "cycles")
        layout.prop(self, "assign")

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            action = inertialize.find_action(self.action or inertialize.current_action(context), "action")
            if self.use_range and self.frame_end <= self.frame_start:
                raise RigError(f"The range {self.frame_start} to {self.frame_end} is empty or reversed; mend it.")
            result = loop.loop(
                current.armature(context),
                action,
                self.frame_start if self.use_range else None,
                self.frame_end if self.use_range else None,
                self.seconds,
                in_place=self.in_place,
                cycles=self.cycles,
                assign=self.assign,
                scene=context.scene,
            )
        except LookAtError as error:
            return current.complain(self, error)
        repeats = "" if result.cycles or not self.cycles else "; it turns on the way, so its F-curves do not repeat"
        current.tell(
            self,
            f"'{result.action.name}' loops over frames {result.first} to {result.last} ({result.blend:.2f} s at each "
            f"end){repeats}.",
        )
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_loop_action)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_loop_action)
