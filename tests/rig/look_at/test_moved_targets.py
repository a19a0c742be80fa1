"""Whatever moves a target: it is looked at where the viewport shows it, live as baked, and every change is noticed."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import moved_targets, scenes
from ..moved_targets import PHYSICS, SHAPES
from ..scenes import aim, animate, ball, error, figure, place_of, poses, run_bake

live = load("rig.layers.live")
scene_playback = load("rig.sampling.scene_playback")

GOOD = 0.5  # degrees
FRAMES = (40, 58, 60)
"""At which nothing moves so fast that the controller is seen to lag behind."""


@pytest.fixture(autouse=True)
def short(empty_file) -> None:
    bpy.context.scene.frame_end = scenes.LAST


def looking(target: bpy.types.Object) -> bpy.types.Object:
    """A character that has looked at a target for a while, its controller almost without delay."""
    armature = figure()
    aim(armature, target, settle_time=0.02)
    bpy.context.view_layer.update()
    return armature


def seen(target: bpy.types.Object) -> Callable:
    """Where a target is; one that is hidden, which Blender does not evaluate, is where what it copies is."""
    return place_of(target.constraints[0].target if target.hide_viewport else target)


def notes(armature: bpy.types.Object) -> str:
    return " ".join(map(str, live.status(bpy.context.scene, armature, "head").notes))


def ids(made: Any) -> str:
    return made.__name__


@pytest.mark.thorough
@pytest.mark.parametrize("made", SHAPES + PHYSICS, ids=ids)
def test_live_and_baked_look_where_the_target_is_seen(made: Callable) -> None:
    """Before and after an edit of what moves it, without a window, and with no key for the edit."""
    target, edit = made()
    armature, place = looking(target), seen(target)
    scenes.goto(30)
    before = np.array(place(scenes.goto(60)))
    assert error(armature, place, FRAMES) < GOOD
    edit()
    bpy.context.view_layer.update()
    scenes.goto(1)
    assert np.linalg.norm(np.array(place(scenes.goto(60))) - before) > 0.1, "the edit moves the target"
    if made in PHYSICS:
        # Simulations are valid again once they were played.
        live.finish(bpy.context.scene)
    assert error(armature, place, FRAMES) < GOOD
    shown = poses(armature, FRAMES)
    result = run_bake(armature)[0]
    assert error(armature, place, FRAMES) < GOOD
    assert np.abs(poses(armature, FRAMES) - shown).max() < 1e-4
    if made in PHYSICS:
        assert any("physics" in str(note) for note in result.notes)


@pytest.mark.parametrize("made", [one for one in PHYSICS if one is not moved_targets.falling_baked], ids=ids)
def test_physics_without_a_baked_cache_are_said_with_the_remedy(made: Callable) -> None:
    armature = looking(made()[0])
    assert "bake the physics" in notes(armature)
    assert any(map(scene_playback.asks_to_bake, live.status(bpy.context.scene, armature, "head").notes))


def test_a_baked_simulation_is_said_with_its_time() -> None:
    armature = looking(moved_targets.falling_baked()[0])
    assert "moved by physics; that took" in notes(armature)
    assert "bake the physics" not in notes(armature)
    assert not any(map(scene_playback.asks_to_bake, live.status(bpy.context.scene, armature, "head").notes))


@pytest.mark.parametrize("made", SHAPES, ids=ids)
def test_other_targets_need_no_scene(made: Callable, monkeypatch) -> None:
    """What Blender can evaluate in a scene of its own is not played in the animator's."""
    monkeypatch.setattr(scene_playback, "_play", lambda *_: pytest.fail("the scene is played"))
    armature = looking(made()[0])
    live.finish(bpy.context.scene)
    assert live.status(bpy.context.scene, armature, "head").state == "SOLVED"


def test_a_scene_is_played_once(monkeypatch) -> None:
    """Live, another look-at, a changed setting and the bake use the same places."""
    played = []
    play = scene_playback._play
    monkeypatch.setattr(scene_playback, "_play", lambda *given: played.append(given) or play(*given))
    target, _ = moved_targets.falling()
    armature = looking(target)
    scenes.goto(20)
    armature.pose.bones["head"].lookat_pd.settle_time = 0.4
    scenes.goto(21)
    run_bake(armature)
    assert len(played) == 1


