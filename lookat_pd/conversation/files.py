"""Turns from text: lists of lines, subtitles (SRT), tables (CSV) and JSON."""

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError

_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+)[,.](\d+)")
_LINE = re.compile(
    r"^\s*(?P<time>(?:\d+:)*\d+(?:[.,]\d+)?)\s*(?P<frame>f)?\s+(?P<name>[^:]+?)\s*(?::\s*(?P<text>.*))?$"
)
_LATEST = 1e6
"""Largest time [s] or frame, of either sign."""


@dataclass(frozen=True)
class Line:
    """`name` speaks from `time` [s] on, or from a frame if `in_frames`."""

    time: float
    name: str
    text: str = ""
    at: str = ""
    """Whom or what is looked at, "" to choose."""
    in_frames: bool = False


def load(path: Path) -> list[Line]:
    """The turns of a file, whose kind its ending says. Raises FileError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise FileError("The file '{path}' cannot be read as text; choose another one.", path=path.name) from None
    return read(text, path.suffix.lower().removeprefix("."))


def read(text: str, kind: str) -> list[Line]:
    """The turns of a text in order of time. kind: "json", "csv", "srt" or "txt". Raises FileError.

    A text line is `1.5 Anna: where were you?`, with seconds, minutes and seconds (`1:02.5`), or frames (`36f`). A
    subtitle names its speaker before a colon; one without a name continues. A table has columns `time` or `frame`,
    `speaker`, and optionally `text` and `at`, and JSON is a list of objects with these keys.
    """
    readers = {"json": _json, "csv": _csv, "srt": _srt, "txt": _lines}
    if kind not in readers:
        raise FileError("Turns cannot be read from a .{kind} file; use .json, .csv, .srt or .txt.", kind=kind)
    try:
        lines = readers[kind](text)
    except RecursionError:
        raise FileError("The file of turns is nested too deeply; write a list of turns.") from None
    if any(not abs(line.time) <= _LATEST for line in lines):
        raise FileError("A time or frame of a turn is beyond {latest:g}; correct the file.", latest=_LATEST)
    if not lines:
        raise FileError("The file has no turns; each needs a time and the name of the speaker.")
    return sorted(lines, key=lambda line: line.time)


def _lines(text: str) -> list[Line]:
    lines = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        match = _LINE.match(row)
        if match is None:
            raise FileError(
                "Line {number} is not a turn; write a time and a name, such as 1.5 Anna: hello.", number=number
            )
        seconds = 0.0
        for part in match["time"].replace(",", ".").split(":"):
            seconds = 60.0 * seconds + float(part)
        lines.append(Line(seconds, match["name"], match["text"] or "", in_frames=bool(match["frame"])))
    return lines


def _srt(text: str) -> list[Line]:
    lines: list[Line] = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").lstrip("\ufeff").strip()):
        rows = block.split("\n")
        start = next((n for n, row in enumerate(rows) if "-->" in row), None)
        clock = _CLOCK.search(rows[start]) if start is not None else None
        if start is None or clock is None:
            continue
        hours, minutes, seconds, part = clock.groups(default="0")
        time = 3600.0 * float(hours) + 60.0 * float(minutes) + float(seconds) + float(f"0.{part}")
        name, colon, said = " ".join(rows[start + 1 :]).partition(":")
        if colon:
            lines.append(Line(time, re.sub(r"<[^>]*>", "", name).strip(), said.strip()))
    return lines


def _csv(text: str) -> list[Line]:
    rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
    try:
        return [
            _row({key.strip().lower(): value for key, value in row.items() if key}, n) for n, row in enumerate(rows, 1)
        ]
    except csv.Error as error:
        raise FileError("The file of turns is not a table: {error}.", error=str(error)) from None


def _json(text: str) -> list[Line]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        # Python has a remark of its own on numbers of thousands of digits.
        why = str(error).partition(";")[0]
        raise FileError("The file of turns is not JSON: {error}.", error=why) from None
    rows = rows.get("turns") if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FileError("The file of turns must be a list of objects with time and speaker.")
    return [_row(row, n) for n, row in enumerate(rows, 1)]


def _row(row: dict[str, object], number: int) -> Line:
    """A turn from the fields of a row."""
    in_frames = row.get("frame") not in (None, "")
    try:
        time = float(str(row["frame"] if in_frames else row["time"]))
        name = str(row["speaker"] or "").strip()
    except (KeyError, ValueError, OverflowError):
        name, time = "", 0.0
    if not name:
        raise FileError("Turn {number} needs a time or frame, and a speaker.", number=number)
    return Line(time, name, str(row.get("text") or ""), str(row.get("at") or ""), in_frames)
