"""What the tab shows before there is a look-at: what to select, the example, and where to read and to ask."""

import bpy

from ..operators import manual, open_example, polling, select_armature, selection
from ..rig import project
from ..rig.guards import faults
from ..translations import messages
from . import status

_MOST = 4
"""Armatures that are offered."""


def draw_selection(layout: bpy.types.UILayout, context: bpy.types.Context, reason: str) -> None:
    """Why there is nothing to work on, with the buttons that change it."""
    status.draw_reason(layout, context, reason)
    if context.mode != "OBJECT" and context.mode.startswith("EDIT"):
        is_rig = selection.armature(context) == context.object
        layout.operator("object.mode_set", text="Leave Edit Mode", icon="LOOP_BACK").mode = (
            "POSE" if is_rig else "OBJECT"
        )
        return
    item = selection.armature(context)
    if item is not None and item.type == "ARMATURE":
        return
    column = layout.column(align=True)
    for armature in select_armature.armatures(context)[:_MOST]:
        row = column.operator("lookat_pd.select_armature", text=armature.name, translate=False, icon="ARMATURE_DATA")
        row.armature = armature.name


def why_no_selection(context: bpy.types.Context) -> str | None:
    """The reason why there is no character to work on; None if there is one."""
    reason = polling.why_no_armature(context)
    is_anything = context.mode.startswith("EDIT") or select_armature.armatures(context)
    if reason is not None and selection.armature(context) is None and not is_anything:
        return "This scene has no character; import one with an armature, or open the example"
    return reason


def draw_help(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The example, the manual, and where to report a problem."""
    column = layout.column(align=True)
    column.scale_y = 1.2
    column.operator("lookat_pd.open_example", icon="OUTLINER_OB_ARMATURE")
    status.draw_reason(layout, context, open_example.why_not(context))
    column = layout.column(align=True)
    pages = column.row(align=True)
    for text, page, icon in (
        ("First Steps", project.FIRST_STEPS, "HELP"),
        ("Manual", project.MANUAL, "URL"),
    ):
        pages.operator("wm.url_open", text=text, icon=icon).url = manual.address(page)
    column.operator("lookat_pd.report_problem", icon="ERROR")


def draw_fault(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """After a fault of the extension: what to do about it."""
    if not faults.is_new():
        return
    box = layout.box()
    text = "Something failed because of a fault in Look-at PD; save your file and report it"
    status.draw_long(box, context, messages.translate(text), "ERROR")
    row = box.row(align=True)
    row.operator("lookat_pd.report_problem")
    row.operator("lookat_pd.dismiss_problem", text="", icon="X")


def draw_failed(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """In place of a panel that cannot be drawn: why."""
    text = "This panel cannot be drawn because of a fault in Look-at PD"
    status.draw_long(self.layout, context, messages.translate(text), "ERROR")
    self.layout.operator("lookat_pd.report_problem", icon="ERROR")
