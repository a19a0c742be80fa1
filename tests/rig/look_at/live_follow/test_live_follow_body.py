"""Following in real time with body and eyes: it settles where the live look-at does, and is kept and recorded whole."""

from itertools import pairwise

import bpy
import numpy as np
import pytest

import kept
from extension import load
from lookat_pd import rotation

from ... import scenes
from ..body import bodies, faces

follow = load("rig.look_at.live_follow.live_follow_session")
blink = load("rig.look_at.body.blink")
suspend = load("rig.sampling.suspend")

DT = 1 / 60
PLACE = (1.6, -1.5, 1.7)
_sessions: list = []


@pytest.fixture(autouse=True)
def released():
    """A test that fails in the middle must not disturb others."""
    bpy.context.scene.frame_end = 60
    yield
    for one in _sessions:
        one.release()
    _sessions.clear()


def session(armature: bpy.types.Object, bone: str = "head"):
    _sessions.append(follow.LiveFollowSession(bpy.context.scene, bpy.context.view_layer, armature, bone))
    return _sessions[-1]


def run(following, seconds: float, goal=None) -> None:
    for _ in range(round(seconds / DT)):
        following.tick(DT, goal)


def pose(armature: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array([bone.matrix for bone in armature.evaluated_get(bpy.context.view_layer.depsgraph).pose.bones])


def person(**settings) -> bpy.types.Object:
    """A person who stands still from frame 20 on, and looks at a ball aside with the whole body."""
    armature = bodies.person()
    bodies.look(armature, scenes.ball(PLACE), **settings)
    bpy.context.scene.frame_set(55)
    bpy.context.view_layer.update()
    return armature


@pytest.mark.slow
def test_settled_it_shows_what_the_live_look_at_shows() -> None:
    armature = person()
    armature.pose.bones["head"].lookat_pd.eyes.micro = 0.0
    live = pose(armature)
    following = session(armature)
    assert bodies.differences(pose(armature), live) < (1e-5, 1e-3)
    following.tick(1e-4)
    assert bodies.differences(pose(armature), live) < (1e-3, 0.3)
    run(following, 1.0, (-1.6, -1.5, 1.7))
    away, turned = bodies.differences(pose(armature), live)
    assert away > 0.02 and turned > 20.0
    run(following, 4.0)
    away, turned = bodies.differences(pose(armature), live)
    # The live hips follow the turn of a head that they have not moved yet.
    assert away < 1e-3 and turned < 0.05
    following.restore()
    assert bodies.differences(pose(armature), live) < (1e-6, 1e-4)


@pytest.mark.slow
def test_eyes_set_out_before_the_head_and_feet_stay() -> None:
    armature = person(settle_time=0.6)
    following = session(armature)
    run(following, 2.0)
    feet, eyes, head = (bodies.bones(armature, *names) for names in (bodies.FEET, ("eye.L",), ("head",)))
    before = pose(armature)
    seen = []
    for _ in range(30):
        following.tick(DT, (-1.6, -1.5, 1.7))
        seen.append(pose(armature))
    turns = [[bodies.differences(one[part], before[part])[1] for one in seen] for part in (eyes, head)]
    first = [int(np.argmax(np.array(turn) > 2.0)) for turn in turns]
    assert first[0] + 2 <= first[1]
    assert max(bodies.differences(one[feet], before[feet])[0] for one in seen) < 1e-3
    assert max(np.abs(np.diff(turns[0]))) < 25.0
    following.restore()


@pytest.mark.parametrize("auto", [False, True])
def test_kept_is_the_whole_pose(auto, monkeypatch) -> None:
    armature = person()
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    following = session(armature)
    run(following, 0.7, (-1.6, -1.5, 1.7))
    shown = pose(armature)
    following.keep()
    assert bodies.differences(pose(armature), shown) < (1e-5, 2e-3)
    bpy.context.scene.frame_set(30)
    bpy.context.scene.frame_set(55)
    assert (bodies.differences(pose(armature), shown) < (1e-5, 2e-3)) == auto


@pytest.mark.thorough
def test_a_recording_has_the_whole_body() -> None:
    armature = person()
    bpy.context.scene.frame_set(30)
    dt = 1 / bpy.context.scene.render.fps
    following = session(armature)
    following.record(True)
    shown = [pose(armature)]
    for k in range(4 * 15):
        following.tick(dt / 4, (1.5 * np.cos(3 * dt * k), -1.5, 1.7))
        if k % 4 == 3:
            shown.append(pose(armature))
    following.keep_recording("NEW")
    away, turned = bodies.differences(scenes.poses(armature, range(30, 46)), np.array(shown))
    assert away < 5e-4 and turned < 0.5


@pytest.mark.thorough
def test_a_recording_sets_out_from_the_animation_and_returns_to_it() -> None:
    armature = person(settle_time=0.6)
    settings = armature.pose.bones["head"].lookat_pd
    settings.mute = True
    plain = scenes.poses(armature, range(20, 60))
    settings.mute = False
    bpy.context.scene.frame_set(30)
    following = session(armature)
    following.record(True)
    run(following, 0.5)
    following.keep_recording("NEW", fade=0.25)
    seen = scenes.poses(armature, range(20, 60))
    turns = np.array([bodies.differences(one, other)[1] for one, other in zip(seen, plain, strict=True)])
    # 24 fps: 12 frames recorded from frame 30 on, 6 in which it returns.
    assert turns[:11].max() < 1e-3 and turns[28:].max() < 1e-3 and turns[18:22].min() > 10.0
    head = bodies.bones(armature, "head")
    steps = np.array([bodies.differences(a[head], b[head])[1] for a, b in pairwise(seen[9:30])])
    # Nothing jumps: the fastest step is a small part of the turn, and the speed changes by degrees.
    assert np.abs(np.diff(steps)).max() < 0.3 * turns.max()


@pytest.mark.slow
def test_a_target_beyond_the_limit_is_let_go_and_taken_up_again() -> None:
    armature = person(let_go_distance=3.0, release_time=0.1)
    following = session(armature)
    run(following, 3.0, (0.0, -9.0, 1.7))
    assert following.let_go
    assert np.all(following._last.offsets == rotation.IDENTITY) and np.all(following._last.moves == 0.0)
    run(following, 0.1, (0.0, -2.95, 1.7))
    assert following.let_go
    run(following, 2.0, (0.8, -2.0, 1.7))
    assert not following.let_go and following.error < np.radians(40.0)
    following.restore()


@pytest.mark.thorough
def test_a_target_behind_an_occluder_is_let_go() -> None:
    armature = person()
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, -1.5, 1.7))
    wall, settings = bpy.context.object, armature.pose.bones["head"].lookat_pd
    walls = bpy.data.collections.new("Walls")
    walls.objects.link(wall)
    settings.let_go_behind = walls
    following = session(armature)
    run(following, 0.5, (2.0, -1.5, 1.7))
    assert not following.let_go
    run(following, 0.5, (0.0, -4.0, 1.7))
    assert following.let_go
    following.restore()


