"""The bone that a click would drag, drawn in the color of the active bone."""

from contextlib import suppress

import bpy

from ..operators import ik_drag
from .viewport import Batch, draw_handlers

_WIDTH = 2.5


def _draw(context: bpy.types.Context) -> None:
    if not context.space_data.overlay.show_overlays:
        return
    lines = Batch()
    with suppress(ReferenceError):
        lines.add(ik_drag.hovered(), context.preferences.themes[0].view_3d.bone_pose_active)
    lines.draw("LINES", _WIDTH)


register, unregister = draw_handlers((_draw, "POST_VIEW"))
