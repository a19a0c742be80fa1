"""The report: one row per input, as JSON."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..lookat_pd.errors import FileError
from . import whole_file

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
)

Row = dict[str, Any]


def new_row(path: Path) -> Row:
    """A row with every field of the public surface, as yet unknown."""
    return {**dict.fromkeys(FIELDS), "input": str(path), "ok": False}


def text(rows: Sequence[Row]) -> str:
    return json.dumps(_plain(rows), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows, whole or not at all. Raises FileError."""
    with whole_file.writing(path) as temporary:
        try:
            temporary.write_text(text(rows), "utf-8")
        except OSError as error:
            raise FileError(f"The report {path} cannot be written ({error.strerror}); choose another place.") from None


def _plain(value: Any) -> Any:
    """JSON knows no numbers beside the finite ones: others become null."""
    if isinstance(value, float):
        # No minus before zero either.
        return value + 0.0 if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
