"""Reach for a goal with the active bone, with a progress display; Esc keeps the best result so far."""

from dataclasses import replace

import bpy

from ..lookat_pd.dynamics import engine
from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from ..rig.dynamics import reaching, setup
from ..rig.settings import integer, switch
from ..translations import messages
from . import drawing, job, polling, reporting, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no reach can be made, as a sentence; None if it can."""
    reason = polling.why_no_bone(context)
    if reason is not None:
        return reason
    bone = selection.bone(context)
    settings = context.scene.lookat_pd_dynamics
    if settings.method == "SMOOTHING" and not engine.available():
        return "Smoothing needs the physics engine MuJoCo; choose Optimal, or install the zip with it"
    if settings.goal == "OBJECT" and settings.target is None:
        return "Choose a goal for the reach"
    if settings.both_hands and settings.method != "OPTIMAL":
        return "Both hands need the method Optimal"
    return polling.refusal(_check_chains, context, bone.name)


def _check_chains(context: bpy.types.Context, bone: str) -> None:
    """Raises LookAtError where a hand cannot reach."""
    setup.chain(context.scene, selection.armature(context), bone)
    other = other_hand(context)
    if other:
        setup.chain(context.scene, selection.armature(context), other)


def other_hand(context: bpy.types.Context) -> str:
    """The bone that reaches together with the active one; "" if only one does. Raises RigError."""
    selected = [bone.name for bone in selection.selected_bones(context)]
    return setup.other_hand(context.scene, selection.armature(context), selection.bone(context).name, selected)


def other_hand_shown(context: bpy.types.Context) -> str:
    """The other hand, for a panel; "" if there is none."""
    try:
        return "" if selection.bone(context) is None else other_hand(context)
    except LookAtError:
        return ""


class LOOKAT_PD_OT_reach(job.ModalJob, job.Into, bpy.types.Operator):
    """Reach for the goal from the current frame, with the active bone or both hands and the least change of torque"""

    bl_idname = "lookat_pd.reach"
    bl_label = "Reach"
    why_not = staticmethod(why_not)

    use_current_frame: switch("Current Frame", "Start at the current frame", True)
    frame_start: integer("Start", "First frame of the reach", 1)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        self.draw_into(layout)
        layout.prop(self, "use_current_frame")
        row = layout.row()
        row.active = not self.use_current_frame
        row.prop(self, "frame_start")

    def progress(self, percent: str) -> str:
        return messages.translate(
            Message("Solving reach: {percent} %   Esc: keep the best result   Esc again: cancel", percent=percent)
        )

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self._enough = False
        if self.use_current_frame:
            self.frame_start = setup.key_frame(context.scene)
        armature, bone = selection.armature(context), selection.bone(context)
        request = setup.reach(context.scene, armature, bone.name, self.frame_start, other_hand(context))
        request = replace(request, writer=self.writer())
        self.job = reaching.start(context.scene, armature, request, self.into, enough=lambda: self._enough)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and not (event.value == "PRESS" and self._enough):
            self._enough |= event.value == "PRESS"
            return {"RUNNING_MODAL"}
        return super().modal(context, event)

    def finish(self, context: bpy.types.Context, result: reaching.ReachResult) -> None:
        missed = reporting.millimetres(context.scene, result.missed)
        first, last = int(result.keyed[0]), int(result.keyed[-1])
        given = {"first": first, "last": last, "seconds": self.elapsed, "missed": missed}
        text = Message(
            "Baked the reach, frames {first} to {last} ({seconds:.2f} s); the error is "
            "{missed:.2f} mm, and the cost is {saved:.0%} below that of the straight path.",
            **given,
            saved=result.saved,
        )
        if result.saved < 0.0:
            text = Message(
                "Baked the reach, frames {first} to {last} ({seconds:.2f} s); the error is "
                "{missed:.2f} mm, and the cost is {more:.0%} above that of the straight path through obstacles.",
                **given,
                more=-result.saved,
            )
        reporting.report_info(self, text)
        for problem in result.warnings:
            self.report({"WARNING"}, messages.translate(problem))


class LOOKAT_PD_OT_via_add(bpy.types.Operator):
    """Add the selected objects as waypoints of the effector"""

    bl_idname = "lookat_pd.via_add"
    bl_label = "Add Waypoint"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        setup.add_vias(context.scene, selection.armature(context), context.selected_objects)
        return {"FINISHED"}


class LOOKAT_PD_OT_via_remove(bpy.types.Operator):
    """Remove this waypoint"""

    bl_idname = "lookat_pd.via_remove"
    bl_label = "Remove Waypoint"
    bl_options = {"REGISTER", "UNDO"}

    index: integer("Index", "Number of the waypoint", min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.lookat_pd_dynamics.vias.remove(self.index)
        return {"FINISHED"}


_register, _unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_reach, LOOKAT_PD_OT_via_add, LOOKAT_PD_OT_via_remove)
)


def register() -> None:
    _register()


def unregister() -> None:
    reaching.kept.clear()
    _unregister()
