"""Many files: folders, shards, several processes, and runs that are begun again."""

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bpy
import pytest
from attack import FACTOR, IS_RANDOM

from extension import load

ROOT = Path(__file__).resolve().parent.parent.parent
AIM = "--point=0.5,-2,1.7"
NOT_THE_SAME = ("seconds", "skipped", "shard", "output", "run")
needs_module = pytest.mark.skipif(bool(bpy.app.binary_path), reason="in a real Blender there is --command")
no_signals = pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")


@pytest.fixture
def shots(walk, walk_glb, tmp_path) -> Path:
    """A folder with five files to bake, one that is none, and one of no kind."""
    folder = tmp_path / "shots"
    folder.mkdir()
    for name in ("a", "b", "c"):
        shutil.copy(walk, folder / f"{name}.blend")
    for name in ("d", "e"):
        shutil.copy(walk_glb, folder / f"{name}.glb")
    (folder / "notes.txt").write_text("no motion")
    (folder / ".hidden.blend").write_text("no motion")
    return folder


def same(row: dict, other: dict) -> bool:
    return {**row, **dict.fromkeys(NOT_THE_SAME)} == {**other, **dict.fromkeys(NOT_THE_SAME)}


def names(rows: list[dict]) -> list[str]:
    return [Path(row["input"]).name for row in rows]


# Folders and shards


def test_a_folder_stands_for_the_files_in_it(shots, call, tmp_path) -> None:
    outcome = call("bake", shots, "--output", tmp_path / "out", AIM)
    assert outcome.code == 0
    assert names(outcome.rows) == ["a.blend", "b.blend", "c.blend", "d.glb", "e.glb"]


