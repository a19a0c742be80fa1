"""The look-at in the viewport: lines of sight, limits, targets and offsets, each of which can be disabled."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..lookat_pd.rotation import Array
from ..operators import polling, preferences, selection
from ..rig.look_at import look_at_layer as offsets
from ..rig.look_at import looking, overlay
from ..rig.settings import Properties, pointer
from .sidebar import SidebarPanel
from .viewport import Batch, draw_handlers, on_screen, write

_DISPLAYS = ("show_sight", "show_target", "show_limits", "show_offsets", "show_detected")
_THICK, _THIN = 2.0, 1.0
_FAN_ALPHA, _RIM_ALPHA = 0.08, 0.6
_MARKER = 9.0
_marks: dict[int, list[tuple[Array | None, list[overlay.Arc]]]] = {}
"""Targets and arcs of the region that is being drawn."""


_shown = Properties(options=set())


class LookAtOverlay(bpy.types.PropertyGroup):
    """Display settings of look-ats in the viewport."""

    show: _shown.switch("Viewport Display", "Draw look-ats in the viewport", True)
    show_sight: _shown.switch(
        "Line of Sight", "Line in the direction of the head, and a dashed line to its target", True
    )
    show_target: _shown.switch("Target Marker", "Ring around the current target", True)
    show_limits: _shown.switch(
        "Reach", "Range that the bones of the chain can reach together, around the direction of the animation", True
    )
    show_offsets: _shown.switch(
        "Offsets", "Rotation that the look-at adds to each selected bone of the chain, in degrees", True
    )
    show_detected: _shown.switch(
        "Detected", "Forward and up axes, legs and eyes, as detected; a second possible forward axis is dashed", True
    )


# Panels


class _Display:
    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.scene.lookat_pd_overlay, "show", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.layout, context.scene.lookat_pd_overlay
        layout.active = settings.show and context.space_data.overlay.show_overlays
        column = layout.grid_flow(columns=2, even_columns=True)
        for name in _DISPLAYS:
            column.prop(settings, name)


class LOOKAT_PD_PT_sidebar_more_display(_Display, SidebarPanel, bpy.types.Panel):
    bl_label = "Display"
    bl_parent_id = "LOOKAT_PD_PT_sidebar_more"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.why_no_look_at(context) is None


class LOOKAT_PD_PT_overlay(_Display, bpy.types.Panel):
    bl_label = "Look-at PD"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"


# Contents


def _seen(context: bpy.types.Context) -> Iterator[tuple[bpy.types.Object, str]]:
    """Look-ats of the active and the selected armatures, and those that look at what is selected, if visible."""
    view = context.space_data
    if not context.scene.lookat_pd_overlay.show or not view.overlay.show_overlays or context.mode.startswith("EDIT"):
        return
    rigs = [item for item in context.selected_objects if item.type == "ARMATURE"]
    active = selection.armature(context)
    if active is not None and active.type == "ARMATURE" and active not in rigs:
        rigs.append(active)
    held = {*context.selected_objects, *([context.object] if context.object is not None else [])}
    aiming = looking.at(context.scene, held)
    for bone in dict.fromkeys((*(bone for item in rigs for bone in looking.bones(item)), *aiming)):
        item = bone.id_data
        if not bone.lookat_pd.mute and item.data.pose_position == "POSE" and item.visible_in_viewport_get(view):
            yield item, bone.name


def _selected(armature: bpy.types.Object, bones: Sequence[str]) -> list[str]:
    """Those of the bones that are selected in pose mode."""
    if armature.mode != "POSE":
        return []
    return [name for name in bones if selection.is_selected(armature.pose.bones[name])]


def _draw_scene(context: bpy.types.Context) -> None:
    """Draw the parts in 3D of all look-ats at once: each draw call is expensive."""
    settings, colours = context.scene.lookat_pd_overlay, context.preferences.themes[0].view_3d
    axes = context.preferences.themes[0].user_interface
    sight, reach = preferences.color("sight", colours.bone_pose_active), preferences.color("reach", colours.bone_pose)
    offset = preferences.color("offsets", colours.object_active)
    marks = _marks[context.region.as_pointer()] = []
    fans, thin, thick = Batch(), Batch(), Batch()
    for armature, name in _seen(context):
        posed = overlay.posed(armature, name)
        if posed is None:
            continue
        added = offsets.shown(armature, name, context.scene.frame_current_final)
        if settings.show_limits:
            for fan in posed.fans(added):
                fans.add(fan.triangles, reach, _FAN_ALPHA * fan.shades)
                thin.add(overlay.segments(fan.rim), reach, _RIM_ALPHA)
        if settings.show_detected:
            thick.add(posed.front[:-1], axes.axis_y)
            thick.add(posed.front[-1:], axes.axis_z)
            thin.add(posed.found, offset)
            if posed.doubted is not None:
                thick.add(posed.doubted, axes.axis_y)
        if settings.show_sight:
            if posed.target is not None:
                thin.add(overlay.dashes(posed.eye, posed.target), sight)
            thick.add(posed.sight[None], sight)
        arcs = posed.arcs(added, _selected(armature, posed.bones)) if settings.show_offsets else []
        for arc in arcs:
            thick.add(arc.outline, offset)
        marks.append((posed.target if settings.show_target else None, arcs))
    fans.draw("TRIS")
    thin.draw("LINES", _THIN)
    thick.draw("LINES", _THICK)


def _draw_screen(context: bpy.types.Context) -> None:
    """Draw the parts in screen space, at the positions from `_draw_scene`."""
    colours, scale = context.preferences.themes[0].view_3d, context.preferences.system.ui_scale
    rings = Batch()
    for target, arcs in _marks.pop(context.region.as_pointer(), ()):
        place = on_screen(context, target)
        if place is not None:
            sight = preferences.color("sight", colours.bone_pose_active)
            rings.add(overlay.ring(place, _MARKER * scale), sight)
        for arc in arcs:
            # Next to its middle.
            place = on_screen(context, arc.points[len(arc.points) // 2])
            if place is not None:
                text = f"{np.degrees(arc.angle):.1f}°"
                write(text, place[0] + 6.0 * scale, place[1], colours.space.text_hi, scale)
    rings.draw("LINES", _THICK)


_add, _remove = draw_handlers((_draw_scene, "POST_VIEW"), (_draw_screen, "POST_PIXEL"))
_register, _unregister = bpy.utils.register_classes_factory(
    (LookAtOverlay, LOOKAT_PD_PT_sidebar_more_display, LOOKAT_PD_PT_overlay)
)


def register() -> None:
    _register()
    bpy.types.Scene.lookat_pd_overlay = pointer(LookAtOverlay, "Look-at PD")
    _add()


def unregister() -> None:
    _remove()
    _marks.clear()
    overlay.forget()
    del bpy.types.Scene.lookat_pd_overlay
    _unregister()
