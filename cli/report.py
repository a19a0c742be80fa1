"""The report: one row per input, as JSON."""

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..lookat_pd_batch import manifest
from ..rig import project, whole_file

FIELDS = (
    "input",
    "output",
    "ok",
    "error",
    "rig",
    "bone",
    "aim_axis",
    "chain",
    "frames",
    "fps",
    "seconds",
    "settled_error_deg",
    "aim_error_deg",
    "eyes_error_deg",
    "cyclic",
    "body",
    "gaze_shifts",
    "conversation",
    "moved_keys",
    "settled_frames",
    "action",
    "key_count",
    "passes",
    "look_ats",
    "baked",
    "shard",
    "skipped",
    "version",
    "blender",
    "code",
    "warnings",
    "note_codes",
    "characters",
    "run",
)
"""What every verb reports; each verb's own FIELDS come on top."""

STANDARD_OUTPUT = Path("-")
Row = dict[str, Any]
_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""With the bytes of names that are not UTF-8, which Python has as halves of pairs."""


def new_row(path: Path, fields: Sequence[str] = ()) -> Row:
    """A row with every field that there is, as yet unknown. fields: the verb's own."""
    versions = {"version": project.version(), "blender": bpy.app.version_string}
    known = {"input": str(path), "ok": False, **versions, "warnings": [], "note_codes": []}
    return {**dict.fromkeys((*FIELDS, *fields)), **known}


def line(row: Row, what: str, about: str) -> str:
    """One line about a file that was written. what: was animated in it. about: further figures, after a comma."""
    first, last = row["frames"]
    return f"{row['input']} -> {row['output']}: {what}, frames {first} to {last}{about}"


def text(rows: Sequence[Row]) -> str:
    written = json.dumps(plain(rows), indent=2, ensure_ascii=False, allow_nan=False)
    # Legal in JSON, but they end lines, command a terminal or are no text; JSON's own escape means the same.
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", written) + "\n"


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows, whole or not at all: to a file, a pipe or terminal, or "-", standard output. Raises FileError."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text(rows))
        sys.stdout.flush()
        return
    if whole_file.is_stream(path):
        whole_file.write_through(path, text(rows))
        return
    with whole_file.writing(path) as temporary:
        temporary.write_text(text(rows), "utf-8")


def plain(value: Any) -> Any:
    """A value as JSON has it, which knows no numbers beside the finite ones: others become null."""
    if isinstance(value, float):
        # No minus before zero either.
        return value + 0.0 if math.isfinite(value) else None
    if isinstance(value, dict):
        # Which run a row is from is plain, and stands in each row.
        return {key: item if key == manifest.FIELD else plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
