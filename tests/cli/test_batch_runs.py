"""Runs that a farm trusts: characters, names and formats of outputs, limits and failures, manifests, job files."""

import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

ROOT = Path(__file__).resolve().parent.parent.parent
AIM = "--point=0.5,-2,1.7"
needs_module = pytest.mark.skipif(bool(bpy.app.binary_path), reason="in a real Blender there is --command")
no_signals = pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")


@pytest.fixture
def three(walk_glb, tmp_path) -> Path:
    """A folder with three clips."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b", "c"):
        shutil.copy(walk_glb, folder / f"{name}.glb")
    return folder


def merge(*words: object) -> int:
    *reports, output = words
    return load("cli.program").main(["report", "merge", *map(str, reports), "--output", str(output)], "test")


def shard(call, folder: Path, number: int, *words: object, count: int = 3) -> None:
    reports = folder.parent / "reports"
    outcome = call("inspect", folder, "--shard", f"{number}/{count}", "--report", reports / f"{number}.json", *words)
    assert outcome.code == 0, outcome.errors


# Manifests


def test_rows_say_which_run_they_are_from(three, call, tmp_path) -> None:
    rows = call("inspect", three, "--shard", "1-2/3").rows
    assert [row["shard"] for row in rows] == ["1/3", "2/3"]
    first, second = (row["run"] for row in rows)
    assert first["total"] == second["total"] == 3 and first["shard"] == "1-2/3"
    assert [Path(name).name for name in first["inputs"]] == ["a.glb", "b.glb", "c.glb"] and second["inputs"] is None
    assert first["arguments"][0] == "inspect" and first["host"] and first["begin"] <= first["end"]


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_merge_names_the_files_of_a_shard_that_is_missing(lost, three, call, tmp_path, capsys) -> None:
    for number in (1, 2, 3):
        if number != lost:
            shard(call, three, number)
    assert merge(tmp_path / "reports", tmp_path / "all.json") == 1
    said = capsys.readouterr().err
    assert f"shard {lost} of 3" in said and f"{'abc'[lost - 1]}.glb" in said
    assert merge("--allow-missing", tmp_path / "reports", tmp_path / "all.json") == 1
    rows = json.loads((tmp_path / "all.json").read_text())
    assert [(Path(row["input"]).name, row["ok"]) for row in rows] == [(f"{n}.glb", n != "abc"[lost - 1]) for n in "abc"]
    assert rows[lost - 1]["code"] == "not-reported" and rows[lost - 1].keys() == rows[lost % 3].keys()
    assert merge("--allow-missing", "--tolerate-failures", "1", tmp_path / "reports", tmp_path / "all.json") == 0


def test_one_shard_of_three_is_not_a_whole_run(three, call, tmp_path, capsys) -> None:
    """From the numbers of files in the reports alone, it would be."""
    shard(call, three, 1)
    assert merge(tmp_path / "reports" / "1.json", tmp_path / "all.json") == 1
    assert "shard 2 of 3" in capsys.readouterr().err


def test_reports_made_otherwise_are_refused(three, call, tmp_path, capsys) -> None:
    shard(call, three, 1)
    shard(call, three, 2)
    shard(call, three, 3, "--fps", "30")
    assert merge(tmp_path / "reports", tmp_path / "all.json") == 1
    assert "other arguments" in (said := capsys.readouterr().err) and "--fps" in said and "3.json" in said
    shard(call, three, 3)
    path = tmp_path / "reports" / "2.json"
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([{**row, "blender": "4.2.0"} for row in rows]))
    assert merge(tmp_path / "reports", tmp_path / "all.json") == 1
    assert "Blender 4.2.0" in capsys.readouterr().err
    shutil.copy(three / "a.glb", three / "d.glb")
    shard(call, three, 2)
    assert merge(tmp_path / "reports", tmp_path / "all.json") == 1
    assert "d.glb" in capsys.readouterr().err


# Characters


def two_characters(tools, path: Path) -> Path:
    tools.make_character()
    bo = tools.make_armature("Bo")
    bo.location.x = 2.0
    tools.animate(bo, "Bo walks")
    return tools.save(path)


@pytest.mark.thorough
def test_all_characters_of_a_file_are_baked(call, tools, tmp_path) -> None:
    source = two_characters(tools, tmp_path / "two.blend")
    row = call("bake", source, "--output", tmp_path / "out.blend", AIM).row
    assert row["ok"] and sorted(one["rig"] for one in row["characters"]) == ["Bo", "Hero"]
    tools.reopen(tmp_path / "out.blend")
    assert bpy.data.objects["Hero"].animation_data.action.name == "Walk look-at"
    assert bpy.data.objects["Bo"].animation_data.action.name == "Bo walks look-at"
    for words, rigs in (
        (("--rig", "Bo"), ["Bo"]),
        (("--rig", "Bo", "--rig", "Hero"), ["Bo", "Hero"]),
        (("--rig", "[BH]*"), ["Bo", "Hero"]),
        (("--action", "Bo*"), ["Bo"]),
    ):
        row = call("bake", source, "--output", tmp_path / "out.blend", AIM, *words).row
        assert row["ok"] and sorted(one["rig"] for one in row["characters"] or [row]) == rigs, row["error"]
    outcome = call("bake", source, "--output", tmp_path / "out.blend", AIM, "--rig", "Nobody*")
    assert outcome.code == 1 and outcome.row["code"] == "rig-missing" and "'Bo'" in outcome.row["error"]


def test_an_override_and_what_it_overrides_are_one_character(call, tools, tmp_path) -> None:
    tools.make_character()
    library = tools.save(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, here):
        here.objects = ["Hero"]
    linked = bpy.data.objects["Hero"]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.scene.collection.objects.link(linked.override_create())
    outcome = call("bake", tools.save(tmp_path / "shot.blend"), "--output", tmp_path / "out.blend", AIM)
    assert outcome.code == 0 and outcome.row["characters"] is None, outcome.errors


# One bad file costs one file


@pytest.mark.thorough
@pytest.mark.parametrize(("word", "code"), [("1", 0), ("0", 1), ("", 0), ("34%", 0), ("33%", 1)])
def test_how_many_files_may_fail_is_asked_for(word, code, three, call, tmp_path) -> None:
    (three / "b.glb").write_bytes(b"glTF")
    outcome = call("inspect", "--tolerate-failures", *filter(None, [word]), three)
    assert outcome.code == code and [row["ok"] for row in outcome.rows] == [True, False, True]
    assert outcome.rows[1]["code"] == "input-broken"


def test_nothing_to_do_is_an_error_or_not_as_is_asked_for(call, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    assert call("inspect", tmp_path / "empty").code == 2
    outcome = call("inspect", tmp_path / "empty", "--allow-empty")
    assert outcome.code == 0 and outcome.rows == []


@pytest.mark.every_blender
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_odd_names_and_links_cost_themselves_alone(three, call, tmp_path) -> None:
    (three / "deep").mkdir()
    (three / "deep" / "again").symlink_to(three)
    (three / "d.glb").symlink_to("d.glb")
    shutil.copy(os.fsencode(three / "a.glb"), os.fsencode(three) + b"/e\xff.glb")
    os.mkfifo(three / "p.glb")
    outcome = call("inspect", three)
    found = {os.fsencode(row["input"])[-6:]: row["ok"] for row in outcome.rows}
    assert outcome.code == 1 and len(found) == 6 and not found[b"/d.glb"] and found[b"/c.glb"], outcome.errors
    assert any("leads back" in line for line in outcome.errors)
    assert not [line for line in outcome.errors if "please report" in line]


STUBBORN = """
import sys, time
sys.path.insert(0, {root!r})
from standalone import load
load().register()
files = load("cli.scene_files")
read = files.load
def slow(path, *arguments, **options):
    if path.stem == "b":
        open({log!r}, "a").write("b")
        {what}
    return read(path, *arguments, **options)