def test_a_folder_without_files_is_named(call, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    outcome = call("bake", tmp_path / "empty", "--output", tmp_path / "out", AIM)
    assert outcome.code == 2 and "no file to read in the folder" in outcome.errors[0]
    assert str(tmp_path / "empty") in outcome.errors[0] and not (tmp_path / "out").exists()


def test_shards_are_all_files_once_in_whatever_order_they_are_named(shots, call, tmp_path) -> None:
    files = sorted(shots.glob("*.blend")) + sorted(shots.glob("*.glb"))
    found = []
    for number in (1, 2):
        inputs = files if number == 1 else files[::-1]
        outcome = call("inspect", *inputs, "--shard", f"{number}/2")
        assert {row["shard"] for row in outcome.rows} == {f"{number}/2"}
        found += names(outcome.rows)
    assert sorted(found) == sorted(path.name for path in files)


def test_a_shard_may_be_empty(walk, call) -> None:
    outcome = call("inspect", walk, "--shard", "2/2")
    assert outcome.code == 0 and outcome.rows == []


def test_several_shards_at_once_are_those_shards(shots, call, tmp_path) -> None:
    alone = [row for number in (2, 3) for row in call("inspect", shots, "--shard", f"{number}/4").rows]
    together = call("inspect", shots, "--shard", "2-3/4").rows
    assert names(together) == sorted(names(alone))
    assert {row["input"]: row["shard"] for row in together} == {row["input"]: row["shard"] for row in alone}
    for words in ("1", "2-3", "4-4"):
        call("inspect", shots, "--shard", f"{words}/4", "--report", tmp_path / f"{words}.json")
    assert merge(tmp_path, tmp_path / "all.json") == 0 and len(json.loads((tmp_path / "all.json").read_text())) == 5


@pytest.mark.parametrize(
    "shard",
    ["3/2", "0/2", "1", "1/0", "a/b", "-1/2", "1/2/3", "2-1/3", "1-4/3", "0-1/3", "1-/3", "1/9" + "9" * 40],
)
def test_a_shard_that_cannot_be_is_refused(shard, walk, call) -> None:
    outcome = call("inspect", walk, "--shard", shard)
    assert outcome.code == 2 and len(outcome.errors) == 1 and "--shard" in outcome.errors[0]
    assert len(outcome.errors[0]) < 300


@pytest.mark.parametrize("count", ["0", "257", "two", "1.5"])
def test_a_number_of_processes_that_cannot_be_is_refused(count, walk, call) -> None:
    outcome = call("inspect", walk, "--jobs", count)
    assert outcome.code == 2 and len(outcome.errors) == 1 and "--jobs" in outcome.errors[0]


# Merging


@pytest.fixture
def reports(shots, call, tmp_path) -> Path:
    """The reports of three shards."""
    folder = tmp_path / "reports"
    for number in (1, 2, 3):
        call("inspect", shots, "--shard", f"{number}/3", "--report", folder / f"{number}.json")
    return folder


def test_merged_reports_are_the_report_of_one_run(reports, shots, call, tmp_path) -> None:
    merged = tmp_path / "all.json"
    assert merge(reports, merged) == 0
    rows = json.loads(merged.read_text("utf-8"))
    whole = call("inspect", shots).rows
    assert len(rows) == len(whole) and all(map(same, rows, whole))


def merge(*words: object) -> int:
    *reports, output = words
    return load("cli.program").main(["report", "merge", *map(str, reports), "--output", str(output)], "test")


@pytest.mark.parametrize("number", [1, 2])
def test_a_report_that_is_missing_is_named(number, reports, tmp_path, capsys) -> None:
    (reports / f"{number}.json").unlink()
    assert merge(reports, tmp_path / "all.json") == 1
    assert f"shard {number} of 3 is missing" in capsys.readouterr().err
    assert not (tmp_path / "all.json").exists()


def test_reports_that_do_not_fit_together(reports, tmp_path, capsys) -> None:
    shutil.copy(reports / "1.json", reports / "1 again.json")
    assert merge(reports, tmp_path / "all.json") == 1
    assert "give each shard a report of its own" in capsys.readouterr().err
    (reports / "1 again.json").unlink()
    rows = json.loads((reports / "2.json").read_text("utf-8"))
    rows[0]["version"] = "0.0.1"
    (reports / "2.json").write_text(json.dumps(rows), "utf-8")
    assert merge(reports, tmp_path / "all.json") == 1
    assert "0.0.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"input": "a"}]', '[{"input": 1, "ok": true, "version": ""}]', "[", ""]
)
def test_what_is_no_report_is_named(text, tmp_path, capsys) -> None:
    (tmp_path / "odd.json").write_text(text)
    assert merge(tmp_path / "odd.json", tmp_path / "all.json") == 2
    complaint = capsys.readouterr().err
    assert "odd.json" in complaint and complaint.count("\n") == 1


def test_a_row_that_is_doubled_is_named(reports, tmp_path, capsys) -> None:
    path = reports / "2.json"
    rows = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps([*rows, rows[0]]), "utf-8")
    assert merge(reports, tmp_path / "all.json") == 1 and not (tmp_path / "all.json").exists()
    assert f"2.json has {rows[0]['input']} twice" in capsys.readouterr().err


def test_a_merged_report_never_takes_the_place_of_one_of_them(reports) -> None:
    before = (reports / "1.json").read_bytes()
    assert merge(reports, reports / "1.json") == 2
    assert (reports / "1.json").read_bytes() == before


def test_failed_files_are_reported_when_merged(walk, call, tmp_path, capsys) -> None:
    call("inspect", walk, tmp_path / "missing.blend", "--report", tmp_path / "one.json")
    assert merge(tmp_path / "one.json", tmp_path / "all.json") == 1
    shown = capsys.readouterr()
    assert "2 files, 1 failed" in shown.out and "missing.blend" in shown.err


# What is done is left out


def bake(call, shots: Path, out: Path, *words: object):
    return call("bake", shots, "--output", out, AIM, "--skip-done", *words)


