"""Aim a hit with the mouse in the viewport."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector

from ..rig.animation.stored_settings import read
from ..rig.settings import integer
from . import polling, reporting, selection, viewports

_LENGTH = 0.2
"""Of an arrow for a direction of length 1, in parts of the character's size."""


@dataclass(frozen=True)
class Arrow:
    """A hit in the viewport: it points where the blow goes."""

    index: int
    """Of the hit in the list."""
    start: Vector
    """Middle of the bone at the current frame, in world space."""
    tip: Vector
    """In world space."""
    scale: float
    """Length for a direction of length 1."""


def arrows(armature: bpy.types.Object) -> Iterator[Arrow]:
    """Those of the hits that have a direction of their own."""
    hits = read(armature, "lookat_pd_hits").hits
    if not len(hits):
        return
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    scale = _LENGTH * max((*armature.dimensions, 1e-3))
    for index, hit in enumerate(hits):
        bone = seen.pose.bones.get(hit.bone)
        if bone is not None and hit.source is None:
            start = seen.matrix_world @ ((bone.head + bone.tail) / 2.0)
            yield Arrow(index, start, start + scale * Vector(hit.direction), scale)


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no hit can be aimed, as a sentence; None if one can."""
    reason = polling.why_no_armature(context)
    if reason is None and next(arrows(selection.armature(context)), None) is None:
        reason = "Add a hit with a direction first"
    return reason


class LOOKAT_PD_OT_hit_aim(polling.Explained, bpy.types.Operator):
    """Aim the hit: its arrow points to the mouse, in the plane of the view. Esc: back"""

    bl_idname = "lookat_pd.hit_aim"
    bl_label = "Aim Hit"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_not)

    index: integer("Index", "Number of the hit in the list, from 0", 0, options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        found = [arrow for arrow in arrows(selection.armature(context)) if arrow.index == self.index]
        place = None
        if context.window is not None:
            place = viewports.view_under(context.window, event.mouse_x, event.mouse_y)
        if place is None or not found:
            return reporting.report_error(self, "A hit is aimed with the mouse at its arrow in a 3D viewport.")
        (self._arrow,), (self._region, self._view) = found, place
        self._before = tuple(self._hit(context).direction)
        self._dragged = event.type == "LEFTMOUSE"
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == ("RELEASE" if self._dragged else "PRESS"):
            return {"FINISHED" if tuple(self._hit(context).direction) != self._before else "CANCELLED"}
        if event.type == "MOUSEMOVE":
            at = event.mouse_x - self._region.x, event.mouse_y - self._region.y
            tip = view3d_utils.region_2d_to_location_3d(self._region, self._view, at, self._arrow.start)
            direction = (tip - self._arrow.start) / self._arrow.scale
            if direction.length > 1e-3:
                self._hit(context).direction = direction.normalized()
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called on Esc, and when Blender quits or loads another file."""
        with suppress(ReferenceError, IndexError):
            self._hit(context).direction = self._before

    def _hit(self, context: bpy.types.Context) -> bpy.types.PropertyGroup:
        return selection.armature(context).lookat_pd_hits.hits[self.index]


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_hit_aim,))
