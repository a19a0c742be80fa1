"""What would be read, processed and written, without doing it."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence

from .console import one_line
from .jobs import FileJob
from .report import Row, plain

FIELDS = ("input", "rig", "actions", "output", "state")
"""Of an entry, and columns of the table."""


class DryRunDone(BaseException):
    """The choice is made, and the work would begin. Nothing that handles errors of the work may catch it."""


def fill(job: FileJob, row: Row, make: Callable[[FileJob, Row], object]) -> None:
    """Read the input, as far as it says what would be done, unless that is known."""
    if row["baked"] is None:
        with contextlib.suppress(DryRunDone):
            make(job, row)
    row["output"] = str(job.output)


def stop(row: Row, rig: str, actions: Sequence[str | None]) -> None:
    """Within `fill`: what is worked on is known."""
    put(row, rig, actions)
    raise DryRunDone


def put(row: Row, rig: str, actions: Sequence[str | None]) -> None:
    """Have a row say what is worked on."""
    row["rig"] = rig
    row["baked"] = [{"source": name} for name in actions]


def shown(rows: Sequence[Row], form: str) -> Iterator[str]:
    entries = [entry for row in rows for entry in _entries(row)]
    if form == "json":
        yield from json.dumps(plain(entries), indent=2).split("\n")
        return
    lines = [FIELDS, *(tuple(_cell(entry[name]) for name in FIELDS) for entry in entries)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(FIELDS))]
    for line in lines:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def _entries(row: Row) -> Iterator[Row]:
    """One for each output."""
    each = [one for one in row["baked"] or () if "output" in one]
    yield from (_entry({**row, **one, "baked": [one]}) for one in each)
    if not each:
        yield _entry(row)


def _entry(row: Row) -> Row:
    state = row["error"] or ("is left as it is" if row["skipped"] else "is made")
    actions = [one["source"] for one in row["baked"] or ()]
    return {"input": row["input"], "rig": row["rig"], "actions": actions, "output": row["output"], "state": state}


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join("as it plays" if one is None else one for one in value)
    return one_line(str(value)) if value is not None else "-"