@pytest.mark.thorough
def test_shape_keys_turn_the_eyes_and_are_put_back() -> None:
    armature = faces.person(faces.ARKIT)[0]
    keys = next(iter(bpy.data.shape_keys))
    bpy.context.scene.frame_set(30)
    before = [block.value for block in keys.key_blocks]
    following = session(armature)
    run(following, 1.0, (-1.6, -1.5, 1.7))
    assert np.abs(np.array([block.value for block in keys.key_blocks]) - before).max() > 0.1
    following.restore()
    assert np.allclose([block.value for block in keys.key_blocks], before, atol=1e-6)


@pytest.mark.slow
def test_on_a_generated_rig_the_eyes_reach_the_target_and_the_hips_shift() -> None:
    rig = kept.human()
    settings = bodies.look(rig, scenes.ball((0.8, -2.0, 1.9), "Goal"), settle_time=0.6)
    settings.eyes.micro = 0.0
    bpy.context.scene.frame_set(12)
    bpy.context.view_layer.update()
    before = pose(rig)
    following = session(rig)
    following.tick(1e-5)
    assert bodies.differences(pose(rig), before)[0] < 0.01
    feet, hips = bodies.bones(rig, "DEF-foot.L", "DEF-foot.R"), bodies.bones(rig, "DEF-spine")
    seen = []
    for goal in ((0.8, -2.0, 1.9), (-1.2, -1.2, 1.3)):
        run(following, 3.0, goal)
        seen.append(pose(rig))
        for eye in ("ORG-eye.L", "ORG-eye.R"):
            assert _gaze_error(rig, eye, goal) < 1.0
    assert bodies.differences(seen[0][hips], seen[1][hips])[0] > 0.01
    assert bodies.differences(seen[0][feet], seen[1][feet])[0] < 1e-3
    following.keep()
    assert bodies.differences(pose(rig), seen[1])[0] < 1e-4


def _gaze_error(rig: bpy.types.Object, eye: str, goal) -> float:
    """Angle [deg] between the Y axis of an eye, along which Rigify's eyes look, and a point of the world."""
    matrix = np.array(rig.matrix_world @ rig.evaluated_get(bpy.context.view_layer.depsgraph).pose.bones[eye].matrix)
    return float(np.degrees(rotation.angle_between(matrix[:3, 1], np.array(goal) - matrix[:3, 3])))
