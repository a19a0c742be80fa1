"""Previews: what is moved but not keyed is answered at the frame that is shown, and only there."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...scenes import ball, keyed, poses, set_rotation, swaying
from ..test_bake_rigs import rigify  # noqa: F401 - fixture

live = load("rig.layers.live")
live_scene = load("rig.layers.live_scene")
offsets = load("rig.look_at.look_at_layer")
rotation = load("lookat_pd.rotation")
sampler = load("rig.sampling.sampler")
solve = load("rig.look_at.look_at_solve")
suspend = load("rig.sampling.suspend")

FRAME = 60
AIMED, ALIKE = 0.1, 1.0  # degrees
ROLLED = 3.0
"""Degrees between a head in a preview and solved, behind constraints: its roll about the line of sight is estimated."""


@pytest.fixture(autouse=True)
def short(empty_file) -> None:
    bpy.context.scene.frame_end = scenes.LAST


def step_of_the_mouse() -> None:
    """What a window does after something was moved: evaluate, let the look follow, evaluate, let the head aim."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    layer.update()
    state = live._scenes[scene.session_uid]
    state.follow_edits(scene, layer.depsgraph)
    state.aim_previews(layer)
    layer.update()


def previewed(armature: bpy.types.Object) -> bool:
    return live.status(bpy.context.scene, armature, "head").state == "PREVIEW"


def missed(scene: scenes.Scene) -> float:
    """Angle [deg] between the face and the target as they stand, without going to a frame."""
    depsgraph = bpy.context.view_layer.depsgraph
    rest = scene.armature.data.bones["head"].matrix_local.to_3x3().inverted()
    seen = scene.armature.evaluated_get(depsgraph)
    matrix = seen.matrix_world @ seen.pose.bones["head"].matrix
    axis = matrix.to_3x3() @ rest @ scenes.Vector((0, -1, 0))
    return float(
        np.degrees(axis.angle(scene.place(depsgraph) - scenes.Vector(scenes.eye(scene.armature, "head", seen))))
    )


def as_it_stands(armature: bpy.types.Object) -> np.ndarray:
    seen = armature.evaluated_get(bpy.context.view_layer.depsgraph)
    return np.array([bone.matrix for bone in seen.pose.bones])


def with_control(scene: scenes.Scene) -> scenes.Scene:
    """The neck takes a part of its turn through a constraint, as on control rigs."""
    constraint = scene.armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget, constraint.influence = scene.armature, "upper_arm.L", 0.3
    return scene


@pytest.mark.every_blender
@pytest.mark.parametrize("control", [False, True], ids=["plain", "control"])
@pytest.mark.parametrize("bone", ["chest", "neck", "head"])
def test_a_bone_that_is_posed_is_previewed_at_once(bone, control) -> None:
    """The animation moves the bone, so that the solution knows nothing of its new pose until that is keyed."""
    scene = with_control(swaying()) if control else swaying()
    scenes.goto(FRAME)
    step_of_the_mouse()
    assert missed(scene) < AIMED and not previewed(scene.armature)
    before = as_it_stands(scene.armature)
    for n in range(1, 4):
        set_rotation(scene.armature.pose.bones[bone], (0.04 * n, 0.06 * n, -0.05 * n))
        step_of_the_mouse()
        assert previewed(scene.armature)
        assert missed(scene) < AIMED
    assert np.abs(as_it_stands(scene.armature) - before).max() > 0.01
    # The shot with this pose keyed, solved: the bones share the turn as in the preview.
    shown = as_it_stands(scene.armature)
    scenes.goto(FRAME)
    action = scene.armature.animation_data.action
    assert action is not None
    for frame in (1, *range(scenes.MOVING, scenes.LAST + 1, 5)):
        scene.armature.pose.bones[bone].keyframe_insert(
            set_rotation(scene.armature.pose.bones[bone], (0.12, 0.18, -0.15)), frame=frame
        )
    solved = poses(scene.armature, (FRAME,))[0]
    turned = rotation.from_matrix(np.stack((shown, solved))[..., :3, :3])
    away = np.degrees(rotation.distance(*turned))
    assert away.max() < (ROLLED if control else ALIKE)


@pytest.mark.parametrize("control", [False, True], ids=["plain", "control"])
def test_a_keyed_target_that_is_dragged_is_previewed_and_forgotten_with_the_frame(control) -> None:
    scene = with_control(swaying()) if control else swaying()
    keyed(scene.target, "location", [(1, (0.8, -2.0, 1.9)), (30, (-0.5, -2.0, 1.4))])
    solved = poses(scene.armature, (FRAME, FRAME + 1))
    scenes.goto(FRAME)
    step_of_the_mouse()
    for x in (-0.3, 0.2, 0.7):
        scene.target.location.x = x
        step_of_the_mouse()
        assert previewed(scene.armature) and missed(scene) < AIMED
    state = live._scenes[bpy.context.scene.session_uid]
    state.end_previews()
    assert np.array_equal(poses(scene.armature, (FRAME + 1, FRAME)), solved[::-1])
    assert not previewed(scene.armature)


