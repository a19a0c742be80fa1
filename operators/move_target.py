"""Move the target of a look-at with the mouse, with the character selected and in pose mode."""

from contextlib import suppress

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector, geometry

from ..lookat_pd.message import Message
from ..rig.animation import auto_keying
from ..rig.look_at import target_moving
from ..rig.look_at.target_moving import HeldTarget
from ..translations import messages
from . import polling, reporting, select_target, viewports

_AXES = {"X": Vector((1.0, 0.0, 0.0)), "Y": Vector((0.0, 1.0, 0.0)), "Z": Vector((0.0, 0.0, 1.0))}


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why the target cannot be moved, as a sentence; None if it can."""
    reason = polling.why_no_look_at(context)
    if reason is not None:
        return reason
    target = select_target.target(context)
    return polling.why_no_target(has_target=target.object is not None) or polling.refusal(target_moving.check, target)


class LOOKAT_PD_OT_move_target(polling.Explained, viewports.InView, bpy.types.Operator):
    """Move the target at which the look-at looks now, without selecting it. X, Y, Z: along an axis, Esc: back"""

    bl_idname = "lookat_pd.move_target"
    bl_label = "Move Target"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_not)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.find_view(context, event):
            return reporting.report_error(self, "A target is moved with the mouse over a 3D viewport.")
        target = select_target.target(context)
        action = auto_keying.linked_action(context.scene, target.object)
        if action is not None:
            return reporting.report_error(
                self,
                Message(
                    "Auto keying cannot write to action '{action}', which is linked from a library; make a copy of the "
                    "action.",
                    action=action.name,
                ),
            )
        self._held = HeldTarget(target)
        self._area = viewports.area_of(context.window, self._region)
        self._axis = ""
        self._grip = self._held.place - self.under(event, self._held.place)
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("SCROLL_XY")
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            return self._handle(context, event)
        except ReferenceError:
            self._end(context)
            return reporting.report_error(self, "Undo changed the file meanwhile; move the target again.")

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits or loads another file."""
        with suppress(ReferenceError):
            self._held.restore()
        self._end(context)

    def _handle(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.is_called_off(event):
            self._held.restore()
            self._end(context)
            return {"CANCELLED"}
        if self.is_let_go(event) or (event.type in ("RET", "NUMPAD_ENTER") and event.value == "PRESS"):
            self._end(context)
            if not self._held.moved:
                return {"CANCELLED"}
            self._held.key(context.scene)
            return {"FINISHED"}
        if event.type in _AXES and event.value == "PRESS":
            self._axis = "" if self._axis == event.type else event.type
        if event.type in (*_AXES, "MOUSEMOVE"):
            self._held.move(
                self.under(event, self._held.place) + self._grip if not self._axis else self._on_axis(event)
            )
            self._say()
        return {"RUNNING_MODAL"}

    def _on_axis(self, event: bpy.types.Event) -> Vector:
        """The place on the chosen axis through the target that is nearest to the mouse."""
        begin, end = self._held.place, self._held.place + _AXES[self._axis]
        at = self.position(event)
        eye = view3d_utils.region_2d_to_origin_3d(self._region, self._view, at) + self._grip
        ray = view3d_utils.region_2d_to_vector_3d(self._region, self._view, at)
        found = geometry.intersect_line_line(begin, end, eye, eye + ray)
        return begin if found is None else found[0]

    def _say(self) -> None:
        on = Message(" along {axis}", axis=self._axis) if self._axis else ""
        name = self._held.target.label
        text = Message("'{target}' moves{on}   X, Y, Z: axis   Esc: cancel", target=name, on=on)
        self._area.header_text_set(messages.translate(text))

    def _end(self, context: bpy.types.Context) -> None:
        context.window.cursor_modal_restore()
        with suppress(ReferenceError):
            self._area.header_text_set(None)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_move_target,))
