"""Bad files, bad places, bad arguments: one sentence, the right exit code, nothing written or changed."""

import contextlib
import errno
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from extension import load


@pytest.fixture(autouse=True)
def nothing_appears(tmp_path):
    """No test here may leave a temporary file behind."""
    yield
    assert not [path for path in tmp_path.rglob("*") if "lookat_pd-" in path.name]


def broken(kind: str, folder: Path, glb: Path, blend: Path) -> Path:
    """A file that cannot be read, for one of several reasons."""
    path = folder / f"bad{Path(kind).suffix}"
    name = Path(kind).stem
    if name == "folder":
        path.mkdir()
    elif name == "empty":
        path.touch()
    elif name == "text":
        path.write_text("This is text, whatever the suffix says.\n" * 40, "utf-8")
    elif name == "truncated":
        whole = (glb if path.suffix in (".glb", ".vrm") else blend).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    elif name == "header":
        path.write_bytes((glb if path.suffix == ".glb" else blend).read_bytes()[:9])
    elif name == "brackets":
        path.write_text('{"asset": {"version": "2.0"}, "animations": [{"samplers": [{"input": 7}]}]}')
    return path


BROKEN = [
    *(f"missing{suffix}" for suffix in (".blend", ".glb")),
    *(f"{name}{suffix}" for name in ("folder", "empty", "text") for suffix in (".blend", ".glb", ".gltf", ".vrm")),
    *(f"{name}{suffix}" for name in ("empty", "text") for suffix in (".fbx", ".bvh")),
    *("truncated.blend", "truncated.glb", "truncated.vrm", "header.blend", "header.glb", "brackets.gltf"),
    "text.obj",
]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_file_gets_one_sentence(kind, walk, walk_glb, call, tmp_path) -> None:
    path = broken(kind, tmp_path, walk_glb, walk)
    output = tmp_path / "out.blend"
    for verb, words in (("bake", ["--output", output, "--point=0,-2,1.6"]), ("inspect", [])):
        outcome = call(verb, path, *words)
        assert outcome.code == 1
        assert outcome.errors == [f"lookat_pd: {path}: {outcome.row['error']}"]
        assert outcome.row["error"].endswith(".") and "unexpected" not in outcome.row["error"]
        assert outcome.row["ok"] is False and outcome.row["output"] is None
        assert not output.exists()


def test_a_bad_file_does_not_stop_the_others(walk, walk_glb, call, tmp_path) -> None:
    bad = tmp_path / "bad.glb"
    bad.write_bytes(walk_glb.read_bytes()[:500])
    shutil.copy(walk, tmp_path / "second.blend")
    inputs = [walk, bad, tmp_path / "second.blend"]
    outcome = call("bake", *inputs, "--output", tmp_path / "out", "--point=0.5,-2,1.6")
    assert outcome.code == 1
    assert [row["ok"] for row in outcome.rows] == [True, False, True]
    assert [row["input"] for row in outcome.rows] == [str(path) for path in inputs]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["second.blend", "walk.blend"]
    assert len(outcome.errors) == 1 and str(bad) in outcome.errors[0]


def test_input_is_untouched(walk, walk_glb, call, tmp_path) -> None:
    for path in (walk, walk_glb):
        before, stamp = path.read_bytes(), path.stat().st_mtime_ns
        folder = sorted(item.name for item in tmp_path.iterdir())
        assert call("bake", path, "--output", tmp_path / "out" / "a.blend", "--point=0,-2,1.6").code == 0
        assert path.read_bytes() == before and path.stat().st_mtime_ns == stamp
        shutil.rmtree(tmp_path / "out")
        assert sorted(item.name for item in tmp_path.iterdir()) == folder


@pytest.mark.parametrize("way", ["same", "relative", "symlink", "hard link", "folder", "symlinked folder"])
def test_output_may_not_be_the_input(way, walk, call, tmp_path, monkeypatch) -> None:
    before = walk.read_bytes()
    output = walk
    if way == "relative":
        monkeypatch.chdir(tmp_path)
        output = Path("..") / tmp_path.name / "walk.blend"
    elif way == "symlink":
        output = tmp_path / "other.blend"
        output.symlink_to(walk)
    elif way == "hard link":
        output = tmp_path / "other.blend"
        os.link(walk, output)
    elif way == "folder":
        output = tmp_path
    elif way == "symlinked folder":
        output = tmp_path / "elsewhere"
        output.symlink_to(tmp_path)
    outcome = call("bake", walk, "--output", output, "--point=0,-2,1.6")
    assert outcome.code == 1 and "the input" in outcome.row["error"]
    assert walk.read_bytes() == before


