"""The targets of a look-at and the buttons that key them: a sub-panel of the look-at panel."""

import bpy

from ..lookat_pd.message import Message
from ..operators import directing, selection
from ..rig.look_at.directing import looks
from ..rig.sampling import targets
from ..translations import messages
from . import rows, status


class LOOKAT_PD_UL_targets(bpy.types.UIList):
    """The additional targets of a look-at, each with the button that keys it."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        _draw_line(layout, data, index + 1)


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    settings = bone.lookat_pd
    _draw_line(layout.box(), settings, 0)
    kind, of = "LOOKAT_PD_UL_targets", "lookat_pd.target"
    rows.draw_list(layout, settings, kind, "targets", "targets_index", of, rows=4, moves=True)
    if 0 <= settings.targets_index < len(settings.targets):
        item = settings.targets[settings.targets_index]
        layout.prop(item, "object")
        if item.object is not None and item.object.type == "ARMATURE":
            layout.prop_search(item, "bone", item.object.pose, "bones", icon="BONE_DATA")
    layout.prop(settings, "use_mix")
    if settings.use_mix:
        _draw_weights(layout.column(align=True), context, bone)
    else:
        _draw_active(layout, context, bone)
    column = layout.column(align=True)
    column.active = not settings.use_mix
    column.operator("lookat_pd.look_here", icon="HIDE_OFF")
    column.operator("lookat_pd.glance", icon="TIME")
    column.operator("lookat_pd.look_away", icon="HIDE_ON")
    layout.operator("lookat_pd.targets_from_markers", icon="MARKER_HLT")
    status.draw_reason(layout, context, directing.why_not(context))


class LOOKAT_PD_MT_active_target(bpy.types.Menu):
    """The targets of the look-at by name."""

    bl_label = "Active Target"

    def draw(self, context: bpy.types.Context) -> None:
        settings = selection.look_at_bone(context).lookat_pd
        for number, target in enumerate(targets.listed(settings)):
            icon = "RADIOBUT_ON" if settings.active_target == number else "RADIOBUT_OFF"
            button = self.layout.operator(
                "lookat_pd.active_target", text=target.label or "…", translate=False, icon=icon
            )
            button.number = number


def _draw_active(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """The active target by name, with its decorator."""
    row = layout.row(align=True)
    name = Message("Active target: {name}", name=looks.chosen(bone.lookat_pd).label or "…")
    row.menu("LOOKAT_PD_MT_active_target", text=messages.translate(name), translate=False)
    rows.draw_dot(row, context, bone, "active_target")


def _draw_weights(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """The weight of each target with its decorator."""
    for number, target in enumerate(targets.listed(bone.lookat_pd)):
        if target.object is not None:
            setting = "target_weight" if number == 0 else f"targets[{number - 1}].weight"
            rows.draw_keyed(layout, context, bone, setting, text=target.label)


def _draw_line(layout: bpy.types.UILayout, settings, number: int) -> None:
    """Number and name of a target, with a filled circle if it is active at the current frame."""
    target = targets.listed(settings)[number]
    row = layout.row(align=True)
    row.label(text=f"{number}   {target.label or '…'}", translate=False)
    icon = "RADIOBUT_ON" if looks.active(settings) == number else "RADIOBUT_OFF"
    row.operator("lookat_pd.look_here", text="", icon=icon, emboss=False).number = number


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_UL_targets, LOOKAT_PD_MT_active_target))