files.load = slow
import os
os._exit(load("cli.program").main(sys.argv[1:], "test"))
"""


@pytest.mark.slow
@needs_module
@no_signals
@pytest.mark.parametrize(
    ("what", "words", "code"),
    [
        ("time.sleep(60)", ["--timeout", "5"], "timeout"),
        ("__import__('os').abort()", ["--retry", "2"], "process-ended"),
    ],
)
def test_a_file_that_hangs_or_ends_the_process_costs_itself(
    what, words, code, three, call, tmp_path, monkeypatch
) -> None:
    log = tmp_path / "log"
    (tmp_path / "worker.py").write_text(STUBBORN.format(root=str(ROOT), what=what, log=str(log)))
    program = [sys.executable, str(tmp_path / "worker.py")]
    monkeypatch.setattr(load("cli.worker_pool"), "program", lambda cores: program)
    outcome = call("inspect", three, *words)
    assert [row["ok"] for row in outcome.rows] == [True, False, True] and outcome.rows[1]["code"] == code
    assert log.read_text() == "b" * (3 if "--retry" in words else 1)


@needs_module
@no_signals
@pytest.mark.slow
def test_a_kill_leaves_what_was_done(three, tmp_path, call) -> None:
    report, lines = tmp_path / "r" / "1.json", tmp_path / "r" / "1.jsonl"
    for n in range(9):
        shutil.copy(three / "a.glb", three / f"x{n}.glb")
    words = ["bake", three, "--output", tmp_path / "out", AIM, "--report", report, "--skip-done"]
    process = subprocess.Popen([sys.executable, "cli", *map(str, words)], cwd=ROOT, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60.0
    while (not lines.exists() or lines.read_text().count("\n") < 3) and time.monotonic() < until:
        time.sleep(0.005)
    process.kill()
    process.wait()
    done = [json.loads(line) for line in lines.read_text().splitlines()][1:]
    assert all(Path(row["output"]).exists() for row in done)
    assert merge(report.parent, tmp_path / "all.json") == 1
    assert merge("--allow-missing", report.parent, tmp_path / "all.json") == 1
    rows = json.loads((tmp_path / "all.json").read_text())
    assert len(rows) == 12 and sum(row["ok"] for row in rows) == len(done)
    assert subprocess.run([sys.executable, "cli", *map(str, words)], cwd=ROOT, capture_output=True).returncode == 0
    assert not lines.exists() and merge(report.parent, tmp_path / "all.json") == 0


def _until_it_catches(process: int, number: int) -> str:
    """Wait until a process handles a signal, and give the files that it has loaded by then."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        time.sleep(0.3)
        return ""
    while True:
        maps = status.with_name("maps").read_text()
        caught = re.search(r"^SigCgt:\s*(\w+)", status.read_text(), re.MULTILINE)
        if caught is not None and int(caught[1], 16) >> number - 1 & 1:
            return maps
        time.sleep(0.001)