def test_output_may_not_be_another_input(walk, call, tmp_path) -> None:
    other = tmp_path / "in" / "second.blend"
    other.parent.mkdir()
    shutil.copy(walk, other)
    before = other.read_bytes()
    outcome = call("bake", walk, other, "--output", tmp_path / "in", "--point=0,-2,1.6")
    assert [row["ok"] for row in outcome.rows] == [True, False]
    assert other.read_bytes() == before


def test_file_in_the_way_of_the_output_folder(walk, call, tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    outcome = call("bake", walk, "--output", tmp_path / "file" / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 1 and "is a file" in outcome.row["error"]
    assert (tmp_path / "file").read_text() == "x"


def test_unwritable_folder_is_reported_before_the_work(walk, call, tmp_path, monkeypatch) -> None:
    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied")

    # Whoever runs the tests may be allowed everything: the refusal is played.
    monkeypatch.setattr(Path, "touch", refuse)
    monkeypatch.setattr(load("cli.scene_files"), "load", lambda *_: pytest.fail("the file was read"))
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6")
    # The report could not be written either, and is checked first.
    assert outcome.code == 2 and "--report" in outcome.errors[0]
    code = load("cli.program").main(
        ["bake", str(walk), "--output", str(tmp_path / "out.blend"), "--point=0,-2,1.6"], "test"
    )
    assert code == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_protected_folder(walk, call, tmp_path) -> None:
    folder = tmp_path / "protected"
    folder.mkdir(mode=0o500)
    outcome = call("bake", walk, "--output", folder / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 1 and str(folder) in outcome.row["error"]


@pytest.mark.parametrize("suffix", [".blend", ".glb"])
@pytest.mark.parametrize("existing", [False, True])
def test_failure_while_writing_leaves_what_was_there(walk, call, tmp_path, monkeypatch, suffix, existing) -> None:
    blender_call = load("cli.blender_call")
    original = blender_call.call

    def half(operator, complaint, **arguments):
        if not arguments["filepath"].endswith("walk.blend"):
            Path(arguments["filepath"]).write_bytes(b"half a file")
            raise load("lookat_pd.errors").FileError("The disk is full; make room.")
        original(operator, complaint, **arguments)

    monkeypatch.setattr(blender_call, "call", half)
    output = tmp_path / "deep" / f"out{suffix}"
    if existing:
        output.parent.mkdir()
        output.write_bytes(b"what was there")
    outcome = call("bake", walk, "--output", output, "--point=0,-2,1.6", "--overwrite")
    assert outcome.code == 1 and outcome.row["error"] == "The disk is full; make room."
    assert output.parent.exists() is existing
    if existing:
        assert output.read_bytes() == b"what was there"
        assert list(output.parent.iterdir()) == [output]


def test_unexpected_exception_becomes_one_line(walk, call, tmp_path, monkeypatch) -> None:
    def fail(*_, **__):
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr(load("rig.look_at.look_at_bake"), "bake", fail)
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 1
    assert outcome.row["error"] == "unexpected: ZeroDivisionError: a bug of two lines; please report"
    assert len(outcome.errors) == 1
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6", "--debug")
    assert any("Traceback" in line for line in outcome.errors)


def test_interruption_ends_the_run_and_is_in_the_report(walk, walk_glb, call, tmp_path, monkeypatch) -> None:
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(load("rig.look_at.look_at_bake"), "bake", interrupt)
    walk_glb = walk_glb.rename(tmp_path / "second.glb")
    outcome = call("bake", walk, walk_glb, "--output", tmp_path / "out", "--point=0,-2,1.6")
    assert outcome.code == 130 and len(outcome.errors) == 1
    assert [row["error"].split()[0] for row in outcome.rows] == ["Interrupted", "Interrupted"]
    assert not (tmp_path / "out").exists()


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
signals = pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)


@pytest.fixture(autouse=True)
def not_ignored() -> Iterator[None]:
    """Whoever started these tests may ignore a signal, as a shell does for what it runs in the background."""
    before = [signal.getsignal(number) for number in SIGNALS]
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in zip(SIGNALS, before, strict=True):
        # Blender's own handler is not one of Python's, which cannot put it back.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


@signals
def test_signals_end_the_run_alike(number, walk, walk_glb, call, tmp_path, monkeypatch) -> None:
    """What is done stays done, the file at hand is left out, and the report tells of all."""
    bake = load("rig.look_at.look_at_bake")
    original, before = bake.bake, [signal.getsignal(item) for item in SIGNALS]
    inputs = [walk, shutil.copy(walk, tmp_path / "second.blend"), walk_glb.rename(tmp_path / "third.glb")]

    def ended(scene, *words):
        if (tmp_path / "out" / "walk.blend").exists():
            signal.raise_signal(number)
        return original(scene, *words)

    monkeypatch.setattr(bake, "bake", ended)
    outcome = call("bake", *inputs, "--output", tmp_path / "out", "--point=0,-2,1.6")
    assert outcome.code == 128 + number
    assert outcome.errors == ["lookat_pd: interrupted; files that are not written yet are left as they were."]
    assert [row["ok"] for row in outcome.rows] == [True, False, False]
    assert [(row["error"] or "done").split()[0] for row in outcome.rows] == ["done", "Interrupted", "Interrupted"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["walk.blend"]
    assert [signal.getsignal(item) for item in SIGNALS] == before


@signals
def test_a_signal_that_blender_swallows_ends_the_run_after_the_file(number, walk, call, tmp_path, monkeypatch) -> None:
    """An exception within a handler or a driver goes no further; the file at hand is finished then."""
    bake = load("rig.look_at.look_at_bake")
    original = bake.bake
    second = shutil.copy(walk, tmp_path / "second.blend")

    def swallowed(*words):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        return original(*words)

    monkeypatch.setattr(bake, "bake", swallowed)
    outcome = call("bake", walk, second, "--output", tmp_path / "out", "--point=0,-2,1.6")
    assert outcome.code == 128 + number
    assert [row["ok"] for row in outcome.rows] == [True, False]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["walk.blend"]


@signals
def test_a_signal_while_writing_lets_the_file_be_finished(number, walk, call, tmp_path, monkeypatch) -> None:
    blender_call = load("cli.blender_call")
    original = blender_call.call
    second = shutil.copy(walk, tmp_path / "second.blend")

    def writing(operator, complaint, **arguments):
        if "lookat_pd-" in arguments["filepath"]:
            signal.raise_signal(number)
        original(operator, complaint, **arguments)

    monkeypatch.setattr(blender_call, "call", writing)
    outcome = call("bake", walk, second, "--output", tmp_path / "out", "--point=0,-2,1.6")
    assert outcome.code == 128 + number
    assert [row["ok"] for row in outcome.rows] == [True, False]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["walk.blend"]
    assert "walk.blend: head, frames 1 to 121" in outcome.out


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_two_signals_at_once_do_not_cost_the_report(walk, call, tmp_path, monkeypatch) -> None:
    """As a terminal, or a service manager, ends what runs in it."""

    def ended(*_, **__):
        try:
            signal.raise_signal(signal.SIGHUP)
        finally:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(load("rig.look_at.look_at_bake"), "bake", ended)
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 129 and outcome.row["error"].startswith("Interrupted")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_what_the_caller_ignores_stays_ignored(walk, call, tmp_path, monkeypatch) -> None:
    """As nohup does with SIGHUP."""
    bake = load("rig.look_at.look_at_bake")
    original = bake.bake

    def on(*words):
        signal.raise_signal(signal.SIGHUP)
        return original(*words)

    monkeypatch.setattr(bake, "bake", on)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6").code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_interruption_within_an_operator_is_one_too() -> None:
    def operator(**_):
        raise RuntimeError("Error: Python: Traceback (most recent call last):\nKeyboardInterrupt\nLocation: x.py:1\n")

    with pytest.raises(KeyboardInterrupt):
        load("cli.blender_call").call(operator, "It cannot be read")


def test_existing_output_is_replaced(walk, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    output.write_bytes(b"old")
    assert call("bake", walk, "--output", output, "--point=0,-2,1.6", "--overwrite").code == 0
    assert output.read_bytes().startswith(b"BLENDER")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.blend", "walk.blend"]


# Arguments: exit code 2, and nothing is touched


def misuse(call, *words: object) -> str:
    outcome = call("bake", *words)
    assert outcome.code == 2 and not outcome.rows
    assert len(outcome.errors) == 1 and outcome.errors[0].startswith("lookat_pd: ")
    return outcome.errors[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--range", "20", "10"], "reversed"),
        (["--range", "10", "10"], "only frame 10"),
        (["--range", "1.5", "10"], "1.5"),
        (["--settle-time", "0"], "0"),
        (["--settle-time=-1"], "-1"),
        (["--settle-time", "nan"], "nan"),
        (["--damping", "bouncy"], "bouncy"),
        (["--level-head", "1.5"], "1.5"),
        (["--damping=-0.5"], "-0.5"),
        (["--fps", "0"], "0"),
        (["--fps", "inf"], "inf"),
        (["--point", "1,2"], "three numbers"),
        (["--point", "1,2,nan"], "finite"),
        (["--point", "1,2,3", "--target", "Ball"], "not allowed with"),
        (["--into", "space"], "space"),
        (["--preset", "Nowhere"], "Nowhere"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_arguments(walk, call, tmp_path, words, expected) -> None:
    assert expected in misuse(call, walk, "--output", tmp_path / "out.blend", *words)
    assert list(tmp_path.iterdir()) == [walk]


def test_output_of_unknown_kind(walk, call, tmp_path) -> None:
    assert ".glb" in misuse(call, walk, "--output", tmp_path / "out.bvh", "--point=0,-2,1")


def test_several_inputs_need_a_folder(walk, walk_glb, call, tmp_path) -> None:
    assert "folder" in misuse(call, walk, walk_glb, "--output", tmp_path / "out.blend", "--point=0,-2,1")


def test_inputs_that_would_be_written_to_one_place(walk, call, tmp_path) -> None:
    other = tmp_path / "Walk.fbx"
    message = misuse(call, walk, other, "--output", tmp_path / "out", "--point=0,-2,1")
    assert str(walk) in message and str(other) in message
    assert not (tmp_path / "out").exists()


def test_report_may_not_replace_a_file_of_the_run(walk, tmp_path, capsys) -> None:
    before = walk.read_bytes()
    for report in (walk, tmp_path / "out.blend"):
        words = ["bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1", "--report", report]
        assert load("cli.program").main([str(word) for word in words], "test") == 2
        assert "--report" in capsys.readouterr().err
    assert walk.read_bytes() == before


def test_bad_gaze_file_names_the_event(walk, call, tmp_path) -> None:
    gaze = tmp_path / "gaze.json"
    gaze.write_text('[{"frame": 1, "point": [0, -2, 1]}, {"frame": 5, "pont": [0, 0, 0]}]')
    message = misuse(call, walk, "--output", tmp_path / "out.blend", "--gaze", gaze)
    assert str(gaze) in message and "event 2" in message and "pont" in message
    assert "missing.json" in misuse(call, walk, "--output", tmp_path / "o.blend", "--gaze", tmp_path / "missing.json")


# What the rig does not allow


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--target", "Bell"], "'Ball'"),
        (["--target", "Hero:hed"], "'head'"),
        (["--target", "Ball:head"], "'Ball'"),
        (["--target", "Hero"], "itself"),
        (["--target", "Hero:head"], "chain"),
        (["--point=0,-2,1", "--bone", "hed"], "'hed'"),
    ],
)
def test_targets_and_bones_that_cannot_be(walk, call, tmp_path, words, expected) -> None:
    outcome = call("bake", walk, "--output", tmp_path / "out.blend", *words)
    assert outcome.code == 1 and expected in outcome.row["error"]
    assert outcome.errors == [f"lookat_pd: {walk}: {outcome.row['error']}"]
    assert not (tmp_path / "out.blend").exists()


def test_file_without_an_armature(call, tools, tmp_path) -> None:
    tools.make_ball()
    source = tools.save(tmp_path / "ball.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball")
    assert outcome.code == 1 and "no armature" in outcome.row["error"]


def test_number_that_is_none_in_a_curve(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    bag = hero.animation_data.action.layers[0].strips[0].channelbags[0]
    bag.fcurves[0].keyframe_points[1].co.y = float("nan")
    source = tools.save(tmp_path / "nan.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball")
    assert outcome.code == 1 and "unexpected" not in outcome.row["error"]
    assert not (tmp_path / "out.blend").exists()


def test_action_without_a_chosen_slot(call, tools, tmp_path) -> None:
    hero = tools.make_character()
    hero.animation_data.action_slot = None
    source = tools.save(tmp_path / "in.blend")
    assert "slot" in call("bake", source, "--output", tmp_path / "out.blend", "--target", "Ball").row["error"]
    words = ["--target", "Ball", "--action", "Walk"]
    assert call("bake", source, "--output", tmp_path / "out.blend", *words).row["error"] is None


def test_linked_armature(call, tools, walk, tmp_path) -> None:
    with bpy.data.libraries.load(str(walk), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(walk), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Hero"])
    source = tools.save(tmp_path / "linked.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 1 and "override" in outcome.row["error"]


def test_report_is_written_when_all_failed_and_is_plain_json(call, tmp_path) -> None:
    outcome = call("bake", tmp_path / "none.blend", "--output", tmp_path / "out.blend")
    assert outcome.code == 1
    row = outcome.row
    unknown = ("output", "rig", "bone", "aim_axis", "chain", "frames", "fps", "settled_error_deg")
    assert all(row[field] is None for field in unknown)
    text = load("cli.report").text([{**row, "settled_error_deg": float("nan"), "list": [float("inf"), -0.0]}])
    plain = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert plain[0]["settled_error_deg"] is None and plain[0]["list"] == [None, 0.0]


# A disk that is full

_LEAST = 20_000
"""Bytes that a file may have here: less than the character as a .blend."""


@pytest.fixture
def short_of_space():
    """Files may not become longer than `_LEAST`: Blender fails in the midst of writing, as on a full disk."""
    resource = pytest.importorskip("resource", reason="this system has no such limit")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextlib.contextmanager
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LEAST, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


def test_a_disk_that_fills_up_is_reported(walk, call, tmp_path, monkeypatch, short_of_space) -> None:
    """Blender itself says 'No such file or directory'."""
    assert walk.stat().st_size > 2 * _LEAST
    whole_file = load("rig.whole_file")
    monkeypatch.setattr(whole_file.shutil, "disk_usage", lambda folder: SimpleNamespace(free=_LEAST))
    output = tmp_path / "out.blend"
    output.write_bytes(b"what was there")
    with short_of_space():
        outcome = call("bake", walk, "--output", output, "--point=0,-2,1.6", "--overwrite")
    assert outcome.code == 1
    assert outcome.row["error"] == (
        f"{output} cannot be written because the disk is full; free some space, or choose another folder."
    )
    assert output.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.blend", "walk.blend"]


def test_another_reason_of_the_system_is_reported(walk, call, tmp_path, short_of_space) -> None:
    """A quota or a limit, with room on the disk."""
    with short_of_space():
        outcome = call("bake", walk, "--output", tmp_path / "out.blend", "--point=0,-2,1.6")
    assert outcome.code == 1
    assert "File too large" in outcome.row["error"] and "No such file" not in outcome.row["error"]
    assert list(tmp_path.iterdir()) == [walk]


@pytest.mark.parametrize("suffix", [".blend", ".glb"])
def test_a_full_disk_that_blender_reports(walk, call, tmp_path, monkeypatch, suffix) -> None:
    said = {
        ".blend": "Error: No space left on device\n",
        ".glb": 'Error: Python: Traceback (most recent call last):\n  File "export.py", line 120, in save_gltf\n'
        "    file.close()\nOSError: [Errno 28] No space left on device\nLocation: x.py:1\n",
    }
    blender_call, original = load("cli.blender_call"), load("cli.blender_call").call

    def full(operator, complaint, **arguments):
        if arguments["filepath"].endswith("walk.blend"):
            return original(operator, complaint, **arguments)

        def fail(**_):
            raise RuntimeError(said[suffix])

        return original(fail, complaint, **arguments)

    monkeypatch.setattr(blender_call, "call", full)
    outcome = call("bake", walk, "--output", tmp_path / f"out{suffix}", "--point=0,-2,1.6")
    assert outcome.code == 1 and "the disk is full" in outcome.row["error"]


def test_a_report_that_does_not_fit_is_reported(tmp_path, walk, capsys, monkeypatch) -> None:
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    report = tmp_path / "report.json"
    assert load("cli.program").main(["inspect", str(walk), "--report", str(report)], "test") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"lookat_pd: {report} cannot be written because the disk is full; free some space, or choose another folder."
    ]
