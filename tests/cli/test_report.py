"""Every entry of a report has every field that the page of the command line lists."""

import re
from pathlib import Path

import pytest

from extension import load

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "command-line.md"
VERBS = [verb.NAME for verb in load("cli.verbs").VERBS]
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
    "inspect": [],
}


def words(verb: str, output: Path) -> list[object]:
    return WORDS[verb] if verb == "inspect" else [*WORDS[verb], "--output", output]


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
        assert known == {"input", "ok", "error", "seconds", "blender", "warnings"}


@every_verb
def test_entries_of_a_run_that_was_interrupted_have_them_too(verb, walk, call, tmp_path, monkeypatch) -> None:
    def interrupt(*_):
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
