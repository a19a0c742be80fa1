"""The documents as text: their blocks of code, the commands in them, and what they say that these print.

Where WRITE is set, as `LOOKAT_PD_WRITE_PAGES=1` does, tests write what is printed into the pages instead of failing.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITE = "LOOKAT_PD_WRITE_PAGES" in os.environ
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^(```+)(\w*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_TOOK = re.compile(r" \([\d.]+ s\)\.$|(?<= in )[\d.]+ s\b", re.MULTILINE)
_PROGRESS = re.compile(r"^lookat_pd: \S+: [a-z ]+ +\d+%\n", re.MULTILINE)
_TINY = re.compile(r"\b\d\.\d+e-\d+\b")


def on_the_newest(test: Callable) -> Callable:
    """Marks a test of printed figures: they are those of the newest Blender, of which `make test` has the module."""
    is_it = bpy.app.version >= (5, 2) and not bpy.app.binary_path
    return pytest.mark.slow(pytest.mark.skipif(not is_it, reason="the pages show what Blender 5.2 prints")(test))


@dataclass(frozen=True)
class Block:
    """A block of code."""

    place: str
    """File and line."""
    language: str
    """As the page has it, "" where it says none."""
    text: str
    output: str
    """The block after it, which shows what it prints, "" where there is none."""


@dataclass(frozen=True)
class Command:
    """A command of the command line, as it would be typed."""

    place: str
    words: tuple[str, ...]
    """Without `python cli`."""
    output: str


def blocks() -> Iterator[Block]:
    for path in PAGES:
        text = path.read_text("utf-8")
        found = list(_BLOCK.finditer(text))
        for one, after in zip(found, [*found[1:], None], strict=False):
            line = text.count("\n", 0, one.start()) + 1
            shows = one[2] == "python" and after and not after[2] and text[one.end() : after.start()] == "\n\n"
            yield Block(f"{path.relative_to(ROOT)}:{line}", one[2], one[3], after[3] if shows and after else "")


def commands() -> Iterator[Command]:
    """Those that begin a line with `python cli`, after a $ or without, and can be typed as they stand."""
    for block in blocks():
        if block.language not in ("", "sh", "bash"):
            continue
        lines = block.text.replace("\\\n", " ").splitlines()
        starts = [n for n, line in enumerate(lines) if re.match(r"(\$ )?python cli ", line)]
        for start in starts:
            words = shlex.split(re.sub(r"^(\$ )?python cli ", "", lines[start]), comments=True)
            if "…" in lines[start] or "|" in words or any("$" in word for word in words):
                continue
            ends = [n for n in range(start + 1, len(lines)) if lines[n].startswith("$ ")]
            output = lines[start + 1 : ends[0] if ends else None] if lines[start].startswith("$") else []
            yield Command(block.place, tuple(words), "\n".join(output).strip("\n"))


def masked(text: str) -> str:
    """A text that was printed, without what differs from run to run: times, errors that are rounding alone, and how
    paths are written."""
    return _TINY.sub("tiny", _TOOK.sub(" TIME", text.strip("\n"))).replace("\\", "/")


def compare(place: str, shown: str, printed: str) -> None:
    """Fail where a page does not show what was printed, or write it there."""
    printed = _PROGRESS.sub("", printed)
    if not agrees(shown, printed):
        if WRITE and not re.search(r"^\s*…$", shown, re.MULTILINE):
            write(place, shown.strip("\n"), printed.strip("\n"))
        raise AssertionError(f"{shown}\n\nis shown; it prints\n\n{printed}")


def write(place: str, shown: str, printed: str) -> None:
    """Put one text in the place of another, at or below that line."""
    path, _, line = place.partition(":")
    lines = (ROOT / path).read_text("utf-8").split("\n")
    above, below = "\n".join(lines[: int(line) - 1]), "\n".join(lines[int(line) - 1 :])
    (ROOT / path).write_text(f"{above}\n{below.replace(shown, printed, 1)}", "utf-8")


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; a line … stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\s*…\n", masked(shown) + "\n", flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), masked(printed) + "\n") is not None
