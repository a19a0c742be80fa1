"""Commands in the documents: each is understood, and those on files that can be had print what the page shows."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extension import load

from . import pages

COMMANDS = list(pages.commands())
MAKERS = {
    "knight.glb": "gltf/kaykit_knight.glb",
    "fox.glb": "gltf/khronos_fox.glb",
    "start.bvh": "bvh/cmu_131_01_start_walk_stop.bvh",
    "stop.bvh": "bvh/cmu_131_02_start_walk_stop.bvh",
    "walk.bvh": "bvh/cmu_131_01_start_walk_stop.bvh",
}
"""What the pages call files of other makers."""
UNVARIED = {"seconds", "run", "version", "blender"}
"""Fields of the report that differ from run to run."""


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) > 30
    assert sum(bool(command.output) for command in COMMANDS) > 15


@pytest.mark.parametrize(
    ("shown", "agrees"),
    [
        ("a\nb\nc", True),
        ("…\nc", True),
        ("a\n  …", True),
        ("a\n…\nc", True),
        ("…", True),
        ("a\nc", False),
        ("…\nb", False),
    ],
)
def test_dots_stand_for_lines(shown, agrees) -> None:
    assert pages.agrees(shown, "a\nb\nc") == agrees


def test_times_and_progress_do_not_count() -> None:
    assert pages.agrees("Baked 'x' (4 bones) (0.86 s).", "Baked 'x' (4 bones) (1.24 s).\n")
    assert not pages.agrees("blended at 60 (0.32 s)", "blended at 60 (0.57 s)")
    pages.compare("README.md:1", "done", "lookat_pd: a.glb: comparing actions  19%\ndone\n")


def test_every_command_is_understood(subtests) -> None:
    parser, arguments = load("cli.program").parser("python cli"), load("cli.arguments")
    for command in COMMANDS:
        with subtests.test(command.place, words=command.words):
            parser.parse_args(arguments.join_negative_numbers(command.words))


# What they print


def _inputs(command: pages.Command) -> set[str]:
    """Files that it reads, as far as their names tell."""
    written = {command.words.index(flag) + 1 for flag in ("--output", "--report") if flag in command.words}
    words = [word for number, word in enumerate(command.words) if number not in written]
    return {word for word in words if re.search(r"\.(blend|glb|gltf|vrm|fbx|bvh|json|srt)$", word)}


def _run(command: pages.Command, folder: Path) -> str:
    """What a command prints, errors too."""
    words = [sys.executable, str(pages.ROOT / "cli"), *command.words]
    done = subprocess.run(words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout


def _check(folder: Path, having: set[str], subtests) -> int:
    """Run all commands for whose inputs there are files; how many."""
    wanted = [one for one in COMMANDS if one.output and (reads := _inputs(one)) and reads <= having]
    for command in wanted:
        with subtests.test(command.place, words=command.words):
            pages.compare(command.place, command.output, _run(command, folder))
    return len(wanted)


def _json_below(page: str, words: str) -> Any:
    """The first block of JSON below these words of a page."""
    text = (pages.ROOT / page).read_text("utf-8")
    return json.loads(_found(r"```json\n(.*?)```", text[text.index(words) :]))


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.DOTALL)
    assert found is not None, pattern
    return found[1]


def _differing(shown: Any, printed: Any, path: str = "") -> list[str]:
    """What a page shows otherwise than it is; it may leave fields out."""
    if isinstance(shown, dict):
        fields = [(key, value) for key, value in shown.items() if key not in UNVARIED]
        return [line for key, value in fields for line in _differing(value, printed.get(key), f"{path}.{key}")]
    if isinstance(shown, list) and len(shown) == len(printed):
        pairs = enumerate(zip(shown, printed, strict=True))
        return [line for number, pair in pairs for line in _differing(*pair, f"{path}[{number}]")]
    same = shown == (pytest.approx(printed, rel=1e-2, abs=1e-6) if isinstance(shown, float) else printed)
    return [] if same else [f"{path}: {printed}, not {shown}"]


@pages.on_the_newest
def test_commands_on_the_demo_print_what_the_pages_show(demo, tmp_path, subtests) -> None:
    (tmp_path / "build").mkdir()
    shutil.copytree(demo, tmp_path / "build/demo")
    (tmp_path / "gaze.json").write_text(json.dumps(_json_below("docs/command-line.md", "gaze file")), "utf-8")
    talk = _found(r"\$ cat talk\.srt\n(.*?)\n\$ ", (pages.ROOT / "docs/command-line.md").read_text("utf-8"))
    (tmp_path / "talk.srt").write_text(talk, "utf-8")
    files = {f"build/demo/{path.name}" for path in demo.iterdir()}
    assert _check(tmp_path, files | {"gaze.json", "talk.srt"}, subtests) > 8
    with subtests.test("the report"):
        report = json.loads((tmp_path / "build/report.json").read_text("utf-8"))
        assert not _differing(_json_below("docs/command-line.md", "## The report"), report)
    with subtests.test("the report of a conversation"):
        report = json.loads((tmp_path / "build/talk.json").read_text("utf-8"))
        assert not _differing(_json_below("docs/command-line.md", "build/talk.json"), report[0]["conversation"])


@pages.on_the_newest
def test_commands_on_rigs_of_other_makers_print_what_the_pages_show(rigs, tmp_path, subtests) -> None:
    for name, path in MAKERS.items():
        shutil.copy(rigs / path, tmp_path / name)
    clips = _json_below("docs/command-line.md", "### The clip list")
    (tmp_path / "clips.json").write_text(json.dumps(clips), "utf-8")
    (tmp_path / "wrong.json").write_text(json.dumps(clips).replace("Walk", "Wolk"), "utf-8")
    assert _check(tmp_path, {*MAKERS, "clips.json", "wrong.json"}, subtests) > 8