@needs_module
@no_signals
@pytest.mark.slow
def test_a_signal_while_blender_starts_leaves_a_report(three, tmp_path) -> None:
    report = tmp_path / "report.json"
    words = ["bake", three, "--output", tmp_path / "out", AIM, "--report", report]
    process = subprocess.Popen([sys.executable, "cli", *map(str, words)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    loaded = _until_it_catches(process.pid, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    assert "/bpy/" not in loaded and "_socket" not in loaded
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM and "Traceback" not in errors, errors
    assert [row["code"] for row in json.loads(report.read_text())] == ["interrupted"] * 3


# Names, trees and formats


def test_a_tree_is_mirrored(three, walk_glb, call, tmp_path) -> None:
    for place in ("in/anna/walk.glb", "in/bo/deep/walk.glb"):
        (tmp_path / place).parent.mkdir(parents=True)
        shutil.copy(walk_glb, tmp_path / place)
    outcome = call("bake", three, "--output", tmp_path / "out", AIM, "--dry-run", "json")
    places = [entry["output"].removeprefix(f"{tmp_path}/out/") for entry in json.loads(outcome.out)]
    assert places == ["a.glb", "b.glb", "c.glb", "anna/walk.glb", "bo/deep/walk.glb"]
    assert not (tmp_path / "out").exists()
    named = call("bake", *(tmp_path / "in").rglob("walk.glb"), "--output", tmp_path / "out", AIM, "--dry-run", "json")
    places = [entry["output"].removeprefix(f"{tmp_path}/out/") for entry in json.loads(named.out)]
    assert sorted(places) == ["anna/walk.glb", "bo/deep/walk.glb"]


def test_lists_of_files(three, call, tmp_path, monkeypatch) -> None:
    (tmp_path / "list").write_text(f"{three / 'b.glb'}\n\n{three / 'a.glb'}\n")
    assert [Path(row["input"]).name for row in call("inspect", f"@{tmp_path / 'list'}").rows] == ["b.glb", "a.glb"]
    assert call("inspect", f"@{tmp_path / 'nowhere'}").code == 2
    with (tmp_path / "list").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert len(call("inspect", "-").rows) == 2


def test_as_many_failures_as_are_tolerated_are_none() -> None:
    read = load("lookat_pd_batch.tolerance").FailureLimit.read
    for word, failed, total in (("3", 3, 9), ("5%", 1, 20), ("100%", 7, 7), ("0", 0, 4), ("0%", 0, 4)):
        assert read(word).holds(failed, total) and not read(word).holds(failed + 1, total), word


def test_the_newest_version_is_that_of_a_whole_name(tmp_path) -> None:
    """Blender keeps the former file as walk_v012.blend1."""
    template = load("lookat_pd_batch.naming").Template("{stem}_v{version:03}")
    for name in ("walk_v002.blend", "walk_v012.blend1", "sleepwalk_v031.blend", "walk_v054.fbx", "walk_vx.blend"):
        (tmp_path / name).touch()
    assert template.newest(tmp_path, {"stem": "walk"}, ".blend") == 2
    assert template.newest(tmp_path / "none", {"stem": "walk"}, ".blend") == 0
    (tmp_path / "Run_fast_v003.blend").touch()
    assert template.newest(tmp_path, {"stem": "Run/fast"}, ".blend") == 3


@pytest.mark.thorough
def test_names_of_outputs(three, call, tmp_path) -> None:
    words = ("bake", three / "a.glb", "--output", tmp_path / "out", AIM, "--action", "Walk")
    template = "{stem}_{action}_v{version:03}"
    for number in (1, 2):
        assert call(*words, "--name", template).row["output"].endswith(f"a_Walk_v00{number}.glb")
    assert [call(*words, "--name", template, "--skip-done").row["skipped"] for _ in range(2)] == [False, True]
    for wrong, said in (
        ("{who}", "{who} is unknown"),
        ("same", "would both"),
        ("a/b", "folders"),
        ("{stem", "is not a name"),
        ("{stem!r}", "write {stem}"),
        ("..", "not the name of a file"),
        ("{version:99999999999}", "number of digits"),
    ):
        outcome = call("bake", three, "--output", tmp_path / "new", AIM, "--name", wrong)
        assert outcome.code == 2 and said in outcome.errors[0] and len(outcome.errors) == 1
    outcome = call("bake", three, "--output", tmp_path / "new", AIM, "--name", "{stem}_{rig}")
    assert outcome.code == 2 and "--rig" in outcome.errors[0] and not (tmp_path / "new").exists()
    outcome = call("bake", three, "--output", tmp_path / "new", AIM, "--name", "{stem}_{action}")
    assert [Path(row["output"]).name for row in outcome.rows] == ["a_Walk.glb", "b_Walk.glb", "c_Walk.glb"]


def test_only_what_we_have_written_is_replaced(three, call, tmp_path) -> None:
    output = tmp_path / "out.glb"
    shutil.copy(three / "b.glb", output)
    before = output.read_bytes()
    words = ("bake", three / "a.glb", "--output", output, AIM)
    outcome = call(*words)
    assert outcome.code == 1 and outcome.row["code"] == "output-not-ours" and "--overwrite" in outcome.row["error"]
    assert call(*words, "--no-clobber").row["skipped"] and output.read_bytes() == before
    assert call(*words, "--overwrite").code == 0 and output.read_bytes() != before
    made = output.read_bytes()
    assert call(*words).code == 0 and output.read_bytes() == made


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["fbx", "usd", "blend", "glb"])
def test_formats_are_read_back(kind, walk, call, tools, tmp_path) -> None:
    """The head of what is read back turns as the one that was baked, whatever axes its bone has."""
    words = ("bake", walk, "--output", tmp_path / "out", AIM, "--format", kind, "--skip-done")
    row = call(*words).row
    assert row["ok"] and row["output"].endswith(f"walk.{kind}"), row["error"]
    assert call(*words).row["skipped"]
    call("bake", walk, "--output", tmp_path / "baked.blend", AIM)

    def turns() -> list[float]:
        rig = next(item for item in bpy.data.objects if item.type == "ARMATURE")
        baked = [action for action in bpy.data.actions if "look-at" in action.name]
        if baked and rig.animation_data.action not in baked:
            rig.animation_data.action = baked[0]
            rig.animation_data.action_slot = baked[0].slots[0]
        found = []
        for frame in (1, 5, 40, 121):
            bpy.context.scene.frame_set(frame)
            pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
            found.append((rig.matrix_world @ pose.bones["head"].matrix).to_quaternion())
        changes = [one @ found[0].inverted() for one in found[1:]]
        return [part for one in changes for part in (one if one.w > 0.0 else -one)]

    tools.reopen(tmp_path / "baked.blend")
    wanted = turns()
    read(Path(row["output"]))
    assert turns() == pytest.approx(wanted, abs=2e-3)


def read(path: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 24
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    elif path.suffix == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif path.suffix == ".usd":
        bpy.ops.wm.usd_import(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))


def test_a_format_that_cannot_hold_it_is_refused(walk, call, tools, tmp_path) -> None:
    for kind in ("fbx", "usd", "glb"):
        outcome = call("bake", walk, "--output", tmp_path / "out", AIM, "--format", kind, "--into", "layer")
        assert outcome.code == 1 and outcome.row["code"] == "format-cannot-hold"
    tools.reopen(walk)
    bpy.data.actions["Walk"].copy().name = "Run"
    bpy.data.actions["Run"].use_fake_user = True
    source = tools.save(tmp_path / "two.blend")
    outcome = call("bake", source, "--output", tmp_path / "o.usd", AIM, "--all-actions")
    assert outcome.row["code"] == "format-cannot-hold" and not (tmp_path / "o.usd").exists()
    outcome = call("bake", walk, "--output", tmp_path / "out.glb", AIM, "--format", "usd")
    assert outcome.code == 2 and "--format usd" in outcome.errors[0]


@pytest.fixture
def skinned(tools, tmp_path) -> Path:
    """A character with a skin, a control and an eye that hangs on a foot, two clips, and a ball that moves."""
    hero = tools.make_character()
    other = tools.animate(hero, "Run")
    track = hero.animation_data.nla_tracks.new()
    track.mute = True
    track.strips.new("Run", 1, other)
    hero.animation_data.action = bpy.data.actions["Walk"]
    shape, eye = (bpy.data.objects.new(name, bpy.data.meshes.new(name)) for name in ("Shape", "Eye"))
    for item in (shape, eye):
        bpy.context.scene.collection.objects.link(item)
    shape.hide_viewport = True
    hero.pose.bones["root"].custom_shape = shape
    eye.parent, eye.parent_type, eye.parent_bone = hero, "BONE", "foot.L"
    for bone in hero.data.bones:
        bone.use_deform = bone.name not in ("root", "foot.R", "foot.L")
    mesh = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    mesh.data.from_pydata([(0, 0, 1), (1, 0, 1), (0, 1, 1)], [], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(mesh)
    mesh.parent = hero
    mesh.vertex_groups.new(name="head").add([0, 1, 2], 1.0, "REPLACE")
    mesh.modifiers.new("Skin", "ARMATURE").object = hero
    return tools.save(tmp_path / "in.blend")


@pytest.mark.thorough
def test_a_glb_that_is_made_has_the_clips_that_were_made(skinned, call, tmp_path) -> None:
    """And of a skinned character the bones that deform."""

    def made(*words: str) -> tuple[set[str], set[str]]:
        assert call("bake", skinned, "--output", tmp_path / "out.glb", AIM, *words).code == 0
        document, _ = load("cli.gltf").read(tmp_path / "out.glb")
        return {clip["name"] for clip in document["animations"]}, {node["name"] for node in document["nodes"]}

    clips, bones = made()
    assert clips == {"Walk look-at"} and {"head", "foot.L", "Eye"} <= bones
    assert not bones & {"foot.R", "Shape"}
    clips, bones = made("--export-actions", "all", "--export-bones", "all")
    assert clips == {"Walk", "Run", "Walk look-at"} and {"foot.R", "Shape", "Eye"} <= bones


def channels(path: Path) -> dict[tuple[str, str, str], np.ndarray]:
    """Values of all channels of a .glb at every frame, by clip, node and kind."""
    document, binary = load("cli.gltf").read(path)

    def read(index: int) -> np.ndarray:
        accessor = document["accessors"][index]
        start = document["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        size = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        return np.frombuffer(binary, "<f4", accessor["count"] * size, start).reshape(-1, size)

    found = {}
    for clip in document["animations"]:
        for channel in clip["channels"]:
            sampler, to = clip["samplers"][channel["sampler"]], channel["target"]
            times, values = read(sampler["input"])[:, 0], read(sampler["output"])
            at = np.arange(times[0], times[-1] + 1e-3, 1.0 / 24.0)
            values = np.stack([np.interp(at, times, column) for column in values.T], axis=-1)
            if to["path"] == "rotation":
                values = values * np.sign(values[0, np.argmax(np.abs(values[0]))])
            found[clip["name"], document["nodes"][to["node"]]["name"], to["path"]] = values
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(), ("--all-actions",), ("--verify",)])
def test_clips_are_those_that_the_exporter_writes(words, skinned, call, tools, tmp_path, monkeypatch) -> None:
    """Of bones that are scaled, unevenly or to nothing, too."""
    tools.reopen(skinned)
    hero = bpy.data.objects["Hero"]
    for name, scale in (("chest", (1.0, 1.2, 0.9)), ("upper_arm.L", (0.0, 0.0, 0.0)), ("thigh.L", (-1.0, 1.0, 1.0))):
        hero.pose.bones[name].scale = scale
    tools.save(skinned)
    assert call("bake", skinned, "--output", tmp_path / "ours.glb", AIM, *words).code == 0
    monkeypatch.setattr(load("cli.gltf_clips"), "take", lambda *_: [])
    assert call("bake", skinned, "--output", tmp_path / "its.glb", AIM, *words).code == 0
    ours, its = channels(tmp_path / "ours.glb"), channels(tmp_path / "its.glb")
    assert ours.keys() == its.keys() and any(name == "head" for _, name, _ in ours)
    for key, values in its.items():
        np.testing.assert_allclose(ours[key], values, atol=2e-4, err_msg=str(key))


@pytest.mark.thorough
def test_an_earlier_glb_of_the_character_is_edited(skinned, call, tools, tmp_path, monkeypatch) -> None:
    """What comes out is to the byte what comes out where there is none."""
    exporters = load("cli.exporters")
    export, exported = exporters._export_gltf, []
    monkeypatch.setattr(
        exporters, "_export_gltf", lambda path, *more, **how: exported.append(path) or export(path, *more, **how)
    )
    out, new = tmp_path / "out.glb", tmp_path / "new.glb"
    for output, seconds in ((out, "0.5"), (new, "0.7"), (out, "0.7")):
        assert call("bake", skinned, "--output", output, AIM, "--skip-done", "--settle-time", seconds).code == 0
    assert exported == [out, new] and out.read_bytes() == new.read_bytes()
    tools.reopen(skinned)
    bpy.data.meshes["Skin"].vertices[0].co.x += 0.5
    tools.save(skinned)
    assert call("bake", skinned, "--output", out, AIM, "--skip-done", "--settle-time", "0.7").code == 0
    assert exported == [out, new, out] and out.read_bytes() != new.read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(AIM,), ("--target", "Ball", "--settle-time", "0.2"), ("--gaze",)])
