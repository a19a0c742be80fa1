"""What is read again of what plays after an edit: what Blender reports to be changed, and the rest at leisure."""

import time
from collections.abc import Callable, Iterator

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..scenes import ball, keyed, swaying

actions = load("rig.animation.actions")
fingerprint = load("rig.sampling.fingerprint")
kept_digests = load("rig.sampling.kept_digests")
live = load("rig.layers.live")
suspend = load("rig.sampling.suspend")

IDLE = 10_000
AT_ONCE = 8e-3
FAR = 1e9
HEAD = "head"


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """The data paths of all curves that are read."""
    paths: list[str] = []
    curve = fingerprint._curve

    def noted(one: bpy.types.FCurve) -> Iterator[object]:
        # Curves that were read in an earlier turn are skipped, which does not read them again.
        paths.append(one.data_path)
        yield from curve(one)

    monkeypatch.setattr(fingerprint, "_curve", noted)
    return paths


@pytest.fixture
def scene() -> scenes.Scene:
    """A character that looks at a ball; both are keyed, each in an action of its own."""
    found = swaying()
    keyed(found.target, "location", [(1, (0.8, -2.0, 1.9)), (30, (-0.5, -2.0, 1.4))])
    ball(name="Other")
    found.target.constraints.new("COPY_ROTATION").target = ball(name="Pole")
    bpy.data.objects["Pole"].hide_viewport = True
    bpy.context.scene.frame_end = 30
    return found


@pytest.fixture
def state(scene) -> Iterator:
    """The layers of the scene as a window has them, solved."""
    live.finish(bpy.context.scene)
    with suspend.suspend_live():
        yield live._scenes[bpy.context.scene.session_uid]


def idle_curves(item: bpy.types.Object, count: int) -> None:
    bag = actions.channelbag(item.animation_data.action, item.animation_data.action_slot)
    for n in range(count):
        curve = bag.fcurves.new(f'["idle {n}"]')
        curve.keyframe_points.add(2)
        curve.keyframe_points.foreach_set("co", (1.0, 0.0, 30.0, 1.0))


def reported(state) -> set[str]:
    """Have Blender report what was changed, as before an evaluation, and evaluate that."""
    touched = fingerprint.changed_kinds(bpy.context.scene, state.data_kinds)
    state.digests.note(bpy.context.scene)
    bpy.context.view_layer.update()
    return touched


def look(state, seconds: float = FAR) -> bool:
    """See what is out of date as a turn of the window's loop does; whether that is known now."""
    state.refresh(bpy.context.scene, live._structure, now=True, within=seconds)
    return state.check_at == np.inf


def settled(state) -> None:
    while state.is_unsure or state.check_at < np.inf:
        if state.check_at < np.inf:
            look(state)
        state.look_again(FAR)
    while not state.advance(None):
        pass
    state.show()
    reported(state)


def edit_key(item: bpy.types.Object, value: float) -> None:
    item.location.x = value
    item.keyframe_insert("location", frame=10)


def move_something_else(scene: scenes.Scene) -> None:
    bpy.data.objects["Other"].location.x += 1.0


def move_unkeyed(scene: scenes.Scene) -> None:
    scene.target.rotation_euler.x += 0.1


@pytest.mark.parametrize("edit", [move_something_else, move_unkeyed])
def test_an_edit_of_no_action_reads_no_curve(scene, state, read, edit: Callable) -> None:
    settled(state)
    read.clear()
    edit(scene)
    reported(state)
    assert look(state) and not read


def test_an_edit_of_an_action_reads_its_own_curves(scene, state, read) -> None:
    settled(state)
    read.clear()
    edit_key(scene.target, -0.3)
    reported(state)
    assert look(state) and state.job is not None
    assert sorted(read) == ["location"] * 3


def test_what_data_uses_is_read_once_over_all_turns_of_a_look_but_anew_after_a_change(
    scene, state, monkeypatch
) -> None:
    settled(state)
    uses, read = fingerprint._uses, []
    monkeypatch.setattr(fingerprint, "_uses", lambda item, of: read.append(item) or uses(item, of))
    edit_key(scene.armature, 0.2)
    reported(state)
    turns = 1
    while not look(state, 0.0):
        turns += 1
    assert turns > 3 and read.count(scene.armature) == 1
    edit_key(scene.armature, 0.3)
    reported(state)
    assert not look(state, 0.0)
    scene.armature.constraints.new("COPY_LOCATION").target = bpy.data.objects["Other"]
    reported(state)
    while not look(state, 0.0):
        pass
    assert ("OBJECT", "Other") in state.prints


@pytest.mark.thorough
def test_ten_thousand_idle_curves_are_read_when_their_action_is_edited_and_then_in_turns(scene, state, read) -> None:
    idle_curves(scene.armature, IDLE)
    reported(state)
    look(state)
    settled(state)
    read.clear()
    edit_key(scene.target, -0.3)
    reported(state)
    assert look(state) and len(read) == 3
    settled(state)
    read.clear()
    edit_key(scene.armature, 0.2)
    reported(state)
    turns, most = 0, 0
    while not look(state, AT_ONCE):
        turns, most = turns + 1, max(most, len(read))
        assert state.job is None
        read.clear()
    assert turns > 1 and most < IDLE and state.job is not None


