"""What the viewport shows of a look-at: each part when it is on, and nothing where it would only be in the way."""

import bpy
import numpy as np
from character import armature, look_at_ball, settings
from windowed.hands import VIEWPORT, Hands, NotThere, Waiting
from windowed.scripts import script

PARTS = ("show_sight", "show_target", "show_limits", "show_offsets", "show_detected")


def _options():
    return bpy.context.window_manager.windows[0].scene.lookat_pd_overlay


def _picture(hands: Hands) -> Waiting:
    """Pixels of the viewport, without what else lies over it."""
    region = hands.region(VIEWPORT)
    region.tag_redraw()
    yield 0.3
    (x, y), (right, top) = hands.inside(VIEWPORT, 0.1, 0.05), hands.inside(VIEWPORT, 0.86, 0.87)
    return hands.pixels(x, y, right - x, top - y).astype(int)


def _drawn(hands: Hands) -> Waiting:
    """How many pixels the overlay changes."""
    pictures = []
    for show in (False, True):
        _options().show = show
        pictures.append((yield from _picture(hands)))
    return int(np.any(np.abs(pictures[0] - pictures[1]) > 8, axis=-1).sum())


def _pose(hands: Hands) -> Waiting:
    """A look-at in pose mode, its head selected, seen as a whole and half on its way."""
    yield from look_at_ball(hands)
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
    settings().influence = 0.5
    yield 0.5


@script()
def parts_come_and_go(hands: Hands) -> Waiting:
    yield from _pose(hands)
    assert (yield from _drawn(hands)) > 100
    hands.look("overlay")
    for part in PARTS:
        for other in PARTS:
            setattr(_options(), other, other == part)
        count = yield from _drawn(hands)
        assert count > 20, f"{part} changes {count} pixels"
    for part in PARTS:
        setattr(_options(), part, False)
    assert (yield from _drawn(hands)) == 0


@script()
def nothing_where_it_is_in_the_way(hands: Hands) -> Waiting:
    yield from _pose(hands)
    view = hands.area("VIEW_3D").spaces.active
    for owner, name, value in (
        (settings(), "mute", True),
        (armature().data, "pose_position", "REST"),
        (view.overlay, "show_overlays", False),
        (armature(), "hide_viewport", True),
    ):
        before = getattr(owner, name)
        setattr(owner, name, value)
        yield 0.2
        count = yield from _drawn(hands)
        assert count == 0, f"with {name} at {value} the overlay changes {count} pixels"
        setattr(owner, name, before)
        yield 0.2
        assert (yield from _drawn(hands)) > 100
    with hands.override():
        bpy.ops.object.mode_set(mode="EDIT")
    assert (yield from _drawn(hands)) == 0


@script()
def copied_by_search(hands: Hands) -> Waiting:
    """Found by F3 in pose mode; one undo step."""
    yield from _pose(hands)
    yield from hands.search("Copy Look-at")
    with_look_at = [bone.name for bone in armature().pose.bones if bone.lookat_pd.exists]
    if with_look_at == ["head"]:
        raise NotThere("the search copied nothing")
    assert len(with_look_at) == len(armature().pose.bones)
    yield from hands.undo()
    assert [bone.name for bone in armature().pose.bones if bone.lookat_pd.exists] == ["head"]
