"""The 3D viewports of a window."""

from contextlib import suppress

import bpy

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
        region = next(item for item in area.regions if item.type == "WINDOW")
        return region, area.spaces.active.region_3d
    raise RigError("The IK drag needs a 3D viewport; open one.")


def redraw() -> None:
    """Redraw the viewports of all windows."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in views(window):
                area.tag_redraw()
