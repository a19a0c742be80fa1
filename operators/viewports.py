"""The 3D viewports of a window."""

from contextlib import suppress
from typing import Any

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector

from ..lookat_pd.errors import RigError


def view_under(window: bpy.types.Window, x: float, y: float) -> tuple[bpy.types.Region, bpy.types.RegionView3D] | None:
    """The viewport at a position in the window; None over panels, headers and other editors."""
    for area in window.screen.areas:
        if area.type != "VIEW_3D" or not _holds(area, x, y):
            continue
        views = [region for region in area.regions if region.type == "WINDOW"]
        if any(region.type != "WINDOW" and _holds(region, x, y) for region in area.regions):
            return None
        space = area.spaces.active
        quarters = list(space.region_quadviews)
        for n, region in enumerate(views):
            if _holds(region, x, y):
                return region, quarters[n] if len(quarters) == len(views) else space.region_3d
    return None


def _holds(place: bpy.types.Area | bpy.types.Region, x: float, y: float) -> bool:
    return place.width > 1 and place.x <= x < place.x + place.width and place.y <= y < place.y + place.height


def views(window: bpy.types.Window) -> list[bpy.types.Area]:
    """The areas of the viewports; none if the window is closed."""
    with suppress(ReferenceError):
        return [area for area in window.screen.areas if area.type == "VIEW_3D"]
    return []


def area_of(window: bpy.types.Window, region: bpy.types.Region) -> bpy.types.Area:
    return next(area for area in window.screen.areas if region in list(area.regions))


def any_view(window: bpy.types.Window) -> tuple[bpy.types.Region, bpy.types.RegionView3D]:
    """Any viewport of the window. Raises RigError if there is none."""
    for area in views(window):
        # Of four views the last one is what the space itself has.
        region = [item for item in area.regions if item.type == "WINDOW"][-1]
        return region, area.spaces.active.region_3d
    raise RigError("The IK drag needs a 3D viewport; open one.")


def redraw() -> None:
    """Redraw the viewports of all windows."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in views(window):
                area.tag_redraw()


class InView:
    """An operator that follows the mouse in a viewport."""

    def find_view(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether the mouse is in a viewport, which is kept. With a button that is down, it is let go at the end."""
        place = None if context.window is None else view_under(context.window, event.mouse_x, event.mouse_y)
        if place is not None:
            self._region, self._view = place
            self._dragged = event.type == "LEFTMOUSE"
        return place is not None

    def position(self, event: bpy.types.Event) -> tuple[int, int]:
        """The mouse in the viewport [pixels]."""
        return event.mouse_x - self._region.x, event.mouse_y - self._region.y

    def under(self, event: bpy.types.Event, depth: Vector) -> Vector:
        """The place of the world under the mouse, as far away as another one."""
        return view3d_utils.region_2d_to_location_3d(self._region, self._view, self.position(event), depth)

    def is_called_off(self, event: bpy.types.Event) -> bool:
        return event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS"

    def is_let_go(self, event: bpy.types.Event) -> bool:
        return event.type == "LEFTMOUSE" and event.value == ("RELEASE" if self._dragged else "PRESS")


class DraggedValue(InView):
    """An operator that changes a value while its handle is dragged. Esc: back."""

    def value(self, context: bpy.types.Context) -> Any:
        raise NotImplementedError

    def set_value(self, context: bpy.types.Context, value: Any) -> None:
        raise NotImplementedError

    def drag(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Change the value for another place of the mouse."""
        raise NotImplementedError

    def begin(self, context: bpy.types.Context) -> set[str]:
        self._before = self.value(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.is_called_off(event):
            self.cancel(context)
            return {"CANCELLED"}
        if self.is_let_go(event):
            return {"FINISHED" if self.value(context) != self._before else "CANCELLED"}
        if event.type == "MOUSEMOVE":
            self.drag(context, event)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called on Esc, and when Blender quits or loads another file."""
        with suppress(ReferenceError, IndexError, KeyError):
            self.set_value(context, self._before)
