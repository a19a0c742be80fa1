"""The button of a bake, with a menu of where its keys go."""

import bpy


def draw(layout: bpy.types.UILayout, operator: str, reason: str | None) -> None:
    """operator: one of `job.Bake`. reason: why nothing can be baked, or None."""
    row = layout.row(align=True)
    row.enabled = reason is None
    row.operator_context = "INVOKE_DEFAULT"
    row.operator(operator, text="Bake", icon="KEYFRAME_HLT").into = "NEW"
    row.operator_menu_enum(operator, "into", text="", icon="DOWNARROW_HLT")