@pytest.mark.thorough
def test_what_is_done_is_left_out_with_the_same_report(shots, call, tmp_path) -> None:
    first = bake(call, shots, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert not any(row["skipped"] for row in first.rows)
    for path in shots.iterdir():
        # Dates tell nothing.
        os.utime(path)
    again = bake(call, shots, tmp_path / "out")
    assert all(row["skipped"] for row in again.rows) and all(map(same, first.rows, again.rows))
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before
    assert again.errors[-1].endswith("5 of 5 outputs were already made and are left as they are.")


@pytest.mark.slow
def test_what_has_changed_is_made_again(shots, call, tools, tmp_path) -> None:
    gaze = tmp_path / "gaze.json"
    gaze.write_text('[{"frame": 1, "point": [0, -2, 1.6]}]')

    def made(*words: object) -> list[str]:
        outcome = call("bake", shots, "--output", tmp_path / "out", "--skip-done", *words)
        return names([row for row in outcome.rows if not row["skipped"]])

    everything = ["a.blend", "b.blend", "c.blend", "d.glb", "e.glb"]
    assert made("--gaze", gaze) == everything and made("--gaze", gaze) == []
    assert made("--gaze", gaze, "--settle-time", "0.4") == everything
    gaze.write_text('[{"frame": 1, "point": [0, -2, 1.7]}]')
    assert made("--gaze", gaze, "--settle-time", "0.4") == everything
    tools.reopen(shots / "b.blend")
    bpy.data.objects["Hero"].location.x = 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(shots / "b.blend"), copy=True)
    (tmp_path / "out" / "d.glb").unlink()
    (tmp_path / "out" / "a.blend").unlink()
    assert made("--gaze", gaze, "--settle-time", "0.4") == ["a.blend", "b.blend", "d.glb"]


def test_a_library_that_changed_is_a_change(walk, call, tools, tmp_path) -> None:
    def write_library(place: float) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        thing = bpy.data.objects.new("Thing", None)
        thing.location.x = place
        bpy.data.libraries.write(str(tmp_path / "library.blend"), {thing})

    write_library(0.0)
    tools.reopen(walk)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, here):
        here.objects = ["Thing"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    linking = tools.save(tmp_path / "linking.blend")
    words = ("bake", linking, "--output", tmp_path / "out.blend", AIM, "--skip-done")
    assert [call(*words).row["skipped"] for _ in range(2)] == [False, True]
    write_library(1.0)
    assert [call(*words).row["skipped"] for _ in range(2)] == [False, True]


def write_cache(kind: str, folder: Path, content: bytes) -> None:
    """Content of what `use_file` has the scene refer to."""
    names = {
        "sequence": ["0001.png", "0002.png"],
        "tiles": ["t.1001.png"],
        "folder": ["blendcache_linking/1.bphys"],
        "folder of a library": ["blendcache_library/1.bphys"],
        "rigid bodies": ["bodies/1.bphys"],
    }
    path = folder / names.get(kind, ["used.bin"])[-1]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    # Earlier than the run that reads it.
    os.utime(path, (1.0, 1.0))


def use_file(kind: str, folder: Path) -> None:
    image = bpy.data.images.new("used", 4, 4)
    if kind == "sound":
        bpy.data.sounds.load(str(folder / "used.bin")).use_fake_user = True
    elif kind in ("image", "sequence", "tiles"):
        image.source = {"image": "FILE", "sequence": "SEQUENCE", "tiles": "TILED"}[kind]
        image.filepath = str(folder / {"image": "used.bin", "sequence": "0001.png", "tiles": "t.<UDIM>.png"}[kind])
        image.use_fake_user = True
    elif kind == "alembic":
        bpy.ops.cachefile.open(filepath=str(folder / "used.bin"))
        bpy.data.cache_files[0].use_fake_user = True
    elif kind == "layer of alembic":
        bpy.ops.cachefile.open(filepath=str(folder / "other.abc"))
        bpy.data.cache_files[0].use_fake_user = True
        bpy.data.cache_files[0].layers.new(filepath=str(folder / "used.bin"))
    elif kind == "folder of a library":
        thing = bpy.data.objects.new("Thing", None)
        bpy.data.libraries.write(str(folder / "library.blend"), {thing})
        bpy.data.objects.remove(thing)
        with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, here):
            here.objects = ["Thing"]
        bpy.context.scene.collection.objects.link(here.objects[0])
    elif kind == "rigid bodies":
        bpy.ops.rigidbody.world_add()
        cache = bpy.context.scene.rigidbody_world.point_cache
        cache.use_external, cache.filepath = True, str(folder / "bodies")
    elif kind == "geometry nodes":
        give_to_nodes(str(folder / "used.bin"))


