"""What a place of a viewport means as a target: the object or the bone that is drawn there."""

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils

from ...lookat_pd.rotation import Array
from ..sampling import shown_bones, shown_surface
from ..sampling.targets import Target
from . import resolve

_REACH = 18.0
"""Pixels, at a scale of 1, from the middle of an object without faces within which it is meant."""
_BONE_REACH = 7.0
"""The same from a bone."""


def under(
    context: bpy.types.Context, region: bpy.types.Region, view: Any, at: Sequence[float], armature: bpy.types.Object
) -> Target | None:
    """What is drawn at a place of a region, None for nothing that `armature` can look at.

    Of another character that is hit, its face. Objects without faces and bones of rigs in pose mode come first, since
    they are drawn over what has faces.
    """
    scale = context.preferences.system.ui_scale
    space = next(area.spaces.active for area in context.screen.areas if region in list(area.regions))
    seen = [item for item in context.view_layer.objects if item.visible_get(viewport=space)]
    middles = [(_off(region, view, at, [item.matrix_world.translation]), item) for item in seen if _is_point(item)]
    near = min(middles, key=lambda one: one[0], default=(np.inf, None))
    if near[0] <= _REACH * scale:
        return Target(near[1])
    bone = min(_bones(seen, region, view, at), key=lambda one: one[0], default=(np.inf, None))
    within = bone[1] if bone[0] <= _BONE_REACH * scale else None
    if within is not None and (within.object.mode == "POSE" or within.object.show_in_front):
        return within
    return _hit(context, region, view, space, at, armature) or within


def _is_point(item: bpy.types.Object) -> bool:
    return item.type in ("EMPTY", "CAMERA", "LIGHT", "SPEAKER", "LIGHT_PROBE", "LATTICE")


def _bones(
    seen: Sequence[bpy.types.Object], region: bpy.types.Region, view: Any, at: Sequence[float]
) -> Iterator[tuple[float, Target]]:
    """Bones in sight with their distances in pixels."""
    for item in seen:
        for bone in item.pose.bones if item.type == "ARMATURE" and item.pose else ():
            if not shown_bones.is_shown(bone):
                continue
            ends = [item.matrix_world @ bone.head, item.matrix_world @ bone.tail]
            yield _off(region, view, at, ends), Target(item, bone.name)


def _hit(
    context: bpy.types.Context,
    region: bpy.types.Region,
    view: Any,
    space: Any,
    at: Sequence[float],
    armature: bpy.types.Object,
) -> Target | None:
    origin = view3d_utils.region_2d_to_origin_3d(region, view, at)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, at)
    found = shown_surface.hit(context.scene, context.view_layer.depsgraph, space, origin, direction)
    if found is None:
        return None
    item = found.item.original
    other = item.find_armature() or (item.parent if item.parent and item.parent.type == "ARMATURE" else None)
    if other is None:
        return Target(item)
    return None if other == armature else resolve.face(other)


def _off(region: bpy.types.Region, view: Any, at: Sequence[float], ends: Sequence) -> float:
    """Distance [pixels] of a place from a point, or from the line between two; infinite behind the viewer."""
    shown = [view3d_utils.location_3d_to_region_2d(region, view, end) for end in ends]
    if any(place is None for place in shown):
        return np.inf
    points: Array = np.array(shown, float)
    begin, along = points[0], points[-1] - points[0]
    part = np.clip((np.asarray(at, float) - begin) @ along / max(float(along @ along), 1e-9), 0.0, 1.0)
    return float(np.linalg.norm(np.asarray(at, float) - begin - part * along))
