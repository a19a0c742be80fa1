"""Aim a hit with the mouse in the viewport."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
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


class LOOKAT_PD_OT_hit_aim(polling.Explained, viewports.DraggedValue, bpy.types.Operator):
    """Aim the hit: its arrow points to the mouse, in the plane of the view. Esc: back"""

    bl_idname = "lookat_pd.hit_aim"
    bl_label = "Aim Hit"
    bl_options = {"UNDO", "BLOCKING"}
    why_not = staticmethod(why_not)

    index: integer("Index", "Number of the hit in the list, from 0", 0, options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        found = [arrow for arrow in arrows(selection.armature(context)) if arrow.index == self.index]
        if not self.find_view(context, event) or not found:
            return reporting.report_error(self, "A hit is aimed with the mouse at its arrow in a 3D viewport.")
        (self._arrow,) = found
        return self.begin(context)

    def value(self, context: bpy.types.Context) -> tuple[float, ...]:
        return tuple(self._hit(context).direction)

    def set_value(self, context: bpy.types.Context, value: Sequence[float]) -> None:
        self._hit(context).direction = value

    def drag(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        direction = (self.under(event, self._arrow.start) - self._arrow.start) / self._arrow.scale
        if direction.length > 1e-3:
            self.set_value(context, direction.normalized())

    def _hit(self, context: bpy.types.Context) -> bpy.types.PropertyGroup:
        return selection.armature(context).lookat_pd_hits.hits[self.index]


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_hit_aim,))
