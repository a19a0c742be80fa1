"""Make an action cyclic."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.transitions import loop
from ..rig.transitions.settings import LOOP_END_ITEMS, blend_time
from . import current, inertialize
from .blending import Blended, Played


class LOOKAT_PD_OT_loop_action(current.Explained, Blended, Played, bpy.types.Operator):
    """Make a cyclic copy of an action, whose end leads into its start without a pop"""

    bl_idname = "lookat_pd.loop_action"
    bl_label = "Loop Action"
    why_not = staticmethod(inertialize.why_not)

    action: StringProperty(name="Action", description="Action to loop; leave empty for the current action")
    use_range: BoolProperty(name="Frame Range", description="Loop only a part of the action")
    frame_start: IntProperty(name="Start", description="First frame of the loop", default=1)
    frame_end: IntProperty(
        name="End", description="Last frame of the loop; it has the same pose as the first", default=25
    )
    use_auto_blend: BoolProperty(
        name="Automatic Blend", description="Derive the blend time from the difference", default=True
    )
    blend: blend_time("Time in seconds in which the ends are blended into each other")
    ends: EnumProperty(name="Change", description="What is changed so that the ends meet", items=LOOP_END_ITEMS)
    in_place: BoolProperty(name="In Place", description="Remove the motion of the root on the ground plane")
    cycles: BoolProperty(
        name="Cycles Modifiers",
        description="Repeat the F-curves indefinitely; not available if the root turns",
        default=True,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.action = ""
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = current.prepared(self.layout)
        layout.prop_search(self, "action", bpy.data, "actions", icon="ACTION")
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        self.draw_blend(layout)
        layout.prop(self, "ends")
        layout.prop(self, "in_place")
        layout.prop(self, "cycles")
        layout.prop(self, "assign")

    @current.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        action = inertialize.find_action(self.action or inertialize.current_action(context), "action")
        if self.use_range and self.frame_end <= self.frame_start:
            raise RigError(
                "The range {first} to {last} is empty or reversed; enter the smaller frame first.",
                first=self.frame_start,
                last=self.frame_end,
            )
        result = loop.loop(
            current.armature(context),
            action,
            self.frame_start if self.use_range else None,
            self.frame_end if self.use_range else None,
            self.how(context),
            ends=self.ends,
            in_place=self.in_place,
            cycles=self.cycles,
            assign=self.assign,
            scene=context.scene,
        )
        repeats = (
            "" if result.cycles or not self.cycles else "; the root rotates over a cycle, so the F-curves do not repeat"
        )
        current.report_info(
            self,
            Message(
                "'{action}' loops over frames {first} to {last} ({blend:.2f} s at each end){repeats}.",
                action=result.action.name,
                first=result.first,
                last=result.last,
                blend=result.blend,
                repeats=Message(repeats),
            ),
        )
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_loop_action,))
