"""What sees to it that nobody else meets a temporary scene, while one stays in the file between two slices of a solve.

An operator that waits in a window gets each event before anything that the event may start: a click, a key, an undo, a
menu, a script. It removes the scene, hands the event on and is gone; it is started anew, before all that waits by then,
for the next slice of the work. To move the mouse and to let a key go start nothing: the scene stays, or each slice
would be drawn while somebody points at something. What comes without an event has handlers of its own in
`rig/layers/live`: undo, save, load and render.
"""

from contextlib import suppress

import bpy

from ..rig.layers import live
from ..rig.sampling import sampler

_INTERVAL = 0.02
"""Seconds between two looks whether it is still needed."""
_NEUTRAL = ("TIMER", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "NONE")
"""Kinds of events that start nothing by themselves; the last are of Blender itself."""
_POINTING = ("MOUSE", "PEN", "ERASER")
"""How the names of buttons end with which something is pointed at: much is done when they are let go."""
_standing: dict[int, "LOOKAT_PD_OT_stand_by"] = {}
"""Those that wait, by the pointers of their windows."""


class LOOKAT_PD_OT_stand_by(bpy.types.Operator):
    """Leave nothing of a solve in the file before an event is handled"""

    bl_idname = "lookat_pd.stand_by"
    bl_label = "Solve Beside Events"
    bl_options = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._window = context.window.as_pointer()
        self._timer = context.window_manager.event_timer_add(_INTERVAL, window=context.window)
        context.window_manager.modal_handler_add(self)
        _standing[self._window] = self
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if sampler.is_resting() and is_alone(context.window) and _starts_nothing(context, event):
            return {"PASS_THROUGH"}
        sampler.park_all()
        self._end(context)
        return {"CANCELLED", "PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits, closes the window or loads another file."""
        sampler.park_all()
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        _standing.pop(self._window, None)
        with suppress(ReferenceError, RuntimeError):
            context.window_manager.event_timer_remove(self._timer)


def _starts_nothing(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Whether nothing answers to an event: the own timer, the mouse that moves, or a key that is let go, unless a
    keymap has something for that."""
    is_pointed = event.type.endswith(_POINTING) or event.type.startswith("NDOF")
    is_let_go = event.value in ("RELEASE", "CLICK") and not is_pointed
    if event.type not in _NEUTRAL and not is_let_go:
        return False
    keymaps = (keymap for keymap in context.window_manager.keyconfigs.user.keymaps if not keymap.is_modal)
    return event.type == "TIMER" or not any(keymap.keymap_items.match_event(event) for keymap in keymaps)


def is_alone(window: bpy.types.Window) -> bool:
    """Whether no other operator waits in a window."""
    return all(operator.bl_idname == "LOOKAT_PD_OT_stand_by" for operator in window.modal_operators)


def start(window: bpy.types.Window) -> bool:
    """Wait for events of a window; whether it does."""
    if not is_alone(window):
        return False
    if window.as_pointer() in _standing:
        return True
    with bpy.context.temp_override(window=window):
        return bpy.ops.lookat_pd.stand_by("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_stand_by)
    live.STAND_BY.append(start)


def unregister() -> None:
    live.STAND_BY.remove(start)
    sampler.park_all()
    _standing.clear()
    bpy.utils.unregister_class(LOOKAT_PD_OT_stand_by)