def test_predicted_errors_are_those_that_are_measured(words, walk, call, tmp_path) -> None:
    if words == ("--gaze",):
        gaze = tmp_path / "gaze.json"
        gaze.write_text(
            '[{"frame": 5, "point": [1, -2, 1.6]}, {"frame": 50, "target": "Ball"}, {"frame": 90, "off": true}]'
        )
        words = ("--gaze", str(gaze))
    rows = [call("bake", walk, "--output", tmp_path / "o.blend", *words, *more).row for more in ((), ("--verify",))]
    predicted, measured = rows
    assert predicted["aim_error_deg"] == pytest.approx(measured["aim_error_deg"], abs=1e-3)
    assert predicted["settled_error_deg"] == pytest.approx(measured["settled_error_deg"], abs=1e-3)


# What is said


def test_notes_are_errors_where_that_is_asked_for(walk, call, tmp_path) -> None:
    words = ("bake", walk, "--output", tmp_path / "out.blend", AIM, "--range", "400", "420")
    noted = call(*words)
    assert noted.code == 0 and len(noted.row["warnings"]) == len(noted.row["note_codes"]) > 0
    (tmp_path / "out.blend").unlink()
    failed = call(*words, "--warnings-as-errors")
    assert failed.code == 1 and failed.row["code"] == "note-as-error" and not (tmp_path / "out.blend").exists()
    quiet = call(*words, "--quiet")
    assert quiet.code == 0 and not quiet.out and not quiet.errors
    assert any("begin" in line for line in call(*words, "--verbose").errors)


