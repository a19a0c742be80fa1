"""Every entry of a report has every field that the page of the command line lists."""

import json
import mmap
import os
import re
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from extension import load

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "command-line.md"
VERBS = [verb.NAME for verb in load("cli.verbs").VERBS if verb.NAME not in ("job", "report")]
every_verb = pytest.mark.parametrize("verb", VERBS)


def documented(heading: str) -> list[str]:
    """Fields in the tables of a section of the page, below subheadings too."""
    text = PAGE.read_text("utf-8")
    section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, heading
    tables = re.findall(r"^\| field \| \|\n\|---\|---\|\n((?:\|.*\n)+)", section[1], re.MULTILINE)
    cells = [line.split("|")[1] for table in tables for line in table.splitlines()]
    return [field for cell in cells for field in re.findall(r"`(\w+)`", cell)]


def promised(verb: str) -> list[str]:
    own = documented(f"`{verb}`")
    assert own or verb == "bake", "the section lists no fields"
    return documented("The report") + own


WORDS = {
    "bake": ["--target", "Ball"],
    "ik": ["--bone", "foot.L", "--target", "Ball"],
    "inertialize": ["--loop"],
    "interpolate": ["--bone", "head", "--bone", "neck"],
    "reach": ["--bone", "foot.L", "--point", "0.2,-0.3,0.4", "--range", "1", "12", "--passes", "2"],
    "hit": ["--hit", "5,head,0,10,0"],
    "follow": ["--bone", "head", "--settle-time", "0.3"],
    "springs": ["--bones", "head", "--settle-time", "0.3"],
    "inspect": [],
}


def words(verb: str, output: Path) -> list[object]:
    return WORDS[verb] if verb == "inspect" else [*WORDS[verb], "--output", output]


@pytest.mark.every_blender
@every_verb
def test_entries_have_all_documented_fields(verb, walk, call, tmp_path) -> None:
    if verb in ("interpolate", "reach"):
        pytest.importorskip("mujoco", reason="the engine of dynamics is not installed")
    bad = tmp_path / "bad.blend"
    bad.write_text("no .blend")
    outcome = call(verb, bad, tmp_path / "missing.glb", walk, *words(verb, tmp_path / "out"))
    assert [row["ok"] for row in outcome.rows] == [False, False, True], outcome.errors
    for row in outcome.rows:
        assert sorted(row) == sorted(promised(verb))
    for row in outcome.rows[:2]:
        known = {name for name, value in row.items() if value is not None}
        assert known == {
            *("input", "ok", "error", "code", "seconds", "version", "blender", "warnings", "note_codes", "run")
        }


@every_verb
def test_entries_of_a_run_that_was_interrupted_have_them_too(verb, walk, call, tmp_path, monkeypatch) -> None:
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(load("cli.scene_files"), "load", interrupt)
    outcome = call(verb, walk, tmp_path / "other.glb", *words(verb, tmp_path / "out"))
    assert len(outcome.rows) == 2
    for row in outcome.rows:
        assert sorted(row) == sorted(promised(verb)) and row["error"].startswith("Interrupted")


@every_verb
def test_a_file_that_fails_halfway_has_them_too(verb, call, tools, tmp_path) -> None:
    tools.make_ball()
    source = tools.save(tmp_path / "ball.blend")
    outcome = call(verb, source, *words(verb, tmp_path / "out.blend"))
    assert outcome.code == (0 if verb == "inspect" else 1)
    assert sorted(outcome.row) == sorted(promised(verb))


# Where it goes: nothing but a regular file is ever replaced


@pytest.fixture
def special(request, tmp_path) -> Iterator[Path]:
    """Something in the file system that is no file: a socket, a device that only root can make, or a link to one."""
    path = tmp_path / "special"
    with socket.socket(socket.AF_UNIX) as held:
        if request.param == "device":
            if os.geteuid():
                pytest.skip("only root makes devices")
            # The same as /dev/null, at a place of its own.
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        else:
            held.bind(str(path))
        if request.param == "link":
            path = tmp_path / "link"
            path.symlink_to(tmp_path / "special")
        yield path


