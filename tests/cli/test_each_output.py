"""A file for each action: `{action}` in the names of outputs."""

import json
from pathlib import Path

import bpy
import pytest
from mathutils import Euler

from extension import load

AIM = "--point=0.4,-2,1.7"
NAME = ("--name", "{stem}_{action}_v{version:03}")


def sway(hero, name: str, size: float, last: int) -> None:
    """An action in which the head moves."""
    hero.animation_data.action = bpy.data.actions.new(name)
    hero.animation_data.action.use_fake_user = True
    for frame, angle in ((1, 0.0), (last, size)):
        hero.pose.bones["head"].rotation_quaternion = Euler((angle, 0.0, 0.0)).to_quaternion()
        hero.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)


@pytest.fixture
def shot(tools, tmp_path) -> Path:
    """A character with three actions, of which it plays the last."""
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    for name, size, last in (("Death", 0.6, 13), ("Run", 0.3, 9), ("Walk", 0.1, 11)):
        sway(hero, name, size, last)
    tools.make_ball()
    return tools.save(tmp_path / "anna.blend")


def made(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_action_gets_a_file(shot, call, tools, tmp_path) -> None:
    out = tmp_path / "out"
    outcome = call("bake", shot, "--output", out, AIM, "--all-actions", *NAME)
    assert outcome.code == 0, outcome.errors
    wanted = [f"anna_{name}_v001.blend" for name in ("Death", "Run", "Walk")]
    assert made(out) == wanted
    row = outcome.row
    assert row["ok"] and row["output"] == str(out / wanted[0]) and row["skipped"] is False
    assert [one["source"] for one in row["baked"]] == ["Death", "Run", "Walk"]
    assert [one["output"] for one in row["baked"]] == [str(out / name) for name in wanted]
    assert [one["frames"] for one in row["baked"]] == [[1, 13], [1, 9], [1, 11]]
    assert all(one["ok"] and one["aim_error_deg"] for one in row["baked"])
    for name in ("Death", "Run", "Walk"):
        tools.reopen(out / f"anna_{name}_v001.blend")
        assert bpy.data.objects["Hero"].animation_data.action.name == f"{name} look-at"
        assert [one.name for one in bpy.data.actions if "look-at" in one.name] == [f"{name} look-at"]


def test_what_plays_gives_its_name(shot, call, tmp_path) -> None:
    row = call("bake", shot, "--output", tmp_path / "out", AIM, "--name", "{action}").row
    assert row["output"] == str(tmp_path / "out" / "Walk.blend") and row["baked"] is None and row["action"]


@pytest.mark.thorough
def test_only_what_is_missing_is_made_again(shot, call, tmp_path) -> None:
    out = tmp_path / "out"
    words = ["bake", shot, "--output", out, AIM, *NAME, "--skip-done"]
    assert call(*words, "--action", "W*", "--action", "Run").row["skipped"] is False
    row = call(*words, "--all-actions").row
    assert [one["skipped"] for one in row["baked"]] == [False, True, True]
    assert made(out) == [f"anna_{name}_v001.blend" for name in ("Death", "Run", "Walk")]
    (out / "anna_Run_v001.blend").unlink()
    row = call(*words, "--all-actions").row
    assert [one["skipped"] for one in row["baked"]] == [True, False, True] and row["skipped"] is False
    assert call(*words, "--all-actions").row["skipped"] is True
    row = call(*words, "--all-actions", "--settle-time", "0.3").row
    assert [one["skipped"] for one in row["baked"]] == [False] * 3 and len(made(out)) == 6


def test_what_is_done_is_known_without_reading_the_input(shot, call, tmp_path, monkeypatch) -> None:
    out, read = tmp_path / "out", []
    load_file = load("cli.scene_files").load
    monkeypatch.setattr(load("cli.scene_files"), "load", lambda *a, **k: read.append(a[0]) or load_file(*a, **k))
    words = ["bake", shot, "--output", out, AIM, *NAME, "--skip-done", "--all-actions"]
    call(*words)
    assert len(read) == 4
    read.clear()
    assert [one["skipped"] for one in call(*words).row["baked"]] == [True] * 3 and not read
    (out / "anna_Death_v001.blend").unlink()
    assert [one["skipped"] for one in call(*words).row["baked"]] == [False, True, True] and len(read) == 1
    assert made(out) == [f"anna_{name}_v001.blend" for name in ("Death", "Run", "Walk")]


def test_one_action_that_fails_costs_one_file(shot, call, tmp_path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "anna_Run_v001.blend").write_bytes(b"of somebody else")
    words = ["bake", shot, "--output", out, AIM, "--all-actions", "--name", "{stem}_{action}_v001"]
    outcome = call(*words)
    assert outcome.code == 1 and made(out) == [f"anna_{name}_v001.blend" for name in ("Death", "Run", "Walk")]
    row = outcome.row
    assert "1 of 3 outputs" in row["error"] and "'Run'" in row["error"] and row["code"] == "output-not-ours"
    assert [one["ok"] for one in row["baked"]] == [True, False, True]
    assert "not written by Look-at PD" in row["baked"][1]["error"] and row["baked"][0]["error"] is None
    assert (out / "anna_Run_v001.blend").read_bytes() == b"of somebody else"


def test_a_dry_run_lists_each_output(shot, call, tmp_path) -> None:
    out = tmp_path / "out"
    outcome = call("bake", shot, "--output", out, AIM, "--all-actions", *NAME, "--dry-run", "json")
    entries = json.loads(outcome.out)
    assert [(one["actions"], Path(one["output"]).name) for one in entries] == [
        ([name], f"anna_{name}_v001.blend") for name in ("Death", "Run", "Walk")
    ]
    assert all(one["rig"] == "Hero" and one["state"] == "is made" for one in entries) and not out.exists()


def test_actions_of_one_file_name_are_refused(tools, call, tmp_path) -> None:
    hero = tools.make_armature("Hero")
    hero.animation_data_create()
    for name in ("Walk", "walk"):
        sway(hero, name, 0.1, 11)
    shot = tools.save(tmp_path / "anna.blend")
    outcome = call("bake", shot, "--output", tmp_path / "out", AIM, "--all-actions", "--name", "{stem}_{action}")
    assert outcome.code == 1 and "'Walk' and 'walk' would both be written" in outcome.row["error"]
    assert not (tmp_path / "out").exists()


def test_inputs_whose_actions_could_be_one_file_are_refused(shot, call, tools, tmp_path) -> None:
    other = tools.save(tmp_path / "bo.blend")
    outcome = call("bake", shot, other, "--output", tmp_path / "out", AIM, "--all-actions", "--name", "{action}")
    assert outcome.code == 2 and "would both be written" in outcome.errors[0]


def test_two_characters_share_the_file_of_an_action(tools, call, tmp_path) -> None:
    for name, clips in (("Anna", ("Walk", "Wave")), ("Bo", ("Walk",))):
        hero = tools.make_armature(name)
        hero.animation_data_create()
        for clip in clips:
            sway(hero, f"{name} {clip}" if clip == "Walk" else clip, 0.1, 11)
    shot = tools.save(tmp_path / "two.blend")
    outcome = call("bake", shot, "--output", tmp_path / "out", AIM, "--all-actions", "--name", "{action}")
    assert outcome.code == 0, outcome.errors
    assert made(tmp_path / "out") == ["Anna Walk.blend", "Bo Walk.blend", "Wave.blend"]
    assert {(one["source"], one["rig"]) for one in outcome.row["baked"]} == {
        ("Anna Walk", "Anna"),
        ("Wave", "Anna"),
        ("Bo Walk", "Bo"),
    }


@pytest.mark.thorough
def test_workers_and_merges_take_them(shot, call, tools, tmp_path) -> None:
    tools.save(tmp_path / "bo.blend")
    words = ["bake", shot, tmp_path / "bo.blend", "--output", tmp_path / "out", AIM, "--all-actions", *NAME]
    reports = [tmp_path / f"{n}.json" for n in (1, 2)]
    for n, report in enumerate(reports, 1):
        assert call(*words, "--shard", f"{n}/2", *(("--timeout", "60") if n == 1 else ()), "--report", report).code == 0
    assert len(made(tmp_path / "out")) == 6
    merged = tmp_path / "all.json"
    assert load("cli.program").main(["report", "merge", *map(str, reports), "--output", str(merged)], "test") == 0
    assert [len(row["baked"]) for row in json.loads(merged.read_text())] == [3, 3]


def test_names_that_meet_are_told_apart(tools, call, tmp_path) -> None:
    """a_b with c, and a with b_c."""
    for stem, clip in (("a_b", "c"), ("a", "b_c")):
        hero = tools.make_armature("Hero")
        hero.animation_data_create()
        sway(hero, clip, 0.1, 11)
        tools.save(tmp_path / f"{stem}.blend")
        bpy.data.objects.remove(hero)
        bpy.data.actions.remove(bpy.data.actions[clip])
    inputs = [tmp_path / "a.blend", tmp_path / "a_b.blend"]
    words = ["--output", tmp_path / "out", AIM, "--all-actions", "--overwrite"]
    outcome = call("bake", *inputs, *words, "--name", "{stem}_{action}")
    assert outcome.code == 1 and [row["ok"] for row in outcome.rows] == [True, False]
    assert f"is an output of {inputs[0]} already" in outcome.rows[1]["error"]
    assert call("bake", *inputs, *words, "--name", "{stem}-{action}").code == 0


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["inertialize", "--loop", "--action", "[RW]*"], {"Run": "Run loop", "Walk": "Walk loop"}),
        (["inertialize", "--to", "Death", "--action", "W*"], {"Walk": "Walk > Death"}),
        (["ik", "--bone", "foot.L", "--point=0.1,-0.2,0.2"], {"Walk": "Walk IK"}),
    ],
)
def test_other_verbs_make_files_of_actions_too(words, wanted, shot, call, tmp_path) -> None:
    verb, *more = words
    name = "--file-name" if verb == "inertialize" else "--name"
    outcome = call(verb, shot, "--output", tmp_path / "out", *more, name, "{action}")
    assert outcome.code == 0, outcome.errors
    assert made(tmp_path / "out") == [f"{one}.blend" for one in wanted]
    each = outcome.row["baked"] or [outcome.row]
    assert [one["action"] for one in each] == list(wanted.values())
