"""Basic and Advanced: one switch for all panels, in the preferences and in the header of the look-at's panel."""

from typing import TYPE_CHECKING

import bpy

_PACKAGE = __package__.rpartition(".")[0]
_NAME = "Advanced"
_DESCRIPTION = "Show settings that most animations do not need, in all panels of Look-at PD"


class LOOKAT_PD_Preferences(bpy.types.AddonPreferences):
    """The preferences of the extension."""

    bl_idname = _PACKAGE

    if TYPE_CHECKING:
        use_advanced: bool
        layout: bpy.types.UILayout
    else:
        use_advanced: bpy.props.BoolProperty(name=_NAME, description=_DESCRIPTION, default=False)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "use_advanced")


def _preferences() -> LOOKAT_PD_Preferences | None:
    """None where the extension was not enabled by Blender's preferences: in Blender as a Python module."""
    entry = bpy.context.preferences.addons.get(_PACKAGE)
    return entry.preferences if entry is not None else None


def _read(manager: bpy.types.WindowManager) -> bool:
    preferences = _preferences()
    return _session["use_advanced"] if preferences is None else preferences.use_advanced


def _write(manager: bpy.types.WindowManager, value: bool) -> None:
    preferences = _preferences()
    if preferences is None:
        _session["use_advanced"] = value
    else:
        preferences.use_advanced = value
        # Blender asks to save them, or does so when it is closed.
        bpy.context.preferences.is_dirty = True


_session = {"use_advanced": False}
"""Where there are no preferences, for as long as Blender runs."""


def is_on(context: bpy.types.Context) -> bool:
    """Whether the settings are shown that most animations do not need."""
    return context.window_manager.lookat_pd_use_advanced


def draw_switch(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The switch, an icon in a header."""
    layout.prop(context.window_manager, "lookat_pd_use_advanced", text="", icon="OPTIONS", emboss=False)


class AdvancedPanel:
    """Mixin of a panel that only *Advanced* shows, before the class whose poll it adds to."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_on(context) and super().poll(context)  # pyright: ignore[reportAttributeAccessIssue]


_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_Preferences,))


def register() -> None:
    _register()
    bpy.types.WindowManager.lookat_pd_use_advanced = bpy.props.BoolProperty(
        name=_NAME, description=_DESCRIPTION, get=_read, set=_write, options={"SKIP_SAVE"}
    )


def unregister() -> None:
    del bpy.types.WindowManager.lookat_pd_use_advanced
    _unregister()
