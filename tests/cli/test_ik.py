"""`ik`: what follows what, in the file that is written, and what is refused."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from extension import load

SHIN, THIGH = "shin.L", "thigh.L"


@pytest.fixture
def shot(tools, tmp_path):
    """A character and something that its left foot can reach."""
    tools.make_character()
    ball = bpy.data.objects["Ball"]
    for frame, place in ((1, (0.15, -0.2, 0.3)), (60, (0.3, -0.3, 0.5)), (121, (0.1, -0.1, 0.2))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    return tools.save(tmp_path / "shot.blend")


def off(path, place=None, bone="foot.L", end="head", frames=range(1, 122, 8)) -> float:
    """How far the evaluated bone is at most from the ball, or from a place of the world, in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    worst = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        hero = bpy.data.objects["Hero"].evaluated_get(depsgraph)
        goal = bpy.data.objects["Ball"].evaluated_get(depsgraph).matrix_world.translation if place is None else place
        worst = max(
            worst, float(np.linalg.norm(np.subtract(hero.matrix_world @ getattr(hero.pose.bones[bone], end), goal)))
        )
    return worst


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["ccd", "ccd-root", "particle", "fabrik", "jacobian-euler", "jacobian-quaternion"])
def test_a_foot_follows_a_target(method, shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    outcome = call("ik", shot, "--bone", "foot.L", "--target", "Ball", "--method", method, "--output", output)
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert row["chain"] == [SHIN, THIGH] and row["frames"] == [1, 121] and row["frames_in_reach"] == 121
    assert row["effector_error"] < 1e-3 and row["largest_effector_error"] < 1e-3
    assert off(output) < 1e-3


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["new", "current", "layer"])
def test_into(into, shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    assert call("ik", shot, "--bone", "foot.L", "--target", "Ball", "--into", into, "--output", output).code == 0
    assert off(output) < 1e-3


def test_a_range_beside_the_keys_is_warned_of(shot, call, tmp_path) -> None:
    words = ("ik", shot, "--bone", "foot.L", "--target", "Ball", "--output", tmp_path / "out.blend")
    assert "has keys from frame" in " ".join(call(*words, "--range", 200, 220).row["warnings"])
    assert not call(*words, "--range", 100, 130).row["warnings"]


def test_a_point_a_tip_and_a_base(shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--bone", SHIN, "--tip", "--base", THIGH, "--point", "0.2,-0.3,0.4", "--range", 1, 30)
    assert call("ik", shot, *words, "--output", output).code == 0
    assert off(output, (0.2, -0.3, 0.4), SHIN, "tail", range(1, 31)) < 1e-3


def test_a_path(shot, call, tmp_path) -> None:
    path, output = tmp_path / "path.json", tmp_path / "out.glb"
    path.write_text(json.dumps([{"frame": 1, "point": [0.2, -0.2, 0.4]}, {"frame": 41, "point": [0.2, -0.4, 0.4]}]))
    outcome = call("ik", shot, "--bone", "foot.L", "--path", path, "--output", output, "--orientation", "keep")
    assert outcome.code == 0 and outcome.row["effector_error"] < 1e-3
    assert outcome.row["chain"] == ["foot.L", SHIN, THIGH]


@pytest.mark.every_blender
def test_contacts(shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--bone", "foot.L", "--output", output, "--contacts")
    outcome = call("ik", shot, *words, "10-40")
    assert outcome.code == 0 and outcome.row["contacts"] == [[10, 40]]
    outcome = call("ik", shot, *words, "found")
    assert outcome.code == 0 and outcome.row["contacts"] == [[1, 121]]


def test_contacts_of_several_bones(shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--contact", "foot.L=10-40,60-90", "--contact", "foot.R=found", "--surface", "foot.L=Ball")
    outcome = call("ik", shot, *words, "--output", output)
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert row["touches"]["foot.L"] == [[10, 40], [60, 90]] and row["touches"]["foot.R"]
    assert set(row["slip"]) == {"bone", "frame", "distance", "of_limb"} and row["lowered"] >= 0.0
    # The foot keeps its distance from the ball.
    bpy.ops.wm.open_mainfile(filepath=str(output))
    away = []
    for frame in range(15, 40, 4):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        hero, ball = (bpy.data.objects[name].evaluated_get(depsgraph) for name in ("Hero", "Ball"))
        away.append(hero.matrix_world @ hero.pose.bones["foot.L"].head - ball.matrix_world.translation)
    assert np.abs(np.array(away) - away[0]).max() < 1e-3 + row["slip"]["distance"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--contact", "foot.L=x"), "neither"),
        (("--contact", "foot.L"), "NAME=found"),
        (("--contact", "foot.L=found", "--contact", "foot.L=1-9"), "twice"),
        (("--contact", "foot.L=found", "--bone", "foot.R"), "leave out --bone"),
        (("--contact", "foot.L=found", "--effector", "foot.R=Ball"), "leave out --effector"),
        (("--contact", "foot.L=found", "--surface", "foot.R=Ball"), "no --contact"),
        (("--contact", "foot.L=found", "--pole", "foot.L=Ball"), "leave it out"),
        (("--contact", "foot.L=found", "--length", "0"), "does not use --length"),
        (("--bone", "foot.L", "--contacts", "found", "--keep-offset"), "does not use --keep-offset"),
        (("--bone", "foot.L"), "give one of"),
        (("--target", "Ball"), "--bone"),
        (("--bone", "foot.L", "--target", "Ball", "--length", "-1"), "whole number"),
        (("--bone", "foot.L", "--contacts", "x"), "neither"),
        (("--bone", "foot.L", "--contacts", "found", "--tip"), "--tip"),
        (("--bone", "foot.L", "--point", "0,0,1", "--orientation", "target"), "--target"),
    ],
)
def test_misuse(words, said, shot, call, tmp_path) -> None:
    outcome = call("ik", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2 and said in " ".join(outcome.errors)
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bone", "nobody", "--target", "Ball"), "has no bone 'nobody'"),
        (("--bone", "foot.L", "--target", "Nothing"), "no target 'Nothing'"),
        (("--bone", "foot.L", "--target", "Ball", "--length", "1"), "only one bone"),
        (("--bone", "foot.L", "--target", "Ball", "--base", "head"), "'foot.L' is not a descendant of 'head'"),
        (("--contact", "nobody=found"), "has no bone 'nobody'"),
        (("--contact", "fot.L=found"), "has no bone 'fot.L' (there is 'foot.L', "),
        (("--effector", "Foot.L=Ball"), "has no bone 'Foot.L' (there is 'foot.L', "),
        (("--pin", "foot,L", "--look", "head=Ball"), "has no bone 'foot,L' (there is 'foot.L', "),
        (("--contact", "hips=10-40", "--contact", "foot.L=10-40"), "'hips' is not the end of a limb"),
        (("--contact", "foot.L=found", "--surface", "foot.L=Nothing"), "no target 'Nothing'"),
        (("--bone", "foot.L", "--contacts", "40-10"), "reversed"),
        (("--bone", "foot.L", "--contacts", "10-20,15-30"), "overlap"),
        (("--bone", "foot.L", "--contacts", "10-400"), "outside frames"),
    ],
)
def test_what_cannot_be_done(words, said, shot, call, tmp_path) -> None:
    outcome = call("ik", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and said in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


def test_out_of_reach_is_reported(shot, call, tmp_path) -> None:
    words = ("--bone", "foot.L", "--point", "9,0,0", "--output", tmp_path / "out.blend")
    outcome = call("ik", shot, *words)
    assert outcome.code == 0 and outcome.row["effector_error"] is None and outcome.row["frames_in_reach"] == 0
    assert any("out of reach" in warning for warning in outcome.row["warnings"])


def test_help_names_everything(call) -> None:
    assert load("cli.verbs.ik").NAME == "ik"
    text = call("ik", "--help").out
    for word in ("--bone", "--target", "--path", "--contacts", "--method", "--orientation", "--smoothness", "--length"):
        assert word in text


def test_several_effectors(shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--effector", "foot.L=Ball", "--pin", "foot.R", "--look", "head=Ball", "--keep-hips")
    outcome = call("ik", shot, *words, "--range", 1, 30, "--output", output, "--progress", "none")
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert [item["bone"] for item in row["effectors"]] == ["foot.L", "foot.R", "head"]
    assert row["frames_in_reach"] == 30 and row["largest_effector_error"] < 1e-3
    assert off(output, frames=range(1, 31, 4)) < 1e-3


def test_the_effectors_of_the_panel_on_several_actions(shot, call, tmp_path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    hero = bpy.data.objects["Hero"]
    for bone, target in (("foot.L", bpy.data.objects["Ball"]), ("foot.R", None)):
        item = hero.lookat_pd_ik_body.effectors.add()
        item.bone, item.target = bone, target
    other = hero.animation_data.action.copy()
    other.name = "Other"
    other.use_fake_user = True
    bpy.ops.wm.save_mainfile()
    output = tmp_path / "out.blend"
    outcome = call("ik", shot, "--listed", "--all-actions", "--range", 1, 20, "--output", output, "--progress", "none")
    assert outcome.code == 0 and not outcome.errors
    assert len(outcome.row["baked"]) == 2
    assert all(row["largest_effector_error"] < 1e-3 for row in outcome.row["baked"])


@pytest.mark.thorough
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("side", [-1.0, 1.0], ids=["left", "right"])
def test_a_knee_bends_towards_its_pole(several, side, shot, call, tools, tmp_path) -> None:
    tools.reopen(shot)
    bpy.data.objects.new("Knee", None).location = (0.2 + side, -0.25, 0.6)
    bpy.context.scene.collection.objects.link(bpy.data.objects["Knee"])
    path, output = tools.save(tmp_path / "pole.blend"), tmp_path / "out.blend"
    pole = ("--pole", "foot.L=Knee", "--effector", "foot.L=Ball", "--pin", "foot.R")
    words = pole if several else ("--pole", "Knee", "--bone", "foot.L", "--target", "Ball")
    outcome = call("ik", path, *words, "--range", 1, 30, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["largest_effector_error"] < 1e-3 and off(output, frames=range(1, 31, 4)) < 1e-3
    for frame in range(1, 31, 4):
        bpy.context.scene.frame_set(frame)
        bones = bpy.data.objects["Hero"].evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        base, middle, end = (np.array(bones[name].head) for name in (THIGH, SHIN, "foot.L"))
        along = (end - base) / np.linalg.norm(end - base)
        goal = np.array(bpy.data.objects["Knee"].location)
        bend, away = (v - (v @ along) * along for v in (middle - base, goal - base))
        assert bend @ away > 0.998 * np.linalg.norm(bend) * np.linalg.norm(away)


def test_targets_ease_in_and_out_at_both_ends_in_each_of_several_actions(shot, call, tools, tmp_path) -> None:
    tools.reopen(shot)
    other = bpy.data.objects["Hero"].animation_data.action.copy()
    other.name, other.use_fake_user = "Walk away", True
    path, output = tools.save(tmp_path / "two.blend"), tmp_path / "out.blend"
    words = ("--effector", "foot.L=Ball", "--pin", "foot.R", "--ease", 0.3, "--range", 10, 40, "--action", "Walk*")
    outcome = call("ik", path, *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert [row["source"] for row in outcome.row["baked"]] == ["Walk", "Walk away"]
    frames = [9, 10, *range(20, 31, 5), 40, 41]
    ball = np.array(places(path, frames, "Walk", tools)[1])
    for row in outcome.row["baked"]:
        before, after = (
            np.array(places(file, frames, name, tools)[0])
            for file, name in ((path, row["source"]), (output, row["action"]))
        )
        assert np.allclose(before[[0, 1, -2, -1]], after[[0, 1, -2, -1]], atol=1e-4)
        assert np.linalg.norm(after - ball, axis=-1)[2:-2].max() < 1e-3
        assert np.linalg.norm(before - ball, axis=-1)[2:-2].min() > 0.05


def places(path, frames, action, tools) -> tuple[list, list]:
    """The heads of the left foot, and the ball, at frames of an action of a file."""
    tools.reopen(path)
    hero, ball = bpy.data.objects["Hero"], bpy.data.objects["Ball"]
    tools.play(hero, action)
    found: tuple[list, list] = ([], [])
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        found[0].append(hero.evaluated_get(depsgraph).pose.bones["foot.L"].head.copy())
        found[1].append(ball.evaluated_get(depsgraph).location.copy())
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_a_knee_keeps_its_limit_where_the_target_needs_more(several, shot, call, tools, tmp_path) -> None:
    words = ("--effector", "foot.L=Ball", "--keep-hips") if several else ("--bone", "foot.L", "--target", "Ball")
    bent, limit = [], 0.3
    for limited in (False, True):
        tools.reopen(shot)
        shin = bpy.data.objects["Hero"].pose.bones[SHIN]
        shin.use_ik_limit_x, shin.ik_min_x, shin.ik_max_x = limited, -limit, limit
        path, output = tools.save(tmp_path / f"{limited}.blend"), tmp_path / "out.blend"
        outcome = call("ik", path, *words, "--range", 1, 20, "--output", output)
        assert outcome.code == 0, outcome.errors
        tools.reopen(output)
        angles = tools.poses(bpy.data.objects["Hero"], [SHIN], [1, 7, 13, 20])[:, 0]
        bent.append(np.abs([Quaternion(q).to_euler().x for q in angles]).max())
    assert bent[0] > 2.0 * limit and bent[1] < limit + 1e-3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give the effector with --bone"),
        (("--bone", "foot.L"), "give one of --target, --point, --path and --contacts"),
        (("--bone", "foot.L", "--effector", "hand.L=Ball"), "--bone is for one effector"),
        (("--effector", "foot.L"), "is not NAME=TARGET"),
        (("--effector", "foot.L=Ball", "--pin", "foot.L"), "given twice"),
        (("--effector", "foot.L=Ball", "--weight", "foot.R=0.5"), "there is no such --effector"),
        (("--effector", "foot.L=Ball", "--weight", "foot.L=2"), "2"),
        (("--effector", "foot.L=Ball", "--priority", "foot.L=first"), "is none of high, normal, low"),
        (("--effector", "foot.L=Ball", "--pole", "Ball"), "is not EFFECTOR=NAME"),
        (("--effector", "foot.L=Ball", "--pole", "foot.R=Ball"), "--pole foot.R: there is no such --effector"),
        (("--effector", "foot.L=Ball", "--pole", "foot.L=Ball", "--pole", "foot.L=Ball"), "given twice"),
        (("--bone", "foot.L", "--target", "Ball", "--pole", "Ball", "--pole", "Ball"), "one effector has one pole"),
        (("--effector", "foot.L=Ball", "--tip"), "--tip is for one effector"),
        (("--listed", "--pin", "foot.L"), "--listed takes the effectors of the file"),
        (("--effector", "foot.L=Nothing"), "no target 'Nothing'"),
        (("--effector", "wing=Ball"), "wing"),
        (("--listed",), "no effector"),
        (("--contact", "foot.L=found", "--ease", "0.3"), "--ease is for targets"),
        (("--bone", "foot.L", "--target", "Ball", "--balance", "1"), "--balance is for several effectors"),
        (("--contact", "foot.L=found", "--weight", "foot.L=0.5"), "--weight is for several effectors"),
    ],
)
def test_effectors_that_are_refused(words, message, shot, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    outcome = call("ik", shot, *words, "--output", output)
    assert outcome.code != 0 and message in " ".join(outcome.errors)
    assert not output.exists()
