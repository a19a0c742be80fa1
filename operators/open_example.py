"""Open the example: a scene that is built when it is asked for, live, and shown as a newcomer should see it."""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

import bpy

from ..assets.demo import example
from ..rig.guards import callbacks
from ..rig.settings import switch
from . import polling, selection, viewports

TAB = "Look-at PD"
_ZOOM = 25.0
"""At which what the camera sees fills most of a viewport."""


@cache
def _has_rigify() -> bool:
    return find_spec("rigify") is not None


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why there is no example, as a sentence; None if there is one."""
    return None if _has_rigify() else "The example needs the add-on Rigify, which this Blender lacks"


class LOOKAT_PD_OT_open_example(polling.Explained, bpy.types.Operator):
    """Build a person who looks at a ball and a bird, in a scene of its own; what you have stays as it is"""

    bl_idname = "lookat_pd.open_example"
    bl_label = "Open Example"
    why_not = staticmethod(why_not)

    show: switch("Show", "Open the sidebar and look through the camera of the example", True, options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        window = context.window
        if window is not None:
            window.cursor_set("WAIT")
        demo = example.build_scene()
        if window is None:
            return {"FINISHED"}
        window.scene = demo.scene
        with context.temp_override(window=window, scene=demo.scene, view_layer=demo.scene.view_layers[0]):
            selection.select_only(bpy.context, demo.rig)
        if self.show:
            _show(window)
        window.cursor_set("DEFAULT")
        return {"FINISHED"}


def _show(window: bpy.types.Window) -> None:
    """In the largest viewport: the sidebar with the tab, and what the camera sees."""
    found = viewports.views(window)
    if not found:
        return
    area = max(found, key=lambda one: one.width * one.height)
    space = area.spaces.active
    space.show_region_ui = True
    space.region_3d.view_perspective = "CAMERA"
    space.region_3d.view_camera_zoom, space.region_3d.view_camera_offset = _ZOOM, (0.0, 0.0)
    callbacks.start_timer(_choosing_tab(area.as_pointer()).__next__, 0.1)


def _choosing_tab(area: int) -> Iterator[float | None]:
    """Choose the tab once the sidebar has been drawn: only then does it know of its tabs."""
    for _ in range(20):
        regions = [
            region
            for window in bpy.context.window_manager.windows
            for one in viewports.views(window)
            if one.as_pointer() == area
            for region in one.regions
            if region.type == "UI"
        ]
        try:
            for region in regions:
                region.active_panel_category = TAB
                region.tag_redraw()
            yield None
        except (AttributeError, TypeError):
            yield 0.1
    yield None


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_open_example,))
