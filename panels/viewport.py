"""Drawing in the viewport: lines, triangles, texts and handles in the colors of the theme, and who draws them."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader

from ..lookat_pd.rotation import Array
from ..rig.guards import callbacks

TEXT_SIZE = 12.0


class Batch:
    """Vertices of many lines or triangles with their colors, for one draw call."""

    def __init__(self) -> None:
        self.places: list[Array] = []
        self.colours: list[Array] = []

    def add(self, shapes: Array, colour, alpha: Array | float = 1.0) -> None:
        """shapes: (n, 2 or 3, 3), lines or triangles. alpha: (n, 2 or 3) for the corners, or one for all."""
        if not len(shapes):
            return
        colours = np.empty((*shapes.shape[:2], 4), dtype=np.float32)
        colours[..., :3], colours[..., 3] = colour[:3], alpha
        self.places.append(shapes.reshape(-1, 3).astype(np.float32))
        self.colours.append(colours.reshape(-1, 4))

    def draw(self, kind: str, width: float = 1.0) -> None:
        if not self.places:
            return
        shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR" if kind == "LINES" else "SMOOTH_COLOR")
        if kind == "LINES":
            shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
            shader.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
        corners = {"pos": np.concatenate(self.places), "color": np.concatenate(self.colours)}
        gpu.state.blend_set("ALPHA")
        batch_for_shader(shader, kind, corners).draw(shader)
        gpu.state.blend_set("NONE")


def write(text: str, x: float, y: float, colour, scale: float) -> None:
    """A text at a position [pixels] of the region that is being drawn."""
    blf.size(0, TEXT_SIZE * scale)
    blf.color(0, *colour[:3], 1.0)
    blf.position(0, x, y, 0.0)
    blf.draw(0, text)


def on_screen(context: bpy.types.Context, point):
    """Where a point of the world is in the region [pixels]; None for no point, or one that is not in view."""
    if point is None:
        return None
    return location_3d_to_region_2d(context.region, context.region_data, point)


def ring(group: bpy.types.GizmoGroup, operator: str, size: float, alpha: float) -> tuple[Any, Any]:
    """A handle of a group, a ring in the color of the active bone that faces the view and stays while it is dragged,
    and the properties of the operator that it runs."""
    handle = group.gizmos.new("GIZMO_GT_move_3d")
    handle.draw_style, handle.draw_options = "RING_2D", {"ALIGN_VIEW"}
    handle.color = handle.color_highlight = bpy.context.preferences.themes[0].view_3d.bone_pose_active[:3]
    handle.alpha, handle.alpha_highlight = alpha, 1.0
    handle.scale_basis, handle.use_draw_modal = size, True
    return handle, handle.target_set_operator(operator)


def draw_handlers(
    *draws: tuple[Callable[[bpy.types.Context], None], str], classes: Sequence[type] = ()
) -> tuple[Callable, Callable]:
    """Functions that add and remove handlers for functions that draw, each with its stage, and the classes that belong
    to them."""
    handles: list[object] = []

    def add() -> None:
        for kind in classes:
            bpy.utils.register_class(kind)
        for draw, stage in draws:
            handles.append(bpy.types.SpaceView3D.draw_handler_add(guarded(draw), (), "WINDOW", stage))

    def remove() -> None:
        while handles:
            bpy.types.SpaceView3D.draw_handler_remove(handles.pop(), "WINDOW")
        for kind in reversed(classes):
            bpy.utils.unregister_class(kind)

    return add, remove


def guarded(draw: Callable[[bpy.types.Context], None]) -> Callable[[], None]:
    """What Blender calls at each redraw; where it fails, what comes after is drawn as usual."""

    def drawn() -> None:
        draw(bpy.context)

    def cleared() -> None:
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")

    return callbacks.guarded(wraps(draw)(drawn), cleared)
