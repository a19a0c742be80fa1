"""The look-at live in the viewport: what is seen while settings, time and targets change."""

from itertools import pairwise

import bpy
import numpy as np
from character import armature, facing, look_at_ball, miss, pose, select, settings
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
STILL = 60
"""A frame by which everything has arrived."""
ARRIVED = 0.3
"""Degrees by which the head may miss the ball then."""


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _turned(one: np.ndarray, other: np.ndarray) -> float:
    """Angle [deg] between two directions; exact for small ones too."""
    return float(np.degrees(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(one - other), 0.0, 1.0))))


@script(needs=LIVE)
def looks_at_once(hands: Hands) -> Waiting:
    """Added by the button, the head is turned before anything else is done; undo turns it back."""
    plain = facing()
    yield from look_at_ball(hands)
    assert miss() < ARRIVED, f"the head misses the ball by {miss():.2f} degrees"
    _scene().frame_set(STILL)
    yield 0.1
    assert miss() < ARRIVED, f"at rest the head misses the ball by {miss():.2f} degrees"
    _scene().frame_set(1)
    yield from hands.undo()
    assert not settings().exists
    assert (yield from hands.until(lambda: _turned(facing(), plain) < 1e-3)), "undo leaves the head turned"
    yield from hands.redo()
    assert (yield from hands.until(lambda: miss() < ARRIVED)), (
        f"after redo the head misses the ball by {miss():.2f} degrees"
    )


@script(needs=LIVE)
def slider_turns_the_head(hands: Hands) -> Waiting:
    """While the settle time is dragged the head moves at the current frame; one undo takes it all back."""
    _scene().frame_set(32)  # the ball is on its way: how long the head takes shows here
    yield from look_at_ball(hands)
    before, seen = facing(), []
    slider = yield from hands.find("settle_time")
    yield from hands.drag((slider.x, slider.y), (slider.x + 60, slider.y), each=lambda: seen.append(facing()))
    assert _turned(seen[-1], before) > 1.0, f"the head turned by {_turned(seen[-1], before):.2f} degrees"
    steps = [_turned(one, other) for one, other in pairwise(seen)]
    assert sum(step > 0.01 for step in steps) >= 3, f"the head does not follow the slider: {steps}"
    yield from hands.undo()
    undone = yield from hands.until(lambda: _turned(facing(), before) < 1e-3)
    assert undone, f"undo leaves {_turned(facing(), before):.3f} degrees"
    yield from hands.redo()
    redone = yield from hands.until(lambda: _turned(facing(), seen[-1]) < 1e-3)
    assert redone, f"redo misses by {_turned(facing(), seen[-1]):.3f} degrees"


@script(needs=LIVE)
def target_moved(hands: Hands) -> Waiting:
    """G in the viewport moves a target without keys, and the head goes with it, during the move and after."""
    bpy.data.objects["Ball"].animation_data_clear()
    _scene().frame_set(STILL)
    yield from look_at_ball(hands)
    select(bpy.data.objects["Ball"])
    before, seen = facing(), []
    x, y = hands.inside(VIEWPORT, 0.3, 0.3)
    yield from hands.move((x, y))
    yield from hands.key("G")
    for step in range(1, 9):
        yield from hands.move((x + 10 * step, y + 7 * step))
        yield 0.05
        seen.append(miss())
    yield from hands.click((x + 80, y + 56))
    turned = yield from hands.until(lambda: _turned(facing(), before) > 3.0)
    assert turned, f"the head turned by {_turned(facing(), before):.2f} degrees"
    arrived = yield from hands.until(lambda: miss() < ARRIVED)
    assert arrived, f"the head misses the ball by {miss():.2f} degrees; during the move by {seen}"
    yield from hands.undo()
    undone = yield from hands.until(lambda: _turned(facing(), before) < 0.01)
    assert undone, f"undo leaves {_turned(facing(), before):.3f} degrees"


@script(needs=LIVE)
def muted_by_eye(hands: Hands) -> Waiting:
    """The eye in the list shows the plain animation, to the last bit, and the look-at again."""
    _scene().frame_set(STILL)
    plain = pose()
    yield from look_at_ball(hands)
    looked = pose()
    assert not np.array_equal(plain, looked)
    eye = yield from hands.find(".mute", across=0.775)
    yield from hands.click(eye)
    assert settings().mute
    assert np.array_equal(pose(), plain), f"muted, the pose differs by {abs(pose() - plain).max():.3g}"
    yield from hands.click(eye)
    assert not settings().mute
    assert np.array_equal(pose(), looked), f"unmuted, the pose differs by {abs(pose() - looked).max():.3g}"


@script(needs=LIVE)
def removed_leaves_nothing(hands: Hands) -> Waiting:
    """The cross leaves the rig as it was before the look-at."""

    def rig() -> list:
        return [(bone.name, [constraint.name for constraint in bone.constraints]) for bone in armature().pose.bones]

    _scene().frame_set(30)
    plain, before = pose(), rig()
    yield from look_at_ball(hands)
    yield from hands.click((yield from hands.find("lookat_pd.remove", across=0.835)))
    assert not settings().exists
    yield 0.3
    assert rig() == before, rig()
    assert np.array_equal(pose(), plain), f"the pose differs by {abs(pose() - plain).max():.3g}"


