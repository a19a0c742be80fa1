"""What the bakes of inverse kinematics share as operators: progress, Esc, and what is said at the end."""

import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import bpy

from ..lookat_pd.errors import LookAtError
from ..rig import sample
from ..translations import messages
from . import current

_SLICE = 0.2
"""Seconds of work between two looks at the keyboard."""
_AT_ONCE = 0.3
"""Work shorter than this [s] never shows a progress display."""


class Job:
    """An operator that works through a generator: `start` sets `job`, `finish` is given what it returns."""

    job: Generator[float, None, Any]

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        raise NotImplementedError

    def finish(self, context: bpy.types.Context, result: Any) -> None:
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._begin(context) or self._advance(context, None)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        outcome = self._begin(context) or self._advance(context, _AT_ONCE)
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
            current.tell(self, "Bake cancelled; nothing was changed.")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        outcome = self._advance(context, _SLICE)
        if "RUNNING_MODAL" not in outcome:
            self._end_display(context)
        return outcome

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender is going away or loads another file: leave nothing half done."""
        self._stop()

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return time.perf_counter() - self._started

    def _begin(self, context: bpy.types.Context) -> set[str] | None:
        self._started = time.perf_counter()
        try:
            self.start(context)
        except LookAtError as error:
            return current.complain(self, error)
        return None

    def _stop(self) -> None:
        with suppress(ReferenceError):
            self.job.close()

    def _advance(self, context: bpy.types.Context, seconds: float | None) -> set[str]:
        """Work for so long, or to the end."""
        until = None if seconds is None else time.perf_counter() + seconds
        try:
            while True:
                fraction = next(self.job)
                if until is not None and time.perf_counter() > until:
                    sample.park_all()
                    context.window_manager.progress_update(int(100 * fraction))
                    text = messages.translate(f"Baking IK: {100 * fraction:.0f} %   Esc: cancel")
                    context.workspace.status_text_set(text)
                    return {"RUNNING_MODAL"}
        except StopIteration as end:
            self.finish(context, end.value)
            return {"FINISHED"}
        except LookAtError as error:
            return current.complain(self, error)
        except ReferenceError:
            # Undo replaces everything in the file, the bake's own working data too, so nothing is left of it.
            return current.complain(self, "The file was changed by an undo while the bake was running; bake again.")

    def _end_display(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)


def scene_range(scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of the scene, or of its preview range where that is on."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end
