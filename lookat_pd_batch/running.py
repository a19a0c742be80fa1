"""Running a job from Python: in processes of its own, so that the file that is open stays as it is."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import program
from .errors import BatchError
from .job_file import Job

Row = dict[str, Any]
MADE = "job.json"
"""The file of a job that has none."""


def run(job: str | os.PathLike[str] | Mapping[str, Any] | Job, *, options: Sequence[str] = ()) -> list[Row]:
    """Do a job, and return a row for each file, as reports have them: `docs/command-line.md`, *The report*.

    job: the path of a job file, or its content: sections by name, each a mapping, where paths are relative to the
    current folder. options: of the verb `job`, such as ["--jobs", "4", "--skip-done"]. A file that fails is a row
    whose `ok` is False. Raises BatchError where the job itself is wrong; nothing was done then.
    """
    with tempfile.TemporaryDirectory(prefix="lookat_pd-") as folder:
        path, report = _file(job, Path(folder)), Path(folder) / "report.json"
        words = [*program.words(), "job", str(path), *options, "--report", str(report), "--quiet"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if not report.exists():
            raise BatchError(_said(done.stderr, Path(folder)) or f"it ended with {done.returncode}")
        return json.loads(report.read_text("utf-8"))


def _said(errors: str, folder: Path) -> str:
    """The last line of what a process has said, without what only the command line has: its name, its help, and the
    file in `folder` that was made for it."""
    lines = [line for line in errors.splitlines() if line.strip()]
    sentence = lines[-1].removeprefix(f"{program.NAME}: ") if lines else ""
    return re.sub(r" \(see [^()]* --help\)$", "", sentence).removeprefix(f"{folder / MADE}: ")


def _file(job: Any, folder: Path) -> Path:
    """The path of the job file; of a job that has none, it is made in `folder`."""
    if isinstance(job, str | os.PathLike):
        return Path(job)
    content = job.content if isinstance(job, Job) else job
    below = job.folder if isinstance(job, Job) else Path()
    path = folder / MADE
    try:
        # What it names is relative to this folder.
        path.write_text(json.dumps({**content, "folder": str(below.absolute())}), "utf-8")
    except TypeError as error:
        raise BatchError(f"the job holds what a file cannot hold: {error}") from None
    return path
