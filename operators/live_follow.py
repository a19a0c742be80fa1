"""Follow a target in real time, without playback: the mouse moves it, or it is dragged in the viewport."""

import time
from collections.abc import Sequence
from contextlib import suppress

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_
from bpy_extras import view3d_utils

from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.message import Message
from ..rig.animation.key_writer import KeyWriter
from ..rig.look_at.directing import looks
from ..rig.look_at.live_follow.live_follow_session import LiveFollowSession
from ..rig.sampling.targets import Target
from ..rig.settings import number, switch
from ..translations import messages
from . import job, polling, reporting, selection, viewports
from .undo_guard import guarded

_INTERVAL = 1.0 / 60.0
_LONGEST = 0.25
"""Longest step [s]; while Blender is busy for longer, the clock stops."""
_SHOWN_EVERY = 0.1
_NOTCH = 1.08
"""Factor of the distance of the goal for a notch of the mouse wheel."""
_FADE = 0.3
"""Time [s] in which a recording sets out and returns, by default."""
_KEEP, _RESTORE = ("RET", "NUMPAD_ENTER"), "ESC"
_UNDONE = "Undo changed the file during Live Follow; start it again."
_WIDE = ("EVENT_ESC",)
"""Wide icons."""
_OF_THE_VIEW = ("MIDDLEMOUSE", "NUMPAD", "NDOF", "TRACKPAD", "MOUSE", "INBETWEEN", "TIMER", "WINDOW", "HOME", "EVT")
"""Prefixes of events that are passed to Blender even while the mouse is used, for example to navigate."""


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why Live Follow cannot start, as a sentence; None if it can."""
    reason = polling.why_no_look_at(context)
    if reason is not None:
        return reason
    if _sessions:
        return "Live Follow is already running; end it with Enter or Esc"
    settings = selection.look_at_bone(context).lookat_pd
    if settings.mute:
        return "The look-at is muted; unmute it first"
    return polling.why_no_target(has_target=looks.chosen(settings) != Target())


class LOOKAT_PD_OT_follow(polling.Explained, job.Into, bpy.types.Operator):
    """Follow the mouse or the target in real time. Enter keeps the pose, Esc restores it"""

    bl_idname = "lookat_pd.follow"
    bl_label = "Live Follow"
    why_not = staticmethod(why_not)

    use_mouse: switch("Mouse", "Guide the gaze with the mouse; if disabled, drag the target itself", True)
    record: switch(
        "Record", "Record the motion as keys, starting at the current frame, instead of keeping only the final pose"
    )

    fade: number(
        "Fade",
        "Time in seconds in which a recording blends in from the animation, and back to it after its end",
        _FADE,
        max=60.0,
        soft_max=2.0,
        unit="TIME_ABSOLUTE",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if context.window is None:
            return reporting.report_error(self, "Live Follow needs a window; run it from the 3D viewport.")
        shown = selection.look_at_bone(context)
        session = LiveFollowSession(context.scene, context.view_layer, shown.id_data, shown.name)
        self._control = Control(session, use_mouse=self.use_mouse, into=self.into, fade=self.fade)
        if self.record:
            self._control.toggle_record()
        manager = context.window_manager
        self._timer = manager.event_timer_add(_INTERVAL, window=context.window)
        self._workspace = context.workspace
        _sessions.append(session)
        manager.modal_handler_add(self)
        self._shown = 0.0
        self._show()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        control = self._control
        if not control.session.is_open:
            self._end(context)
            return reporting.report_error(self, _UNDONE)
        try:
            if context.scene != control.session.scene:
                raise RigError("The window was switched to another scene; start Live Follow again.")
            if event.type == "TIMER":
                control.tick(time.perf_counter())
                viewports.redraw()
                self._show()
                return {"PASS_THROUGH"}
            request = control.handle(event, context.window)
            if request == "KEEP":
                reporting.report_info(self, keep(control.session, control.into, control.fade, self.writer()))
                self.report_keys()
                self._end(context)
                return {"FINISHED"}
        except ReferenceError:
            control.session.release()
            self._end(context)
            return reporting.report_error(self, _UNDONE)
        except BaseException:
            control.session.restore()
            self._end(context)
            raise
        if request == "RESTORE":
            control.session.restore()
            self._end(context)
            reporting.report_info(self, "Live Follow cancelled; nothing was changed.")
            return {"CANCELLED"}
        if request == "SHOW":
            self._show(now=True)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"} if request == "PASS" else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits or loads another file."""
        with suppress(ReferenceError):
            self._control.session.restore()
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        self._control.session.release()
        if self._control.session in _sessions:
            _sessions.remove(self._control.session)
        with suppress(ReferenceError, RuntimeError):
            context.window_manager.event_timer_remove(self._timer)
        with suppress(ReferenceError):
            self._workspace.status_text_set(None)
        viewports.redraw()

    def _show(self, *, now: bool = False) -> None:
        """Show state and keys in the status bar."""
        if not now and time.perf_counter() - self._shown < _SHOWN_EVERY:
            return
        self._shown = time.perf_counter()
        control = self._control
        state, keys = control.state(), control.keys()

        def draw(header: bpy.types.Header, context: bpy.types.Context) -> None:
            layout = header.layout
            layout.label(text=state, icon="REC" if control.session.is_recording else "NONE", translate=False)
            for icons, text in keys:
                row = layout.row(align=True)
                for icon in icons:
                    row.label(text="", icon=icon)
                if icons[-1] in _WIDE:
                    row.separator(factor=1.5)
                row.label(text=text, translate=False)
            layout.separator_spacer()

        self._workspace.status_text_set(draw)