def test_the_page_lists_the_codes_that_there_are() -> None:
    packages = ("lookat_pd", "lookat_pd_batch", "rig", "cli")
    text = "".join(path.read_text("utf-8") for name in packages for path in (ROOT / name).rglob("*.py"))
    used = set(re.findall(r'\bcode"?\]?(?:=|: | = (?:[^\n]*, )?)"([a-z-]+)"', text))
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    listed = re.search(r"stays the same where its sentence changes:\n(.*?)All others", page, re.DOTALL)
    assert listed is not None and used == set(re.findall("`([a-z-]+)`", listed[1]))


def test_a_sentence_within_another_one_gives_it_its_code() -> None:
    message, errors = load("lookat_pd.message").Message, load("lookat_pd.errors")
    inner = errors.RigError("There is {none}.", code="none-there", none="none")
    outer = errors.RigError("Action '{name}': {error}", name="Walk", error=inner)
    assert str(outer).code == "none-there" and str(outer) == "Action 'Walk': There is none."
    assert copy.deepcopy(str(inner)).code == "none-there" and message("{left}", left=1).code == ""
    assert load("lookat_pd_batch.codes").of_note("a plain sentence") == "note"


# Job files


JOB = """
[show]
output = "out"
settle_time = 0.5

[anna]
files = ["chars/anna/*.glb"]
point = [0.5, -2, 1.7]
actions = ["Walk"]

[bo]
files = ["chars/bo/**/*.glb"]
point = "0.5,-2,1.7"
"""


