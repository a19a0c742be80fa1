"""Compare: the plain animation beside the result, in the viewport."""

import time
from collections.abc import Generator
from contextlib import suppress

import bpy

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from ..rig.guards import callbacks
from ..rig.layers import layer_action
from ..rig.look_at import compare
from ..rig.sampling import sampler, suspend
from ..translations import messages
from . import job, polling, selection, viewports

_PAUSE = 0.5
"""Time [s] without a change of the animation after which it is sampled again."""
_SLICE = 0.05
"""Seconds of sampling between two moments in which Blender reacts."""
_BETWEEN = 0.01
"""Time [s] between two slices."""
_sampling: list[Generator[float, None, None]] = []
"""The sampling that is under way, if any."""


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why there is nothing to compare, as a sentence; None if there is."""
    there = selection.look_at_bone(context) is not None
    reason = polling.why_no_look_at(context) if there else polling.why_no_armature(context)
    if reason is None and not compare.is_comparable(selection.look_at_armature(context)):
        return "There is neither a live look-at nor a bake to compare"
    return reason


class LOOKAT_PD_OT_compare(job.ModalJob, bpy.types.Operator):
    """Draw the animation without the look-at, or before the bake, beside the result; click again to hide it"""

    bl_idname = "lookat_pd.compare"
    bl_label = "Compare"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        item = selection.look_at_armature(context)
        shown = item is not None and item.type == "ARMATURE" and compare.ghost(item) is not None
        return shown or polling.poll(cls, why_not(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self._hidden(context) or super().execute(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self._hidden(context) or super().invoke(context, event)

    @staticmethod
    def _hidden(context: bpy.types.Context) -> set[str]:
        """Hide what is shown; an empty set where nothing is."""
        item = selection.look_at_armature(context)
        if compare.ghost(item) is None:
            return set()
        compare.hide(item)
        _watch()
        viewports.redraw()
        return {"FINISHED"}

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Sampling the plain animation: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self._armature = selection.look_at_armature(context)
        self.job = compare.plain(context.scene, self._armature)

    def finish(self, context: bpy.types.Context, result: compare.Ghost) -> None:
        compare.show(self._armature, result)
        _watch()
        viewports.redraw()


@callbacks.handler
def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Sample again, a while after an animation has changed."""
    if suspend.is_live_suspended() or not depsgraph.id_type_updated("ACTION"):
        return
    if all(layer_action.is_layer(u.id.original) for u in depsgraph.updates if isinstance(u.id, bpy.types.Action)):
        return
    callbacks.stop_timer(_in_slices)
    callbacks.start_timer(_in_slices, _PAUSE)


def refresh(seconds: float | None = None) -> float | None:
    """Sample the plain animations again that have changed since, for some seconds or to the end; the fraction done,
    None if that is all."""
    if not _sampling:
        _sampling.append(_refreshed())
    until = None if seconds is None else time.perf_counter() + seconds
    try:
        for fraction in _sampling[0]:
            if until is not None and time.perf_counter() > until:
                sampler.park_all()
                return fraction
    except ReferenceError:
        # Undo replaces all data of the file; what is out of date then is found anew.
        pass
    _stop()
    viewports.redraw()
    return None


def _refreshed() -> Generator[float, None, None]:
    """One armature after the other, as a generator of the fraction done; what changes meanwhile comes again."""
    while items := compare.out_of_date():
        yield 0.0
        try:
            found = yield from compare.plain(bpy.context.scene, items[0])
            if compare.ghost(items[0]) is not None:
                compare.show(items[0], found)
        except LookAtError:
            compare.hide(items[0])
            _watch()


def _in_slices() -> float | None:
    """A timer that refreshes while the status bar shows how far it is."""
    if not _sampling and suspend.is_live_suspended():
        return _PAUSE
    fraction = refresh(_SLICE)
    text = None
    if fraction is not None:
        percent = f"{100.0 * fraction:.0f}"
        text = messages.translate(Message("Sampling the plain animation: {percent} %", percent=percent))
    _show_status(text)
    return None if fraction is None else _BETWEEN


def _show_status(text: str | None) -> None:
    """Show a text in the status bars of all windows; None for the usual one."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            window.workspace.status_text_set(text)


def _stop() -> None:
    """End the sampling that is under way."""
    while _sampling:
        with suppress(ReferenceError):
            _sampling.pop().close()


@callbacks.handler
def _forget(*_: object) -> None:
    if _sampling:
        _stop()
        _show_status(None)
    compare.hide()
    _watch()


def _watch() -> None:
    """Notice changes while something is compared, and be called by none otherwise."""
    handlers = bpy.app.handlers.depsgraph_update_post
    if compare.is_on() != (_changed in handlers):
        (handlers.append if compare.is_on() else handlers.remove)(_changed)


_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_compare,))


def register() -> None:
    _register()
    bpy.app.handlers.load_pre.append(_forget)


def unregister() -> None:
    bpy.app.handlers.load_pre.remove(_forget)
    callbacks.stop_timer(_in_slices)
    _stop()
    compare.hide()
    _watch()
    _unregister()
