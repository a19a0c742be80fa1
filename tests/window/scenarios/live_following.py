"""The look-at followed in real time, with the mouse as the target's hand: Esc restores, Enter keeps."""

import bpy
import numpy as np
from character import armature, facing, look_at_ball, pose, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

LIVE_FOLLOW = ("operators.live_follow",)


def _channels() -> np.ndarray:
    return np.array([bone.matrix_basis for bone in armature().pose.bones])


def _follow(hands: Hands) -> Waiting:
    """Start by the button, move the mouse over the viewport for a while; the directions of the face meanwhile."""
    yield from hands.click((yield from hands.find("lookat_pd.follow")))
    yield 0.3
    assert "LOOKAT_PD_OT_follow" in [item.bl_idname for item in hands.window.modal_operators]
    seen = []
    for part in np.linspace(0.2, 0.6, 12):
        yield from hands.move(hands.inside(VIEWPORT, part, 0.6))
        yield 0.08
        seen.append(facing())
    return seen


@script(needs=LIVE_FOLLOW)
def follow_left_by_esc(hands: Hands) -> Waiting:
    """The head goes with the mouse; Esc, and everything is as it was, to the last bit."""
    yield from look_at_ball(hands)
    before, channels = pose(), _channels()
    target = bpy.data.objects["Ball"].matrix_world.copy()
    seen = yield from _follow(hands)

    def turned() -> float:
        """The largest turn [deg] since the mouse was moved."""
        seen.append(facing())
        return float(max(np.degrees(np.arccos(np.clip(one @ seen[0], -1, 1))) for one in seen))

    assert (yield from hands.until(lambda: turned() > 1.0)), (
        f"the head does not follow the mouse: {turned():.2f} degrees"
    )
    hands.look("following")
    yield from hands.key("ESC")
    yield 0.3
    assert np.array_equal(_channels(), channels), "Esc leaves another pose in the channels"
    assert np.array_equal(pose(), before), f"Esc leaves a pose that differs by {abs(pose() - before).max():.3g}"
    assert bpy.data.objects["Ball"].matrix_world == target
    assert not settings().mute
    assert not hands.at_work, hands.at_work


@script(needs=LIVE_FOLLOW)
def follow_left_by_enter(hands: Hands) -> Waiting:
    """Enter keeps the pose in the bones, and one undo takes it back."""
    yield from look_at_ball(hands)
    before = pose()
    yield from _follow(hands)
    # On a slow machine the clock of Live Follow stops while Blender draws.
    before_that = pose()
    yield 1.0
    while abs(pose() - before_that).max() > 1e-3:
        before_that = pose()
        yield 0.5
    held = pose()
    yield from hands.key("RET")
    yield 0.3
    assert not hands.at_work, hands.at_work
    assert abs(pose() - held).max() < 5e-3, f"Enter does not keep the pose: {abs(pose() - held).max():.3g}"
    assert settings().exists
    assert settings().mute
    yield from hands.undo()
    assert not settings().mute
    assert (yield from hands.until(lambda: abs(pose() - before).max() < 1e-5)), (
        f"undo leaves another pose: {abs(pose() - before).max():.3g}"
    )


@script(needs=LIVE_FOLLOW)
def follow_recorded(hands: Hands) -> Waiting:
    """R records, Enter keys: a new action that plays what was seen."""
    yield from look_at_ball(hands)
    yield from hands.click((yield from hands.find("lookat_pd.follow")))
    yield 0.3
    yield from hands.move(hands.inside(VIEWPORT, 0.2, 0.6))
    yield from hands.key("R")
    begin = facing()
    for part in np.linspace(0.2, 0.6, 12):
        yield from hands.move(hands.inside(VIEWPORT, part, 0.6))
        yield 0.08
    yield from hands.until(lambda: abs(facing() - begin).max() > 0.05)
    yield from hands.key("RET")
    yield from hands.idle()
    assert armature().animation_data.action.name != "Sway"
    seen = []
    for frame in (1, 10, 20):
        bpy.context.window_manager.windows[0].scene.frame_set(frame)
        seen.append(facing())
    assert abs(seen[-1] - seen[0]).max() > 0.02, f"the recording stands still: {seen}"
    yield from hands.undo()
    assert armature().animation_data.action.name == "Sway"
