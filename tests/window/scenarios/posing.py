"""Things that are moved but not keyed: the look answers at this frame, and the viewport says that it is a preview."""

import bpy
import numpy as np
from character import armature, look_at_ball, miss
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _state() -> str:
    return load("rig.layers.live").status(_scene(), armature(), "head").state


def _picture(hands: Hands) -> np.ndarray:
    (x, y), (right, top) = hands.inside(VIEWPORT, 0.1, 0.05), hands.inside(VIEWPORT, 0.72, 0.87)
    return hands.pixels(x, y, right - x, top - y).astype(int)


@script(needs=LIVE)
def chest_rotated_with_the_mouse(hands: Hands) -> Waiting:
    """R in pose mode: the head stays on its target at each step, after the click too, and as before with Esc."""
    yield from look_at_ball(hands)
    _scene().frame_set(60)
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        armature().data.bones.active = armature().data.bones["chest"]
        chest = armature().pose.bones["chest"]
        (chest if hasattr(chest, "select") else chest.bone).select = True
        bpy.ops.view3d.view_axis(type="FRONT")
    assert (yield from hands.until(lambda: _state() == "SOLVED"))
    x, y = hands.inside(VIEWPORT, 0.5, 0.6)
    for confirm, left in (("ESC", "SOLVED"), ("RET", "PREVIEW")):
        yield from hands.move((x + 150, y))
        yield from hands.key("R")
        missed, before = [], chest.rotation_quaternion.copy()
        for step in range(8):
            yield from hands.move((x + 150, y + 12 * step))
            yield 0.05
            missed.append(miss())
        assert chest.rotation_quaternion.rotation_difference(before).angle > 0.1
        assert max(missed[2:]) < 1.0, f"the head misses by {np.round(missed, 1)} degrees"
        assert _state() == "PREVIEW"
        hands.look(f"posing {confirm}")
        yield from hands.key(confirm)
        assert (yield from hands.until(lambda left=left: _state() == left)), f"after {confirm}: {_state()}"
        assert (yield from hands.until(lambda: miss() < 0.2)), (
            f"after {confirm} the head misses by {miss():.2f} degrees"
        )
    yield 0.8
    assert _state() == "PREVIEW" and miss() < 0.2, "what is not keyed was forgotten"
    _scene().frame_set(59)
    _scene().frame_set(60)
    assert (yield from hands.until(lambda: _state() == "SOLVED" and miss() < 0.2)), f"{_state()}, {miss():.2f} degrees"


@script(needs=LIVE)
def preview_marked_in_the_viewport(hands: Hands) -> Waiting:
    """With the sidebar closed."""
    yield from look_at_ball(hands)
    hands.area("VIEW_3D").spaces.active.show_region_ui = False
    _scene().frame_set(60)
    yield 0.5
    options, ball = _scene().lookat_pd_overlay, bpy.data.objects["Ball"]
    for name in options.bl_rna.properties.keys():
        if name.startswith("show_"):
            setattr(options, name, False)

    def marked() -> Waiting:
        pictures = []
        for show in (False, True):
            options.show = show
            hands.region(VIEWPORT).tag_redraw()
            yield 0.3
            pictures.append(_picture(hands))
        return int(np.any(np.abs(pictures[0] - pictures[1]) > 8, axis=-1).sum())

    assert (yield from marked()) == 0
    for step in range(3):
        ball.location.x -= 0.1 * step
        yield 0.1
    assert _state() == "PREVIEW"
    count = yield from marked()
    hands.look("preview marked")
    assert count > 50, f"the mark changes {count} pixels"
