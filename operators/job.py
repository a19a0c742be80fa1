"""Common parts of operators that take long: progress, Esc, the destination of the keys, and the frames.

No postponed annotations: Blender reads them.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

import bpy

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from ..rig.animation import key_extent
from ..rig.animation.bake_options import BakeOptions
from ..rig.animation.key_settings import BakedKeys
from ..rig.sampling import sampler, scene_time
from ..rig.settings import choice, integer, switch
from ..translations import messages
from . import drawing, polling, reporting, selection
from .key_choice import KeyChoice

_SLICE = 0.05
"""Seconds of work between two turns of the window's loop, in which Blender draws and looks at the keyboard: with the
step that ends it, and with what is made anew when it begins, a tenth of a second."""
_AT_ONCE = 0.06
"""Work shorter than this [s] has no progress display."""
_DONE, _BESIDE_END = 1.0 - 1e-9, 0.02
"""The fraction from which on only the step is left that puts the result into the file, and how much work [s] may be in
the same turn: Blender relates, draws and keeps for an undo what was put there."""


class ModalJob(polling.Explained):
    """An operator that works through a generator: `start` sets `job`, `finish` receives its result.

    notes: warnings that are reported after the result.
    """

    job: Generator[float, None, Any]
    notes: Sequence[Message] = ()

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        """The reason why it cannot start, as a sentence without full stop; None if it can."""
        return None

    def progress(self, percent: str) -> str:
        """The text in the status bar."""
        raise NotImplementedError

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        raise NotImplementedError

    def finish(self, context: bpy.types.Context, result: Any) -> None:
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._begin(context) or self._advance(context, None)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        outcome = self._begin(context)
        if outcome is None:
            # What it took to begin is part of the same turn.
            outcome = self._advance(context, _AT_ONCE - self.elapsed)
        if "RUNNING_MODAL" not in outcome:
            return outcome
        manager = context.window_manager
        manager.progress_begin(0, 100)
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC":
            self._stop()
            self._end_display(context)
            reporting.report_info(self, "Cancelled; nothing was changed.")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        outcome: set[str] = set()
        try:
            outcome = self._advance(context, _SLICE)
        finally:
            # After a fault, too.
            if "RUNNING_MODAL" not in outcome:
                self._end_display(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        """Called when Blender quits or loads another file."""
        self._stop()

    @property
    def elapsed(self) -> float:
        """How long it has been at work [s]."""
        return time.perf_counter() - self._started

    def _begin(self, context: bpy.types.Context) -> set[str] | None:
        self._started = time.perf_counter()
        if (reason := self.why_not_now(context)) is not None:
            return reporting.report_error(self, Message("{reason}.", reason=Message(reason)))
        try:
            self.start(context)
        except LookAtError as error:
            return reporting.report_error(self, error)
        return None

    def _stop(self) -> None:
        if not hasattr(self, "job"):
            # It was asking something first.
            return
        with suppress(ReferenceError):
            self.job.close()
        sampler.park_all()

    def _advance(self, context: bpy.types.Context, seconds: float | None) -> set[str]:
        """Work for a number of seconds, or to the end."""
        begin, opened = time.perf_counter(), sampler.seconds_opening()
        # No event of its window gets past this operator as long as it works.
        is_alone = len(context.window_manager.windows) == 1
        sampler.go_on()
        try:
            while True:
                fraction = next(self.job)
                # What is made anew for each slice is worth a whole one of work, or it would take several times as long.
                opening = 0.0 if is_alone and sampler.can_rest() else sampler.seconds_opening() - opened
                spent = time.perf_counter() - begin - opening
                if seconds is not None and spent > (seconds if fraction < _DONE else min(seconds, _BESIDE_END)):
                    if is_alone:
                        sampler.rest_all()
                    else:
                        sampler.park_all()
                    context.window_manager.progress_update(int(100 * fraction))
                    context.workspace.status_text_set(self.progress(f"{100 * fraction:.0f}"))
                    return {"RUNNING_MODAL"}
        except StopIteration as end:
            self.finish(context, end.value)
            if isinstance(self, KeyChoice):
                self.report_keys()
            for note in self.notes:
                self.report({"WARNING"}, messages.translate(note))  # pyright: ignore[reportAttributeAccessIssue]
            return {"FINISHED"}
        except LookAtError as error:
            return reporting.report_error(self, error)
        except ReferenceError:
            # Undo replaces all data of the file, including the working data of the bake, so nothing of it remains.
            return reporting.report_error(self, "Undo changed the file during the bake; bake again.")

    def _end_display(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)


INTO = {"NEW": Message("a new action"), "CURRENT": Message("the current action"), "LAYER": Message("a new NLA layer")}
"""The destination of keys in messages."""

NEW = ("NEW", "New Action", "Write the result to a copy of the current action; the original is kept")
"""The choice of a new action."""


class Into(BakedKeys, KeyChoice):
    """The destination of the keys of an operator, and which they are."""

    into: choice(
        "Into",
        "Action or layer that receives the keys; keys of other bones do not change",
        (
            NEW,
            ("CURRENT", "Current Action", "Replace the keys of the chain's bones in the current action"),
            ("LAYER", "NLA Layer", "Add an NLA track above the animation that contains only the difference"),
        ),
    )

    def draw_into(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "into")
        self.draw_keys(layout)


class Frames:
    """The range of frames of an operator."""

    use_scene_range: switch("Scene Range", "Bake the frame range of the scene, or its preview range if enabled", True)
    frame_start: integer("Start", "First frame to bake", 1)
    frame_end: integer("End", "Last frame to bake", 250)

    def draw_frames(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "use_scene_range")
        column = layout.column(align=True)
        column.active = not self.use_scene_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def animated(self, context: bpy.types.Context) -> Sequence[bpy.types.Object | None]:
        """The objects whose animation is baked."""
        return [selection.armature(context)]

    def take_frames(self, context: bpy.types.Context) -> None:
        """With *Scene Range*, set the range to that of the scene, or of its preview if enabled, in frames of keys."""
        scene = context.scene
        if self.use_scene_range:
            self.frame_start, self.frame_end = scene_range(scene)
        outside = (key_extent.outside(item, self.frame_start, self.frame_end) for item in self.animated(context))
        self.notes = [note for note in outside if note is not None]


def scene_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """The range of a scene, or of its preview if enabled, in frames of keys."""
    preview = scene.use_preview_range
    first = scene.frame_preview_start if preview else scene.frame_start
    last = scene.frame_preview_end if preview else scene.frame_end
    return scene_time.key_range(scene, first, last)


class Bake(ModalJob, Into, Frames):
    """A bake over a range of frames."""

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)  # pyright: ignore[reportAttributeAccessIssue]
        self.draw_into(layout)
        self.draw_frames(layout)

    @property
    def baked(self) -> dict[str, Any]:
        """What sentences about a finished bake name: its frames, where the keys are, and how long it took."""
        seconds = self.elapsed
        return {
            "first": self.frame_start,
            "last": self.frame_end,
            "where": INTO[self.into],
            "seconds": seconds,
            "took": f"{seconds:.2f}",
        }

    def bake_options(self, context: bpy.types.Context) -> BakeOptions:
        """How to bake these frames, which `take_frames` has set, of a layer that plays in the range of the scene."""
        first, last = scene_time.key_range(context.scene)
        played = (first, last) if first <= self.frame_start and self.frame_end <= last else None
        return BakeOptions(self.frame_start, self.frame_end, self.into, played=played, writer=self.writer())
