"""Following while other things go on in the window: the target is dragged, views are zoomed, files and data go."""

import bpy
import numpy as np
from character import armature, facing, look_at_ball, miss, pose, select, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE_FOLLOW = ("operators.live_follow",)


def _start(hands: Hands, **options) -> Waiting:
    with hands.override():
        assert bpy.ops.lookat_pd.follow("INVOKE_DEFAULT", **options) == {"RUNNING_MODAL"}
    yield 0.3
    assert _goes_on(hands)


def _goes_on(hands: Hands) -> bool:
    return "LOOKAT_PD_OT_follow" in [item.bl_idname for item in hands.window.modal_operators]


def _session():
    return load("operators.live_follow")._sessions[0]


def _is_over(hands: Hands) -> bool:
    suspended = load("rig.sampling.suspend").is_live_suspended()
    return not _goes_on(hands) and not load("operators.live_follow")._sessions and not suspended


def _drag(hands: Hands) -> Waiting:
    """Move the selected target with G."""
    x, y = hands.inside(VIEWPORT, 0.3, 0.3)
    yield from hands.move((x, y))
    yield from hands.key("G")
    for k in range(1, 9):
        yield from hands.move((x + 15 * k, y + 8 * k))
        yield 0.05
    yield from hands.click((x + 120, y + 64))


@script(needs=LIVE_FOLLOW)
def follow_the_target_dragged(hands: Hands) -> Waiting:
    """With G the target is moved and the head goes along; Esc puts the target back, too."""
    ball = bpy.data.objects["Ball"]
    ball.animation_data_clear()
    yield from look_at_ball(hands)
    before, place = pose(), ball.location.copy()
    yield from _start(hands, use_mouse=False)
    select(ball)
    yield from _drag(hands)
    assert (yield from hands.until(lambda: (ball.location - place).length > 0.1, 10.0)), "the target was not moved"
    assert _goes_on(hands)
    assert (yield from hands.until(lambda: miss() < 0.5, 10.0)), f"the head misses the target by {miss():.2f} degrees"
    yield from hands.key("ESC")
    assert (yield from hands.until(lambda: _is_over(hands)))
    assert ball.location == place and np.array_equal(pose(), before)
    assert hands.window.view_layer.objects.active == armature()


@script(needs=LIVE_FOLLOW)
def follow_nearer_and_farther(hands: Hands) -> Waiting:
    """The wheel moves the goal along the line of sight; M changes over to the target."""
    yield from look_at_ball(hands)
    yield from _start(hands)
    middle = hands.inside(VIEWPORT, 0.35, 0.6)
    yield from hands.move(middle)
    yield 0.3
    near = np.array(_session().place)
    yield from hands.wheel(middle, 4)
    assert (yield from hands.until(lambda: np.linalg.norm(_session().place - near) > 0.5, 10.0))
    yield from hands.key("M")
    ball = bpy.data.objects["Ball"].matrix_world.translation
    assert (yield from hands.until(lambda: np.allclose(_session().place, ball, atol=1e-5), 10.0))
    yield from hands.click(middle, "RIGHTMOUSE")
    assert _goes_on(hands), "a right click is Blender's while the target is dragged"
    yield from hands.key("ESC")
    yield from hands.key("ESC")
    assert (yield from hands.until(lambda: _is_over(hands)))


@script(needs=LIVE_FOLLOW)
def follow_in_pose_mode(hands: Hands) -> Waiting:
    """A click keeps the pose; one undo takes it back, a redo brings it again."""
    yield from look_at_ball(hands)
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
    yield from _start(hands)
    before = facing()
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.7))
    assert (yield from hands.until(lambda: abs(facing() - before).max() > 0.02)), "the head does not follow the mouse"
    yield from hands.click(hands.inside(VIEWPORT, 0.3, 0.7))
    assert (yield from hands.until(lambda: _is_over(hands)))
    assert settings().mute and armature().mode == "POSE"
    kept = pose()
    yield from hands.undo()
    assert not settings().mute and not np.array_equal(pose(), kept)
    yield from hands.redo()
    assert settings().mute and np.array_equal(pose(), kept)


@script(needs=LIVE_FOLLOW)
def follow_ended_by_undo(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    yield from _start(hands, use_mouse=False)
    yield from hands.undo()
    assert (yield from hands.until(lambda: _is_over(hands)))


@script(needs=LIVE_FOLLOW)
def follow_ended_by_another_file(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    yield from _start(hands)
    with hands.override():
        bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    assert (yield from hands.until(lambda: _is_over(hands)))


@script(needs=LIVE_FOLLOW)
def follow_ended_by_losing_the_target(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    yield from _start(hands)
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    assert (yield from hands.until(lambda: _is_over(hands)))


@script(needs=LIVE_FOLLOW)
def follow_ended_by_edit_mode(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    select(armature())
    yield from _start(hands, use_mouse=False)
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("TAB")
    assert (yield from hands.until(lambda: armature().mode == "EDIT" and _is_over(hands)))
