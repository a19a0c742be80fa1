"""The preferences of the extension: which panels there are, what a new look-at has, colors in the viewport."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatVectorProperty, StringProperty

from ..rig import project
from ..rig.look_at import presets
from ..rig.settings import Properties, pointer
from . import drawing, viewports
from .manual import address

_PACKAGE = __package__.rpartition(".")[0]
PANELS = ("conversation", "springs", "pd_follow", "transitions", "ik", "dynamics")
"""The panels that can be switched off, in their order in the tab, each by `show_` and its name."""
COLORS = ("sight", "reach", "offsets")
"""What has a color of its own in the viewport, each by `color_` and its name."""
ADVANCED = "Advanced", "Show settings that most animations do not need, in all panels of Look-at PD"


def _redraw(self, context: bpy.types.Context) -> None:
    viewports.redraw()


def _suggested(self, context: bpy.types.Context, typed: str) -> list[str]:
    return list(presets.available())


_shown = Properties(options=set(), update=_redraw)


def _color(name: str, what: str, default: tuple[float, float, float]) -> Any:
    return FloatVectorProperty(
        name=name, description=what, default=default, min=0.0, max=1.0, subtype="COLOR_GAMMA", size=3, update=_redraw
    )


class _Settings:
    """What is in the preferences."""

    use_advanced: _shown.switch(*ADVANCED)
    show_conversation: _shown.switch("Conversation", "Show the panel for characters who talk", True)
    show_springs: _shown.switch("Springs", "Show the panel for tails, hair and straps", True)
    show_pd_follow: _shown.switch("PD Follow", "Show the panel for objects and bones that follow", True)
    show_transitions: _shown.switch("Transitions", "Show the panel that joins and loops actions", True)
    show_ik: _shown.switch("IK", "Show the panel of inverse kinematics", True)
    show_dynamics: _shown.switch("Dynamics", "Show the panel of keys with weight, reaches and hits", True)
    new_preset: StringProperty(
        name="Preset",
        description="Preset that a new look-at gets when it is added; leave empty for the plain defaults",
        search=_suggested,
    )
    new_whole_body: _shown.switch(
        "Whole Body", "Let a new look-at move hips, arms, feet and eyes as well, where the rig has them"
    )
    use_own_colors: _shown.switch("Own Colors", "Draw look-ats in these colors instead of those of Blender's theme")
    color_sight: _color("Line of Sight", "Color of the line of sight and of the mark at the target", (0.31, 0.78, 1.0))
    color_reach: _color("Reach", "Color of the range that the chain can reach", (0.31, 0.65, 0.42))
    color_offsets: _color(
        "Offsets", "Color of the rotations that are added, and of what is detected", (1.0, 0.67, 0.25)
    )


class LOOKAT_PD_Preferences(_Settings, bpy.types.AddonPreferences):
    """The preferences of the extension."""

    bl_idname = _PACKAGE

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        column = layout.column(heading="Panels")
        for name in PANELS:
            column.prop(self, f"show_{name}")
        layout.column(heading="Settings").prop(self, "use_advanced")
        column = layout.column(heading="New Look-ats")
        column.prop(self, "new_whole_body")
        column.prop(self, "new_preset")
        column = layout.column(heading="Viewport")
        column.prop(self, "use_own_colors")
        column = column.column()
        column.active = self.use_own_colors
        for name in COLORS:
            column.prop(self, f"color_{name}")
        row = layout.row()
        row.operator("wm.url_open", text="First Steps", icon="HELP").url = address(project.FIRST_STEPS)
        row.operator("wm.url_open", text="Manual", icon="URL").url = address(project.MANUAL)
        row.operator("lookat_pd.report_problem", icon="ERROR")


class SessionPreferences(_Settings, bpy.types.PropertyGroup):
    """The same for as long as Blender runs, where it is a Python module and has no preferences of extensions."""


def current() -> Any:
    """The preferences: those that Blender keeps, or those of the session."""
    entry = bpy.context.preferences.addons.get(_PACKAGE)
    if entry is not None and entry.preferences is not None:
        return entry.preferences
    return bpy.context.window_manager.lookat_pd_session


def shows(panel: str) -> bool:
    """Whether a panel is switched on."""
    return getattr(current(), f"show_{panel}")


def color(name: str, theme: Any) -> Any:
    """The color of something in the viewport: an own one, or that of the theme."""
    chosen = current()
    return getattr(chosen, f"color_{name}") if chosen.use_own_colors else theme


def _read(manager: bpy.types.WindowManager) -> bool:
    return current().use_advanced


def _write(manager: bpy.types.WindowManager, value: bool) -> None:
    current().use_advanced = value
    # Blender asks to save them, or does so when it is closed.
    bpy.context.preferences.is_dirty = True


_register, _unregister = bpy.utils.register_classes_factory((LOOKAT_PD_Preferences, SessionPreferences))


def register() -> None:
    _register()
    name, description = ADVANCED
    manager = bpy.types.WindowManager
    manager.lookat_pd_session = pointer(SessionPreferences, options={"SKIP_SAVE"})
    manager.lookat_pd_use_advanced = bpy.props.BoolProperty(
        name=name, description=description, get=_read, set=_write, options={"SKIP_SAVE"}
    )


def unregister() -> None:
    del bpy.types.WindowManager.lookat_pd_use_advanced
    del bpy.types.WindowManager.lookat_pd_session
    _unregister()
