"""The surface under the mouse is one that the viewport draws."""

from typing import Any

import bpy
import pytest

from extension import load

from .. import scenes

shown_surface = load("rig.sampling.shown_surface")


def viewport() -> Any:
    """A 3D viewport of the file."""
    areas = (area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D")
    return next(areas).spaces.active


def first(space: Any) -> str:
    """The name of what a ray along the y axis meets; "" for nothing."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = shown_surface.hit(bpy.context.scene, depsgraph, space, (0.0, -9.0, 0.0), (0.0, 1.0, 0.0))
    return "" if found is None else found.item.name


def wires(item: bpy.types.Object) -> None:
    item.display_type = "WIRE"


def bounds(item: bpy.types.Object) -> None:
    item.display_type = "BOUNDS"


def hidden(item: bpy.types.Object) -> None:
    item.hide_set(True)


@pytest.mark.every_blender
@pytest.mark.parametrize("change", [wires, bounds, hidden])
def test_what_is_drawn_behind_it_is_met(change) -> None:
    space, near, far = viewport(), scenes.box((0.0, -2.0, 0.0), (1.0, 1.0, 1.0)), scenes.box((0, 2.0, 0), (1, 1, 1))
    near.name, far.name = "Near", "Far"
    assert first(space) == "Near"
    change(near)
    assert first(space) == "Far"
    change(far)
    assert first(space) == ""


@pytest.mark.every_blender
def test_what_the_viewport_does_not_show_is_not_met_but_an_instance_is() -> None:
    space, box = viewport(), scenes.box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    group, holder = bpy.data.collections.new("Group"), bpy.data.objects.new("Holder", None)
    group.objects.link(box)
    holder.instance_type, holder.instance_collection = "COLLECTION", group
    space.show_object_viewport_mesh = False
    assert first(space) == ""
    bpy.context.scene.collection.objects.unlink(box)
    bpy.context.scene.collection.objects.link(holder)
    space.show_object_viewport_mesh = True
    assert first(space) == box.name
