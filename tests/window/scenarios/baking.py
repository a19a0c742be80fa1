"""The bake by its button: one undo step, Esc, and what the panel says."""

import bpy
import numpy as np
from character import armature, look_at_ball, miss, pose, settings
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _action() -> str:
    return armature().animation_data.action.name


@script()
def baked_by_button(hands: Hands) -> Waiting:
    """A new action that aims; one undo step back, and forward again."""
    yield from look_at_ball(hands)
    _scene().frame_set(60)
    before = pose()
    yield from hands.click((yield from hands.find("lookat_pd.bake")))
    assert (yield from hands.until(lambda: settings().mute, 10.0)), "the bake does not end"
    assert _action() == "Sway look-at", _action()
    assert miss() < 0.2, miss()
    baked = pose()
    yield from hands.undo()
    assert _action() == "Sway", _action()
    assert not settings().mute
    _scene().frame_set(60)
    assert np.array_equal(pose(), before), "undo leaves another pose"
    yield from hands.redo()
    assert _action() == "Sway look-at", _action()
    _scene().frame_set(60)
    assert np.array_equal(pose(), baked), "redo brings another pose"


@script()
def bake_stopped_by_esc(hands: Hands) -> Waiting:
    """A long bake ends with Esc, and the file is as it was."""
    yield from look_at_ball(hands)
    before, actions = pose(), sorted(bpy.data.actions.keys())
    scenes = len(bpy.data.scenes)
    button = yield from hands.find("lookat_pd.bake")
    # Just before, or the live look-at has solved most of it.
    _scene().frame_end = 100000
    yield from hands.click(button)
    assert hands.window.modal_operators, "the bake has ended"
    yield from hands.key("ESC")
    yield from hands.idle()
    assert _action() == "Sway", _action()
    assert sorted(bpy.data.actions.keys()) == actions, bpy.data.actions.keys()
    assert len(bpy.data.scenes) == scenes
    assert not settings().mute
    _scene().frame_end = 60
    same = yield from hands.until(lambda: np.array_equal(pose(), before), 5.0)
    assert same, f"another pose: {abs(pose() - before).max():.3g}"


@script()
def baked_onto_checked_actions(hands: Hands) -> Waiting:
    """The list of actions and its buttons; one undo step."""
    yield from look_at_ball(hands)
    copy = armature().animation_data.action.copy()
    copy.name, copy.use_fake_user = "Sway more", True
    bpy.ops.ed.undo_push(message="Two actions")
    with opened("sidebar_bake_onto_actions"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("lookat_pd.check_actions")))
        assert (yield from hands.until(lambda: bpy.data.actions["Sway more"].lookat_pd.checked, 5.0)), "not checked"
        hands.look("bake-onto-actions")
        yield from hands.click((yield from hands.find("lookat_pd.bake_onto_actions")))
        assert (yield from hands.until(lambda: settings().mute, 20.0)), "the bake does not end"
    tracks = [track.name for track in armature().animation_data.nla_tracks]
    assert tracks == ["Sway look-at", "Sway more look-at"], tracks
    yield from hands.undo()
    assert not armature().animation_data.nla_tracks and not settings().mute
    assert not any("look-at" in name for name in bpy.data.actions.keys()), bpy.data.actions.keys()