needs_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


@needs_posix
@pytest.mark.parametrize("special", ["socket", "device", "link"], indirect=True)
@pytest.mark.parametrize("flag", ["--report", "--output"])
def test_what_is_no_file_is_refused_and_stays(flag, special, walk, call, tmp_path) -> None:
    before = os.lstat(special)
    words = {"--output": tmp_path / "out.blend", "--report": tmp_path / "report.json", flag: special}
    if flag == "--output":
        special = special.rename(special.with_suffix(".blend"))
        words[flag] = special
    outcome = call("bake", walk, "--point=0,-2,1.6", *(word for pair in words.items() for word in pair))
    assert outcome.code and "not a file" in outcome.errors[0] and str(special) in outcome.errors[0]
    after = os.lstat(special)
    assert (before.st_ino, before.st_mode, before.st_rdev) == (after.st_ino, after.st_mode, after.st_rdev)
    assert {path.name for path in tmp_path.iterdir()} <= {
        "special",
        "special.blend",
        "link",
        "link.blend",
        walk.name,
        "report.json",
    }


@needs_posix
def test_a_pipe_is_written_through(walk, call, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert call("inspect", walk, "--report", pipe).code == 0
        assert json.loads(os.read(reader, 1 << 20))[0]["ok"]
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@needs_posix
def test_a_pipe_that_nobody_reads_is_reported(walk, call, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = call("inspect", walk, "--report", pipe)
    assert outcome.code and str(pipe) in outcome.errors[-1]


def test_a_dash_is_standard_output(walk, call, capsys) -> None:
    assert call("inspect", walk, "--report", "-").code == 0
    assert not Path("-").exists()


READ = {
    "bake": (["--gaze"], [{"frame": 1, "point": [0, -2, 1.6]}]),
    "ik": (["--bone", "foot.L", "--path"], [{"frame": 1, "point": [0, -2, 1.6]}, {"frame": 9, "point": [0, -2, 1]}]),
    "inertialize": (["--list"], [{"clip": "Walk"}, {"clip": "Walk", "frame": 30}]),
}


@pytest.mark.parametrize("verb", READ)
def test_a_file_that_is_read_is_not_overwritten(verb, walk, call, tmp_path) -> None:
    read = tmp_path / "read.json"
    words, content = READ[verb]
    read.write_text(json.dumps(content), "utf-8")
    before = read.read_bytes()
    outcome = call(verb, walk, *words, read, "--output", tmp_path / "out.blend", "--report", read)
    assert outcome.code == 2 and "also an input" in outcome.errors[0]
    assert read.read_bytes() == before and not (tmp_path / "out.blend").exists()


@needs_posix
def test_a_file_that_is_replaced_stays_whole_for_who_has_it_open(tmp_path) -> None:
    """Blender maps the files that it has open; one that was cut short meanwhile would end it (SIGBUS)."""
    path = tmp_path / "open.blend"
    path.write_bytes(b"before" * 10_000)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as seen:
        with load("rig.whole_file").writing(path) as temporary:
            temporary.write_bytes(b"after")
        assert seen[:] == b"before" * 10_000
    assert path.read_bytes() == b"after"


@needs_posix
def test_what_a_killed_run_left_is_removed_by_the_next_one(walk, call, tmp_path) -> None:
    """Of processes of this machine that are gone, and of no others."""
    whole_file = load("rig.whole_file")
    gone = subprocess.Popen(["true"])
    gone.wait()
    names = {
        f".lookat_pd-{whole_file._machine()}-{gone.pid}-00.blend": False,
        f".lookat_pd-{whole_file._machine()}-{os.getpid()}-00.blend": True,
        f".lookat_pd-elsewhere-{gone.pid}-00.blend": True,
        ".lookat_pd-notes.txt": True,
    }
    for name in names:
        (tmp_path / name).write_text("half of a file", "utf-8")
    assert call("inspect", walk, "--report", tmp_path / "report.json").code == 0
    assert {name: (tmp_path / name).exists() for name in names} == names
