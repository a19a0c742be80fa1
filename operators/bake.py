"""Bake look-ats onto actions, with progress, and Esc to leave everything as it was."""

import time
from contextlib import suppress

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import bake, look_at, sample
from ..translations import messages
from . import current

_SLICE = 0.2
"""Seconds of work between two looks at the keyboard."""
_AT_ONCE = 0.3
"""A bake shorter than this [s] never shows a progress display."""


class LOOKAT_PD_OT_bake(bpy.types.Operator):
    """Turn the look-at into keys on the bones of its chain"""

    bl_idname = "lookat_pd.bake"
    bl_label = "Bake Look-at"
    bl_options = {"REGISTER", "UNDO"}

    into: EnumProperty(
        name="Into",
        description="Where the keys go; the keys of all other bones stay as they are",
        items=(
            ("NEW", "New Action", "A copy of the current action with the look-at in it; the original is kept"),
            ("CURRENT", "Current Action", "Replace the keys of the chain's bones in the current action"),
            ("LAYER", "NLA Layer", "A new NLA track above the animation that holds only the look-at"),
        ),
        default="NEW",
    )
    which: EnumProperty(
        name="Which",
        description="Which look-ats to bake",
        items=(
            ("ALL", "All on Armature", "Every look-at of the active armature that is not muted"),
            ("ACTIVE", "Shown", "Only the look-at shown in the panel"),
        ),
        default="ALL",
    )
    use_scene_range: BoolProperty(
        name="Scene Range",
        description="Bake the scene's frame range, or its preview range where that is on",
        default=True,
    )
    frame_start: IntProperty(name="Start", description="First frame to bake", default=1)
    frame_end: IntProperty(name="End", description="Last frame to bake", default=250)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Redo asks before it takes the bake back, while the look-at is still muted by it.
        return current.poll(cls, why_not(context, but_muted=True))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "into")
        layout.prop(self, "which")
        layout.prop(self, "use_scene_range")
        column = layout.column(align=True)
        column.active = not self.use_scene_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self._begin(context):
            return {"CANCELLED"}
        return self._advance(context, None)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self._begin(context):
            return {"CANCELLED"}
        outcome = self._advance(context, _AT_ONCE)
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

    def _stop(self) -> None:
        with suppress(ReferenceError):
            self._job.close()

    def _begin(self, context: bpy.types.Context) -> bool:
        self._started = time.perf_counter()
        if self.use_scene_range:
            scene = context.scene
            preview = scene.use_preview_range
            first = scene.frame_preview_start if preview else scene.frame_start
            last = scene.frame_preview_end if preview else scene.frame_end
            self.frame_start, self.frame_end = sample.key_range(scene, first, last)
        if (reason := why_not(context)) is not None:
            current.complain(self, f"{reason}.")
            return False
        try:
            if self.which == "ACTIVE" and current.look_at_bone(context).lookat_pd.mute:
                raise RigError(f"The look-at on '{current.look_at_bone(context).name}' is muted; unmute it to bake it.")
            self._look_ats = [look_at.resolve(current.armature(context), bone) for bone in self._bones(context)]
        except LookAtError as error:
            current.complain(self, error)
            return False
        scene = context.scene
        first, last = sample.key_range(scene)
        played = (first, last) if first <= self.frame_start and self.frame_end <= last else None
        options = bake.Options(self.frame_start, self.frame_end, self.into, played=played)
        self._job = bake.bake(context.scene, self._look_ats, options)
        return True

    def _bones(self, context: bpy.types.Context) -> list[str]:
        if self.which == "ACTIVE":
            return [current.look_at_bone(context).name]
        bones = current.armature(context).pose.bones
        return [
            name for name in look_at.bones_with_look_at(current.armature(context)) if not bones[name].lookat_pd.mute
        ]

    def _advance(self, context: bpy.types.Context, seconds: float | None) -> set[str]:
        """Work for so long, or to the end."""
        until = None if seconds is None else time.perf_counter() + seconds
        try:
            for fraction in self._job:
                if until is not None and time.perf_counter() > until:
                    sample.park_all()
                    self._show(context, fraction)
                    return {"RUNNING_MODAL"}
        except LookAtError as error:
            return current.complain(self, error)
        except ReferenceError:
            # Undo replaces everything in the file, the bake's own working data too, so nothing is left of it.
            return current.complain(self, "The file was changed by an undo while the bake was running; bake again.")
        self._report_done()
        return {"FINISHED"}

    def _show(self, context: bpy.types.Context, fraction: float) -> None:
        context.window_manager.progress_update(int(100 * fraction))
        text = messages.translate(f"Baking look-at: {100 * fraction:.0f} %   Esc: cancel")
        context.workspace.status_text_set(text)

    def _end_display(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _report_done(self) -> None:
        bones = sum(len(item.bones) for item in self._look_ats)
        what = "1 bone" if bones == 1 else f"{bones} bones"
        seconds = time.perf_counter() - self._started
        where = {"NEW": "a new action", "CURRENT": "the current action", "LAYER": "a new NLA layer"}[self.into]
        current.tell(
            self, f"Baked {what}, frames {self.frame_start} to {self.frame_end}, into {where} ({seconds:.2f} s)."
        )


def why_not(context: bpy.types.Context, *, but_muted: bool = False) -> str | None:
    """Why there is nothing to bake, as a sentence; None where there is. but_muted: let muted look-ats pass."""
    reason = current.why_no_look_at(context)
    if reason is not None:
        return reason
    armature = current.armature(context)
    settings = [armature.pose.bones[name].lookat_pd for name in look_at.bones_with_look_at(armature)]
    if all(item.mute for item in settings) and not but_muted:
        return "Every look-at here is muted, as it is after a bake; unmute the one to bake"
    if any(not item.mute and item.target is None for item in settings):
        return "Choose a target to look at"
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_bake)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_bake)
