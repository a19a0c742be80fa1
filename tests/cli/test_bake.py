"""`bake`: what comes out moves as it should, and the report says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

BALL = Vector((0.8, -2.0, 1.9))
PROMISED = [
    "input",
    "output",
    "ok",
    "error",
    "rig",
    "bone",
    "aim_axis",
    "chain",
    "frames",
    "fps",
    "seconds",
    "settled_error_deg",
]


def add_look_at(rig, bone: str = "head", **settings) -> None:
    for name, value in settings.items():
        setattr(rig.pose.bones[bone].lookat_pd, name, value)


def gaze_file(path: Path, events: list[dict]) -> Path:
    path.write_text(json.dumps(events), "utf-8")
    return path


def test_report_has_the_promised_fields_in_their_order(walk, call, tmp_path) -> None:
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball").row
    assert list(row)[: len(PROMISED)] == PROMISED
    assert row["input"] == str(walk) and row["output"] == str(tmp_path / "out.blend")
    assert row["ok"] is True and row["error"] is None
    assert row["rig"] == "Hero" and row["bone"] == "head"
    assert np.linalg.norm(row["aim_axis"]) == pytest.approx(1.0)
    assert row["chain"] == ["head", "neck", "chest", "spine", "hips"]
    assert row["frames"] == [1, 121] and row["fps"] == 24.0
    assert row["seconds"] > 0.0 and row["settled_error_deg"] < 0.1


@pytest.mark.every_blender
@pytest.mark.parametrize("suffix", [".blend", ".glb"])
def test_baked_head_aims_at_the_target_in_the_file_written(walk, call, tools, tmp_path, suffix) -> None:
    output = tmp_path / f"out{suffix}"
    outcome = call("bake", walk, "--output", output, "--target", "Ball")
    assert outcome.code == 0 and not outcome.errors
    scene = tools.reopen(output)
    rig = scene.objects["Hero"]
    action = next(action for action in bpy.data.actions if action.name.startswith("Walk look-at"))
    rig.animation_data.action = action
    rig.animation_data.action_slot = action.slots[0]
    for frame in tools.STILL:
        scene.frame_set(frame)
        assert tools.aim_error(rig, "head", outcome.row["aim_axis"], BALL) < 0.1


def test_the_aim_error_is_that_of_all_frames_that_look(walk, call, tools, tmp_path) -> None:
    """Whatever is settled; nothing is known of frames at which it is off."""
    for share in ("0", "0.9"):
        gaze = gaze_file(tmp_path / "gaze.json", [{"frame": 5, "target": "Ball"}, {"frame": 60, "off": True}])
        words = ["--gaze", gaze, "--range", 1, 90, "--stabilize", share]
        row = call("bake", walk, "--output", tmp_path / "out.blend", *words).row
        scene, errors = tools.reopen(tmp_path / "out.blend"), []
        for frame in range(5, 60):
            scene.frame_set(frame)
            errors.append(tools.aim_error(scene.objects["Hero"], "head", row["aim_axis"], BALL))
        seen = row["aim_error_deg"]
        assert seen["frames"] == seen["in_reach"] == 55
        assert seen["frame"] == 5 + int(np.argmax(errors))
        known = (np.median(errors), np.percentile(errors, 90), np.max(errors))
        assert (seen["median"], seen["p90"], seen["largest"]) == pytest.approx(known, abs=0.02)
        assert row["eyes_error_deg"] is None


def test_nothing_is_measured_of_a_look_at_that_is_off(walk, call, tmp_path) -> None:
    gaze = gaze_file(tmp_path / "gaze.json", [{"frame": 200, "target": "Ball"}])
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--gaze", gaze, "--range", 1, 20).row
    assert row["ok"] and row["aim_error_deg"] is None and row["settled_error_deg"] is None


@pytest.mark.parametrize("words", [[], ["--cyclic"], ["--no-cyclic"]])
def test_a_cycle_is_baked_as_one(call, tools, tmp_path, words) -> None:
    hero, last = tools.make_character(), 25
    action = hero.animation_data.action
    for curve in load("rig.animation.actions").curves(action, hero.animation_data.action_slot):
        while len(curve.keyframe_points):
            curve.keyframe_points.remove(curve.keyframe_points[0])
        for frame in range(1, last + 1):
            angle = 2.0 * np.pi * (frame - 1) / (last - 1) + curve.array_index
            curve.keyframe_points.insert(frame, float(curve.array_index == 0) + 0.1 * np.sin(angle))
    source = tools.save(tmp_path / "in.blend")
    words = [*words, "--stabilize", "0", "--range", 1, last]
    row = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball", *words).row
    scene = tools.reopen(tmp_path / "out.blend")
    ends = tools.poses(scene.objects["Hero"], ["head", "neck", "chest", "spine", "hips"], [1, last])
    gap = tools.angles_between(*ends).max()
    assert row["cyclic"] == ("--no-cyclic" not in words)
    assert gap < 0.01 if row["cyclic"] else gap > 0.3


def test_point_may_begin_with_a_minus(walk, call, tools, tmp_path) -> None:
    for words in (["--point=-0.5,-2,1.7"], ["--point", "-0.5,-2,1.7"]):
        outcome = call("bake", walk, "--output", tmp_path / "out.blend", *words)
        assert outcome.code == 0
        scene = tools.reopen(tmp_path / "out.blend")
        scene.frame_set(tools.STILL[-1])
        aims = outcome.row["aim_axis"]
        assert tools.aim_error(scene.objects["Hero"], "head", aims, Vector((-0.5, -2, 1.7))) < 0.1


@pytest.mark.parametrize("words", [["--range", "-10", "20"], ["--range=-10", "20"]])
def test_range_may_begin_with_a_minus(walk, call, tmp_path, words) -> None:
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", *words).row
    assert row["frames"] == [-10, 20]


def test_same_keys_as_the_bake_called_directly(walk, call, tools, tmp_path) -> None:
    events = [{"frame": 10, "target": "Ball"}, {"frame": 35, "off": True}]
    gaze = gaze_file(tmp_path / "gaze.json", events)
    call("bake", walk, "--output", tmp_path / "out.blend", "--gaze", gaze, "--range", 1, 60)
    bones = ["head", "neck", "chest", "spine", "hips"]
    frames = list(range(1, 61))
    from_shell = tools.poses(tools.reopen(tmp_path / "out.blend").objects["Hero"], bones, frames)

    scene = tools.reopen(walk)
    rig = scene.objects["Hero"]
    target = load("rig.sampling.targets").Target(scene.objects["Ball"])
    one = load("rig.look_at.resolve").resolve(rig, "head", [target], ((10, 0), (35, None)))
    bake = load("rig.look_at.look_at_bake")
    for _ in bake.bake(scene, [one], load("rig.animation.bake_options").BakeOptions(1, 60)):
        pass
    assert np.array_equal(from_shell, tools.poses(rig, bones, frames))


def test_gaze_is_off_before_it_begins_and_after_it_is_released(walk, call, tools, tmp_path) -> None:
    gaze = gaze_file(tmp_path / "gaze.json", [{"frame": 60, "off": True}, {"frame": 20, "target": "Ball"}])
    call("bake", walk, "--output", tmp_path / "out.blend", "--gaze", gaze, "--range", 1, 200, "--settle-time", 0.3)
    bones = ["head", "neck", "chest", "spine", "hips"]
    frames = list(range(1, 201))
    baked = tools.poses(tools.reopen(tmp_path / "out.blend").objects["Hero"], bones, frames)
    source = tools.poses(tools.reopen(walk).objects["Hero"], bones, frames)
    assert np.array_equal(baked[:20], source[:20])
    assert np.array_equal(baked[-30:], source[-30:])
    assert tools.angles_between(baked[55, 0], source[55, 0]) > 1.0


def test_gaze_may_go_to_points_and_bones_and_objects(call, tools, tmp_path) -> None:
    tools.make_character()
    other = tools.make_armature("Other: friend")
    other.location = (-1.0, -2.0, 0.0)
    source = tools.save(tmp_path / "two.blend")
    events = [
        {"frame": 0, "point": [0.3, -2.0, 1.7]},
        {"frame": 100, "target": "Other: friend:head"},
        {"frame": 200, "target": "Ball"},
    ]
    gaze = gaze_file(tmp_path / "gaze.json", events)
    words = ["--gaze", gaze, "--rig", "Hero", "--range", 1, 300]
    outcome = call("bake", source, "--output", tmp_path / "out.blend", *words)
    assert outcome.row["error"] is None and outcome.row["settled_error_deg"] < 0.1
    scene = tools.reopen(tmp_path / "out.blend")
    friend = scene.objects["Other: friend"]
    face = friend.matrix_world @ friend.pose.bones["head"].matrix @ tools.eyes_of(friend)
    eyes = tools.eyes_of(scene.objects["Hero"])
    for frame, place in ((90, Vector((0.3, -2.0, 1.7))), (190, face), (290, BALL)):
        scene.frame_set(frame)
        assert tools.aim_error(scene.objects["Hero"], "head", outcome.row["aim_axis"], place, eyes) < 0.1


# Why there is aim error is not measured


def why(outcome) -> list[str]:
    """The notes that explain a missing aim error."""
    assert outcome.row["error"] is None and outcome.row["settled_error_deg"] is None
    return [note for note in outcome.row["warnings"] if "aim error is not measured" in note]


def test_a_target_behind_a_character_that_stands_still_is_called_out_of_reach(call, tools, tmp_path) -> None:
    """Such a look-at is settled at every frame; it is the target that no turn of the chain meets."""
    tools.make_armature("Hero")
    source = tools.save(tmp_path / "still.blend")
    words = ["--output", tmp_path / "out.blend", "--range", 1, 30]
    (note,) = why(call("bake", source, "--point", "0,3,1.6", *words))
    assert "'head'" in note and "out of reach" in note and "No frame is settled" not in note
    ahead = call("bake", source, "--point", "0.3,-3,1.6", *words).row
    assert ahead["settled_error_deg"] < 0.1 and ahead["settled_frames"] == 30 and not ahead["warnings"]


def test_a_target_that_never_rests_is_reported(call, tools, tmp_path) -> None:
    tools.make_armature("Hero")
    ball = tools.make_ball()
    for frame, across in ((1, -1.0), (30, 1.0)):
        ball.location.x = across
        ball.keyframe_insert("location", frame=frame)
    source = tools.save(tmp_path / "moving.blend")
    gaze = gaze_file(tmp_path / "gaze.json", [{"frame": 3, "target": "Ball"}])
    words = ["--gaze", gaze, "--output", tmp_path / "out.blend", "--range", 1, 28]
    (note,) = why(call("bake", source, *words))
    assert "No frame" in note and "keeps moving" in note and "out of reach" not in note


@pytest.mark.parametrize(("settings", "expected"), [({"influence": 0.5}, "influence"), ({"use": False}, "is off")])
def test_a_look_at_that_does_not_aim_is_reported(call, tools, tmp_path, settings, expected) -> None:
    hero = tools.make_armature("Hero")
    add_look_at(hero, target=tools.make_ball(), **settings)
    source = tools.save(tmp_path / "hero.blend")
    (note,) = why(call("bake", source, "--output", tmp_path / "out.blend", "--range", 1, 30))
    assert "'head'" in note and expected in note and "keeps moving" not in note


# Look-ats of the file


@pytest.mark.thorough
def test_look_ats_of_the_file_are_baked_and_muted(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    add_look_at(hero, target=bpy.data.objects["Ball"], settle_time=0.4)
    twin = tools.make_armature("Twin")
    add_look_at(twin, target=bpy.data.objects["Ball"])
    sleeper = tools.make_armature("Sleeper")
    add_look_at(sleeper, target=bpy.data.objects["Ball"], mute=True)
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--range", 1, 40).row
    assert [(item["rig"], item["bone"]) for item in row["look_ats"]] == [("Hero", "head"), ("Twin", "head")]
    assert all(item["settled_error_deg"] < 0.1 for item in row["look_ats"])
    assert row["rig"] == "Hero" and row["settled_error_deg"] == row["look_ats"][0]["settled_error_deg"]
    objects = tools.reopen(tmp_path / "out.blend").objects
    assert objects["Hero"].pose.bones["head"].lookat_pd.mute and objects["Twin"].pose.bones["head"].lookat_pd.mute
    assert objects["Sleeper"].animation_data is None


def test_settle_time_and_damping_override_those_of_the_file(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    add_look_at(hero, target=bpy.data.objects["Ball"], settle_time=0.4)
    source = tools.save(tmp_path / "in.blend")
    words = ["--settle-time", "1.5", "--damping", "0.5", "--level-head", "0.75", "--stabilize", "0.25"]
    words += ["--head-roll", "40", "--aim-from", "bone"]
    assert call("bake", source, "--output", tmp_path / "out.blend", *words).code == 0
    settings = tools.reopen(tmp_path / "out.blend").objects["Hero"].pose.bones["head"].lookat_pd
    assert settings.settle_time == pytest.approx(1.5)
    assert (settings.damping, settings.damping_ratio) == ("CUSTOM", pytest.approx(0.5))
    assert (settings.level_head, settings.stabilize) == (pytest.approx(0.75), pytest.approx(0.25))
    assert (settings.head_roll, settings.aim_from) == (pytest.approx(np.radians(40.0)), "BONE")
    call("bake", source, "--output", tmp_path / "out.blend", "--damping", "responsive")
    assert tools.reopen(tmp_path / "out.blend").objects["Hero"].pose.bones["head"].lookat_pd.damping == "RESPONSIVE"


def test_a_mix_of_targets_in_the_file(call, tools, tmp_path) -> None:
    """The error is that of the mix, not of one of its targets."""
    hero = tools.make_character()
    add_look_at(hero, target=bpy.data.objects["Ball"], use_mix=True)
    settings = hero.pose.bones["head"].lookat_pd
    other = bpy.data.objects.new("Bird", None)
    other.location = (-1.5, -2.0, 1.4)
    bpy.context.scene.collection.objects.link(other)
    settings.targets.add().object = other
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend").row
    assert row["ok"] and row["settled_error_deg"] < 0.1
    settings = tools.reopen(source).objects["Hero"].pose.bones["head"].lookat_pd
    settings.target_weight = settings.targets[0].weight = 0.0
    tools.save(source)
    outcome = call("bake", source, "--output", tmp_path / "none.blend")
    assert "weight of 0" in outcome.row["error"] and not (tmp_path / "none.blend").exists()
    settings = tools.reopen(source).objects["Hero"].pose.bones["head"].lookat_pd
    settings.target_weight = 1.0
    walls = bpy.data.collections.new("Walls")
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    body.parent = bpy.data.objects["Hero"]
    bpy.context.scene.collection.children.link(walls)
    walls.objects.link(body)
    settings.let_go_behind = walls
    tools.save(source)
    outcome = call("bake", source, "--output", tmp_path / "none.blend")
    assert "'Body' is part of the character" in outcome.row["error"] and not (tmp_path / "none.blend").exists()


def test_muted_or_missing_look_ats_are_reported(call, tools, walk, tmp_path) -> None:
    assert "--target" in call("bake", walk, "--output", tmp_path / "out.blend").row["error"]
    hero = tools.reopen(walk).objects["Hero"]
    add_look_at(hero, target=bpy.data.objects["Ball"], mute=True)
    source = tools.save(tmp_path / "muted.blend")
    assert "muted" in call("bake", source, "--output", tmp_path / "out.blend").row["error"]
    assert not (tmp_path / "out.blend").exists()


def test_another_target_keeps_the_bone_of_the_files_look_at(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    add_look_at(hero, "neck", target=bpy.data.objects["Ball"])
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--point=0,-2,1.6").row
    assert row["bone"] == "neck"


# Presets


@pytest.fixture
def own_preset() -> Iterator[None]:
    """A preset "Wide awake" that the user has saved in Blender."""
    folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/lookat_pd", create=True))
    path = folder / "Wide_awake.py"
    path.write_text(
        "import bpy\nlook_at = bpy.context.active_pose_bone.lookat_pd\n\n"
        "look_at.settle_time = 0.35\nlook_at.damping = 'RESPONSIVE'\n"
    )
    yield
    path.unlink()


@pytest.mark.usefixtures("own_preset")
@pytest.mark.parametrize(("name", "settle_time"), [("wide AWAKE", 0.35), ("heavy creature", 1.8)])
def test_preset_is_applied_and_flags_override_it(walk, call, tools, tmp_path, name, settle_time) -> None:
    words = ["--target", "Ball", "--preset", name, "--damping", "critical"]
    assert call("bake", walk, "--output", tmp_path / "out.blend", *words).code == 0
    settings = tools.reopen(tmp_path / "out.blend").objects["Hero"].pose.bones["head"].lookat_pd
    assert settings.settle_time == pytest.approx(settle_time) and settings.damping == "CRITICAL"


@pytest.mark.usefixtures("own_preset")
def test_unknown_preset_lists_those_there_are(walk, call, tmp_path) -> None:
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--preset", "Sleepy")
    assert outcome.code == 2 and all(name in outcome.errors[0] for name in ("Sleepy", "Attentive", "Wide awake"))


# Where the keys go


def test_into_current_keeps_the_action(walk, call, tools, tmp_path) -> None:
    call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--into", "current")
    tools.reopen(tmp_path / "out.blend")
    assert [action.name for action in bpy.data.actions] == ["Walk"]


def test_into_layer_adds_a_track_that_aims(walk, call, tools, tmp_path) -> None:
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--into", "layer")
    scene = tools.reopen(tmp_path / "out.blend")
    hero = scene.objects["Hero"]
    assert hero.animation_data.nla_tracks[-1].strips[0].blend_type == "COMBINE"
    scene.frame_set(tools.STILL[-1])
    assert tools.aim_error(hero, "head", outcome.row["aim_axis"], BALL) < 0.1
    assert outcome.row["settled_error_deg"] < 0.1


def test_a_glb_takes_no_layer(walk, call, tmp_path) -> None:
    outcome = call("bake", walk, "--output", tmp_path / "out.glb", "--target", "Ball", "--into", "layer")
    assert outcome.code == 1 and "layer" in outcome.row["error"]


# Actions and slots


def test_action_is_played_with_the_slot_made_for_the_rig(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    run = tools.animate(hero, "Run")
    own = run.slots[0]
    shape_keys = run.slots.new("KEY", "Hero")
    camera = run.slots.new("OBJECT", "Camera")
    hero.animation_data.action = bpy.data.actions["Walk"]
    run.use_fake_user = True
    assert shape_keys and camera
    wanted = own.identifier
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball", "--action", "Run").row
    assert row["error"] is None and row["action"] == "Run look-at"
    data = tools.reopen(tmp_path / "out.blend").objects["Hero"].animation_data
    assert data.action.name == "Run look-at" and data.action_slot.identifier == wanted


def test_unknown_action_lists_those_there_are(walk, call, tmp_path) -> None:
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--action", "Wolk").row
    assert "'Wolk'" in row["error"] and "'Walk'" in row["error"]


def test_action_only_for_other_things_is_refused(call, tools, tmp_path) -> None:
    tools.make_character()
    smile = bpy.data.actions.new("Smile")
    smile.slots.new("KEY", "Face")
    smile.use_fake_user = True
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball", "--action", "Smile").row
    assert "slot" in row["error"]


# Rigs


def test_likeliest_rig_is_chosen_and_reported(call, tools, tmp_path) -> None:
    tools.make_character()
    prop = bpy.data.objects.new("Prop", bpy.data.armatures.new("Prop"))
    bpy.context.scene.collection.objects.link(prop)
    source = tools.save(tmp_path / "in.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball")
    assert outcome.row["rig"] == "Hero"
    assert "'Hero'" in outcome.row["warnings"][0] and "'Prop'" in outcome.row["warnings"][0]
    assert "--rig" in outcome.errors[0]
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball", "--rig", "Hero")
    assert not outcome.row["warnings"] and not outcome.errors


def test_unknown_rig_lists_those_there_are(walk, call, tmp_path) -> None:
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--rig", "Villain").row
    assert "'Villain'" in row["error"] and "'Hero'" in row["error"]


def test_active_scene_of_the_file_is_used(call, tools, tmp_path) -> None:
    tools.make_armature("Elsewhere")
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    tools.make_character()
    source = tools.save(tmp_path / "in.blend")
    assert call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball").row["rig"] == "Hero"


# Frames and files


def test_fps_of_a_blend_is_the_rate_its_frames_are_read_at(walk, call, tools, tmp_path) -> None:
    for given, fps, base in (("60", 60, 1.0), ("29.97", 30, 30 / 29.97)):
        row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--fps", given).row
        assert row["fps"] == float(given) and row["frames"] == [1, 121]
        render = tools.reopen(tmp_path / "out.blend").render
        assert render.fps == fps and render.fps_base == pytest.approx(base)


def test_without_an_action_the_scenes_frames_are_baked(call, tools, tmp_path) -> None:
    tools.make_armature("Hero")
    tools.make_ball()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 25
    source = tools.save(tmp_path / "in.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball").row
    assert row["frames"] == [5, 25] and row["error"] is None


def test_glb_gives_the_same_offsets_at_24_and_60_fps(walk_glb, call, tools, tmp_path) -> None:
    bones = ["head", "neck", "chest", "spine", "hips"]
    seconds = np.arange(0, 60) / 12.0
    found = []
    for fps in (24, 60):
        events = [{"frame": 0.5 * fps, "target": "Ball"}, {"frame": 1.5 * fps, "off": True}]
        gaze = gaze_file(tmp_path / f"{fps}.json", events)
        output = tmp_path / f"{fps}.blend"
        outcome = call("bake", walk_glb, "--output", output, "--gaze", gaze, "--fps", fps)
        assert outcome.row["error"] is None and outcome.row["fps"] == fps
        scene = tools.reopen(output)
        found.append(tools.poses(scene.objects["Hero"], bones, list(seconds * fps)))
    assert tools.angles_between(*found).max() < 0.1


def test_other_clips_of_a_glb_survive(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    walk = hero.animation_data.action
    tools.animate(hero, "Run")
    for action in (walk, hero.animation_data.action):
        track = hero.animation_data.nla_tracks.new()
        track.strips.new(action.name, 1, action)
        track.mute = True
    source = tools.export(tmp_path / "in.glb")
    words = ["--point=0.5,-2,1.7", "--action", "Walk"]
    outcome = call("bake", source, "--output", tmp_path / "out.glb", *words)
    assert outcome.row["error"] is None and outcome.row["action"] == "Walk look-at"
    tools.reopen(tmp_path / "out.glb")
    assert {action.name for action in bpy.data.actions} == {"Walk", "Run", "Walk look-at"}


@pytest.mark.thorough
def test_clip_of_a_glb_keeps_its_length_and_place(tools, call, tmp_path) -> None:
    hero = tools.make_character()
    # Begins at second 0, where the exporter would move a clip with keys before it.
    for curve in hero.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.co.x -= 1
    source = tools.export(tmp_path / "in.glb")
    for words, frames in (([], [0, 120]), (["--range", 30, 40], [30, 40])):
        row = call("bake", source, "--output", tmp_path / "out.glb", "--point=0.5,-2,1.7", *words).row
        assert row["frames"] == frames
        tools.reopen(tmp_path / "out.glb")
        assert [list(action.frame_range) for action in bpy.data.actions] == [[0, 120], [0, 120]]


def test_what_another_action_left_behind_is_not_baked_into_this_one(tools, call, tmp_path) -> None:
    hero = tools.make_character()
    arm = hero.pose.bones["upper_arm.L"]
    arm.rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
    arm.keyframe_insert("rotation_quaternion", frame=1)
    walk = hero.animation_data.action
    hero.pose.bones["foot.L"].location.x = 0.1
    run = bpy.data.actions.new("Run")
    run.use_fake_user = walk.use_fake_user = True
    hero.animation_data.action = run
    hero.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    hero.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=20)
    hero.animation_data.action, hero.animation_data.action_slot = walk, walk.slots[0]
    source = tools.save(tmp_path / "in.blend")
    words = ["--target", "Ball", "--action", "Run"]
    assert call("bake", source, "--output", tmp_path / "out.blend", *words).row["error"] is None
    bones = tools.reopen(tmp_path / "out.blend").objects["Hero"].pose.bones
    assert tuple(bones["upper_arm.L"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    # Posed by hand, not by an action.
    assert bones["foot.L"].location.x == pytest.approx(0.1)


def test_compression_and_relative_paths_are_kept(call, tools, tmp_path) -> None:
    tools.make_character()
    (tmp_path / "textures").mkdir()
    image = bpy.data.images.new("skin", 4, 4)
    image.use_fake_user = True
    image.filepath_raw = str(tmp_path / "textures" / "skin.png")
    image.file_format = "PNG"
    image.save()
    image.source = "FILE"
    (tmp_path / "out").mkdir()
    for compress in (False, True):
        source = tools.save(tmp_path / "in.blend", compress=compress)
        output = tmp_path / "out" / "deeper" / "out.blend"
        assert call("bake", source, "--output", output, "--point=0,-2,1.6").code == 0
        assert output.read_bytes().startswith(b"BLENDER") is not compress
        tools.reopen(output)
        path = bpy.path.abspath(bpy.data.images["skin"].filepath)
        assert Path(path).resolve() == (tmp_path / "textures" / "skin.png").resolve()
        tools.reopen(source)


def test_help_lists_presets_of_any_name(call, monkeypatch) -> None:
    monkeypatch.setattr(load("cli.presets"), "available", lambda: ["50 % slower"])
    assert "50 % slower" in " ".join(call("bake", "--help").out.split())


@pytest.mark.thorough
def test_every_preset_that_ships_fits_the_settings(walk, call, tools, tmp_path) -> None:
    names = load("cli.presets").available()
    assert {"Attentive", "Relaxed", "Heavy creature", "Bird", "Robot", "FFXVI"} <= set(names)
    for name in names:
        outcome = call("bake", walk, "--output", tmp_path / f"{name}.blend", "--target", "Ball", "--preset", name)
        assert outcome.code == 0, name


def test_aim_is_measured_on_the_rig_that_was_baked(walk, call, tmp_path, monkeypatch) -> None:
    """A bake that goes wrong unknown to the solver shows in the report of one that is verified."""
    bake = load("rig.look_at.look_at_bake")
    original = bake.bake

    def spoiled(scene, look_ats, options):
        results = yield from original(scene, look_ats, options)
        for name in ("neck", "head"):
            constraint = look_ats[0].armature.pose.bones[name].constraints.new("LIMIT_ROTATION")
            constraint.use_limit_x = constraint.use_limit_y = constraint.use_limit_z = True
            constraint.owner_space = "LOCAL"
        return results

    monkeypatch.setattr(bake, "bake", spoiled)
    row = call("bake", walk, "--output", tmp_path / "out.blend", "--target", "Ball", "--verify").row
    assert row["settled_error_deg"] > 5.0


@pytest.mark.parametrize("scale", [(0.01, 0.01, 0.01), (1.0, 1.3, 0.8), (-1.0, 1.0, 1.0)])
def test_scaled_turned_and_parented_armature(call, tools, tmp_path, scale) -> None:
    hero = tools.make_character()
    ball = bpy.data.objects["Ball"]
    mount = bpy.data.objects.new("Mount", None)
    bpy.context.scene.collection.objects.link(mount)
    mount.rotation_euler, mount.location = (0.2, -0.3, 1.2), (3.0, 1.0, 2.0)
    for item in (hero, ball):
        item.parent = mount
    hero.scale = scale
    ball.location = [part * size for part, size in zip(ball.location, scale, strict=True)]
    source = tools.save(tmp_path / "in.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball")
    assert outcome.row["error"] is None and outcome.row["settled_error_deg"] < 0.1
    scene = tools.reopen(tmp_path / "out.blend")
    scene.frame_set(tools.STILL[-1])
    place = scene.objects["Ball"].matrix_world.translation
    assert tools.aim_error(scene.objects["Hero"], "head", outcome.row["aim_axis"], place) < 0.1


def test_a_target_given_is_looked_at_whatever_the_files_own_look_at_says(call, tmp_path, tools) -> None:
    hero = tools.make_character()
    add_look_at(hero, target=bpy.data.objects["Ball"], use=False)
    hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=1)
    source = tools.save(tmp_path / "off.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", "--point=0.8,-2,1.9").row
    assert row["settled_frames"] > 0 and row["settled_error_deg"] < 0.1


def test_a_bone_posed_but_not_animated_keeps_its_place_in_a_glb(call, tmp_path, tools) -> None:
    """The exporter puts bones without keys back to rest, and the character with them."""
    hero = tools.make_character()
    hero.pose.bones["hips"].location.y = 0.3
    source = tools.save(tmp_path / "posed.blend")
    scene = tools.reopen(source)
    scene.frame_set(1)
    before = scene.objects["Hero"].pose.bones["hips"].matrix.translation.copy()
    assert call("bake", source, "--output", tmp_path / "out.glb", "--target", "Ball").code == 0
    scene = tools.reopen(tmp_path / "out.glb")
    scene.frame_set(1)
    assert (scene.objects["Hero"].pose.bones["hips"].matrix.translation - before).length < 1e-5


def test_the_action_played_before_is_kept(call, tmp_path, tools) -> None:
    hero = tools.make_character()
    played = hero.animation_data.action.name
    other = bpy.data.actions.new("Other")
    slot = other.slots.new(id_type="OBJECT", name="Hero")
    strip = other.layers.new("Layer").strips.new(type="KEYFRAME")
    curve = strip.channelbag(slot, ensure=True).fcurves.new('pose.bones["chest"].location', index=0)
    curve.keyframe_points.insert(1, 0.0)
    curve.keyframe_points.insert(40, 0.0)
    other.use_fake_user = True
    source = tools.save(tmp_path / "two.blend")
    assert call("bake", source, "--output", tmp_path / "out.blend", "--action", "Other", "--target", "Ball").code == 0
    tools.reopen(tmp_path / "out.blend")
    assert played in bpy.data.actions


@pytest.mark.thorough
def test_blinks_are_in_a_glb_as_shape_keys(call, tmp_path, tools) -> None:
    hero = tools.make_character()
    bpy.ops.object.mode_set(mode="EDIT")
    for side, x in (("L", 0.03), ("R", -0.03)):
        eye = hero.data.edit_bones.new(f"eye.{side}")
        eye.head, eye.tail, eye.parent = (x, -0.08, 1.68), (x, -0.1, 1.68), hero.data.edit_bones["head"]
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Face")
    mesh.from_pydata([(0.0, -0.1, 1.6), (0.0, -0.1, 1.7), (0.1, -0.1, 1.6)], [], [(0, 1, 2)])
    item = bpy.data.objects.new("Face", mesh)
    bpy.context.scene.collection.objects.link(item)
    item.parent = hero
    item.modifiers.new("Armature", "ARMATURE").object = hero
    item.vertex_groups.new(name="head").add([0, 1, 2], 1.0, "REPLACE")
    for name in ("Basis", "Fcl_EYE_Joy", "Fcl_EYE_Close"):
        key = item.shape_key_add(name=name, from_mix=False)
        key.value = 0.0
        key.data[0].co.z += 0.01 * len(mesh.shape_keys.key_blocks)
    gaze = tmp_path / "gaze.json"
    gaze.write_text(json.dumps([{"frame": 20, "point": [2.0, -1.5, 1.7]}]), "utf-8")
    words = "--gaze", gaze, "--body", "eyes,blink", "--range", "1", "60"
    row = call("bake", tools.export(tmp_path / "in.glb"), "--output", tmp_path / "out.glb", *words).row
    assert row["body"]["lids"] == ["Fcl_EYE_Close"]
    tools.reopen(tmp_path / "out.glb")
    action = bpy.data.actions[row["action"]]
    slot = next(slot for slot in action.slots if slot.target_id_type == "KEY")
    closing = {
        name: load("rig.animation.actions").curves_at(action, slot, f'key_blocks["{name}"].value', 1)[0]
        for name in ("Fcl_EYE_Close", "Fcl_EYE_Joy")
    }
    values = {name: np.array([curve.evaluate(frame) for frame in range(1, 61)]) for name, curve in closing.items()}
    blinking = np.flatnonzero(values["Fcl_EYE_Close"] > 1e-4) + 1
    assert blinking[0] in (20, 21) and blinking[-1] <= 26
    assert values["Fcl_EYE_Close"].max() > 0.9
    assert np.all(values["Fcl_EYE_Joy"] == 0.0)
