"""Arrows of the hits in the viewport: each points where its blow goes, and is aimed by the handle at its tip."""

import bpy
import numpy as np
from mathutils import Matrix

from ..operators import hit_aim, selection
from .viewport import Batch, draw_handlers, ring

_HEAD = 0.16
"""Of the head of an arrow, in parts of the arrow."""
_SIZE, _ALPHA, _THICK = 0.1, 0.8, 2.0
_MOST = 16
"""Hits that get a handle: more of them would hide the character."""


def _is_shown(context: bpy.types.Context) -> bool:
    return hit_aim.why_not(context) is None and context.space_data.show_gizmo


class LOOKAT_PD_GGT_hits(bpy.types.GizmoGroup):
    """Aims the hits of the active armature."""

    bl_label = "Aim Hits"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_shown(context)

    def setup(self, context: bpy.types.Context) -> None:
        for number in range(_MOST):
            ring(self, "lookat_pd.hit_aim", _SIZE, _ALPHA)[1].index = number

    def draw_prepare(self, context: bpy.types.Context) -> None:
        arrows = {arrow.index: arrow for arrow in hit_aim.arrows(selection.armature(context))}
        for number, handle in enumerate(self.gizmos):
            handle.hide = number not in arrows
            if number in arrows:
                handle.matrix_basis = Matrix.Translation(arrows[number].tip)


def _draw(context: bpy.types.Context) -> None:
    if not _is_shown(context) or not context.space_data.overlay.show_overlays:
        return
    color, lines = context.preferences.themes[0].view_3d.bone_pose_active, Batch()
    for arrow in hit_aim.arrows(selection.armature(context)):
        lines.add(_arrow(np.array(arrow.start), np.array(arrow.tip - arrow.start)), color, _ALPHA)
    lines.draw("LINES", _THICK)


def _arrow(start: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Lines (n, 2, 3): the shaft, and four lines of the head."""
    tip = start + along
    across = np.cross(along, (0.0, 0.0, 1.0) if abs(along[2]) < 0.9 * np.linalg.norm(along) else (1.0, 0.0, 0.0))
    across = across / max(float(np.linalg.norm(across)), 1e-9) * float(np.linalg.norm(along))
    other = np.cross(along, across) / max(float(np.linalg.norm(along)), 1e-9)
    backs = [tip - _HEAD * along + 0.5 * _HEAD * side for side in (across, -across, other, -other)]
    return np.array([(start, tip), *((tip, back) for back in backs)])


register, unregister = draw_handlers((_draw, "POST_VIEW"), classes=(LOOKAT_PD_GGT_hits,))