class Control:
    """The effect of clock, mouse and keys on a session.

    goal: (3,) point in world space under the mouse; None to follow the target.
    """

    def __init__(self, session: LiveFollowSession, *, use_mouse: bool, into: str, fade: float = _FADE) -> None:
        self.session, self.use_mouse, self.into, self.fade = session, use_mouse, into, fade
        self.goal: np.ndarray | None = None
        self.elapsed = 0.0
        self.complaint = ""
        self._before: float | None = None

    def tick(self, now: float) -> None:
        """Advance to the time `now` [s]."""
        before, self._before = self._before, now
        if before is None:
            return
        dt = min(now - before, _LONGEST)
        if dt < 0.25 * _INTERVAL:
            # The timer of another operator.
            self._before = before
            return
        self.elapsed += dt
        self.session.tick(dt, self.goal)

    def handle(self, event: bpy.types.Event, window: bpy.types.Window) -> str:
        """Handle an event: "KEEP", "RESTORE", "SHOW", "PASS" for Blender to handle it, or ""."""
        pressed = event.value == "PRESS"
        if event.type in _KEEP or event.type == _RESTORE:
            request = "RESTORE" if event.type == _RESTORE else "KEEP"
            return request if pressed else ""
        place = viewports.view_under(window, event.mouse_x, event.mouse_y)
        if place is None:
            return "PASS"
        plain = not (event.ctrl or event.shift or event.alt or event.oskey)
        if event.type in ("R", "M") and plain:
            if pressed:
                self.toggle_record() if event.type == "R" else self.toggle_mouse()
            return "SHOW"
        return self._lead(event, *place, pressed=pressed, plain=plain) if self.use_mouse else "PASS"

    def _lead(
        self, event, region: bpy.types.Region, view: bpy.types.RegionView3D, *, pressed: bool, plain: bool
    ) -> str:
        """Handle an event over a viewport while the mouse is used."""
        at = event.mouse_x - region.x, event.mouse_y - region.y
        if event.type == "MOUSEMOVE":
            depth = self.session.place if self.goal is None else self.goal
            self.goal = np.array(view3d_utils.region_2d_to_location_3d(region, view, at, depth))
            return "PASS"
        if event.type in ("WHEELUPMOUSE", "WHEELDOWNMOUSE") and plain:
            self._move_away(region, view, at, 1 if event.type == "WHEELUPMOUSE" else -1)
            return ""
        if event.type == "LEFTMOUSE" and pressed:
            return "KEEP"
        if event.type == "RIGHTMOUSE" and pressed:
            return "RESTORE"
        return "PASS" if event.type.startswith((*_OF_THE_VIEW, "WHEEL")) else ""

    def _move_away(self, region: bpy.types.Region, view: bpy.types.RegionView3D, at: Sequence[float], by: int) -> None:
        """Move the goal along the view ray under the mouse."""
        goal = np.array(self.session.place if self.goal is None else self.goal)
        if view.is_perspective:
            eye = np.array(view3d_utils.region_2d_to_origin_3d(region, view, at))
            self.goal = eye + (goal - eye) * _NOTCH**by
        else:
            ray = np.array(view3d_utils.region_2d_to_vector_3d(region, view, at))
            self.goal = goal + ray * (_NOTCH - 1.0) * view.view_distance * by

    def toggle_mouse(self) -> None:
        self.use_mouse, self.goal = not self.use_mouse, None

    def toggle_record(self) -> None:
        """Start recording, if the result can be keyed, or discard the recording."""
        on, self.complaint = not self.session.is_recording, ""
        try:
            if on:
                self.session.check_keyed(self.into)
            self.session.record(on)
        except LookAtError as error:
            self.complaint = str(error)

    # Display

    def state(self) -> str:
        """The state, in the language of the interface."""
        if self.complaint:
            return messages.translate(self.complaint)
        texts = [iface_("Live Follow {:.1f} s").format(self.elapsed)]
        if np.isfinite(self.session.error):
            texts.append(iface_("Off target by {:.1f}°").format(np.degrees(self.session.error)))
        if self.session.let_go:
            texts.append(iface_("Let Go"))
        if self.session.is_recording:
            texts.append(iface_("Recording {:d} frames").format(self.session.recorded_frames))
        return "   ".join(texts)

    def keys(self) -> list[tuple[tuple[str, ...], str]]:
        """Icons of keys, and their functions."""
        record = iface_("Stop Recording") if self.session.is_recording else iface_("Record")
        keep = iface_("Key Recording") if self.session.is_recording else iface_("Keep Pose")
        if self.use_mouse:
            return [
                (("MOUSE_MOVE",), iface_("Guide Gaze")),
                (("MOUSE_MMB_SCROLL",), iface_("Distance")),
                (("EVENT_R",), record),
                (("EVENT_M",), iface_("Switch to Target")),
                (("MOUSE_LMB", "EVENT_RETURN"), keep),
                (("MOUSE_RMB", "EVENT_ESC"), iface_("Restore")),
            ]
        return [
            (("EVENT_R",), record),
            (("EVENT_M",), iface_("Switch to Mouse")),
            (("EVENT_RETURN",), keep),
            (("EVENT_ESC",), iface_("Restore")),
        ]


