"""Join two actions into one, without a pop at the cut."""

import time

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig.transitions import join, splice, timeline
from ..rig.transitions.settings import METHOD_ITEMS, ROOT_ITEMS
from . import current
from .blending import Blended, Played


class LOOKAT_PD_OT_inertialize(Blended, Played, bpy.types.Operator):
    """Join two actions into a new one: the source until the cut, then the destination, and no pop between"""

    bl_idname = "lookat_pd.inertialize"
    bl_label = "Join Actions"
    bl_options = {"REGISTER", "UNDO"}

    source: StringProperty(name="Source", description="Action that plays first; empty for the current one")
    destination: StringProperty(name="Destination", description="Action that goes on after the cut")
    source_frame: IntProperty(
        name="Cut at Frame", description="First frame that no longer shows the source; not set: the current frame"
    )
    destination_frame: IntProperty(
        name="Enter at Frame", description="Frame of the destination that comes there; not set: its first"
    )
    blend: FloatProperty(
        name="Blend", description="Seconds until the destination plays alone", default=0.3, min=0.0, soft_max=1.0
    )
    root: EnumProperty(name="Root", description="How the destination is placed", items=ROOT_ITEMS, default="HEADING")
    method: EnumProperty(name="Method", description="How the difference is blended", items=METHOD_ITEMS)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        settings = context.scene.lookat_pd_transition
        for name in ("source", "destination", "use_auto_blend", "blend", "root", "method"):
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(settings, name))
        if not self.source:
            self.source = current_action(context)
        if not self.properties.is_property_set("source_frame"):
            found = bool(settings.destination)
            self.source_frame = settings.source_frame if found else context.scene.frame_current
            if found:
                self.destination_frame = settings.destination_frame
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for action, frame in (("source", "source_frame"), ("destination", "destination_frame")):
            column = layout.column(align=True)
            column.prop_search(self, action, bpy.data, "actions", icon="ACTION")
            column.prop(self, frame)
        layout.prop(self, "method")
        column = layout.column(align=True)
        column.active = self.method != "CUT"
        self.draw_blend(column)
        layout.prop(self, "root")
        layout.prop(self, "assign")

    def execute(self, context: bpy.types.Context) -> set[str]:
        started = time.perf_counter()
        try:
            result = self._join(context)
        except LookAtError as error:
            return current.complain(self, error)
        current.tell(self, told(result, time.perf_counter() - started))
        return {"FINISHED"}

    def _join(self, context: bpy.types.Context) -> join.Joined:
        armature = current.armature(context)
        source = find_action(self.source or current_action(context), "source")
        destination = find_action(self.destination, "destination")
        if not self.properties.is_property_set("source_frame"):
            self.source_frame = context.scene.frame_current
        if not self.properties.is_property_set("destination_frame"):
            self.destination_frame = timeline.reach(armature, timeline.ClipRef(destination, 0))[0]
        return join.join(
            armature,
            join.ClipRef(source, self.source_frame),
            join.ClipRef(destination, self.destination_frame),
            splice.Blend(self.seconds, self.method),
            root=self.root,
            assign=self.assign,
            scene=context.scene,
        )


def current_action(context: bpy.types.Context) -> str:
    """Name of the action that the armature plays; empty where it plays none."""
    data = current.armature(context).animation_data
    return data.action.name if data and data.action else ""


def find_action(name: str, role: str) -> bpy.types.Action:
    """The action of that name. Raises RigError where there is none."""
    if not name:
        raise RigError(f"There is no {role} to join; choose an action for it.")
    action = bpy.data.actions.get(name)
    if action is None:
        raise RigError(f"There is no action '{name}' to be the {role}; choose one that exists.")
    return action


def told(result: join.Joined, seconds: float) -> str:
    """What was joined, as a sentence."""
    cut = ", ".join(f"frame {cut} ({blend:.2f} s)" for cut, blend in zip(result.cuts, result.blends, strict=True))
    missing = f"; {len(result.missing)} bones are not on this rig" if result.missing else ""
    placed = f", placed by '{result.root}'" if result.root else ""
    return (
        f"'{result.action.name}': {result.bones} bones, frames {result.first} to {result.last}, joined at {cut}{placed}"
        f"{missing} ({seconds:.2f} s)."
    )


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to join, as a sentence; None where there is."""
    reason = current.why_no_armature(context)
    if reason is not None:
        return reason
    if not bpy.data.actions:
        return "There are no actions to join; animate the armature first, or append some"
    data = current.armature(context).animation_data
    if data is not None and data.use_tweak_mode:
        return "Leave NLA tweak mode"
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_inertialize)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_inertialize)
