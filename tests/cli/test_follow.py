"""`follow`: what follows in the file that is written, what is reported, and what is refused."""

import bpy
import numpy as np
import pytest

from extension import load

follow_edit = load("rig.pd_follow.follow_edit")
owners = load("rig.pd_follow.owners")


@pytest.fixture
def shot(tools, tmp_path):
    """A character that walks, a ball that flies past it and a camera."""
    tools.make_character()
    ball = bpy.data.objects["Ball"]
    for frame, place in ((1, (0.0, -2.0, 1.5)), (20, (2.0, -2.0, 2.0)), (60, (2.0, -1.0, 1.0))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0.0, -6.0, 1.5)
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 100
    return tools.save(tmp_path / "shot.blend")


def worlds(tools, path, name: str, frames, bone: str = "", clip=None) -> np.ndarray:
    """World matrices (F, 4, 4) of an object or a bone in a file."""
    scene, found = tools.reopen(path), []
    item = scene.objects[name] if name else next(item for item in scene.objects if item.type == "ARMATURE")
    if clip is not None:
        tools.play(item, clip)
    for frame in frames:
        scene.frame_set(frame)
        seen = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.array(seen.matrix_world @ seen.pose.bones[bone].matrix if bone else seen.matrix_world))
    return np.array(found)


@pytest.mark.every_blender
def test_a_camera_follows_and_aims(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--object", "Camera", "--target", "Ball", "--settle-time", 0.5, "--range", 1, 100)
    outcome = call("follow", shot, *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    (follows,) = outcome.row["follows"]
    assert follows["name"] == "Camera" and follows["target"] == "Ball" and follows["turn"] == "AIM"
    assert outcome.row["frames"] == [1, 100] and outcome.row["bone"] == "Camera"
    camera, ball = (worlds(tools, output, name, (1, 22, 100)) for name in ("Camera", "Ball"))
    way = ball[:, :3, 3] - camera[:, :3, 3]
    assert way[2] == pytest.approx(way[0], abs=1e-3), "settled as far from it as at first"
    assert np.linalg.norm(way[1] - way[0]) > 0.1, "it lags"
    aim = -camera[2, :3, 2] @ way[2] / np.linalg.norm(way[2])
    assert np.degrees(np.arccos(min(aim, 1.0))) < 0.5


def test_a_bone_lags_behind_its_own_animation_in_all_actions(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--bone", "head", "--settle-time", 0.3, "--all-actions")
    outcome = call("follow", shot, *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["action"] == "Walk follow" and outcome.row["follows"][0]["target"] is None
    before = worlds(tools, shot, "", (1, 9, 120), "head")
    after = worlds(tools, output, "", (1, 9, 120), "head")
    assert np.abs(before[1] - after[1]).max() > 0.01 and np.abs(before[2] - after[2]).max() < 1e-3


def test_several_bones_are_a_chain_in_whatever_order_they_are_given(shot, call, tools, tmp_path) -> None:
    seen = []
    for order in (("hips", "chest", "head"), ("head", "hips", "chest")):
        output = tmp_path / f"{order[0]}.blend"
        bones = [word for bone in order for word in ("--bone", bone)]
        outcome = call("follow", shot, *bones, "--target", "Ball", "--output", output)
        assert outcome.code == 0, outcome.errors
        rows = outcome.row["follows"]
        assert [row["name"] for row in rows] == ["Hero:hips", "Hero:chest", "Hero:head"]
        assert [row["target"] for row in rows] == ["Ball", None, None]
        assert not any(row["location"] for row in rows), "they hang on each other"
        assert {row["action"] for row in rows} == {"Walk follow"}
        seen.append([worlds(tools, output, "", (1, 9, 40), bone) for bone in ("chest", "head")])
    assert np.array_equal(*seen)
    chest, head = (poses[:, :3, 3] for poses in seen[0])
    assert np.ptp(np.linalg.norm(head - chest, axis=1)) < 1e-5


@pytest.mark.parametrize(("words", "is_moved"), [((), False), (("--location",), True), (("--no-location",), False)])
def test_location_of_a_bone_that_hangs_on_another(words, is_moved, shot, call, tmp_path) -> None:
    outcome = call("follow", shot, "--bone", "head", *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 0, outcome.errors
    assert outcome.row["follows"][0]["location"] == is_moved


def test_what_follows_in_the_file_is_baked(tools, shot, call, tmp_path) -> None:
    scene = tools.reopen(shot)
    for name in ("Camera", "Ball"):
        follow_edit.add([owners.Owner(scene.objects[name])], scene.objects["Ball"] if name == "Camera" else None)
    path = tools.save(tmp_path / "set.blend")
    outcome = call("follow", path, "--output", tmp_path / "out.blend", "--settle-time", 0.4)
    assert outcome.code == 0, outcome.errors
    assert [row["name"] for row in outcome.row["follows"]] == ["Ball", "Camera"], "the target first"
    assert {row["settle_time"] for row in outcome.row["follows"]} == {0.4}
    scene = tools.reopen(tmp_path / "out.blend")
    assert scene.objects["Camera"].lookat_pd_follow.mute
    again = call("follow", tmp_path / "out.blend", "--output", tmp_path / "again.blend")
    assert again.code == 1 and "muted" in again.row["error"]


def test_a_glb_plays_it(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.glb"
    outcome = call("follow", shot, "--bone", "head", "--settle-time", 0.3, "--output", output)
    assert outcome.code == 0, outcome.errors
    blend = tmp_path / "out.blend"
    assert call("follow", shot, "--bone", "head", "--settle-time", 0.3, "--output", blend).code == 0
    heads = worlds(tools, output, "", (1, 9, 25), "head", outcome.row["action"])[:, :3, 3]
    assert heads == pytest.approx(worlds(tools, blend, "", (1, 9, 25), "head")[:, :3, 3], abs=1e-3)


@pytest.mark.slow
def test_two_processes_write_the_same(shot, call, tmp_path) -> None:
    words = ("--object", "Camera", "--target", "Ball", "--jobs", 2, "--output", tmp_path / "many")
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "second.blend"
    other.write_bytes(shot.read_bytes())
    outcome = call("follow", shot, other, *words)
    assert outcome.code == 0, outcome.errors
    assert [row["follows"][0]["name"] for row in outcome.rows] == ["Camera", "Camera"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "Ball"), "needs --bone or --object"),
        (("--object", "Camera", "--action", "Walk"), "leave them out"),
        (("--bone", "head", "--bone", "chest", "--bone", "head"), "--bone head is given 2 times; give each bone once"),
        (("--object", "Camera", "--settle-time", "nan"), "--settle-time"),
        (("--object", "Camera", "--lag-compensation", "2"), "out of range"),
    ],
)
def test_wrong_arguments(words, message, shot, call, tmp_path) -> None:
    outcome = call("follow", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2 and message in "\n".join(outcome.errors)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no PD Follow in the file"),
        (("--object", "Camra"), "There is no object 'Camra'"),
        (("--object", "Camera", "--target", "Bell"), "no target 'Bell'"),
        (("--object", "Camera", "--target", "Camera"), "follow itself"),
        (("--bone", "haed", "--target", "Ball"), "haed"),
        (("--bone", "head", "--bone", "chset"), "no bone 'chset'"),
        (("--object", "Camera", "--turn", "none", "--no-location"), "neither in location nor in rotation"),
        (("--object", "Camera", "--turn", "aim"), "no target to aim at"),
    ],
)
def test_refusals_name_the_remedy(words, message, shot, call, tmp_path) -> None:
    outcome = call("follow", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and message in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()