def keep(session: LiveFollowSession, into: str, fade: float = 0.0, writer: KeyWriter | None = None) -> str:
    """Keep the recording, with ends of `fade` [s], or the pose; returns the message. writer: of
    the keys of a recording. Raises LookAtError."""
    bone, frame = session.bone, session.scene.frame_current
    last = frame + session.recorded_frames - 1
    if session.is_recording:
        session.keep_recording(into, fade, writer)
        return Message(
            "Recorded frames {frame} to {last} into {where}; the look-at on '{bone}' is muted "
            "because its motion is keyed.",
            frame=frame,
            last=last,
            where=job.INTO[into],
            bone=bone,
        )
    keyed = session.scene.tool_settings.use_keyframe_insert_auto
    session.keep()
    if keyed:
        return Message(
            "Keyed the pose at frame {frame}; the look-at on '{bone}' is muted because its rotation is keyed.",
            frame=frame,
            bone=bone,
        )
    return Message(
        "Kept the pose at frame {frame}; the look-at on '{bone}' is muted because the pose contains its rotation.",
        frame=frame,
        bone=bone,
    )


_sessions: list[LiveFollowSession] = []
"""The running session, if any."""


def leading() -> tuple[np.ndarray, np.ndarray] | None:
    """Where the running session looks from, and the point (3,) of the world that leads; None if none is running."""
    for session in _sessions:
        if session.is_open:
            return session.eye, session.place
    return None


def _let_go() -> None:
    """Release what is running: an undo or another file is about to replace all data."""
    for session in _sessions:
        session.release()
    _sessions.clear()


register, unregister = guarded(LOOKAT_PD_OT_follow, _let_go)