def test_a_preview_begins_with_what_the_one_before_it_missed() -> None:
    scene = with_control(swaying())
    keyed(scene.target, "location", [(1, (0.8, -2.0, 1.9))])
    scenes.goto(FRAME)
    step_of_the_mouse()
    first = []
    for x in (-1.5, -1.45, -1.4):
        scene.target.location.x = x
        layer = bpy.context.view_layer
        layer.update()
        state = live._scenes[bpy.context.scene.session_uid]
        state.follow_edits(bpy.context.scene, layer.depsgraph)
        layer.update()
        first.append(missed(scene))
        step_of_the_mouse()
        assert missed(scene) < AIMED
    assert first[0] > 10.0 * AIMED, "the rig does as is expected of it: this shows nothing"
    assert max(first[1:]) < 0.2 * first[0], first


def test_what_an_edit_does_not_touch_stays_until_it_is_verified() -> None:
    """The arm that turns the neck is keyed at the first frame, where the coupling is measured, and stays later."""
    scene = with_control(swaying())
    scenes.goto(FRAME)
    step_of_the_mouse()
    state = live._scenes[bpy.context.scene.session_uid]
    (solving,) = state.solves.values()
    coupling, before = solving.kept.coupling, solving.track.offsets.copy()
    arm = scene.armature.pose.bones["upper_arm.L"]
    for frame, turn in ((1, (0.9, 0.4, 0.7)), (2, (0.0, 0.0, 0.0))):
        arm.keyframe_insert(set_rotation(arm, turn), frame=frame)
    state.refresh(bpy.context.scene, live._structure, now=True)
    while not solving.is_expected:
        assert not state.advance(0.0)
    away = np.degrees(rotation.distance(solving.track.offsets, before))
    assert np.abs(solving.kept.coupling - coupling).max() > 0.01, "the coupling stays: this shows nothing"
    assert away[-30:].max() < AIMED


def test_what_is_back_in_its_place_shows_the_solution_again() -> None:
    scene = swaying()
    scenes.goto(FRAME)
    step_of_the_mouse()
    bone, before = scene.armature.pose.bones["chest"], as_it_stands(scene.armature)
    kept = bone.rotation_quaternion.copy()
    set_rotation(bone, (0.1, 0.2, 0.0))
    step_of_the_mouse()
    assert previewed(scene.armature)
    bone.rotation_quaternion = kept
    step_of_the_mouse()
    assert not previewed(scene.armature)
    assert np.array_equal(as_it_stands(scene.armature), before)


@pytest.mark.every_blender
def test_no_preview_is_saved(tmp_path) -> None:
    scene = swaying()
    solved = poses(scene.armature, (FRAME, 20))
    scenes.goto(FRAME)
    step_of_the_mouse()
    set_rotation(scene.armature.pose.bones["chest"], (0.1, 0.2, 0.0))
    step_of_the_mouse()
    assert previewed(scene.armature)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert np.allclose(poses(bpy.data.objects["Hero"], (FRAME, 20)), solved, atol=1e-6)


def test_what_moves_no_bone_of_the_chain_is_no_reason_for_a_preview() -> None:
    scene = swaying()
    scenes.goto(FRAME)
    step_of_the_mouse()
    set_rotation(scene.armature.pose.bones["upper_arm.L"], (0.5, 0.2, 0.0))
    step_of_the_mouse()
    assert not previewed(scene.armature)


@pytest.mark.thorough
def test_rigify_the_first_pose_after_a_slider_move_is_nearly_right(rigify) -> None:  # noqa: F811
    """Before it is verified, by what verifying the last solution has taught."""
    bpy.context.scene.frame_end = 40
    target = ball()
    keyed(target, "location", [(1, (1.5, -1.5, 1.0)), (20, (-0.9, -2, 1.4)), (40, (0.8, -2, 1.9))])
    scenes.aim(rigify, target, settle_time=0.6)
    live.finish(bpy.context.scene)
    found = next(iter(live._scenes[bpy.context.scene.session_uid].solves.values()))
    for settle_time in (0.63, 0.66, 0.6):
        rigify.pose.bones["head"].lookat_pd.settle_time = settle_time
        state = live._scenes[bpy.context.scene.session_uid]
        state.refresh(bpy.context.scene, live._structure, now=True)
        for _ in state.job:
            if found.rough:
                break
        assert found.rough
        first = found.track.offsets.copy()
        live.finish(bpy.context.scene)
        assert not found.rough
        away = rotation.distance(first, found.track.offsets)
        assert 0.0 < np.degrees(away.max()) < 0.05


@pytest.mark.thorough
def test_the_time_left_of_a_solve_that_was_made_before(monkeypatch) -> None:
    """Right within 30 percent from a fifth of the time on, where each frame that is sampled takes as long."""
    scene = with_control(swaying())
    live.finish(bpy.context.scene)
    now, frame_set, step = [0.0], sampler.Sampler._step, 0.01

    def stepped(*arguments: object) -> bpy.types.Depsgraph:
        now[0] += step
        return frame_set(*arguments)

    monkeypatch.setattr(sampler.Sampler, "_step", stepped)
    monkeypatch.setattr(live_scene.time, "perf_counter", lambda: now[0])
    state = live._scenes[bpy.context.scene.session_uid]
    for settle_time in (0.8, 0.82):
        scene.armature.pose.bones["head"].lookat_pd.settle_time = settle_time
        state.refresh(bpy.context.scene, live._structure, now=True)
        found, begin = [], now[0]
        with suspend.suspend_live():
            while not state.advance(-1.0):
                found.append((now[0], state.remaining))
    whole = now[0] - begin
    assert whole > 100 * step
    told = [left / (now[0] - at) for at, left in found if 0.2 * whole < at - begin < 0.95 * whole]
    assert len(told) > 20 and min(told) > 0.7 and max(told) < 1.3
