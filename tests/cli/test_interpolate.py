"""`interpolate`: keys that are hit in the file that is written, what is reported, and what is refused."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from extension import load

THIGH, SHIN = "thigh.L", "shin.L"
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")


@pytest.fixture
def shot(tools, tmp_path):
    """A character with three poses of its leg."""
    hero = tools.make_character()
    for frame, angle in ((1, 0.0), (20, 1.0), (48, -0.4)):
        for bone in (THIGH, SHIN):
            pose = hero.pose.bones[bone]
            pose.rotation_quaternion = Euler((0.0, 0.1, angle)).to_quaternion()
            pose.keyframe_insert("rotation_quaternion", frame=frame)
    return tools.save(tmp_path / "shot.blend")


def turns(tools, path, bones=(THIGH, SHIN), frames=(1, 20, 48), clip=None) -> np.ndarray:
    """Local rotations in a file, of one of its clips."""
    scene = tools.reopen(path)
    hero = next(item for item in scene.objects if item.type == "ARMATURE")
    if clip is not None:
        tools.play(hero, clip)
    return tools.poses(hero, list(bones), list(frames))


@pytest.mark.every_blender
def test_keys_are_hit(shot, call, tools, tmp_path) -> None:
    output = tmp_path / "out.blend"
    outcome = call("interpolate", shot, "--bone", THIGH, "--bone", SHIN, "--output", output)
    assert outcome.code == 0 and not outcome.errors
    row = outcome.row
    assert row["keys"] == [1, 20, 48] and row["missed"] == [] and row["chain"] == [THIGH, SHIN]
    # The poses are held after the last key, so that the leg settles there.
    assert row["frames"][0] == 1 and 48 < row["frames"][1] < 80 and row["action"].endswith(" dynamics")
    assert set(row["masses"]) == set(row["peak_torques"]) == {THIGH, SHIN}
    assert np.abs(turns(tools, output) - turns(tools, shot)).max() < 1e-6
    between = tools.angles_between(turns(tools, output, frames=[8]), turns(tools, shot, frames=[8]))
    assert between.max() > 1.0


def test_the_least_change_of_torque_hits_the_keys(shot, call, tools, tmp_path) -> None:
    output, keyed = tmp_path / "out.blend", turns(tools, shot)
    words = ("--bone", THIGH, "--bone", SHIN, "--method", "torque-change")
    outcome = call("interpolate", shot, *words, "--output", output)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["keys"] == [1, 20, 48] and outcome.row["missed"] == []
    assert np.abs(turns(tools, output) - keyed).max() < 1e-5
    for unused in (("--settle", 0.5), ("--friction", 1)):
        refused = call("interpolate", shot, *words, *unused, "--output", output)
        assert refused.code == 2 and "need --method mass or tension" in "\n".join(refused.errors)


def test_a_file_that_says_how_keeps_its_method(shot, call, tools, tmp_path) -> None:
    published, again = tmp_path / "published.blend", tmp_path / "again.blend"
    words = ("--bone", THIGH, "--bone", SHIN)
    assert call("interpolate", shot, *words, "--method", "tension", "--output", published).row["frames"] == [1, 48]
    scene = tools.reopen(shot)
    scene.lookat_pd_dynamics.between = "TENSION"
    tools.save(shot)
    assert call("interpolate", shot, *words, "--output", again).row["frames"] == [1, 48]
    frames = list(range(1, 49))
    assert np.abs(turns(tools, again, frames=frames) - turns(tools, published, frames=frames)).max() < 1e-6


def test_all_bones_with_keys_by_default(shot, call, tmp_path) -> None:
    row = call("interpolate", shot, "--output", tmp_path / "out.blend").row
    assert set(row["chain"]) == {"chest", "head", THIGH, SHIN}


def test_poses_of_a_glb(tools, call, tmp_path) -> None:
    """A clip has a key at every frame; the poses are named."""
    tools.make_character()
    walk = tools.export(tmp_path / "walk.glb")
    output = tmp_path / "out.glb"
    outcome = call("interpolate", walk, "--bone", "chest", "--keys", "0,15,30", "--output", output, "--fps", 24)
    assert outcome.code == 0, outcome.errors
    assert outcome.row["keys"] == [0, 15, 30]
    # The importer begins clips at frame 0.
    frames, clip = [0, 15, 30, 7], outcome.row["action"]
    before, after = turns(tools, walk, ["chest"], frames), turns(tools, output, ["chest"], frames, clip)
    apart = tools.angles_between(before, after)
    assert apart[:3].max() < 0.01 and apart[3] > 0.05


def test_what_is_too_weak_is_noted(shot, call, tmp_path) -> None:
    outcome = call("interpolate", shot, "--bone", THIGH, "--torque-limit", 0.5, "--output", tmp_path / "out.blend")
    assert outcome.code == 0
    assert outcome.row["missed"][0]["bone"] == THIGH and outcome.row["missed"][0]["degrees"] > 1.0
    assert any("too weak" in line and THIGH in line for line in outcome.errors)


def test_passive_bones_and_settling(shot, call, tmp_path) -> None:
    words = ("--bone", THIGH, "--passive", SHIN, "--stiffness", 2, "--damping", 0.3, "--settle", 1, "--no-gravity")
    row = call("interpolate", shot, *words, "--output", tmp_path / "out.blend").row
    assert row["frames"] == [1, 72] and row["missed"] == []


def test_a_load_shows_and_keys_are_hit(shot, call, tools, tmp_path) -> None:
    words, outputs = ("--bone", THIGH, "--bone", SHIN), [tmp_path / f"{n}.blend" for n in range(3)]
    load = ("--bone-mass", f"{SHIN}=20")
    for output, given in zip(outputs, ((), load, (*load, "--weight", 0)), strict=True):
        assert call("interpolate", shot, *words, *given, "--output", output).row["missed"] == []
    bare, heavy, compensated = (turns(tools, output, frames=[1, 8, 13, 20, 33, 48]) for output in outputs)
    assert np.abs(compensated - bare).max() < 1e-5
    assert tools.angles_between(heavy, bare).max() > 3.0 and np.abs(heavy - bare)[[0, 3, 5]].max() < 1e-5
    outcome = call("interpolate", shot, "--bone-mass", "elbow=2", "--output", tmp_path / "none.blend")
    assert outcome.code == 1 and "has no bone 'elbow'" in outcome.row["error"]


def test_friction_makes_bones_late(shot, call, tools, tmp_path) -> None:
    outputs = [tmp_path / f"{n}.blend" for n in range(2)]
    for output, given in zip(outputs, ((), ("--friction", 20)), strict=True):
        assert (
            call("interpolate", shot, "--bone", THIGH, "--method", "tension", *given, "--output", output).row["missed"]
            == []
        )
    bare, rubbed = (turns(tools, output, frames=[1, 8, 20, 48]) for output in outputs)
    assert tools.angles_between(rubbed, bare).max() > 1.0
    assert np.abs(rubbed - bare)[[0, 2, 3]].max() < 1e-5


def test_curves_are_written(shot, call, tmp_path) -> None:
    folder = tmp_path / "plots"
    words = ("--bone", THIGH, "--range", 1, 48, "--plots", folder, "--output", tmp_path / "out.blend")
    row = call("interpolate", shot, *words).row
    data = json.loads((folder / "out.json").read_text("utf-8"))
    assert len(data["frames"]) == len(data["speed"][THIGH]) == len(data["torque"][THIGH]) == 48
    assert all(math.isfinite(value) for value in data["torque"][THIGH])
    assert str(folder / "out.json") in row["plots"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--keys", "5,3"), "in order"),
        (("--keys", "5"), "at least two poses"),
        (("--keys", "a,b"), "not a list of frames"),
        (("--tension", "0"), "out of range"),
        (("--mass", "0"), "out of range"),
        (("--mass", "-3"), "out of range"),
        (("--torque-limit", "1", "--strength", "2"), "not allowed with"),
    ],
)
def test_wrong_arguments(words, message, shot, call, tmp_path) -> None:
    outcome = call("interpolate", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2 and message in "\n".join(outcome.errors)
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--bone", "elbow"), "has no bone 'elbow'"),
        (("--bone", "foot.L"), "has no keys"),
        (("--bone", THIGH, "--range", 1, 10), "only one key"),
    ],
)
def test_refusals_name_the_remedy(words, message, shot, call, tmp_path) -> None:
    outcome = call("interpolate", shot, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and message in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


def test_the_engine_is_needed_only_for_what_is_simulated(shot, call, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(engine, "reason", lambda: "The physics engine is missing.")
    output, reach = tmp_path / "out.blend", ("--bone", "foot.L", "--point", "0.15,-0.4,0.3")
    for verb, words in (
        ("interpolate", ("--bone", THIGH, "--strength", 0.2)),
        ("interpolate", ("--bone", THIGH, "--passive", SHIN)),
        ("reach", (*reach, "--method", "smoothing")),
    ):
        outcome = call(verb, shot, *words, "--output", output)
        assert outcome.code == 1 and outcome.row["error"] == "The physics engine is missing."
        assert not output.exists()
    assert call("interpolate", shot, "--bone", THIGH, "--output", output).code == 0
    assert bpy.data.actions
