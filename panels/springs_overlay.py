"""Colliders of springs in the viewport, while an armature with springs or a collider is active."""

import bpy

from ..operators import selection
from ..rig.springs import chains, colliders
from .viewport import Batch, draw_handlers

_ALPHA, _CHOSEN = 0.35, 0.9


def _draw(context: bpy.types.Context) -> None:
    view, item = context.space_data, context.active_object
    if item is None or not view.overlay.show_overlays or not view.overlay.show_bones or context.mode.startswith("EDIT"):
        return
    armature = selection.armature(context)
    swings = armature is not None and armature.pose is not None and any(True for _ in chains.on(armature))
    if not swings and not any(True for _ in colliders.of_object(item)):
        return
    colours, lines = context.preferences.themes[0].view_3d, Batch()
    for collider in colliders.on(context.scene):
        if collider.object.visible_get(view_layer=context.view_layer):
            active = collider.object == item and collider.bone in ("", getattr(context.active_pose_bone, "name", None))
            colour = colours.bone_pose_active if active else colours.bone_pose
            lines.add(colliders.rings(collider), colour, _CHOSEN if active else _ALPHA)
    lines.draw("LINES")


register, unregister = draw_handlers((_draw, "POST_VIEW"))
