"""Masses in the viewport: the ellipsoid of inertia around each bone."""

import bpy

from ..operators import selection
from ..rig.dynamics import display
from .viewport import Batch, draw_handlers

_ALPHA, _SELECTED_ALPHA = 0.35, 0.9


def _draw(context: bpy.types.Context) -> None:
    armature, view = selection.armature(context), context.space_data
    if not context.scene.lookat_pd_dynamics.show_masses or not view.overlay.show_overlays:
        return
    if armature is None or armature.type != "ARMATURE" or context.mode.startswith("EDIT"):
        return
    if not armature.visible_in_viewport_get(view) or armature.data.pose_position != "POSE":
        return
    colours, lines = context.preferences.themes[0].view_3d, Batch()
    for name, rings in display.ellipsoids(context.scene, armature).items():
        chosen = armature.mode == "POSE" and selection.is_selected(armature.pose.bones[name])
        colour = colours.bone_pose_active if chosen else colours.bone_pose
        lines.add(rings, colour, _SELECTED_ALPHA if chosen else _ALPHA)
    lines.draw("LINES")


register, _remove = draw_handlers((_draw, "POST_VIEW"))


def unregister() -> None:
    _remove()
    display.forget()
