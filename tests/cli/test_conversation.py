"""`bake --conversation`: a file of turns becomes keys of all who speak, and the report has the shares of gaze."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

conversation = load("rig.look_at.directing.conversation")
conversation_settings = load("rig.look_at.directing.conversation_settings")
look_at = load("rig.look_at.resolve")
bake = load("rig.look_at.look_at_bake")
bake_options = load("rig.animation.bake_options")

TURNS = "0 Anna: where were you?\n1.5 Bo: out\n2.5 Anna: out?\n4 Bo: yes\n"
FRAMES = list(range(1, 122, 4))
BONES = ["head", "neck", "chest"]


@pytest.fixture
def pair(tools, tmp_path) -> Path:
    """A .blend with two characters face to face, named as an importer names them."""
    two(tools, "root", "root.001")
    return tools.save(tmp_path / "two.blend")


def two(tools, *names: str) -> None:
    for name, x in zip(names, (-0.6, 0.6), strict=True):
        armature = tools.make_armature(name)
        tools.animate(armature, f"{name} idle")
        # Their clips are longer than the shot.
        armature.pose.bones["head"].keyframe_insert("location", frame=-20)
        armature.location.x = x
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 121


@pytest.fixture
def turns(tmp_path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text(TURNS, "utf-8")
    return path


NAMED = ("--speaker", "Anna=root", "--speaker", "Bo=root.001")


@pytest.mark.slow
def test_the_report_has_the_shares_of_gaze_and_the_signs_of_life(pair, turns, call, tmp_path) -> None:
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", turns, *NAMED)
    assert outcome.code == 0 and not outcome.row["error"]
    said = outcome.row["conversation"]
    assert said["turns"] == 4 and said["seconds"] == pytest.approx(5.0)
    assert all(0.0 <= said[share] <= 1.0 for share in ("listening", "speaking", "mutual"))
    assert [(one["name"], one["rig"]) for one in said["people"]] == [("Anna", "root"), ("Bo", "root.001")]
    for rate in ("blinks_per_minute", "gaze_changes_per_minute", "nods_per_minute"):
        assert 0.0 < sum(one[rate] for one in said["people"]) < 120.0
    assert [one["rig"] for one in outcome.row["look_ats"]] == ["root", "root.001"]


@pytest.mark.thorough
def test_both_are_baked_as_in_blender(pair, turns, call, tools, tmp_path) -> None:
    """The same keys as from the table of the panel, baked together."""
    call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", turns, *NAMED, "--seed", 3)
    scene = tools.reopen(tmp_path / "out.blend")
    rigs = [scene.objects[name] for name in ("root", "root.001")]
    assert all(rig.pose.bones["head"].lookat_pd.mute for rig in rigs)
    found = [tools.poses(rig, BONES, FRAMES) for rig in rigs]

    scene = tools.reopen(pair)
    rigs = [scene.objects[name] for name in ("root", "root.001")]
    said = [(1, rigs[0]), (37, rigs[1]), (61, rigs[0]), (97, rigs[1])]
    options = conversation.Options(conversation.Manner(seed=3), eyes=True, body=True, whole=True, end=121.0)
    conversation.converse(scene, said, rigs, options)
    for _ in bake.bake(scene, [look_at.resolve(rig, "head") for rig in rigs], bake_options.BakeOptions(1, 121)):
        pass
    for before, rig in zip(found, rigs, strict=True):
        assert np.allclose(before, tools.poses(rig, BONES, FRAMES), atol=1e-6)


@pytest.mark.slow
def test_speakers_are_found_by_their_names(turns, call, tools, tmp_path) -> None:
    two(tools, "anna", "Bo.001")
    pair = tools.save(tmp_path / "named.blend")
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", turns)
    assert [one["rig"] for one in outcome.row["conversation"]["people"]] == ["anna", "Bo.001"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "no armature for the speaker 'Anna' (there is 'root', 'root.001'); choose one of these with --speaker"),
        (("--speaker", "Anna=boot"), "no armature 'boot' (there is 'root'"),
        ((*NAMED[:3], "Bo=root"), "'Anna' and 'Bo' of the conversation are both the armature 'root'"),
    ],
)
def test_speakers_that_are_no_rigs_are_named_with_what_there_is(pair, turns, call, tmp_path, words, expected) -> None:
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", turns, *words)
    assert outcome.code == 1 and expected in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize(
    ("name", "content", "words", "expected"),
    [
        ("none.srt", None, (), "cannot be read"),
        ("talk.srt", b"\xff\xfe\x00", (), "cannot be read"),
        ("talk.doc", b"1 Anna", (), "use .json, .csv, .srt or .txt"),
        ("talk.json", b"{", (), "not JSON"),
        ("talk.csv", b"time,speaker\nnan,Anna\n", (), "a turn is beyond"),
        ("talk.txt", b"1 Anna", ("--bone", "head"), "--bone"),
        ("talk.txt", b"1 Anna", ("--speaker", "Anna"), "NAME=ARMATURE"),
        ("talk.txt", b"1 Anna", ("--seed", "-1"), "seed"),
        ("talk.txt", b"1 Anna", ("--amount", "shouts=1"), "NAME is one of glances, scanning"),
        ("talk.txt", b"1 Anna", ("--amount", "glances=2"), "from 0 to 1"),
        ("talk.txt", b"1 Anna", ("--amount", "nods=many"), "from 0 to 2"),
    ],
)
def test_a_file_that_is_no_conversation(pair, call, tmp_path, name, content, words, expected) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", path, *words)
    assert outcome.code == 2 and expected in " ".join(outcome.errors)


@pytest.mark.slow
def test_one_person_is_no_conversation(pair, call, tmp_path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("1 root: hello", "utf-8")
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", path)
    assert "Only 'root' takes part" in outcome.row["error"]
    listening = ("--speaker", "Silent=root.001")
    assert call("bake", pair, "--output", tmp_path / "out.blend", "--conversation", path, *listening).code == 0


def test_a_turn_after_the_last_frame_is_named(pair, turns, call, tmp_path) -> None:
    words = ("--conversation", turns, *NAMED, "--range", 1, 60)
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", *words)
    assert "starts to speak at frame 61, after the end at frame 60" in outcome.row["error"]


@pytest.mark.thorough
def test_amounts_are_those_of_the_panel(pair, turns, call, tools, tmp_path) -> None:
    words = ("--conversation", turns, *NAMED, "--amount", "gestures=0", "--amount", "shifts=0.5")
    assert call("bake", pair, "--output", tmp_path / "out.blend", *words).code == 0
    scene = tools.reopen(tmp_path / "out.blend")
    settings = scene.lookat_pd_conversation
    assert (settings.gestures, settings.shifts, settings.nods) == (0.0, 0.5, 1.0)
    shot_keys = load("rig.look_at.directing.shot_keys")
    for name in ("root", "root.001"):
        assert shot_keys.home(scene.objects[name], "head", "gesture_pitch").curve is None
        assert shot_keys.home(scene.objects[name], "head", "stance").curve is not None


@pytest.mark.slow
def test_time_begins_with_the_range(pair, turns, call, tools, tmp_path) -> None:
    words = ("--conversation", turns, *NAMED, "--range", 21, 150)
    assert call("bake", pair, "--output", tmp_path / "out.blend", *words).row["frames"] == [21, 150]
    assert [turn.frame for turn in tools.reopen(tmp_path / "out.blend").lookat_pd_conversation.turns] == [
        21, 57, 81, 117
    ]  # fmt: skip


@pytest.mark.slow
def test_gltf_with_two_characters(turns, call, tools, tmp_path) -> None:
    two(tools, "Anna", "Bo")
    source = tmp_path / "two.glb"
    bpy.ops.export_scene.gltf(filepath=str(source), export_animation_mode="ACTIVE_ACTIONS")
    outcome = call("bake", source, "--output", tmp_path / "out.glb", "--conversation", turns)
    assert outcome.row["error"] is None and len(outcome.row["look_ats"]) == 2
    scene = tools.reopen(tmp_path / "out.glb")
    for one, sign in zip(outcome.row["look_ats"], (1.0, -1.0), strict=True):
        rig = scene.objects[one["rig"]]
        tools.play(rig, one["action"])
        scene.frame_set(115)
        aim = rig.pose.bones["head"].matrix.to_3x3() @ Vector(one["aim_axis"])
        # Their heads are turned to each other.
        assert sign * aim.normalized().x > 0.5


@pytest.mark.parametrize("words", [("--speaker", "Anna=root"), ("--seed", "3"), ("--amount", "nods=1")])
def test_flags_of_a_conversation_need_one(pair, call, tmp_path, words) -> None:
    outcome = call("bake", pair, "--output", tmp_path / "out.blend", *words)
    assert outcome.code == 2 and "--conversation" in " ".join(outcome.errors)
