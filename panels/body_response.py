"""The body response to a look-at: sub-panels of the look-at panel."""

import bpy

from ..rig.look_at.body import layers
from . import rows

SWITCHES = {"ALL": "CHECKBOX_HLT", "SOME": "REMOVE", "NONE": "CHECKBOX_DEHLT"}
"""Icons of a switch for several layers: checked, a dash, not checked."""


def draw_body_switch(layout: bpy.types.UILayout, settings) -> None:
    """One switch for the layers of the body, in the header of its panel."""
    extent = layers.extent(settings, "body")
    button = layout.operator("lookat_pd.whole_body", text="", icon=SWITCHES[extent], emboss=False)
    button.use, button.group = extent != "ALL", "BODY"


def draw_body(layout: bpy.types.UILayout, settings) -> None:
    """Hips, arms, feet and torso."""
    body = settings.body
    layout.prop(body, "torso_from", text="Torso from")
    layout.prop(body, "torso_more", slider=True)
    for layer in layers.of_group("body"):
        column = _layer(layout, body, layer.switch)
        for name in layer.amounts:
            column.prop(body, name, slider=name == layer.amounts[0])
    column = layout.column()
    column.active = body.use_weight_shift or body.use_planted_feet
    column.prop_search(body, "mover", settings.id_data.pose, "bones", icon="BONE_DATA")


def draw_eyes(layout: bpy.types.UILayout, settings) -> None:
    """The eye bones and their settings."""
    eyes = settings.eyes
    column = layout.column()
    column.active = eyes.use
    column.prop(eyes, "head_share", slider=True)
    column.prop(eyes, "head_delay")
    column.prop(eyes, "turned_by")
    if eyes.turned_by != "SHAPE_KEYS":
        for name in ("left", "right"):
            column.prop_search(eyes, name, settings.id_data.pose, "bones", icon="BONE_DATA")
    if eyes.turned_by == "SHAPE_KEYS" or len(eyes.shapes):
        _draw_shapes(column, eyes)
    column.operator_context = "INVOKE_DEFAULT"
    column.operator("lookat_pd.eyes_from_vrm", icon="IMPORT")
    limits = column.column(align=True)
    for name in ("yaw_limit", "pitch_up_limit", "pitch_down_limit"):
        limits.prop(eyes, name)
    column.prop(eyes, "vergence", slider=True)
    column.prop(eyes, "vergence_limit")
    column.prop(eyes, "micro")
    blink = column.column(heading="Blink")
    blink.prop(eyes, "use_blink", text="")
    rest = blink.column()
    rest.active = eyes.use_blink
    rest.prop(eyes, "blink_from")
    rest.prop(eyes, "blink_angle")
    rest.prop(eyes, "blink_key", icon="SHAPEKEY_DATA")
    lids = column.column(heading="Lids Follow")
    lids.prop(eyes, "use_lids", text="")
    amount = lids.column()
    amount.active = eyes.use_lids
    amount.prop(eyes, "lid_follow", slider=True)
    layout.prop(eyes, "drift")
    row = layout.row()
    row.active = eyes.drift > 0.0 or (eyes.use and eyes.micro > 0.0)
    row.prop(eyes, "seed")


_EYES = {"LEFT": "L", "RIGHT": "R", "BOTH": "L R"}
_DIRECTIONS = {"LEFT": "TRIA_LEFT", "RIGHT": "TRIA_RIGHT", "UP": "TRIA_UP", "DOWN": "TRIA_DOWN"}


class LOOKAT_PD_UL_eye_shapes(bpy.types.UIList):
    """The shape keys and control bones that turn and close the eyes."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        # Names are long and the sidebar is narrow: letters and arrows here, words below the list.
        split = layout.split(factor=0.78)
        icon = "BONE_DATA" if item.control else "SHAPEKEY_DATA"
        split.label(text=item.control or item.shape_key or "…", icon=icon, translate=False)
        direction = _DIRECTIONS.get(item.direction, "HIDE_ON")
        split.label(text=_EYES[item.eye], icon=direction, translate=False)


def _draw_shapes(layout: bpy.types.UILayout, eyes) -> None:
    """The table of shape keys and control bones, and the highlighted row."""
    rows.draw_list(layout, eyes, "LOOKAT_PD_UL_eye_shapes", "shapes", "shapes_index", "lookat_pd.eye_shape", rows=3)
    if 0 <= eyes.shapes_index < len(eyes.shapes):
        item = eyes.shapes[eyes.shapes_index]
        if not item.control:
            layout.prop(item, "shape_key", icon="SHAPEKEY_DATA")
        if not item.shape_key:
            layout.prop_search(item, "control", eyes.id_data.pose, "bones", icon="BONE_DATA")
        layout.prop(item, "eye")
        layout.prop(item, "direction")
        if item.control:
            layout.prop(item, "axis")
            layout.prop(item, "distance")
            layout.prop(eyes, "control_order")
        if item.direction != "CLOSE":
            layout.prop(item, "angle")
    layout.operator("lookat_pd.eye_shapes_detect", icon="FILE_REFRESH")


def _layer(layout: bpy.types.UILayout, group, switch: str) -> bpy.types.UILayout:
    """The switch of a layer, and a column for its settings that is inactive while the layer is off."""
    layout.prop(group, switch)
    column = layout.column()
    column.active = getattr(group, switch)
    return column


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_UL_eye_shapes,))
