"""One line for each result and each complaint, whatever names hold."""

import json
from pathlib import Path

import bpy
import pytest

from extension import load

NASTY = "He\nro\x1b[2J\r\x85\u2028\x00".rstrip("\x00")
TOLD = "He\\nro\\x1b[2J\\r\\x85\\u2028"


def is_plain(line: str) -> bool:
    """Whether a terminal shows this as one line and does nothing else."""
    return line.isprintable() and line.splitlines() == [line]


@pytest.fixture
def nasty(tools, tmp_path) -> Path:
    """The character in a file, an armature, and with an action and a target, of names with control characters."""
    hero = tools.make_character()
    hero.name = hero.animation_data.action.name = NASTY
    bpy.data.objects["Ball"].name = f"Ball{NASTY}"
    hero.pose.bones["head"].name = "he\nad"
    return tools.save(tmp_path / "wa\nlk\x1b.blend")


def test_a_result_is_one_line(nasty, call, tmp_path, capsys) -> None:
    output = tmp_path / "o\nut.blend"
    words = ["bake", str(nasty), "--bone", "he\nad", "--point=0.5,-2,1.7", "--output", str(output)]
    assert load("cli.program").main(words, "test") == 0
    out, err = capsys.readouterr()
    assert output.exists() and not err
    assert out.endswith("\n") and is_plain(out[:-1])
    assert "wa\\nlk\\x1b.blend" in out and "o\\nut.blend" in out and ": he\\nad," in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--rig", "no\nbody"], "no\\nbody"),
        (["--rig", NASTY, "--bone", "no\rbone"], "no\\rbone"),
        (["--action", "no\x1baction"], "no\\x1baction"),
        (["--action", "nothing"], TOLD),
        (["--target", "no\u2028thing"], "no\\u2028thing"),
    ],
)
def test_a_complaint_is_one_line(words, expected, nasty, tmp_path, capsys) -> None:
    point = [] if "--target" in words else ["--point=0.5,-2,1.7"]
    line = ["bake", str(nasty), "--output", str(tmp_path / "out.blend"), *point, *words]
    assert load("cli.program").main(line, "test") == 1
    out, err = capsys.readouterr()
    assert not out and err.endswith("\n") and is_plain(err[:-1]), err
    assert err.startswith("lookat_pd: ") and "wa\\nlk\\x1b.blend: " in err and expected in err


def test_wrong_arguments_are_one_line(nasty, tmp_path, capsys) -> None:
    for words in (["--dan\nce"], ["--into", "no\nwhere"], ["--gaze", "no\nfile.json"], ["--preset", "no\nne"]):
        line = ["bake", str(nasty), "--output", str(tmp_path / "out.blend"), *words]
        assert load("cli.program").main(line, "test") == 2
        err = capsys.readouterr().err
        assert err.endswith("\n") and is_plain(err[:-1]), err


def test_inspect_has_a_line_for_each_thing(nasty, tools, call, capsys) -> None:
    outcome = call("inspect", nasty)
    lines = outcome.out.split("\n")
    assert outcome.code == 0 and all(map(is_plain, filter(None, lines)))
    assert f"rig {TOLD}: " in outcome.out and f"action {TOLD}: " in outcome.out
    assert f"Ball{TOLD}" in outcome.out and "he\\nad" in outcome.out


def test_reports_keep_names_and_stay_lines(nasty, call, capsys) -> None:
    outcome = call("inspect", nasty, "--json")
    lines = outcome.out.split("\n")
    assert all(map(is_plain, filter(None, lines)))
    assert json.loads(outcome.out)[0]["rig"] == NASTY and outcome.row["input"] == str(nasty)


def test_notes_are_the_same_in_the_report(nasty, tools, call, tmp_path) -> None:
    tools.reopen(nasty)
    prop = bpy.data.objects.new("other\nrig", bpy.data.armatures.new("prop"))
    bpy.context.scene.collection.objects.link(prop)
    source = tools.save(tmp_path / "two.blend")
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--point=0.5,-2,1.7")
    assert outcome.row["warnings"] and all(map(is_plain, outcome.row["warnings"]))
    assert outcome.errors == [f"lookat_pd: {source}: note: {note}" for note in outcome.row["warnings"]]


def test_progress_is_one_line(nasty, monkeypatch, capsys) -> None:
    console = load("cli.console")
    monkeypatch.setattr(console, "_FIRST_LINE", 0.0)
    with console.Console() as shown:
        shown.tally(2)
        shown.begin(nasty, 1)
        shown.progress(0.5, "reading a\nfile")
    err = capsys.readouterr().err
    assert err and all(map(is_plain, filter(None, err.split("\n"))))
    assert "wa\\nlk\\x1b.blend" in err
