"""The operators that direct the gaze: the list of targets, looks from here on, markers and conversations."""

import wave

import bpy
import numpy as np
import pytest

from extension import load

from .test_setup import make, settings, thing

directing = load("rig.look_at.directing.looks")
targets = load("rig.sampling.targets")
look_at_edit = load("rig.look_at.edit")
converse = load("operators.converse")
actions = load("rig.animation.actions")
setting_keys = load("rig.look_at.directing.setting_keys")
settings_module = load("rig.look_at.directing.conversation_settings")
markers = load("operators.directing")
look_at_keys = load("operators.look_at_keys")


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character that looks at a ball, active and selected alone; frame 10."""
    armature = make("Hero")
    look_at_edit.add(bpy.context.scene, armature, "head", thing("Ball"))
    armature.select_set(True)
    bpy.context.scene.frame_set(10)
    return armature


def names(armature: bpy.types.Object) -> list[str]:
    return [target.label for target in targets.listed(settings(armature))]


def seen(armature: bpy.types.Object, frame: int) -> str | None:
    bpy.context.scene.frame_set(frame)
    number = directing.active(settings(armature))
    return None if number is None else names(armature)[number]


def test_what_is_selected_comes_into_the_list(hero) -> None:
    thing("Bird", selected=True)
    make("Other", 2.0).select_set(True)
    bpy.context.view_layer.objects.active = hero
    assert bpy.ops.lookat_pd.target_add() == {"FINISHED"}
    assert sorted(names(hero)[1:]) == ["Bird", "Other:head"]


def test_an_empty_line_is_filled_by_hand(hero) -> None:
    assert bpy.ops.lookat_pd.target_add() == {"FINISHED"}
    assert names(hero) == ["Ball", ""] and settings(hero).targets_index == 0
    settings(hero).targets[0].object = thing("Bird")
    assert bpy.ops.lookat_pd.look_here() == {"FINISHED"}
    assert [seen(hero, frame) for frame in (1, 9, 10)] == ["Ball", "Ball", "Bird"]


def test_one_wrong_object_and_none_is_added(hero) -> None:
    thing("Bird", selected=True)
    hat = thing("Hat", selected=True)
    # Not part of the character for Blender, but the head takes it along.
    hat.constraints.new("CHILD_OF").target = hero
    hat.constraints[0].subtarget = "head"
    with pytest.raises(RuntimeError, match="'Hat' moves with the chain"):
        bpy.ops.lookat_pd.target_add()
    assert names(hero) == ["Ball"]


def test_lines_move_and_go(hero) -> None:
    for name in ("Bird", "Cat"):
        thing(name, selected=True)
        bpy.ops.lookat_pd.target_add()
        bpy.data.objects[name].select_set(False)
    bpy.ops.lookat_pd.look_here()
    bpy.ops.lookat_pd.target_move(direction="UP")
    assert names(hero) == ["Ball", "Cat", "Bird"]
    bpy.ops.lookat_pd.target_move(direction="UP")
    assert names(hero) == ["Cat", "Ball", "Bird"]
    assert seen(hero, 10) == "Cat"
    bpy.ops.lookat_pd.target_move(direction="DOWN")
    assert names(hero) == ["Cat", "Bird", "Ball"]
    assert bpy.ops.lookat_pd.target_move(direction="DOWN") == {"CANCELLED"}
    bpy.ops.lookat_pd.target_remove()
    bpy.ops.lookat_pd.target_remove(number=0)
    assert names(hero) == ["Bird"]


def test_nothing_to_remove(hero) -> None:
    with pytest.raises(RuntimeError, match="No target of the list is selected"):
        bpy.ops.lookat_pd.target_remove()
    with pytest.raises(RuntimeError, match="no target 7"):
        bpy.ops.lookat_pd.target_remove(number=7)
    assert names(hero) == ["Ball"]


def test_look_at_the_selected_object(hero) -> None:
    thing("Bird", selected=True)
    assert bpy.ops.lookat_pd.look_here(use_selected=True) == {"FINISHED"}
    assert names(hero) == ["Ball", "Bird"] and seen(hero, 10) == "Bird"
    bpy.data.objects["Bird"].select_set(False)
    with pytest.raises(RuntimeError, match="No target object is selected"):
        bpy.ops.lookat_pd.look_here(use_selected=True)


def test_look_away_and_back(hero) -> None:
    assert bpy.ops.lookat_pd.look_away() == {"FINISHED"}
    bpy.context.scene.frame_set(20)
    assert bpy.ops.lookat_pd.look_here(number=0) == {"FINISHED"}
    assert [seen(hero, frame) for frame in (1, 10, 19, 20)] == ["Ball", None, None, "Ball"]


def test_the_dot_keys_the_active_target(hero) -> None:
    assert bpy.ops.lookat_pd.key(setting="active_target") == {"FINISHED"}
    assert look_at_edit.key_state(hero, "head", "active_target", 10) == "KEYED"


@pytest.mark.every_blender
def test_markers(hero) -> None:
    assert not bpy.ops.lookat_pd.targets_from_markers.poll()
    assert "timeline marker" in markers.why_not(bpy.context)
    thing("Bird")
    for name, frame in (("Bird", 20), ("off", 40)):
        bpy.context.scene.timeline_markers.new(name, frame=frame)
    assert bpy.ops.lookat_pd.targets_from_markers() == {"FINISHED"}
    assert [seen(hero, frame) for frame in (10, 20, 40)] == ["Ball", "Bird", None]


@pytest.mark.every_blender
def test_channels_have_names_in_the_group_of_the_bone(hero) -> None:
    """Animation editors show a channel by its property and the name of the group of properties: Active (head)."""
    bpy.ops.lookat_pd.key(setting="influence")
    bpy.ops.lookat_pd.key(setting="use")
    data = hero.data.animation_data
    found = actions.curves(data.action, data.action_slot)
    assert [curve.group.name for curve in found] == ["Look-at (head)", "Look-at (head)"]
    assert hero.data.lookat_pd_shot[0].name == "head"
    look_at_edit.remove(hero, "head")
    assert not len(hero.data.lookat_pd_shot)


@pytest.mark.every_blender
def test_keys_of_the_clip_are_moved_on_request(hero) -> None:
    assert not bpy.ops.lookat_pd.move_keys.poll()
    assert look_at_keys.why_no_keys(bpy.context) == "The current action has no keys of look-ats"
    settings = hero.pose.bones["head"].lookat_pd
    for frame, value in ((1, True), (20, False)):
        settings.use = value
        hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=frame)
    assert bpy.ops.lookat_pd.move_keys() == {"FINISHED"}
    hero.animation_data.action = None
    assert [seen(hero, frame) for frame in (1, 19, 20)] == ["Ball", "Ball", None]
    assert not bpy.ops.lookat_pd.move_keys.poll()


def talking(hero) -> tuple:
    """Two characters who talk as markers say, and the settings of their conversation."""
    other = make("Other", 2.0)
    other.select_set(True)
    for name, frame in (("Hero", 1), ("Other: yes", 100), ("camera move", 120)):
        bpy.context.scene.timeline_markers.new(name, frame=frame)
    assert bpy.ops.lookat_pd.converse(glances=0.0, eyes=False, body=False) == {"FINISHED"}
    return other, bpy.context.scene.lookat_pd_conversation


@pytest.mark.every_blender
def test_a_conversation(hero) -> None:
    assert "at least two characters" in converse.why_not(bpy.context)
    other, settings = talking(hero)
    assert seen(hero, 200) == "Other:head"
    assert seen(other, 90) == "Hero:head"
    assert settings.use_markers and not settings.error
    assert bpy.ops.lookat_pd.converse(seed=3) == {"FINISHED"}


def frames_of_keys(armature, setting: str = "active_target") -> list[float]:
    return setting_keys.frames(armature, "head", setting)


@pytest.mark.thorough
def test_a_moved_marker_changes_the_keys_at_once(hero) -> None:
    _, settings = talking(hero)
    marker = bpy.context.scene.timeline_markers["Other: yes"]
    before = frames_of_keys(hero, "eyes_closed")
    marker.frame = 60
    settings_module.update_stale()
    assert frames_of_keys(hero, "eyes_closed") != before
    marker.frame = 100
    settings_module.update_stale()
    assert frames_of_keys(hero, "eyes_closed") == before
    bpy.context.scene.timeline_markers.clear()
    settings_module.update_stale()
    assert "no markers" in settings.error and frames_of_keys(hero, "eyes_closed") == before


@pytest.mark.slow
def test_an_edit_detects_nothing_again(hero, tmp_path, monkeypatch) -> None:
    """The first one after the file was opened would take long otherwise."""
    talking(hero)
    path = str(tmp_path / "talk.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature, settings = bpy.data.objects["Hero"], bpy.context.scene.lookat_pd_conversation
    before = frames_of_keys(armature, "eyes_closed")
    monkeypatch.setattr(load("rig.detection.stance"), "of", None)
    bpy.context.scene.timeline_markers["Other: yes"].frame = 60
    settings_module.update_stale()
    assert not settings.error and frames_of_keys(armature, "eyes_closed") != before


@pytest.mark.slow
def test_an_empty_table_takes_over_the_turns_of_the_markers(hero) -> None:
    other, settings = talking(hero)
    before = frames_of_keys(hero, "eyes_closed")
    settings.use_markers = False
    assert [(turn.frame, turn.speaker, turn.text) for turn in settings.turns] == [(1, hero, ""), (100, other, "yes")]
    assert not settings.error and frames_of_keys(hero, "eyes_closed") == before


@pytest.mark.slow
def test_the_table_of_turns(hero) -> None:
    scene = bpy.context.scene
    other = make("Other", 2.0)
    other.select_set(True)
    third = make("Root.001", 4.0)
    third.select_set(True)
    assert bpy.ops.lookat_pd.converse(glances=0.0, eyes=False, body=False) == {"FINISHED"}
    settings = scene.lookat_pd_conversation
    assert [turn.speaker for turn in settings.turns] == [person.armature for person in settings.people]
    scene.frame_set(230)
    assert bpy.ops.lookat_pd.turn_add() == {"FINISHED"}
    assert settings.turns[-1].frame == 230
    with pytest.raises(RuntimeError, match="already"):
        bpy.ops.lookat_pd.turn_add()
    settings.turns[-1].speaker = third
    assert seen(hero, 249) == "Root.001:head"
    settings.turns[-1].at = thing("Bird")
    assert seen(other, 249) == "Bird"
    settings.turns_index = len(settings.turns) - 1
    assert bpy.ops.lookat_pd.turn_remove() == {"FINISHED"}
    assert len(settings.turns) == 3


@pytest.mark.slow
def test_turns_from_recordings(hero, tmp_path) -> None:
    """Each has a microphone: who is loud speaks, and each phrase is a line."""
    other, settings = talking(hero)
    with pytest.raises(RuntimeError, match="No character has a recording"):
        bpy.ops.lookat_pd.turns_from_sounds()
    rate = 8000
    for person, spoken in zip(settings.people, ((0.5, 3.0), (4.0, 6.0)), strict=True):
        t = np.arange(8 * rate) / rate
        sound = np.where((t >= spoken[0]) & (t < spoken[1]), 9000.0 * np.sin(1000.0 * t), 9.0 * np.sin(50.0 * t))
        path = tmp_path / f"{person.armature.name}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(sound.astype("<i2").tobytes())
        person.sound = str(path)
    assert bpy.ops.lookat_pd.turns_from_sounds() == {"FINISHED"}
    assert [(turn.frame, turn.speaker) for turn in settings.turns] == [(13, hero), (97, other)]
    assert not settings.use_markers and not settings.error
    path.write_text("no sound")
    with pytest.raises(RuntimeError, match="cannot be read as a sound"):
        bpy.ops.lookat_pd.turns_from_sounds()
    assert len(settings.turns) == 2


@pytest.mark.slow
def test_turns_from_a_file(hero, tmp_path) -> None:
    _, settings = talking(hero)
    path = tmp_path / "talk.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nHero: hello\n\n2\n00:00:04,500 --> 00:00:06,000\nOther: no\n")
    assert bpy.ops.lookat_pd.turns_from_file(filepath=str(path)) == {"FINISHED"}
    assert [(turn.frame, turn.speaker.name, turn.text) for turn in settings.turns] == [
        (25, "Hero", "hello"),
        (109, "Other", "no"),
    ]
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nZoe: hello\n")
    with pytest.raises(RuntimeError, match="'Zoe'"):
        bpy.ops.lookat_pd.turns_from_file(filepath=str(path))
    settings.people[0].called = "Zoe"
    assert bpy.ops.lookat_pd.turns_from_file(filepath=str(path)) == {"FINISHED"}
    assert len(settings.turns) == 1


@pytest.mark.thorough
def test_personalities_and_amounts_change_the_keys_at_once(hero) -> None:
    other, settings = talking(hero)
    blinks = len(frames_of_keys(hero, "eyes_closed"))
    assert blinks > 4
    settings.blinks = 0.0
    assert not frames_of_keys(hero, "eyes_closed")
    assert frames_of_keys(hero, "tilt")
    settings.tilts = 0.0
    assert not frames_of_keys(hero, "tilt")
    full = hero.pose.bones["head"].lookat_pd.body.breathing
    settings.breathing = 0.5
    assert hero.pose.bones["head"].lookat_pd.body.breathing == pytest.approx(0.5 * full)
    settings.glances = 1.0
    before = frames_of_keys(other, "glance_yaw")
    next(person for person in settings.people if person.armature == other).personality = "DISTRACTED"
    assert frames_of_keys(other, "glance_yaw") != before


@pytest.mark.slow
def test_a_removed_conversation_leaves_no_keys(hero) -> None:
    other, settings = talking(hero)
    assert bpy.ops.lookat_pd.conversation_remove() == {"FINISHED"}
    assert not any(frames_of_keys(item, name) for item in (hero, other) for name in setting_keys.CONVERSED)
    assert not len(settings.people)
    assert not bpy.ops.lookat_pd.turn_add.poll()


def test_nothing_to_direct() -> None:
    make("Hero")
    for verb in ("target_add", "target_remove", "target_move", "look_here", "look_away", "targets_from_markers"):
        assert not getattr(bpy.ops.lookat_pd, verb).poll()
    assert not bpy.ops.lookat_pd.converse.poll()
