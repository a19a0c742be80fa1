"""A word at the head of each character whose pose is not the solution yet: also where no panel shows it."""

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_

from ..rig.layers import live
from . import status
from .viewport import TEXT_SIZE, draw_handlers, on_screen, write

_ABOVE = 14.0


def label(state: live.Status) -> str:
    """What is written for a look-at."""
    if state.state == "SOLVING":
        return status.solving(state)
    return iface_("Preview at this frame") if state.state == "PREVIEW" else iface_("Not solved")


def _draw(context: bpy.types.Context) -> None:
    view = context.space_data
    if not context.scene.lookat_pd_overlay.show or not view.overlay.show_overlays:
        return
    colour, scale = context.preferences.themes[0].view_3d.space.text_hi, context.preferences.system.ui_scale
    written: list[tuple[float, float]] = []
    for armature, bone, state in live.unsettled(context.scene):
        if not armature.visible_in_viewport_get(view):
            continue
        head = np.array(armature.matrix_world @ armature.pose.bones[bone].tail)
        place = on_screen(context, head)
        if place is None:
            continue
        height = TEXT_SIZE * scale
        x, y = place[0], place[1] + _ABOVE * scale
        while any(abs(y - other) < height and abs(x - beside) < 10 * height for beside, other in written):
            y += height
        written.append((x, y))
        write(label(state), x, y, colour, scale)


register, unregister = draw_handlers((_draw, "POST_PIXEL"))
