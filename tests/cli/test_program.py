"""The two ways in: `python cli` and `blender --command lookat_pd`."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from extension import load

ROOT = Path(__file__).resolve().parent.parent.parent


def run(command: list[object], **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, timeout=300)


def python(*words: object) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "cli", *words])


def blender(*words: object) -> subprocess.CompletedProcess[str]:
    # The packages laid beside Blender for the tests are not for the Blender started here.
    return run([bpy.app.binary_path, "--command", "lookat_pd", *words])


needs_module = pytest.mark.skipif(bool(bpy.app.binary_path), reason="in a real Blender there is --command")
needs_program = pytest.mark.skipif(not bpy.app.binary_path, reason="bpy as a module has no program to start")


@pytest.fixture(
    params=[
        pytest.param(python, marks=needs_module),
        pytest.param(blender, marks=[needs_program, pytest.mark.every_blender]),
    ]
)
def way(request):
    return request.param


@pytest.mark.slow
def test_bake_of_several_files(way, walk, walk_glb, tmp_path) -> None:
    inputs = [walk, tmp_path / "missing.glb", walk_glb.rename(tmp_path / "other.glb")]
    report = tmp_path / "report.json"
    done = way("bake", *inputs, "--output", tmp_path / "out", "--point=0.5,-2,1.7", "--report", report)
    assert done.returncode == 1
    assert f"lookat_pd: {inputs[1]}: There is no such file; check the path." in done.stderr.splitlines()
    assert "Traceback" not in done.stderr + done.stdout
    rows = json.loads(report.read_text("utf-8"))
    assert [row["ok"] for row in rows] == [True, False, True]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["other.glb", "walk.blend"]
    assert all(row["settled_error_deg"] < 0.1 for row in rows if row["ok"])


@pytest.mark.thorough
def test_exit_codes(way, walk, tmp_path) -> None:
    assert way("dance", walk).returncode == 2
    assert not list(ROOT.glob("*.json"))


@pytest.mark.slow
def test_help_fits_the_way_in(way) -> None:
    wanted = "python cli" if way is python else "blender --command lookat_pd"
    done = way("bake", "--help")
    assert done.returncode == 0 and f"usage: {wanted} bake" in done.stdout


@pytest.mark.slow
@needs_module
def test_blenders_chatter_stays_off_both_streams(walk_glb, tmp_path) -> None:
    # With this set, as studios have it, Blender prints even while it loads.
    done = run([sys.executable, "cli", "inspect", walk_glb, "--json"], OCIO="nowhere.ocio")
    assert json.loads(done.stdout)[0]["ok"]
    done = python("bake", walk_glb, "--output", tmp_path / "out.glb", "--point=0.5,-2,1.7")
    assert len(done.stdout.splitlines()) == 1 and not done.stderr
    assert "glTF import" in python("inspect", walk_glb, "--debug").stderr


@pytest.mark.slow
@needs_module
def test_a_reader_who_leaves_is_no_failure(walk) -> None:
    words = [sys.executable, "cli", "inspect", str(walk)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def test_a_signal_while_a_folder_is_tried_leaves_nothing_in_it(tmp_path, monkeypatch) -> None:
    touch = Path.touch

    def interrupted(path: Path, **given: bool) -> None:
        touch(path, **given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "touch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("rig.whole_file").check_writable(tmp_path / "out.blend")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_signals_leave_a_report_and_whole_files(number, walk, tmp_path) -> None:
    inputs = [shutil.copy(walk, tmp_path / f"{n}.blend") for n in range(200)]
    folder, report = tmp_path / "out", tmp_path / "report.json"
    start = [sys.executable, "cli"] if not bpy.app.binary_path else [bpy.app.binary_path, "--command", "lookat_pd"]
    words = ["bake", *inputs, "--output", folder, "--point=0.5,-2,1.7", "--report", report]
    # A shell has what it runs in the background ignore SIGINT, and nohup SIGHUP: children would inherit that.
    before = {item: signal.signal(item, signal.default_int_handler) for item in ENDS}
    try:
        process = subprocess.Popen([*map(str, [*start, *words])], stderr=subprocess.PIPE, cwd=ROOT, text=True)
    finally:
        for item, handler in before.items():
            # Of a handler that was not Python's, Python gives none back.
            signal.signal(item, signal.SIG_DFL if handler is None else handler)
    with process:
        until = time.monotonic() + 120.0
        while not (folder / "1.blend").exists() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        err = process.communicate(timeout=120)[1]
    assert process.returncode == 128 + number, err
    assert err.splitlines()[-1] == "lookat_pd: interrupted; files that are not written yet are left as they were."
    rows = json.loads(report.read_text("utf-8"))
    done = [row for row in rows if row["ok"]]
    assert len(rows) == len(inputs) and 1 < len(done) < len(inputs)
    assert all(row["ok"] or row["error"].startswith("Interrupted") for row in rows)
    assert sorted(folder.iterdir()) == sorted(Path(row["output"]) for row in done)
    assert all(path.read_bytes().startswith(b"BLENDER") for path in folder.iterdir())


@needs_module
def test_python_without_blender_is_reported_what_to_install(tmp_path) -> None:
    program = (
        "import sys, runpy; sys.modules['bpy'] = None; sys.argv[0] = 'cli'; runpy.run_path('cli', run_name='__main__')"
    )
    done = run([sys.executable, "-c", program])
    assert done.returncode == 1
    assert done.stderr.startswith("lookat_pd: ") and "pip install bpy" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
@needs_module
def test_works_from_any_folder_and_says_nothing_else(walk_glb, tmp_path) -> None:
    words = [sys.executable, str(ROOT / "cli"), "inspect", walk_glb.name, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0 and not done.stderr
    assert json.loads(done.stdout)[0]["rig"] == "Hero"


def test_no_file_hides_a_module_of_python() -> None:
    """`python cli` puts the folder first where Python looks for modules until its own line is run."""
    folder = Path(load("cli").__file__).parent
    assert not {path.stem for path in folder.glob("*.py")} & set(sys.stdlib_module_names)
    assert importlib.util.find_spec("numpy") is not None


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["--point", "-1,2,3"], ["--point=-1,2,3"]),
        (["--point=-1,2,3", "a.blend"], ["--point=-1,2,3", "a.blend"]),
        (["--range=-10", "20"], ["--range", "-10", "20"]),
        (["--range", "-10", "-5"], ["--range", "-10", "-5"]),
        (["bake", "--", "--point", "x"], ["bake", "--", "--point", "x"]),
        (["--point"], ["--point"]),
    ],
)
def test_leading_minus(words, joined) -> None:
    assert load("cli.arguments").join_negative_numbers(words) == joined


@pytest.mark.slow
@needs_module
@pytest.mark.parametrize(
    ("words", "code"), [(["--jobs", "2"], 0), (["--jobs", "2", "--no-such-option"], 2), (["--jobs", "two"], 2)]
)
def test_processes_that_start_before_the_arguments_are_read_leave_nothing(walk, tmp_path, words, code) -> None:
    """They start while this one loads Blender, and nobody knows yet whether there is work for them."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    done = run([sys.executable, "cli", "inspect", walk, "--json", *words], TMPDIR=str(temporary))
    assert done.returncode == code and len(done.stderr.splitlines()) == (code == 2)
    assert not list(temporary.iterdir())


@needs_module
@pytest.mark.parametrize(
    "words", [[], ["--jobs", "1"], ["--jobs", "x"], ["--jobs"], ["--jobs", "2", "--worker", "1 s"]]
)
def test_no_process_starts_early_where_none_is_asked_for(words) -> None:
    assert load("cli.worker_pool").early(["inspect", "a.blend", *words]) is None


@pytest.mark.slow
@needs_module
def test_processes_that_started_early_do_the_work(walk, tmp_path) -> None:
    inputs = [shutil.copy(walk, tmp_path / f"{name}.blend") for name in "abc"]
    words = ["bake", *inputs, "--point=0.5,-2,1.7", "--report", tmp_path / "report.json"]
    done = python(*words, "--output", tmp_path / "two", "--jobs", "2")
    assert done.returncode == 0 and "by 2 processes" in done.stderr
    assert all(row["ok"] for row in json.loads((tmp_path / "report.json").read_text("utf-8")))
    assert len(list((tmp_path / "two").iterdir())) == 3
