"""The surface that a viewport draws under the mouse: rays also hit what is not in its local view, or drawn as wires."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

_MOST = 64
"""Surfaces that are not drawn behind which one is looked for."""
_PAST = 1e-5
"""How far behind such a surface the ray goes on, as a fraction of its distance."""


class DrawnSurface(NamedTuple):
    """A face that is drawn."""

    item: bpy.types.Object
    """The evaluated object, or what an instance is one of."""
    face: int
    """Index of the polygon."""
    point: Vector
    """In world space."""


def hit(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    space: Any,
    origin: Sequence[float],
    direction: Sequence[float],
) -> DrawnSurface | None:
    """The first surface on a ray of the world that the viewport `space` draws; None for nothing."""
    start, way = Vector(origin), Vector(direction)
    begin = start
    for _ in range(_MOST):
        found, point, _, face, item, _ = scene.ray_cast(depsgraph, begin, way)
        if not found:
            return None
        if _is_drawn(item.original, depsgraph.view_layer, space):
            return DrawnSurface(item, face, point)
        begin = point + way * max(_PAST * (point - start).length, 1e-7)
    return None


def _is_drawn(item: bpy.types.Object, layer: bpy.types.ViewLayer, space: Any) -> bool:
    """Whether a viewport draws the faces of an object."""
    if item.display_type not in ("SOLID", "TEXTURED"):
        return False
    if item.name not in layer.objects:
        # An instance, of which nobody says what made it.
        return space.local_view is None
    return item.visible_get(view_layer=layer, viewport=space)
