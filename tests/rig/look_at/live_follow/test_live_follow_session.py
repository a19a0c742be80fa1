"""Following in real time: it aims like the look-at, leaves no trace when restored, and keeps what was shown."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

import kept
from extension import load
from grids import diagonal
from lookat_pd import rotation

from ... import scenes
from ...scenes import CHAIN, MODES, aim, animate, ball, child, figure, keyed, place_of

follow = load("rig.look_at.live_follow.live_follow_session")
follow_keys = load("rig.look_at.live_follow.live_follow_keys")
offsets = load("rig.look_at.look_at_layer")
suspend = load("rig.sampling.suspend")
RigError = load("lookat_pd.errors").RigError

DT = 1 / 60


_sessions: list = []


@pytest.fixture(autouse=True)
def released():
    """A test that fails in the middle must not disturb others."""
    yield
    for one in _sessions:
        one.release()
    _sessions.clear()


def session(armature: bpy.types.Object, bone: str = "head"):
    _sessions.append(follow.LiveFollowSession(bpy.context.scene, bpy.context.view_layer, armature, bone))
    return _sessions[-1]


def run(following, seconds: float = 3.0, goal=None, dt: float = DT) -> None:
    for _ in range(round(seconds / dt)):
        following.tick(dt, goal)


def pose(armature: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array([bone.matrix for bone in armature.evaluated_get(bpy.context.view_layer.depsgraph).pose.bones])


def miss(armature: bpy.types.Object, place, bone: str = "head", forward=(0.0, -1.0, 0.0)) -> float:
    """Angle [deg] between face and a point of the world, as Blender evaluates it now."""
    bpy.context.view_layer.update()
    seen = armature.evaluated_get(bpy.context.view_layer.depsgraph)
    matrix = np.array(seen.matrix_world @ seen.pose.bones[bone].matrix)
    rest = np.array(armature.data.bones[bone].matrix_local)[:3, :3]
    way = np.array(place) - scenes.eye(armature, bone, seen)
    return float(np.degrees(rotation.angle_between(matrix[:3, :3] @ rest.T @ forward, way)))


@pytest.fixture
def hero() -> scenes.Scene:
    bpy.context.scene.frame_end = 60
    made = scenes.swaying()
    bpy.context.scene.frame_set(10)
    return made


@pytest.mark.thorough
def test_aims_at_the_target_and_at_any_point(hero) -> None:
    following = session(hero.armature)
    run(following)
    assert miss(hero.armature, hero.target.location) < 0.05
    run(following, goal=(-1.0, -1.5, 1.2))
    assert miss(hero.armature, (-1.0, -1.5, 1.2)) < 0.05
    following.tick(DT, (-1.0, -1.5, 1.2))
    assert following.error < np.radians(0.05)
    following.restore()


def test_begins_with_what_is_shown_and_moves_on_smoothly(hero) -> None:
    hero.armature.pose.bones["head"].lookat_pd.settle_time = 0.6
    before = pose(hero.armature)
    following = session(hero.armature)
    assert abs(pose(hero.armature) - before).max() < 1e-6
    following.tick(1e-4)
    assert abs(pose(hero.armature) - before).max() < 1e-4
    hero.target.location = (-1.5, -1.5, 1.4)
    heads = []
    for _ in range(60):
        following.tick(DT)
        heads.append(pose(hero.armature)[5, :3, :3])
    turns = [np.degrees(np.arccos(np.clip((np.trace(a.T @ b) - 1) / 2, -1, 1))) for a, b in pairwise(heads)]
    assert max(turns[:2]) < 4.0 < max(turns) < 8.0 and max(np.abs(np.diff(turns))) < 3.0
    following.restore()


@pytest.mark.thorough
def test_a_dragged_target_is_followed(hero) -> None:
    following = session(hero.armature)
    for x in np.linspace(0.8, -0.8, 60):
        hero.target.location.x = x
        following.tick(DT)
    run(following, 2.0)
    assert miss(hero.armature, hero.target.location) < 0.05
    following.restore()


def test_restored_nothing_has_changed(hero) -> None:
    bpy.context.view_layer.update()
    before, shown = scenes.snapshot(), pose(hero.armature)
    following = session(hero.armature)
    following.record(True)
    run(following, 0.5, (1.0, 1.0, 2.0))
    hero.target.location = (3.0, 2.0, 1.0)
    hero.target.select_set(True)
    bpy.context.view_layer.objects.active = hero.target
    bpy.context.scene.frame_set(14)
    run(following, 0.3)
    following.restore()
    bpy.context.view_layer.update()
    assert scenes.differences(before, scenes.snapshot()) == []
    assert abs(pose(hero.armature) - shown).max() < 1e-6
    assert not following.is_open


@pytest.mark.every_blender
@pytest.mark.parametrize("animated", [False, True])
@pytest.mark.parametrize("bone", ["", "head"])
def test_restored_keys_that_auto_keying_set_on_the_target_are_gone(animated, bone) -> None:
    armature, target = figure(), figure("Other") if bone else ball()
    target.location = (0.5, -2.0, 0.0)
    moved = target.pose.bones[bone] if bone else target
    if animated:
        keyed(moved, "location", ((1, (0.0, 0.0, 0.0)), (20, (0.1, 0.2, 0.3))))
    settings = aim(armature, target)
    settings.subtarget = bone
    bpy.context.scene.frame_set(10)
    bpy.context.view_layer.update()
    before = scenes.snapshot()
    following = session(armature)
    run(following, 0.2)
    moved.location = (0.3, 0.1, 0.4)
    moved.keyframe_insert("location", frame=10)
    moved.keyframe_insert("scale", frame=10)
    run(following, 0.2)
    following.restore()
    bpy.context.view_layer.update()
    assert scenes.differences(before, scenes.snapshot()) == []


@pytest.mark.thorough
def test_an_unkeyed_pose_is_followed_from_and_stays(hero) -> None:
    arm = hero.armature.pose.bones["chest"]
    arm.rotation_quaternion = Quaternion((0, 0, 1), 0.3)
    bpy.context.view_layer.update()
    following = session(hero.armature)
    run(following)
    assert miss(hero.armature, hero.target.location) < 0.05
    following.restore()
    assert arm.rotation_quaternion.angle == pytest.approx(0.3, abs=1e-6)


@pytest.mark.every_blender
@pytest.mark.parametrize("mode", MODES)
def test_kept_is_the_pose_that_was_shown(mode) -> None:
    hero = scenes.swaying(modes=(mode,))
    bpy.context.scene.frame_set(10)
    following = session(hero.armature)
    run(following, 0.4, (-1.0, -1.0, 2.2))
    shown, count = pose(hero.armature), len(scenes.actions_of_the_animator())
    following.keep()
    assert abs(pose(hero.armature) - shown).max() < 1e-5
    assert hero.armature.pose.bones["head"].lookat_pd.mute
    assert not list(offsets.on(hero.armature)) and len(scenes.actions_of_the_animator()) == count
    assert not following.is_open and not suspend.is_live_suspended()


@pytest.mark.parametrize("auto", [False, True])
def test_keeping_keys_where_auto_keying_is_on(hero, auto) -> None:
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    before = scenes.curves(hero.armature.animation_data.action)
    following = session(hero.armature)
    run(following, 0.4, (-1.0, -1.0, 2.2))
    shown = pose(hero.armature)
    following.keep()
    after = scenes.curves(hero.armature.animation_data.action)
    changed = {path for path in after if after[path] != before[path]}
    assert {path[1].split('"')[1] for path in changed} == (set(CHAIN) if auto else set())
    bpy.context.scene.frame_set(20)
    bpy.context.scene.frame_set(10)
    assert (abs(pose(hero.armature) - shown).max() < 1e-5) == auto


@pytest.mark.thorough
def test_a_second_look_at_on_the_same_bones_is_not_lost(hero) -> None:
    aim(hero.armature, ball((0.3, -2.0, 2.4), "Other"), bone="chest")
    bpy.context.view_layer.update()
    for bone in ("head", "chest"):
        following = session(hero.armature, bone)
        run(following, 3.0)
        if bone == "head":
            assert miss(hero.armature, hero.target.location) < 0.1
        shown = pose(hero.armature)
        following.keep()
        with suspend.suspend_live():
            assert abs(pose(hero.armature) - shown).max() < 1e-5


# Recording


@pytest.mark.thorough
@diagonal(fps=[24, 60], into=["NEW", "CURRENT", "LAYER"])
def test_a_recording_plays_as_it_was_shown(fps, into) -> None:
    scene = bpy.context.scene
    scene.render.fps = fps
    hero = scenes.swaying()
    scene.frame_set(30)  # the character stands still from here on
    before = hero.armature.animation_data.action
    following = session(hero.armature)
    following.record(True)
    dt, shown = 1 / fps / 4, [pose(hero.armature)]
    for k in range(4 * 20):
        following.tick(dt, (np.cos(5 * dt * k), -1.5, 1.7 + 0.5 * np.sin(5 * dt * k)))
        if k % 4 == 3:
            shown.append(pose(hero.armature))
    assert following.recorded_frames == 21
    action = following.keep_recording(into)
    assert action.name == {"NEW": "Sway live follow", "CURRENT": "Sway", "LAYER": "Hero live follow"}[into]
    assert hero.armature.pose.bones["head"].lookat_pd.mute and not list(offsets.on(hero.armature))
    played = scenes.poses(hero.armature, range(30, 51))
    assert abs(played - np.array(shown)).max() < 2e-4
    if into == "NEW":
        assert before.use_fake_user and hero.armature.animation_data.action == action


def test_a_recording_adds_to_the_animation_and_touches_nothing_else(hero) -> None:
    outside = [*range(1, 10), *range(36, 60)]
    settings = hero.armature.pose.bones["head"].lookat_pd
    settings.mute = True
    plain, curves = scenes.poses(hero.armature, outside), scenes.curves(hero.armature.animation_data.action)
    settings.mute = False
    bpy.context.scene.frame_set(10)
    following = session(hero.armature)
    following.record(True)
    for k in range(61):
        following.tick(1 / 60, (1.0 - 0.03 * k, -1.5, 1.7))
    frames, found = following.recording()
    basis = {n: scenes.basis(hero.armature, frames, n) for n in CHAIN}
    bpy.context.scene.frame_set(10)
    following.keep_recording("CURRENT")
    for n, name in enumerate(CHAIN):
        wanted = rotation.multiply(basis[name], found.offsets[:, n])
        got = scenes.basis(hero.armature, frames, name)
        assert rotation.distance(got, wanted).max() < 1e-3
    after = scenes.curves(hero.armature.animation_data.action)
    assert {path[1].split('"')[1] for path in after if after[path] != curves.get(path)} == set(CHAIN)
    assert abs(scenes.poses(hero.armature, [*range(1, 10), *range(36, 60)]) - plain).max() < 1e-5


def test_a_recording_begins_where_it_is_switched_on(hero) -> None:
    following = session(hero.armature)
    run(following, 1.0, (-1.0, -1.5, 1.7))
    assert following.recorded_frames == 0
    following.record(True)
    run(following, 0.5, (1.0, -1.5, 1.7))
    frames, _ = following.recording()
    assert frames[0] == 10 and len(frames) == following.recorded_frames == 13
    following.record(False)
    assert following.recorded_frames == 0
    following.restore()


@pytest.mark.parametrize("wrong", ["short", "no slot", "in the middle"])
def test_a_recording_that_fails_changes_nothing(hero, wrong, monkeypatch) -> None:
    if wrong == "no slot":
        hero.armature.animation_data.action_slot = None
    bpy.context.view_layer.update()
    before = scenes.snapshot()
    following = session(hero.armature)
    following.record(True)
    run(following, 0.02 if wrong == "short" else 0.5, (1.0, 1.0, 2.0))
    if wrong == "in the middle":

        def broken(*_):
            raise RigError("injected")

        monkeypatch.setattr(follow_keys.BakeTransaction, "commit", broken)
    with pytest.raises(RigError):
        following.keep_recording("NEW")
    bpy.context.view_layer.update()
    assert scenes.differences(before, scenes.snapshot()) == []
    assert not following.is_open


# What changes meanwhile


def test_settings_and_limits_may_be_changed_meanwhile(hero) -> None:
    following = session(hero.armature)
    run(following, 0.2, (-1.0, -1.5, 1.7))
    before = pose(hero.armature)
    settings = hero.armature.pose.bones["head"].lookat_pd
    settings.settle_time = 2.0
    settings.chain[0].yaw_limit = np.radians(20.0)
    following.tick(1e-5, (-1.0, -1.5, 1.7))
    assert abs(pose(hero.armature) - before).max() < 0.1
    run(following, 1.0, (-1.0, -1.5, 1.7))
    following.restore()


def _delete_target(hero) -> None:
    bpy.data.objects.remove(hero.target)


def _unlink_target(hero) -> None:
    bpy.context.scene.collection.objects.unlink(hero.target)


def _mute(hero) -> None:
    hero.armature.pose.bones["head"].lookat_pd.mute = True


def _remove(hero) -> None:
    scenes.look_at_edit.remove(hero.armature, "head")


def _edit(hero) -> None:
    bpy.context.view_layer.objects.active = hero.armature
    bpy.ops.object.mode_set(mode="EDIT")


def _shorten(hero) -> None:
    hero.armature.pose.bones["head"].lookat_pd.chain.remove(2)


def _delete_character(hero) -> None:
    bpy.data.objects.remove(hero.armature)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_delete_target, "no target"),
        (_unlink_target, "not in any scene"),
        (_mute, "muted"),
        (_remove, "removed"),
        (_edit, "edit mode"),
        (_shorten, "changed during Live Follow"),
        (_delete_character, "deleted"),
    ],
)
def test_what_ends_it_is_named_and_nothing_is_left_behind(hero, change, words) -> None:
    following = session(hero.armature)
    run(following, 0.3, (1.0, 1.0, 2.0))
    change(hero)
    with pytest.raises(RigError, match=words):
        following.tick(DT)
    following.restore()
    assert not suspend.is_live_suspended() and not following.is_open


@pytest.mark.thorough
def test_another_frame_is_followed_from_there(hero) -> None:
    following = session(hero.armature)
    for frame in (15, 20, 30):
        bpy.context.scene.frame_set(frame)
        run(following, 1.0)
        assert miss(hero.armature, hero.target.location) < 0.1
    following.restore()
    assert bpy.context.scene.frame_current == 10


@pytest.mark.thorough
def test_a_hidden_target_is_looked_at(hero) -> None:
    keyed(hero.target, "location", ((1, (0.8, -2.0, 1.9)), (10, (-0.8, -2.0, 1.2)), (20, (0.0, -2.0, 1.2))))
    hero.target.hide_viewport = True
    bpy.context.scene.frame_set(10)
    following = session(hero.armature)
    run(following)
    assert miss(hero.armature, (-0.8, -2.0, 1.2)) < 0.1
    following.restore()


def test_what_cannot_be_followed_is_reported(hero) -> None:
    settings = hero.armature.pose.bones["head"].lookat_pd
    settings.mute = True
    with pytest.raises(RigError, match="muted"):
        session(hero.armature)
    settings.mute, settings.influence = False, 0.0
    with pytest.raises(RigError, match="influence"):
        session(hero.armature)
    settings.influence = 1.0
    hero.armature.pose.bones["neck"].driver_add("rotation_quaternion", 0)
    with pytest.raises(RigError, match="has a driver"):
        session(hero.armature)
    assert not suspend.is_live_suspended()


# Rigs whose bones are not simply each other's parents


def _half_inheriting() -> bpy.types.Object:
    """The head keeps its direction when the neck turns, and the chest turns half of what the hips turn."""
    armature = figure()
    armature.data.bones["head"].use_inherit_rotation = False
    copied = armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.influence, copied.mix_mode = armature, "upper_arm.L", 0.4, "AFTER"
    copied.owner_space = copied.target_space = "LOCAL"
    return armature


def _squeezed() -> bpy.types.Object:
    armature = figure()
    armature.pose.bones["spine"].scale = (1.2, 0.8, 1.1)
    return armature


def _moving_its_target() -> bpy.types.Object:
    return figure()


@pytest.mark.slow
@pytest.mark.parametrize("make", [_half_inheriting, _squeezed, _moving_its_target])
def test_rigs_that_are_not_plain_are_aimed_right(make) -> None:
    armature, target = make(), ball((0.5, -1.0, 1.8))
    if make is _moving_its_target:
        child(target, armature, "hand.L")
        bpy.context.view_layer.update()
        target.matrix_world.translation = (0.5, -1.2, 1.7)
    animate(armature)
    aim(armature, target)
    bpy.context.scene.frame_set(12)
    following = session(armature)
    assert not following.is_plain
    before = pose(armature)
    following.tick(1e-5)
    assert abs(pose(armature) - before).max() < 0.02
    run(following, 4.0)
    place = place_of(target)
    assert miss(armature, place(bpy.context.evaluated_depsgraph_get())) < 0.3
    if make is not _moving_its_target:
        run(following, 4.0, (-0.6, -1.5, 1.4))
        assert miss(armature, (-0.6, -1.5, 1.4)) < 0.3
    shown = pose(armature)
    following.keep()
    assert abs(pose(armature) - shown).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("head", "neck"), [(0.0, 0.0), (1.0, 0.5)])
def test_a_generated_rigify_rig_is_aimed_right_and_quickly(head, neck) -> None:
    rig = kept.human()
    rig.pose.bones["torso"]["head_follow"], rig.pose.bones["torso"]["neck_follow"] = head, neck
    target = ball((0.8, -2.0, 1.9), "Goal")
    scenes.look_at_edit.add(bpy.context.scene, rig, "head", target)
    bpy.context.scene.frame_set(12)
    before = pose(rig)
    following = session(rig)
    assert not following.is_plain
    following.tick(1e-5)
    assert abs(pose(rig) - before).max() < 0.01
    heads = []
    for goal in ((0.8, -2.0, 1.9), (-1.2, -1.2, 1.3)):
        for _ in range(150):
            following.tick(DT, goal)
            heads.append(following.seen_head)
        following.tick(DT, goal)
        assert following.error < np.radians(0.5)
    turns = np.array([rotation.distance(a, b) for a, b in pairwise(heads)])
    # Corrections from tick to tick must not show: the head neither leaps nor trembles.
    assert np.degrees(np.abs(np.diff(turns))).max() < 2.5
    assert np.degrees(turns[120:145]).max() < 0.02
    shown = pose(rig)
    following.keep()
    assert abs(pose(rig) - shown).max() < 1e-4