@pytest.mark.parametrize("frame", [1, 25, 25.5])
def test_playing_leaves_the_scene_as_it_was(frame: float) -> None:
    """The frame, poses and values that have keys and were changed without one, and what there is in the file."""
    target, edit = moved_targets.falling_hidden()
    armature, other, cube = looking(target), figure("Other"), moved_targets.ahead()
    animate(other)
    moved_targets.flown(cube)
    cube["dial"] = 0.1
    cube.keyframe_insert('["dial"]', frame=1)
    live.finish(bpy.context.scene)
    scenes.goto(frame)
    other.pose.bones["chest"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    cube.location, cube["dial"] = (3.0, 4.0, 5.0), 7.0
    cube.update_tag()
    edit()
    names = {item.name for item in bpy.data.objects}, {item.name for item in bpy.data.scenes}
    bpy.context.view_layer.update()
    assert bpy.context.scene.frame_current_final == frame
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert tuple(cube.location) == (3.0, 4.0, 5.0) and cube["dial"] == 7.0
    assert tuple(cube.evaluated_get(depsgraph).matrix_world.translation) == (3.0, 4.0, 5.0)
    shown = other.evaluated_get(depsgraph).pose.bones["chest"].rotation_quaternion
    assert np.allclose(shown, (0.9, 0.1, 0.3, 0.2), atol=1e-6)
    assert ({item.name for item in bpy.data.objects}, {item.name for item in bpy.data.scenes}) == names
    assert not armature.pose.bones["head"].lookat_pd.mute


@pytest.mark.parametrize("kind", moved_targets.DIALS)
def test_drivers_added_later_are_followed(kind: str) -> None:
    target = ball((0.0, -2.0, 1.8))
    armature, place = looking(target), place_of(target)
    assert error(armature, place) < GOOD
    found, owner, path, id_type = moved_targets.dial(kind)
    moved_targets.driven(target, owner, path, id_type)
    for value in (1.0, 0.3, -1.5 if kind != "LIGHT" else 2.0):
        moved_targets.turn(kind, found, value)
        bpy.context.view_layer.update()
        assert place(bpy.context.evaluated_depsgraph_get()).x == pytest.approx(value)
        assert error(armature, place, (scenes.LAST,)) < GOOD


@pytest.mark.thorough
@pytest.mark.parametrize("made", SHAPES, ids=ids)
def test_what_moves_a_target_may_come_later(made: Callable) -> None:
    """A look-at at a plain empty, which is then constrained to what moves."""
    target = ball((0.0, -2.0, 1.8))
    armature, place = looking(target), place_of(target)
    scenes.goto(60)
    mover, edit = made()
    target.constraints.new("COPY_LOCATION").target = mover
    for change in (lambda: None, edit):
        change()
        bpy.context.view_layer.update()
        assert error(armature, place, (60,)) < GOOD


def test_nothing_is_fingerprinted_again_where_nothing_changed(monkeypatch) -> None:
    """Frames cost the same whatever a target depends on."""
    target, _ = moved_targets.hooked()
    looking(target)
    scenes.goto(2)
    inputs = load("rig.sampling.fingerprint")
    asked = []
    monkeypatch.setattr(inputs, "dependencies", lambda *given: asked.append(given))
    for frame in range(3, 20):
        bpy.context.scene.frame_set(frame)
    assert not asked


def test_a_character_may_be_carried_by_physics() -> None:
    """The armature as a whole follows a ball that falls, and looks at something that stands still."""
    carrier, _ = moved_targets.falling()
    target = ball((3.0, -3.0, 2.0))
    armature, place = looking(target), place_of(target)
    armature.constraints.new("COPY_LOCATION").target = carrier
    bpy.context.view_layer.update()
    assert error(armature, place, FRAMES) < GOOD
    assert scenes.goto(60) and armature.matrix_world.translation.z < 0.0, "it has fallen"
    assert "'Hero' is moved by physics" in notes(armature)


def test_bones_on_physics_are_said() -> None:
    carrier, _ = moved_targets.falling()
    armature = looking(ball((3.0, -3.0, 2.0)))
    armature.pose.bones["root"].constraints.new("COPY_LOCATION").target = carrier
    bpy.context.view_layer.update()
    assert "Bones of 'Hero' are moved by physics" in notes(armature)


def test_what_follows_by_pd_follows_physics() -> None:
    target, _ = moved_targets.falling()
    item = ball((1.2, -2.0, 3.0), "Follower")
    load("rig.pd_follow.follow_edit").add([load("rig.pd_follow.owners").Owner(item)], target)
    item.lookat_pd_follow.settle_time = 0.02
    bpy.context.view_layer.update()
    live.finish(bpy.context.scene)
    for frame in FRAMES:
        depsgraph = scenes.goto(frame)
        away = place_of(item)(depsgraph) - place_of(target)(depsgraph)
        assert away.length < 0.05
