"""Hits from the panel: what the buttons add and bake, the plot, and undo."""

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from character import armature, select
from mathutils import Vector
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

PANEL = ("panels.hit",)
FRAME = 10


def _chest(frame: int) -> np.ndarray:
    """As evaluated, in armature space."""
    window = bpy.context.window_manager.windows[0]
    window.scene.frame_set(frame)
    return np.array(armature().evaluated_get(window.view_layer.depsgraph).pose.bones["chest"].matrix)


@script(needs=PANEL)
def hits_from_the_panel(hands: Hands) -> Waiting:
    """A hit on the active bone along the view; the chest gives way and comes back; one undo takes it back."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
    armature().data.bones.active = armature().data.bones["chest"]
    before = {frame: _chest(frame) for frame in (FRAME, FRAME + 39, FRAME + 4)}
    bpy.context.window_manager.windows[0].scene.frame_set(FRAME)
    yield 0.5
    bpy.ops.ed.undo_push(message="Begin")
    with opened("dynamics_hit"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("lookat_pd.hit_add")))
        yield 0.5
        (item,) = armature().lookat_pd_hits.hits
        assert (item.frame, item.bone) == (FRAME, "chest")
        assert np.allclose(item.direction, (0.0, 1.0, 0.0), atol=1e-3), "along the view from the front"
        hands.look("added")
        yield from hands.click((yield from hands.find("lookat_pd.hit(")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Sway hit", armature().animation_data.action
        away = [float(np.abs(_chest(frame) - before[frame]).max()) for frame in before]
        assert away[2] > 0.02 > 1e-3 > max(away[:2]), away
        yield 0.5
        yield from hands.wheel(hands.inside(SIDEBAR), -30)
        yield 0.5
        hands.look("plot")
        yield from hands.undo()
        assert armature().animation_data.action.name == "Sway"
        assert len(armature().lookat_pd_hits.hits) == 1


@script(needs=("panels.hit_gizmo",))
def hit_aimed_in_the_viewport(hands: Hands) -> Waiting:
    """The tip of the arrow is dragged to the right, seen from the front: the blow goes there; one undo step."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
    armature().data.bones.active = armature().data.bones["chest"]
    with hands.override():
        bpy.ops.lookat_pd.hit_add()
    (item,) = armature().lookat_pd_hits.hits
    item.direction = (0.0, 0.0, 1.0)
    bpy.ops.ed.undo_push(message="Aim")
    yield 0.5
    view = hands.area("VIEW_3D")
    region = hands.region(VIEWPORT)
    bone = armature().pose.bones["chest"]
    middle = armature().matrix_world @ ((bone.head + bone.tail) / 2.0)
    size = 0.2 * max(armature().dimensions)

    def pixel(direction: tuple[float, float, float]) -> tuple[int, int]:
        place = location_3d_to_region_2d(region, view.spaces.active.region_3d, middle + size * Vector(direction))
        return round(region.x + place.x), round(region.y + place.y)

    hands.look("arrow")
    yield from hands.drag(pixel((0.0, 0.0, 1.0)), pixel((1.0, 0.0, 0.0)))
    yield 0.3
    aimed = np.array(armature().lookat_pd_hits.hits[0].direction)
    assert np.allclose(aimed, (1.0, 0.0, 0.0), atol=0.05), aimed
    hands.look("aimed")
    yield from hands.undo()
    assert np.allclose(armature().lookat_pd_hits.hits[0].direction, (0.0, 0.0, 1.0)), "undone"