def give_to_nodes(text: str) -> None:
    """A modifier of Geometry Nodes with a text as its input."""
    group = bpy.data.node_groups.new("Reading", "GeometryNodeTree")
    socket = group.interface.new_socket("Path", in_out="INPUT", socket_type="NodeSocketString")
    thing = bpy.data.objects.new("Thing", bpy.data.meshes.new("Thing"))
    bpy.context.scene.collection.objects.link(thing)
    modifier = thing.modifiers.new("Reading", "NODES")
    modifier.node_group = group
    bpy.context.view_layer.update()
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, socket.identifier).value = text
    else:
        modifier[socket.identifier] = text


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind",
    [
        *("image", "sequence", "tiles", "sound", "alembic", "layer of alembic", "folder", "folder of a library"),
        *("rigid bodies", "geometry nodes"),
    ],
)
def test_a_file_that_reaches_the_output_and_changed_is_a_change(kind, walk, call, tools, tmp_path) -> None:
    tools.reopen(walk)
    write_cache(kind, tmp_path, b"before")
    use_file(kind, tmp_path)
    linking = tools.save(tmp_path / "linking.blend")
    words = ("bake", linking, "--output", tmp_path / "out.blend", AIM, "--skip-done")
    assert [call(*words).row["skipped"] for _ in range(2)] == [False, True]
    write_cache(kind, tmp_path, b"after")
    assert [call(*words).row["skipped"] for _ in range(2)] == [False, True]


def test_a_file_that_changes_while_it_is_read_is_read_again(walk, call, tools, tmp_path) -> None:
    tools.reopen(walk)
    write_cache("image", tmp_path, b"before")
    use_file("image", tmp_path)
    linking = tools.save(tmp_path / "linking.blend")
    words = ("bake", linking, "--output", tmp_path / "out.blend", AIM, "--skip-done")
    os.utime(tmp_path / "used.bin", (time.time() + 60, time.time() + 60))
    assert call(*words).row["skipped"] is False
    os.utime(tmp_path / "used.bin", (1.0, 1.0))
    assert [call(*words).row["skipped"] for _ in range(2)] == [False, True]


@pytest.mark.thorough
def test_a_note_says_what_an_output_was_made_from_where_that_was_asked_for(
    walk, walk_glb, call, tools, tmp_path
) -> None:
    name = load("cli.provenance").NAME
    plain = call("bake", walk, walk_glb.rename(tmp_path / "w2.glb"), "--output", tmp_path / "plain", AIM)
    assert [row["skipped"] for row in plain.rows] == [False, False]
    tools.reopen(tmp_path / "plain" / "walk.blend")
    assert json.loads(bpy.data.texts[name].as_string()) == {"digest": None, "files": {}, "row": {}}
    noted = call("bake", walk, tmp_path / "w2.glb", "--output", tmp_path / "noted", AIM, "--skip-done")
    assert noted.code == 0
    tools.reopen(tmp_path / "noted" / "walk.blend")
    assert (
        list(bpy.data.texts.keys()) == [name] and json.loads(bpy.data.texts[name].as_string())["row"]["bone"] == "head"
    )
    gltf = load("cli.gltf")
    document, binary = gltf.read(tmp_path / "noted" / "w2.glb")
    before, same_binary = gltf.read(tmp_path / "plain" / "w2.glb")
    assert document["asset"].pop("extras").keys() == before["asset"].pop("extras").keys() == {"lookat_pd"}
    assert document == before and binary == same_binary


