"""A reach of the active bone for a goal, with progress; Esc takes the best that was found so far."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..lookat_pd.dynamics import engine
from ..lookat_pd.errors import LookAtError
from ..rig.dynamics import reaching, setup
from ..translations import messages
from . import current, job
from .ik_bake import INTO


class LOOKAT_PD_OT_reach(job.Job, bpy.types.Operator):
    """Let the active bone reach for its goal from the current frame on, with as little change of torque as there is"""

    bl_idname = "lookat_pd.reach"
    bl_label = "Reach"
    bl_options = {"REGISTER", "UNDO"}

    into: EnumProperty(name="Into", description="Where the keys go; all other bones stay as they are", items=INTO)
    use_current_frame: BoolProperty(name="Current Frame", description="Set out at the current frame", default=True)
    frame_start: IntProperty(name="Start", description="Frame at which the reach sets out", default=1)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "into")
        layout.prop(self, "use_current_frame")
        row = layout.row()
        row.active = not self.use_current_frame
        row.prop(self, "frame_start")

    def progress(self, percent: str) -> str:
        return messages.translate(f"Reaching: {percent} %   Esc: take the best so far   Esc again: cancel")

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self._enough = False
        if self.use_current_frame:
            self.frame_start = setup.key_frame(context.scene)
        armature, bone = current.armature(context), current.bone(context)
        wish = setup.reach(context.scene, armature, bone.name, self.frame_start)
        self.job = reaching.start(context.scene, armature, wish, self.into, enough=lambda: self._enough)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and not (event.value == "PRESS" and self._enough):
            self._enough |= event.value == "PRESS"
            return {"RUNNING_MODAL"}
        return super().modal(context, event)

    def finish(self, context: bpy.types.Context, result: reaching.Result) -> None:
        missed = 1000.0 * result.missed * context.scene.unit_settings.scale_length
        first, last = result.frames[0], result.frames[-1]
        current.tell(
            self,
            f"Reached over frames {first} to {last} ({self.seconds:.2f} s); {missed:.2f} mm are left, the cost is "
            f"{result.saved:.0%} below that of the straight way.",
        )


class LOOKAT_PD_OT_via_add(bpy.types.Operator):
    """Add the selected objects to the places through which the effector goes"""

    bl_idname = "lookat_pd.via_add"
    bl_label = "Add Via"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        setup.add_vias(context.scene, current.armature(context), context.selected_objects)
        return {"FINISHED"}


class LOOKAT_PD_OT_via_remove(bpy.types.Operator):
    """Go on without this place"""

    bl_idname = "lookat_pd.via_remove"
    bl_label = "Remove Via"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Index", description="Which of the places", default=0, min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.lookat_pd_dynamics.vias.remove(self.index)
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to reach with, as a sentence; None where there is."""
    reason = current.why_no_armature(context) or engine.reason()
    if reason is not None:
        return reason
    bone = current.bone(context)
    if bone is None:
        return "Select the bone that is to be moved, a hand say"
    settings = context.scene.lookat_pd_dynamics
    if settings.goal == "OBJECT" and settings.target is None:
        return "Choose a goal to reach"
    try:
        setup.chain(context.scene, current.armature(context), bone.name)
    except LookAtError as error:
        return messages.translate(str(error))
    return None


CLASSES = (LOOKAT_PD_OT_reach, LOOKAT_PD_OT_via_add, LOOKAT_PD_OT_via_remove)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    reaching.forget()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
