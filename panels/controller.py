"""The controller's settings in a panel."""

import bpy


def draw(layout: bpy.types.UILayout, settings) -> None:
    """How fast it settles, and how it is damped."""
    layout.prop(settings, "settle_time", text="Settle Time (s)", slider=True)
    layout.prop(settings, "damping")
    if settings.damping == "CUSTOM":
        layout.prop(settings, "damping_ratio")
