"""The plain animation of compared characters in the viewport: their bones as octahedra, in a ghost color."""

import bpy
import numpy as np

from ..operators import selection
from ..operators.compare import why_not
from ..rig.look_at import compare
from .viewport import Batch, draw_handlers

_ALPHA = 0.7


def draw_button(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The button that shows and hides the ghost of the current armature, in a panel; none with nothing to compare."""
    item = selection.look_at_armature(context)
    shown = item is not None and compare.ghost(item) is not None
    if not shown and why_not(context) is not None:
        return
    row = layout.row()
    row.operator_context = "INVOKE_DEFAULT"
    row.operator("lookat_pd.compare", icon="ONIONSKIN_ON" if shown else "ONIONSKIN_OFF", depress=shown)


def _draw(context: bpy.types.Context) -> None:
    view = context.space_data
    if not compare.is_on() or not view.overlay.show_overlays:
        return
    colour, lines = context.preferences.themes[0].view_3d.after_current_frame, Batch()
    for item in context.view_layer.objects:
        ghost = compare.ghost(item) if item.type == "ARMATURE" else None
        if ghost is not None and item.visible_in_viewport_get(view):
            outline = ghost.outline(context.scene.frame_current_final, np.array(item.matrix_world))
            lines.add(outline, colour, _ALPHA)
    lines.draw("LINES")


register, unregister = draw_handlers((_draw, "POST_VIEW"))
