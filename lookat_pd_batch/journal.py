"""Rows as files finish, a line of JSON each, beside the report: what a run that was killed leaves."""

import contextlib
import json
from pathlib import Path
from typing import Any, TextIO

from .manifest import FIELD, Run

SUFFIX = ".jsonl"


def path_of(report: Path) -> Path:
    return report.with_name(report.name.removesuffix(".json") + SUFFIX)


class Journal:
    """Lines beside a report; without a report, nothing. What cannot be written is not missed before the report is."""

    def __init__(self, report: Path | None, run: Run) -> None:
        self._path = None if report is None else path_of(report)
        self._file: TextIO | None = None
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("w", encoding="ascii")
                self._write({FIELD: run})

    def add(self, row: dict[str, Any]) -> None:
        """row: as JSON has it."""
        self._write(row)

    def remove(self) -> None:
        """The report has it all."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _write(self, value: dict[str, Any]) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(json.dumps(value) + "\n")
                self._file.flush()


def read(path: Path) -> tuple[Run, list[dict[str, Any]]] | None:
    """The run and its rows so far; None where there is no line. A line that is cut short is left out."""
    found: list[dict[str, Any]] = []
    try:
        for line in path.read_text("ascii", "replace").splitlines():
            found.append(json.loads(line))
    except (OSError, ValueError):
        pass
    if not found or FIELD not in found[0]:
        return None
    run, *rows = found
    return run[FIELD], rows
