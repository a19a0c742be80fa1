"""The files of one run with their rows, and what is written of them as they are done."""

import argparse
import copy
from collections.abc import Sequence
from pathlib import Path

from ..lookat_pd_batch import manifest
from ..lookat_pd_batch.journal import Journal
from ..rig import whole_file
from . import report
from .console import Console
from .report import Row


class FileBatch:
    """Files, and a row for each."""

    def __init__(
        self,
        paths: Sequence[Path],
        rows: list[Row],
        places: Sequence[Path | None],
        run: manifest.Run,
        arguments: argparse.Namespace,
        console: Console,
    ) -> None:
        self.paths, self.rows, self.places = paths, rows, places
        """Inputs, their rows, and their outputs where they have any."""
        self.arguments, self.console = arguments, console
        self.run = run
        self._empty = copy.deepcopy(rows)
        manifest.put(run, rows)
        self._journal: Journal | None = None

    def begin(self) -> None:
        """The work begins."""
        whole_file.begin_run()
        self._journal = Journal(self._file, self.run)
        self.console.tally(len(self.paths))

    def fresh(self, index: int) -> Row:
        """The row of a file that is begun, as if it never was before."""
        self.rows[index].update(copy.deepcopy(self._empty[index]))
        return self.rows[index]

    def finish(self, index: int) -> None:
        """A file is done."""
        row = self.rows[index]
        assert self._journal is not None
        self._journal.add(report.plain({key: value for key, value in row.items() if key != manifest.FIELD}))
        self.console.finished(row)

    def end(self) -> None:
        """Write the report, whatever is missing in it. Raises FileError."""
        manifest.end(self.run)
        manifest.put(self.run, self.rows)
        if self.arguments.collected is not None:
            self.arguments.collected += self.rows
        if self.arguments.report is not None:
            with self.console.interruption.held():
                report.write(self.arguments.report, self.rows)
        if self._journal is not None:
            self._journal.remove()

    @property
    def _file(self) -> Path | None:
        """The report, where it is a file."""
        path = self.arguments.report
        return None if path is None or path == report.STANDARD_OUTPUT or whole_file.is_stream(path) else path
