"""`reach`: where the hand is in the file that is written, what is reported, and what is refused."""

import json

import bpy
import numpy as np
import pytest

from extension import load

FOOT = "foot.L"
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")


@pytest.fixture
def shot(tools, tmp_path):
    """A character and something that its left foot can reach."""
    hero = tools.make_character()
    hero.pose.bones["shin.L"].rotation_quaternion = (0.97, -0.24, 0.0, 0.0)
    bpy.data.objects["Ball"].location = (0.2, -0.35, 0.35)
    return tools.save(tmp_path / "shot.blend")


def off(tools, path, frame, place=(0.2, -0.35, 0.35), clip=None, bone=FOOT) -> float:
    """How far an evaluated bone is from a place of the world, in a clip of a file."""
    scene = tools.reopen(path)
    hero = next(item for item in scene.objects if item.type == "ARMATURE")
    if clip is not None:
        tools.play(hero, clip)
    scene.frame_set(frame)
    seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return float(np.linalg.norm(np.subtract(seen.matrix_world @ seen.pose.bones[bone].head, place)))


@pytest.mark.every_blender
@pytest.mark.parametrize("method", ["smoothing", "optimal"])
def test_the_foot_arrives(method, shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--bone", FOOT, "--target", "Ball", "--method", method, "--passes", 8, "--output", output)
    outcome = call("reach", shot, *words)
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert row["frames"] == [1, 37] and row["effector_error"] < 1e-4
    assert row["cost"] <= row["minimum_jerk_cost"] == row["costs"][0]
    assert off(tools, output, 25) < 1e-4


def test_a_range_a_point_a_place_on_the_way_a_glb(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.glb"
    words = ("--bone", FOOT, "--point", "0.15,-0.4,0.3", "--range", 10, 30, "--via", "0.2,-0.25,0.35@0.5")
    outcome = call("reach", shot, *words, "--passes", 3, "--no-gravity", "--output", output)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["frames"] == [10, 42]
    assert off(tools, output, 30, (0.15, -0.4, 0.3), outcome.row["action"]) < 1e-3


def test_the_foot_matches_and_comes_from_above(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--bone", FOOT, "--target", "Ball", "--match-orientation", "--approach", "above", "--from-rest")
    outcome = call("reach", shot, *words, "--approach-distance", "0.05", "--no-follow", "--output", output)
    assert outcome.code == 0, outcome.errors
    assert off(tools, output, 25) < 1e-4
    hero = next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
    seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = seen.matrix_world @ seen.pose.bones[FOOT].matrix
    turned = matrix.to_quaternion().rotation_difference(bpy.data.objects["Ball"].matrix_world.to_quaternion())
    assert min(turned.angle, 2.0 * np.pi - turned.angle) < 1e-3


@pytest.mark.parametrize(("words", "along"), [((), 0.5), (("--reach-with", "wrist"), 0.0)])
def test_a_hand_reaches_with_its_palm_or_its_wrist(words, along, call, tools, tmp_path) -> None:
    output, place = tmp_path / "out.blend", (0.3, -0.35, 1.3)
    hero = tools.make_character()
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    above, (x, y, z) = hero.data.edit_bones["upper_arm.L"], hero.data.edit_bones["upper_arm.L"].tail
    for name, head, tail in (("forearm.L", 0.0, 0.25), ("hand.L", 0.25, 0.35)):
        bone = hero.data.edit_bones.new(name)
        bone.parent, bone.head, bone.tail = above, (x, y - head, z), (x, y - tail, z)
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    shot = tools.save(tmp_path / "shot.blend")
    outcome = call("reach", shot, "--bone", "hand.L", "--point", ",".join(map(str, place)), *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["effector_error"] < 1e-4 and outcome.row["softened"] == 0.0
    tools.reopen(output).frame_set(25)
    hero = next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
    seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["hand.L"]
    point = np.array(seen.head) + along * (np.array(seen.tail) - np.array(seen.head))
    assert np.linalg.norm(np.array(hero.matrix_world) @ [*point, 1.0] - [*place, 1.0]) < 1e-3


@pytest.mark.slow
def test_two_effectors_arrive_at_once(shot, call, tools, tmp_path) -> None:
    output, other = tmp_path / "out.blend", (-0.15, -0.3, 0.3)
    words = ("--bone", FOOT, "--target", "Ball", "--hand", "foot.R=-0.15,-0.3,0.3", "--plots", tmp_path / "plots")
    outcome = call("reach", shot, *words, "--via", "foot.R=-0.15,-0.2,0.35@0.5", "--output", output)
    assert outcome.code == 0, outcome.errors
    assert max(outcome.row["hand_errors"]) == outcome.row["effector_error"] < 1e-4
    assert len(json.loads((tmp_path / "plots" / "out.json").read_text("utf-8"))["other_paths"]) == 1
    assert off(tools, output, 25) < 1e-4
    assert off(tools, output, 25, other, bone="foot.R") < 1e-4
    assert off(tools, output, 13, (-0.15, -0.2, 0.35), bone="foot.R") < 1e-3


@pytest.mark.thorough
def test_curves_are_written(shot, call, tmp_path) -> None:
    folder = tmp_path / "plots"
    words = ("--bone", FOOT, "--target", "Ball", "--passes", 3, "--plots", folder, "--output", tmp_path / "out.blend")
    row = call("reach", shot, *words).row
    data = json.loads((folder / "out.json").read_text("utf-8"))
    assert len(data["path"]) == len(data["straight"]) == len(data["frames"]) == 25
    assert data["costs"] == pytest.approx(row["costs"], abs=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--point", "0,0,nan"), "not a finite point"),
        (("--target", "Ball", "--duration", "0"), "out of range"),
        (("--target", "Ball", "--via", "1,2,3"), "a place and a time"),
        (("--target", "Ball", "--via", "1,2,3@2"), "out of range"),
        (("--point", "0,0,1", "--match-orientation"), "needs --target"),
        (("--target", "Ball", "--approach", "above", "--method", "smoothing"), "need --method optimal"),
        (("--target", "Ball", "--hand", FOOT + "=Ball"), "given twice"),
        (("--target", "Ball", "--hand", "foot.R"), "not NAME=TARGET"),
        (("--target", "Ball", "--hand", "foot.R=0,0,1", "--via", "arm.R=1,2,3@0.5"), "does not reach"),
        (("--target", "Ball", "--palm", "--tip"), "--palm needs"),
    ],
)
def test_wrong_arguments(words, message, shot, call, tmp_path) -> None:
    outcome = call("reach", shot, "--bone", FOOT, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2 and message in "\n".join(outcome.errors)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--bone", FOOT, "--point", "3,0,0"), "out of reach"),
        (("--bone", "elbow", "--target", "Ball"), "has no bone 'elbow'"),
        (("--bone", FOOT, "--target", "Bell"), "no target 'Bell'"),
        (("--bone", FOOT, "--target", "Ball", "--hand", "foot.R=Ball"), "same goal"),
        (("--bone", FOOT, "--target", "Ball", "--hand", "foot.R=Bell"), "no target 'Bell'"),
        (("--bone", FOOT, "--target", "Ball", "--hand", "hoof=0,0,0.3"), "no bone 'hoof'"),
    ],
)
def test_refusals_name_the_remedy(words, message, shot, call, tmp_path) -> None:
    outcome = call("reach", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and message in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.slow
def test_an_obstacle_is_avoided_and_reported(shot, call, tmp_path) -> None:
    words = ("--bone", FOOT, "--point", "0.15,-0.4,0.3", "--passes", 20, "--output", tmp_path / "out.blend")
    plain = call("reach", shot, *words, "--no-avoid-body")
    assert plain.code == 0 and plain.row["clearance"] is None
    found = call("reach", shot, *words, "--obstacle", "Ball")
    assert found.code == 0 and isinstance(found.row["clearance"], float)
    refused = call("reach", shot, *words, "--obstacle", "Nothing")
    assert refused.code and "Nothing" in refused.errors[0]


def test_a_palm_comes_to_the_side_of_a_mesh(shot, call, tools, tmp_path) -> None:
    """The ball's bounding box is as wide as the ball."""
    output = tmp_path / "out.blend"
    words = ("--bone", FOOT, "--target", "Ball", "--palm", "--gap", 0.03, "--after", "hold", "--output", output)
    outcome = call("reach", shot, *words)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["effector_error"] < 1e-4
    away = off(tools, output, 25)
    half = 0.5 * max(bpy.data.objects["Ball"].dimensions)
    assert half < away
