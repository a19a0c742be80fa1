"""`hit`: what moves in the file that is written, what is reported, and what is refused."""

import json

import bpy
import numpy as np
import pytest


def head(tools, path, frame: int) -> np.ndarray:
    scene = tools.reopen(path)
    hero = next(item for item in scene.objects if item.type == "ARMATURE")
    scene.frame_set(frame)
    seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.pose.bones["head"].matrix)


@pytest.mark.every_blender
def test_the_head_gives_way_and_comes_back(walk, call, tools, tmp_path) -> None:
    output, plots = tmp_path / "out.blend", tmp_path / "plots"
    words = ("--hit", "5,head,0,5,0", "--hit", "9,neck,3,0,0", "--settle-time", 0.4, "--plots", plots)
    outcome = call("hit", walk, *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    row = outcome.row
    assert row["frames"] == [5, 29] and "head" in row["chain"]
    assert [(hit["frame"], hit["bone"]) for hit in row["hits"]] == [(5, "head"), (9, "neck")]
    assert np.allclose(row["hits"][0]["impulse"][::2], 0.0, atol=1e-6) and row["hits"][0]["degrees"] > 1.0
    before, after = ({frame: head(tools, path, frame) for frame in (5, 8, 29)} for path in (walk, output))
    away = {frame: np.abs(before[frame] - after[frame]).max() for frame in before}
    assert away[8] > 0.01 and max(away[5], away[29]) < 1e-4
    curves = json.loads((plots / "out.json").read_text("utf-8"))
    assert curves["frames"] == list(range(5, 30)) and max(curves["angles"]["head"]) > 1.0


@pytest.mark.slow
def test_flags_reach_the_bake(walk, call, tmp_path) -> None:
    def degrees(*words) -> dict:
        outcome = call("hit", walk, "--hit", "5,head,0,50,0", *words, "--output", tmp_path / "out.glb")
        assert outcome.code == 0, outcome.errors
        return outcome.row["hits"][0]

    usual, weak = degrees(), degrees("--largest-angle", 5)
    assert weak["factor"] < usual["factor"] <= 1.0 and np.isclose(weak["degrees"], 5.0, atol=0.01)
    wide = ("--largest-angle", 170)
    assert degrees("--absolute", *wide)["impulse"][1] == pytest.approx(50.0)
    assert degrees(*wide)["degrees"] > degrees("--stiffness", 3, *wide)["degrees"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--hit", "5,head,0,5"), "FRAME,BONE,X,Y,Z"),
        (("--hit", "x,head,0,5,0"), "--hit"),
        (("--hit", "5,head,0,1e9,0"), "at most"),
        (("--hit", "5,head,0,5,0", "--range", 1, 9), "--range"),
        ((), "--hit"),
    ],
)
def test_misuse_is_refused(words, told, walk, call, tmp_path) -> None:
    outcome = call("hit", walk, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2 and told in " ".join(outcome.errors) and not (tmp_path / "out.blend").exists()


def test_bones_that_do_not_exist_are_an_error_of_the_file(walk, call, tmp_path) -> None:
    outcome = call("hit", walk, "--hit", "5,nobody,0,5,0", "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and "nobody" in outcome.row["error"]