@pytest.mark.thorough
def test_the_first_look_at_a_character_is_in_turns_too_and_nothing_is_solved_before(scene, read) -> None:
    """The file may have the solution."""
    with suspend.suspend_live():
        idle_curves(scene.armature, IDLE)
        bpy.context.view_layer.update()
        live._scenes.clear()
        live._any(bpy.context.scene)
        state = live._scene(bpy.context.scene)
        state.use(live._used)
        turns, most = 0, 0
        while not look(state, AT_ONCE):
            turns, most = turns + 1, max(most, len(read))
            assert state.job is None and live.status(bpy.context.scene, scene.armature, HEAD).state == "SOLVING"
            read.clear()
        assert turns > 1 and most < IDLE and state.job is not None


def test_what_was_switched_on_is_begun_once_although_it_is_looked_at_later(scene, state) -> None:
    """Faces are looked at from then on: that nothing was known of them before is no change."""
    settled(state)
    scene.armature.pose.bones[HEAD].lookat_pd.eyes.use = True
    reported(state)
    assert not look(state, 0.0) and state.job is not None
    begun = state.job
    assert look(state) and state.job is begun


@pytest.mark.thorough
def test_to_read_many_curves_in_goes_takes_little_longer_than_at_once(scene) -> None:
    idle_curves(scene.armature, IDLE)
    action = scene.armature.animation_data.action
    begin = time.process_time()
    whole = fingerprint.fingerprint(action)
    at_once = time.process_time() - begin
    begin, gradual, digest, goes = time.process_time(), fingerprint.GradualFingerprint(), None, 0
    while digest is None:
        digest, goes = gradual.go_on(action, 0.0), goes + 1
    assert digest == whole and goes > IDLE / 100
    assert time.process_time() - begin < 3.0 * at_once


def written_without_a_word(scene: scenes.Scene) -> None:
    curves = actions.curves(scene.armature.animation_data.action, scene.armature.animation_data.action_slot)
    points = next(iter(curves)).keyframe_points
    values = np.empty(2 * len(points))
    points.foreach_get("co", values)
    values[1::2] += 0.2
    points.foreach_set("co", values)


def of_what_is_hidden(scene: scenes.Scene) -> None:
    bpy.data.objects["Pole"].location.z += 0.5


@pytest.mark.parametrize("edit", [written_without_a_word, of_what_is_hidden])
def test_a_change_that_is_not_reported_is_noticed_at_leisure(scene, state, edit: Callable) -> None:
    settled(state)
    edit(scene)
    scene.target.rotation_euler.x += 0.1
    reported(state)
    look(state)
    for _ in range(1000):
        if state.job is not None:
            break
        state.look_again(0.0)
        if state.check_at < np.inf:
            look(state)
    assert state.job is not None


def test_what_is_deleted_before_it_is_looked_at_does_no_harm(scene, state) -> None:
    """Blender still reports the copies that it has evaluated of it."""
    for _ in range(20):
        keyed(ball(name="Gone"), "location", [(1, (0.0, 0.0, 0.0))])
        bpy.context.view_layer.update()
        action = bpy.data.objects["Gone"].animation_data.action
        action.name = "Another name"
        bpy.data.actions.remove(action)
        bpy.data.objects.remove(bpy.data.objects["Gone"])
        state.digests.note(bpy.context.scene)
        assert state.is_concerned(bpy.context.scene) in (True, False)
        bpy.context.view_layer.update()


def test_what_a_rig_uses_is_read_once_in_a_turn(scene, state, monkeypatch) -> None:
    """It is asked for what it is solved from, for each scene that it is sampled in, and for what moves its target."""
    uses, read = fingerprint._uses, []

    def noted(item: bpy.types.ID, *others: object) -> Iterator[object]:
        read.append(fingerprint.identity(item))
        yield from uses(item, *others)

    monkeypatch.setattr(fingerprint, "_uses", noted)
    with fingerprint.reading_once():
        found = [fingerprint.dependencies(bpy.context.scene, [scene.armature]) for _ in range(2)]
    assert found[0] == found[1] and len(read) == len(set(read)) and fingerprint.identity(scene.armature) in read
    read.clear()
    scene.armature.pose.bones[HEAD].constraints.new("COPY_SCALE").target = bpy.data.objects["Other"]
    with fingerprint.reading_once():
        assert bpy.data.objects["Other"] in fingerprint.dependencies(bpy.context.scene, [scene.armature]).values()


def test_what_is_found_in_goes_is_what_is_found_at_once(scene) -> None:
    idle_curves(scene.armature, 20)
    for item in fingerprint.dependencies(bpy.context.scene, [scene.armature, scene.target]).values():
        gradual, goes, digest = fingerprint.GradualFingerprint(), 0, None
        while digest is None:
            digest, goes = gradual.go_on(item, 0.0), goes + 1
        assert digest == fingerprint.fingerprint(item)
        assert goes > 2 or not isinstance(item, bpy.types.Action)