@pytest.fixture
def show(walk_glb, tmp_path) -> Path:
    for place in ("anna/walk.glb", "anna/run.glb", "bo/deep/walk.glb"):
        path = tmp_path / "chars" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(walk_glb, path)
    (tmp_path / "show.toml").write_text(JOB)
    return tmp_path / "show.toml"


@pytest.mark.thorough
def test_a_job_file_does_what_the_commands_do(show, call, tmp_path) -> None:
    outcome = call("job", show)
    assert outcome.code == 0, outcome.errors
    places = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.glb"))
    assert places == ["chars/anna/run.glb", "chars/anna/walk.glb", "chars/bo/deep/walk.glb"]
    words = ("--settle-time", "0.5", AIM)
    call("bake", tmp_path / "chars" / "bo" / "deep" / "walk.glb", "--output", tmp_path / "one.glb", *words)
    assert (tmp_path / "one.glb").read_bytes() == (tmp_path / "out" / places[2]).read_bytes()
    assert len(outcome.rows) == 3
    assert call("job", show, "--set", "bo.settle_time=0.4").code == 0
    assert (tmp_path / "one.glb").read_bytes() != (tmp_path / "out" / places[2]).read_bytes()


def test_files_outside_of_the_folder_of_a_job_have_places_of_their_own(show, call, tmp_path) -> None:
    job = tmp_path / "jobs" / "all.toml"
    job.parent.mkdir()
    job.write_text('[all]\nfiles = ["../chars/**/walk.glb"]\noutput = "out"\npoint = [0.5, -2, 1.7]\naction = "Walk"\n')
    outcome = call("job", job)
    assert outcome.code == 0, outcome.errors
    written = {str(Path(row["output"]).relative_to(job.parent / "out")) for row in outcome.rows}
    assert written == {"anna/walk.glb", "bo/deep/walk.glb"}


