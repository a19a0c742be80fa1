"""The point that leads while Live Follow is running, in all viewports: a ring with a cross, and the line to it."""

from contextlib import suppress

import bpy
import numpy as np

from ..operators import live_follow
from ..rig.look_at import overlay
from .viewport import Batch, draw_handlers, on_screen

_RADIUS, _ARM = 12.0, 5.0


def _draw_line(context: bpy.types.Context) -> None:
    with suppress(ReferenceError):
        ends = live_follow.leading()
        if ends is not None:
            line = Batch()
            line.add(overlay.dashes(*ends), context.preferences.themes[0].view_3d.object_active)
            line.draw("LINES")


def _draw_mark(context: bpy.types.Context) -> None:
    with suppress(ReferenceError):
        line = live_follow.leading()
        place = on_screen(context, line[1]) if line is not None else None
        if place is None:
            return
        scale, mark = context.preferences.system.ui_scale, Batch()
        colour = context.preferences.themes[0].view_3d.object_active
        mark.add(overlay.ring(place, _RADIUS * scale), colour)
        mark.add(_cross(np.array((*place, 0.0)), _ARM * scale), colour)
        mark.draw("LINES", 2.0)


def _cross(center: np.ndarray, arm: float) -> np.ndarray:
    """Two lines (2, 2, 3) [pixels]."""
    arms = arm * np.array([[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]])
    return center + arms


register, unregister = draw_handlers((_draw_line, "POST_VIEW"), (_draw_mark, "POST_PIXEL"))
