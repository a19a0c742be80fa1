"""The look-at followed in real time, with the mouse as the target's hand: Esc restores, Enter keeps."""

import bpy
import numpy as np
from character import armature, facing, look_at_ball, pose, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

FOLLOW = ("operators.follow",)


def _channels() -> np.ndarray:
    return np.array([bone.matrix_basis for bone in armature().pose.bones])


def _follow(hands: Hands) -> Waiting:
    """Start by the button, move the mouse over the viewport for a while; the directions of the face meanwhile."""
    yield from hands.click((yield from hands.find("lookat_pd.follow", across=0.62)))
    yield 0.3
    seen = []
    for part in np.linspace(0.2, 0.6, 12):
        yield from hands.move(hands.inside(VIEWPORT, part, 0.6))
        yield 0.08
        seen.append(facing())
    return seen


@script(needs=FOLLOW)
def follow_left_by_esc(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    before, channels = pose(), _channels()
    target = bpy.data.objects["Ball"].matrix_world.copy()
    seen = yield from _follow(hands)
    turns = [np.degrees(np.arccos(np.clip(one @ seen[0], -1, 1))) for one in seen]
    assert max(turns) > 1.0, f"the head does not follow the mouse: {turns}"
    hands.look("following")
    yield from hands.key("ESC")
    yield 0.3
    assert np.array_equal(_channels(), channels), "Esc leaves another pose in the channels"
    assert np.array_equal(pose(), before), f"Esc leaves a pose that differs by {abs(pose() - before).max():.3g}"
    assert bpy.data.objects["Ball"].matrix_world == target
    assert not hands.window.modal_operators, [item.bl_idname for item in hands.window.modal_operators]


@script(needs=FOLLOW)
def follow_left_by_enter(hands: Hands) -> Waiting:
    yield from look_at_ball(hands)
    before = pose()
    yield from _follow(hands)
    yield 1.0
    held = pose()
    yield from hands.key("RET")
    yield 0.3
    assert not hands.window.modal_operators, [item.bl_idname for item in hands.window.modal_operators]
    assert abs(pose() - held).max() < 1e-3, f"Enter does not keep the pose: {abs(pose() - held).max():.3g}"
    assert settings().exists
    yield from hands.undo()
    yield 0.2
    assert abs(pose() - before).max() < 1e-5, f"undo leaves another pose: {abs(pose() - before).max():.3g}"
