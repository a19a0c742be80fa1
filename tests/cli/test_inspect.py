"""`inspect`: as text and as JSON."""

import json

import bpy
import pytest


@pytest.fixture
def shot(tools, tmp_path):
    """A character with a look-at and two actions."""
    hero = tools.make_character()
    settings = hero.pose.bones["head"].lookat_pd
    settings.target, settings.settle_time, settings.damping = bpy.data.objects["Ball"], 0.5, "RESPONSIVE"
    run = bpy.data.actions.new("Run")
    run.use_fake_user = True
    run.slots.new("OBJECT", "Hero")
    run.slots.new("KEY", "Face")
    return tools.save(tmp_path / "shot.blend")


def test_report_says_what_bake_would_do(shot, call) -> None:
    outcome = call("inspect", shot)
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert (row["rig"], row["bone"], row["frames"], row["fps"]) == ("Hero", "head", [1, 121], 24.0)
    assert row["chain"] == ["head", "neck", "chest", "spine", "hips"]
    assert row["aim_axis"] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)
    assert row["output"] is None and row["settled_error_deg"] is None and row["scene_frames"] == [1, 150]


@pytest.mark.every_blender
def test_report_lists_rigs_look_ats_actions_and_targets(shot, call) -> None:
    row = call("inspect", shot).row
    (rig,) = row["rigs"]
    assert rig["name"] == "Hero" and rig["rigify"] is None and len(rig["bones"]) == 14
    assert sum(link["share"] for link in rig["chain"]) == pytest.approx(1.0, abs=1e-3)
    assert [link["settle_factor"] for link in rig["chain"]] == sorted(link["settle_factor"] for link in rig["chain"])
    (look_at,) = rig["look_ats"]
    assert (look_at["bone"], look_at["target"], look_at["settle_time"]) == ("head", "Ball", 0.5)
    assert look_at["damping"] == "RESPONSIVE" and not look_at["mute"]
    actions = {action["name"]: action for action in row["actions"]}
    assert actions["Walk"]["frames"] == [1.0, 121.0]
    assert [slot["type"] for slot in actions["Run"]["slots"]] == ["OBJECT", "KEY"]
    assert row["targets"] == ["Ball"]


def test_text_names_everything(shot, call) -> None:
    text = call("inspect", shot).out
    for word in ("shot.blend", "Hero", "head", "upper_arm.L", "Walk", "Run", "Ball", "0.5 s", "responsive", "24 fps"):
        assert word in text


def test_json_is_all_there_is_on_stdout(shot, walk_glb, call, tmp_path) -> None:
    outcome = call("inspect", shot, walk_glb, tmp_path / "missing.blend", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out) == outcome.rows
    assert [row["ok"] for row in outcome.rows] == [True, True, False]


def test_only_one_rig(tools, call, tmp_path) -> None:
    tools.make_character()
    tools.make_armature("Twin")
    source = tools.save(tmp_path / "two.blend")
    assert [rig["name"] for rig in call("inspect", source).row["rigs"]] == ["Hero", "Twin"]
    assert [rig["name"] for rig in call("inspect", source, "--rig", "Twin").row["rigs"]] == ["Twin"]
    assert "'Twin'" in call("inspect", source, "--rig", "Third").row["error"]


def test_file_without_rigs_is_no_failure(tools, call, tmp_path) -> None:
    tools.make_ball()
    source = tools.save(tmp_path / "ball.blend")
    outcome = call("inspect", source)
    assert outcome.code == 0 and outcome.row["rigs"] == [] and outcome.row["rig"] is None


def test_rig_without_a_head_says_so(tools, call, tmp_path) -> None:
    data = bpy.data.armatures.new("Empty")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Empty", data))
    source = tools.save(tmp_path / "empty.blend")
    outcome = call("inspect", source)
    assert outcome.code == 0 and outcome.row["rigs"][0]["problem"].endswith(".")


def test_what_is_detected_is_reported_with_its_votes(shot, call) -> None:
    outcome = call("inspect", shot)
    (rig,) = outcome.row["rigs"]
    assert rig["forward"] == pytest.approx([0.0, -1.0, 0.0], abs=1e-3)
    assert rig["up"] == pytest.approx([0.0, 0.0, 1.0], abs=1e-3)
    assert 0.5 <= rig["confidence"] <= 1.0 and rig["read_from"] == "rest pose"
    assert {vote["source"] for vote in rig["votes"]} >= {"left and right"}
    assert all(vote["degrees_off"] >= 0.0 and vote["weight"] > 0.0 for vote in rig["votes"] + rig["up_votes"])
    text = outcome.out
    assert "forward (0, -1, 0), up (0, 0, 1), confidence" in text and "left and right 0° off x 1" in text


def test_a_doubtful_axis_is_reported(tools, call, tmp_path) -> None:
    hero = tools.make_character()
    swap = {"L": "_R", "R": "_L"}
    for bone in hero.data.bones:
        if bone.name[-2:] in (".L", ".R"):
            bone.name = bone.name[:-1] + swap[bone.name[-1]]
    outcome = call("inspect", tools.save(tmp_path / "swapped.blend"))
    (rig,) = outcome.row["rigs"]
    assert rig["confidence"] < 0.5 and "(uncertain)" in outcome.out
    assert any(vote["degrees_off"] > 90.0 for vote in rig["votes"])