@script(needs=LIVE)
def bake_is_what_was_seen(hands: Hands) -> Waiting:
    """Frames seen live are the frames of the bake."""
    yield from look_at_ball(hands)
    frames, seen = (1, 18, 27, 33, 45, 60), []
    for frame in frames:
        _scene().frame_set(frame)
        seen.append(pose())
    yield from hands.click((yield from hands.find("lookat_pd.bake")))
    assert (yield from hands.until(lambda: settings().mute, 10.0)), "the bake does not end"
    for frame, live in zip(frames, seen, strict=True):
        _scene().frame_set(frame)
        assert abs(pose() - live).max() < 1e-5, (
            f"frame {frame}: baked and live differ by {abs(pose() - live).max():.3g}"
        )


@script(needs=LIVE)
def pose_edited_under_it(hands: Hands) -> Waiting:
    """In pose mode, R turns an unkeyed bone and its place stays; the look-at goes on."""
    yield from look_at_ball(hands)
    _scene().frame_set(STILL)
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
    bone = armature().pose.bones["upper_arm.R"]
    armature().data.bones.active = bone.bone
    for other in armature().pose.bones:
        (other if hasattr(other, "select") else other.bone).select = other == bone
    x, y = hands.inside(VIEWPORT, 0.3, 0.4)
    yield from hands.move((x, y))
    yield from hands.key("R")
    yield from hands.write("30")
    yield from hands.key("RET")
    yield 0.2
    turned = np.array(bone.matrix_basis)
    assert abs(turned - np.eye(4)).max() > 0.1, "the bone did not turn"
    slider = yield from hands.find("settle_time", SIDEBAR)
    yield from hands.drag((slider.x, slider.y), (slider.x - 10, slider.y))
    yield 0.2
    assert np.array_equal(np.array(bone.matrix_basis), turned), "the pose edit is lost"
    assert (yield from hands.until(lambda: miss() < ARRIVED)), f"the head misses the ball by {miss():.2f} degrees"


@script(needs=LIVE)
def saved_and_opened_live(hands: Hands) -> Waiting:
    """The pose that was saved is the pose that is opened, before anything is played."""
    path = str(hands.folder / "saved-live.blend")
    yield from look_at_ball(hands)
    settings().settle_time = 0.9
    _scene().frame_set(33)
    yield 0.1
    before = pose()
    with hands.override():
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    yield 0.3
    assert np.array_equal(pose(), before), f"opened, the pose differs by {abs(pose() - before).max():.3g}"
    _scene().frame_set(1)
    _scene().frame_set(33)
    assert np.array_equal(pose(), before), f"reached again, the pose differs by {abs(pose() - before).max():.3g}"


@script(needs=LIVE)
def two_characters(hands: Hands) -> Waiting:
    """A duplicate (Shift+D) looks as well, and each keeps its own settings."""
    yield from look_at_ball(hands)
    select(armature())
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("D", shift=True)
    yield from hands.key("RET")
    yield 0.3
    other = bpy.data.objects["Hero.001"]
    assert other.pose.bones["head"].lookat_pd.exists
    other.pose.bones["head"].lookat_pd.settle_time = 2.0
    _scene().frame_set(32)
    yield 0.2
    depsgraph = hands.window.view_layer.depsgraph
    slow = np.array(other.evaluated_get(depsgraph).pose.bones["head"].matrix)
    quick = np.array(armature().evaluated_get(depsgraph).pose.bones["head"].matrix)
    assert abs(slow - quick).max() > 1e-3, "both heads have one settle time"
    assert abs(settings().settle_time - 0.6) < 1e-6


@script(needs=LIVE)
def target_dragged_before_a_control_rig(hands: Hands) -> Waiting:
    """A rig whose result is verified: the head follows at each step of the mouse, and is solved when the hand rests."""
    constraint = armature().pose.bones["neck"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget, constraint.influence = armature(), "upper_arm.L", 0.3
    yield from look_at_ball(hands)
    ball = bpy.data.objects["Ball"]
    ball.animation_data_clear()
    ball.location = (1.0, -1.6, 1.9)
    _scene().frame_set(60)
    live = load("rig.layers.live")
    solved = lambda: live.status(_scene(), armature(), "head").state == "SOLVED"  # noqa: E731
    # What was solved before the edit counts as solved until the edit is noticed.
    assert (yield from hands.until(lambda: solved() and miss() < 0.1))
    previewed = 0
    for step in range(12):
        ball.location.x = 0.9 - 0.15 * step
        yield 0.05
        previewed += live.status(_scene(), armature(), "head").state == "PREVIEW"
        # The settled pose at once, and what the head still misses a moment later.
        assert (yield from hands.until(lambda: miss() < 0.5)), f"the head misses by {miss():.1f} degrees"
    assert previewed > 6, f"only {previewed} of 12 steps showed a preview"
    while not solved():
        assert miss() < 1.0, f"the head leaves the ball by {miss():.1f} degrees while it is solved"
        yield 0.0
    assert (yield from hands.until(lambda: miss() < 0.1)), f"solved, the head misses by {miss():.2f} degrees"