@pytest.mark.thorough
def test_shards_of_a_job_are_one_run(show, call, tmp_path) -> None:
    for number in (1, 2):
        assert call("job", show, "--shard", f"{number}/2", "--report", tmp_path / "r" / f"{number}.json").code == 0
    assert merge(tmp_path / "r", tmp_path / "all.json") == 0
    assert len(json.loads((tmp_path / "all.json").read_text())) == 3
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["1.json", "2.json"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("settle_time = 0.5", "settle_tim = 0.5"), "line 4: [show] settle_tim is an unknown key; write settle_time"),
        (("chars/bo/**/*.glb", "chars/*/**/*.glb"), "is in [anna] too"),
        (("chars/bo/**/*.glb", "nothing/*.glb"), "line 12: [bo] files: 'nothing/*.glb' matches no file"),
        (("settle_time = 0.5", "timeout = 0"), "line 4: [show] timeout: 0 is out of range"),
        (("settle_time = 0.5", 'name = "same"'), "line 4: [show] name: "),
        (("settle_time = 0.5", 'name = "{action}"'), "put {stem} in"),
        (('output = "out"', 'output = ["out", "other"]'), "line 3: [show] output: give one path"),
        (('output = "out"', 'output = ""'), "line 3: [show] output: give one path"),
        (('output = "out"', 'output = "out"\ntrust_scripts = 3'), "line 4: [show] trust_scripts: give true or false"),
        (("settle_time = 0.5", 'verb = "dance"'), "there is no verb 'dance'"),
        (("[show]", "x = 1\n[show]"), "outside of a section"),
        (("[bo]", "[bo"), "show.toml"),
        (("settle_time = 0.5", 'format = "mov"'), "[show] format"),
        (("settle_time = 0.5", 'into = "layer"\nformat = "glb"'), "[anna]: A .glb has no NLA layers"),
        (('"0.5,-2,1.7"', '"0.5,-2,1.7"\nrange = [9, 3]'), "[bo]: --range"),
        (('point = "0.5,-2,1.7"', 'gaze = "none.json"'), "[bo]: "),
    ],
)
def test_a_job_file_that_is_wrong_changes_nothing(change, said, show, call, tmp_path) -> None:
    show.write_text(JOB.replace(*change))
    outcome = call("job", show)
    assert outcome.code == 2 and said in outcome.errors[0] and len(outcome.errors) == 1, outcome.errors
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@needs_module
def test_a_job_from_python(show, tmp_path) -> None:
    import lookat_pd_batch

    rows = lookat_pd_batch.run(show, options=["--skip-done"])
    assert [row["ok"] for row in rows] == [True] * 3 and [row["skipped"] for row in rows] == [False] * 3
    anna = {"files": [str(tmp_path / "chars/anna/*.glb")], "point": [0.5, -2, 1.7], "output": str(tmp_path / "new")}
    assert len(lookat_pd_batch.run({"anna": anna})) == 2
    with pytest.raises(lookat_pd_batch.BatchError, match=r"^\[anna\] files: 'nothing' matches no file$"):
        lookat_pd_batch.run({"anna": {**anna, "files": ["nothing"]}})
