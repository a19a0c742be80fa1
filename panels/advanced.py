"""Basic and Advanced: one switch for all panels, in the preferences and in the header of the look-at's panel."""

import bpy


def is_on(context: bpy.types.Context) -> bool:
    """Whether the settings are shown that most animations do not need."""
    return context.window_manager.lookat_pd_use_advanced


def draw_switch(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The switch, an icon in a header; drawn as pressed while it is on, which closed sub-panels would not tell."""
    manager = context.window_manager
    layout.prop(manager, "lookat_pd_use_advanced", text="", icon="OPTIONS", emboss=is_on(context))


class AdvancedPanel:
    """Mixin of a panel that only *Advanced* shows, before the class whose poll it adds to."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_on(context) and super().poll(context)  # pyright: ignore[reportAttributeAccessIssue]