def test_an_output_is_an_input_as_any_other(walk, call, tools, tmp_path) -> None:
    """Its note is of its own making, not of what is made of it."""
    call("bake", walk, "--output", tmp_path / "one.blend", AIM, "--skip-done")
    call("bake", tmp_path / "one.blend", "--output", tmp_path / "two.blend", "--action", "Walk", AIM)
    tools.reopen(tmp_path / "two.blend")
    assert [json.loads(text.as_string())["digest"] for text in bpy.data.texts] == [None]


def test_two_runs_at_the_same_output_are_reported(walk, call, tmp_path, monkeypatch) -> None:
    call("bake", walk, "--output", tmp_path / "out.blend", AIM, "--skip-done")
    provenance = load("cli.provenance")
    found, asked = provenance.find, []

    def later(*arguments: object):
        asked.append(arguments)
        return None if len(asked) == 1 else found(*arguments)

    monkeypatch.setattr(provenance, "find", later)
    before = (tmp_path / "out.blend").stat().st_mtime_ns
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", AIM, "--skip-done")
    assert outcome.code == 0 and "Another run has written" in outcome.row["warnings"][0]
    assert (tmp_path / "out.blend").stat().st_mtime_ns == before


# Several processes


@pytest.mark.slow
def test_two_processes_do_what_one_does(shots, call, tmp_path, monkeypatch) -> None:
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    (shots / "broken.glb").write_bytes(b"glTF")
    one = call("bake", shots, "--output", tmp_path / "one", AIM)
    two = call("bake", shots, "--output", tmp_path / "two", AIM, "--jobs", "2")
    assert (one.code, two.code) == (1, 1)
    assert len(one.rows) == 6 and all(map(same, one.rows, two.rows))
    assert sorted(one.out.replace("/one/", "/two/").splitlines()) == sorted(two.out.splitlines())
    for path in (tmp_path / "one").glob("*.glb"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    assert any("broken.glb" in line for line in two.errors) and "by 2 processes" in two.errors[-1]
    assert not list((tmp_path / "t").iterdir()), "something is left in the temporary folder"


DEADLY = """
import os, signal, sys
sys.path.insert(0, {root!r})
from standalone import load
load().register()
replace = os.replace
def deadly(temporary, final):
    if os.path.basename(final) == "b.blend":
        os.kill(os.getpid(), signal.SIGKILL)
    replace(temporary, final)
os.replace = deadly
os._exit(load("cli.program").main(sys.argv[1:], "test"))
"""


@needs_module
@no_signals
@pytest.mark.slow
def test_a_process_that_is_killed_takes_its_file_alone(shots, call, tmp_path, monkeypatch) -> None:
    script = tmp_path / "worker.py"
    script.write_text(DEADLY.format(root=str(ROOT)))
    monkeypatch.setattr(load("cli.worker_pool"), "program", lambda cores: [sys.executable, str(script)])
    outcome = call("bake", shots, "--output", tmp_path / "out", AIM, "--jobs", "2")
    failed = [row for row in outcome.rows if not row["ok"]]
    assert outcome.code == 1 and names(failed) == ["b.blend"]
    assert "SIGKILL" in failed[0]["error"] and "memory" in failed[0]["error"] and "--jobs" in failed[0]["error"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.blend", "c.blend", "d.glb", "e.glb"]


def test_a_file_for_which_memory_runs_out_is_reported(shots, call, tmp_path, monkeypatch) -> None:
    """Where the system refuses more memory; most kill the process instead."""
    files = load("cli.scene_files")
    read = files.load

    def hungry(path: Path, *arguments: object, **options: object):
        if path.stem == "b":
            raise MemoryError
        return read(path, *arguments, **options)

    monkeypatch.setattr(files, "load", hungry)
    outcome = call("inspect", shots)
    failed = [row for row in outcome.rows if not row["ok"]]
    assert outcome.code == 1 and names(failed) == ["b.blend"] and len(outcome.rows) == 5
    assert "memory" in failed[0]["error"] and "--jobs" in failed[0]["error"] and "report" not in failed[0]["error"]


@pytest.mark.thorough
def test_a_disk_that_is_full_for_one_file_stops_no_other(shots, call, tmp_path, monkeypatch) -> None:
    whole_file = load("rig.whole_file")
    replace = os.replace

    def full(temporary: Path, final: Path) -> None:
        if Path(final).name == "b.blend":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(temporary, final)

    monkeypatch.setattr(whole_file.os, "replace", full)
    outcome = call("bake", shots, "--output", tmp_path / "out", AIM)
    failed = [row for row in outcome.rows if not row["ok"]]
    assert outcome.code == 1 and names(failed) == ["b.blend"] and "the disk is full" in failed[0]["error"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.blend", "c.blend", "d.glb", "e.glb"]


def test_processes_that_do_not_start_are_reported(shots, call, tmp_path, monkeypatch) -> None:
    words = [sys.executable if not bpy.app.binary_path else bpy.app.binary_path, str(tmp_path / "nowhere.py")]
    monkeypatch.setattr(load("cli.worker_pool"), "program", lambda cores: [*words, "--command", "nothing"])
    outcome = call("inspect", shots, "--jobs", "2")
    assert outcome.code == 1 and "cannot be started" in outcome.errors[-1]


@pytest.mark.slow
@needs_module
@no_signals
def test_a_signal_loses_no_row_that_a_process_has_sent(shots, call, tmp_path, monkeypatch) -> None:
    run = load("cli.workers")._Run
    fill = run._fill

    def interrupted(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        fill(*arguments)

    monkeypatch.setattr(run, "_fill", interrupted)
    outcome = call("bake", shots, "--output", tmp_path / "out", AIM, "--jobs", "2")
    assert outcome.code == 128 + signal.SIGTERM
    done = [Path(row["output"]) for row in outcome.rows if row["ok"]]
    assert done and sorted(done) == sorted((tmp_path / "out").iterdir())


@needs_module
@no_signals
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_all_processes_and_leaves_a_report(number, walk_glb, tmp_path) -> None:
    inputs = [shutil.copy(walk_glb, tmp_path / f"{n}.glb") for n in range(12)]
    out, report = tmp_path / "out", tmp_path / "report.json"
    words = ["bake", *inputs, "--output", out, AIM, "--jobs", "2", "--report", report, "--skip-done"]
    # A shell has what it runs in the background ignore SIGINT, which children would inherit.
    before = {item: signal.signal(item, signal.default_int_handler) for item in (signal.SIGINT, signal.SIGTERM)}
    try:
        start = [sys.executable, "cli", *map(str, words)]
        process = subprocess.Popen(start, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    finally:
        for item, handler in before.items():
            signal.signal(item, handler)
    until = time.monotonic() + 60.0
    while not list(out.glob("[0-9]*.glb")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number and "interrupted" in errors and "Traceback" not in errors
    rows = json.loads(report.read_text("utf-8"))
    done = {Path(row["output"]).name for row in rows if row["ok"]}
    assert len(rows) == 12 and 0 < len(done) < 12
    assert {path.name for path in out.iterdir() if not path.name.startswith(".")} >= done
    # A second run removes what was being written, and does only what is left.
    finished = subprocess.run([sys.executable, "cli", *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    assert finished.returncode == 0
    rows = json.loads(report.read_text("utf-8"))
    assert {Path(row["output"]).name for row in rows if row["skipped"]} >= done
    assert len(list(out.iterdir())) == 12


# Kills


def children(number: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def kill(process: subprocess.Popen, *, all_of_it: bool) -> None:
    """Kill a run; its processes too, or wait until they have ended by themselves."""
    if process.poll() is not None:
        return
    others = children(process.pid)
    for number in [process.pid, *(others if all_of_it else [])]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    process.wait(60)
    until = time.monotonic() + 60.0
    while any(Path(f"/proc/{number}/cmdline").exists() for number in others) and time.monotonic() < until:
        time.sleep(0.01)


def identities(folder: Path) -> dict[str, tuple[int, int]]:
    """What tells whether a file was written again."""
    found = {path.name: path.stat() for path in folder.glob("[0-9]*.glb")}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


@needs_module
@pytest.mark.slow
@pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/task").exists(), reason="needs a /proc that lists processes")
def test_kills_and_runs_again(walk_glb, tmp_path) -> None:
    """The same bytes as without kills, nothing left behind, and nothing made twice. LOOKAT_PD_ATTACK=10 kills 30 times.

    Blender itself leaves an empty folder in that for temporary files where it is killed.
    """
    chance = random.Random(None if IS_RANDOM else 16)
    inputs = [shutil.copy(walk_glb, tmp_path / f"{n}.glb") for n in range(12)]
    out, wanted, temporary = tmp_path / "out", tmp_path / "wanted", tmp_path / "t"
    temporary.mkdir()

    def start(output: Path) -> subprocess.Popen:
        words = ["bake", *inputs, "--output", output, AIM, "--jobs", "2", "--report", output / "r.json", "--skip-done"]
        nowhere, environment = subprocess.DEVNULL, {**os.environ, "TMPDIR": str(temporary)}
        start = [sys.executable, "cli", *map(str, words)]
        return subprocess.Popen(start, cwd=ROOT, stdout=nowhere, stderr=nowhere, env=environment)

    began = time.monotonic()
    assert start(wanted).wait(300) == 0
    usual = time.monotonic() - began
    files = {path.name: path.read_bytes() for path in wanted.glob("*.glb")}
    made: dict[str, tuple[int, int]] = {}

    def check() -> None:
        for path in out.glob("[0-9]*.glb"):
            assert path.read_bytes() == files[path.name]
        now = identities(out)
        assert made.items() <= now.items(), "a file was made twice"
        made.update(now)

    for number in range(3 * FACTOR):
        process = start(out)
        time.sleep(chance.uniform(0.0, usual))
        kill(process, all_of_it=chance.random() < 0.5)
        check()
        if len(made) == len(files) or number == 3 * FACTOR - 1:
            assert start(out).wait(300) == 0
            check()
            assert sorted(path.name for path in out.iterdir()) == sorted([*files, "r.json"])
            assert all(row["ok"] for row in json.loads((out / "r.json").read_text("utf-8")))
            shutil.rmtree(out)
            made.clear()
    left = [path for path in temporary.iterdir() if not (path.name.startswith("blender_") and path.is_dir())]
    assert not left and not [path for path in temporary.rglob("*") if path.is_file()]


# Progress


@pytest.mark.slow
def test_progress_for_programs(shots, call, tmp_path) -> None:
    outcome = call("inspect", shots, "--progress", "json")
    told = [json.loads(line) for line in outcome.errors]
    lines = [line for line in told if "event" not in line]
    assert lines[-1] == {"done": 5, "failed": 0, "total": 5, "fraction": 1.0, "seconds_left": 0.0}
    # One at the beginning and one after each file, where none takes long.
    assert [line["done"] for line in lines if line["fraction"] == line["done"] / 5] == [0, 1, 2, 3, 4, 5]
    events = [(line["event"], Path(line["file"]).name) for line in told if "event" in line]
    assert events == [(kind, name) for name in names(outcome.rows) for kind in ("begin", "end")]
    outcome = call("inspect", shots, "--progress", "openjd", "--shard", "1/2")
    told = [line for line in outcome.out.splitlines() if line.startswith("openjd_")]
    assert told[-2:] == ["openjd_progress: 100.0", "openjd_status: 3 of 3 files, 0 failed"]
    assert call("inspect", shots, "--progress", "none").errors == []
