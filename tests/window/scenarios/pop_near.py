"""Smooth Pop: it asks before it changes another frame than the one that is seen, and works on what is on controls."""

import bpy
import numpy as np
from character import armature, select
from rigify_human import build_scene
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

POP = 30


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _cut() -> None:
    """A jump of the chest between two frames of the character's own keys."""
    chest = armature().pose.bones["chest"]
    for frame, angle in ((1, 0.0), (POP - 1, 0.05), (POP, 0.8), (60, 0.85)):
        chest.rotation_quaternion = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        chest.keyframe_insert("rotation_quaternion", frame=frame)


def _jump() -> float:
    """Angle [deg] of the chest between the frames of the pop."""
    seen = []
    for frame in (POP - 1, POP):
        _scene().frame_set(frame)
        seen.append(armature().pose.bones["chest"].matrix_basis.to_quaternion())
    return float(np.degrees(seen[0].rotation_difference(seen[1]).angle))


@script(needs=("operators.smooth_pop",))
def asked_before_another_frame_is_smoothed(hands: Hands) -> Waiting:
    armature().animation_data_clear()
    _cut()
    select(armature())
    bpy.ops.ed.undo_push(message="Cut")
    before = _jump()
    assert before > 20.0
    with opened("transitions_pops"):
        yield from hands.sidebar()
        for end in ("ESC", "RET"):
            _scene().frame_set(POP - 4)
            yield 0.2
            yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
            yield 0.5
            hands.look(f"asked {end}")
            assert abs(_jump() - before) < 1e-3, "smoothed unasked"
            yield from hands.key(end)
            yield 0.5
            assert (abs(_jump() - before) < 1e-3) == (end == "ESC"), f"after {end}: {_jump():.2f} degrees"
        yield from hands.undo()
        assert abs(_jump() - before) < 1e-3
        # With the playhead at the pop nothing needs to be asked.
        _scene().frame_set(POP)
        yield 0.2
        yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
        assert (yield from hands.until(lambda: _jump() < 0.5 * before, 10.0)), f"{_jump():.2f} degrees"


def _skip(human: bpy.types.Object, frames: int) -> None:
    """A cut of all that the human plays at the pop: from there on what comes so many frames later."""
    data = human.animation_data
    for curve in data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves:
        end = int(curve.keyframe_points[-1].co[0])
        later = [curve.evaluate(frame + frames * (frame >= POP)) for frame in range(1, end + 1)]
        curve.keyframe_points.clear()
        for frame, value in enumerate(later, 1):
            curve.keyframe_points.insert(frame, value, options={"FAST"})
        curve.update()


def _steps(human: bpy.types.Object, frames: range) -> np.ndarray:
    """How far the bone that moves most goes to each frame after the first, as Blender evaluates it."""
    places = []
    for frame in frames:
        _scene().frame_set(frame)
        seen = human.evaluated_get(bpy.context.window_manager.windows[0].view_layer.depsgraph)
        places.append([bone.head[:] for bone in seen.pose.bones if bone.name.startswith("DEF-")])
    return np.linalg.norm(np.diff(np.array(places), axis=0), axis=-1).max(axis=1)


@script(needs=("operators.smooth_pop",))
def cut_of_a_rigify_human_smoothed_at_the_playhead(hands: Hands) -> Waiting:
    """A cut through a performance on controls with feet on IK: one click, in the sight of the panel, and one undo."""
    with opened("transitions_pops"):
        yield from hands.sidebar()
        demo = build_scene()
        hands.window.scene = demo.scene
        human, name = demo.rig, demo.rig.name
        _skip(human, 40)
        select(human)
        around = range(POP - 5, POP + 20)
        before = _steps(human, around)
        assert before[4] > 5.0 * np.delete(before, 4).max(), before
        _scene().frame_set(POP)
        bpy.ops.ed.undo_push(message="Cut")
        yield 0.3
        yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
        yield from hands.idle()
        hands.look("pop of a human smoothed")
        after = _steps(human, around)
        print(f"largest step at the pop: {before[4]:.3f} m, then {after[4]:.3f} m; around it {after.max():.3f} m")
        assert after[4] < 2.0 * before[:4].max() and after.max() < 0.5 * before[4], after
        assert np.array_equal(after[:4], before[:4]), "what comes before the pop was changed"
        yield from hands.undo()
        np.testing.assert_allclose(_steps(bpy.data.objects[name], around), before, atol=1e-6)
