"""Doing one thing to many files: a bad one does not stop the others, and every one has a row in the report."""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import bpy

from ..lookat_pd.errors import LookAtError, StabilityWarning
from . import jobs, report, scene_files
from .console import Console, one_line
from .jobs import Job
from .report import Row

Item = TypeVar("Item")
DONE, FAILED = 0, 1


def convert(arguments: argparse.Namespace, console: Console, work: Callable[[bpy.types.Scene, Job, Row], None]) -> int:
    """Read each input, let `work` change the scene and fill the row, and write the output. Returns the exit code."""
    planned = jobs.plan(arguments.inputs, arguments.output)
    jobs.check_report(arguments.report, [*arguments.inputs, *(job.output for job in planned)])

    def one(job: Job, row: Row) -> None:
        jobs.check_input(job.input)
        jobs.check_output(job, arguments.inputs)
        scene = scene_files.load(job.input, arguments.fps, console)
        work(scene, job, row)
        console.progress(0.95, "writing")
        scene_files.save(job.output, job.input, console)
        row["output"] = str(job.output)
        console.say(_result(row))

    return run(planned, lambda job: job.input, one, arguments.report, console)[0]


def run(
    items: Sequence[Item],
    path_of: Callable[[Item], Path],
    work: Callable[[Item, Row], None],
    destination: Path | None,
    console: Console,
) -> tuple[int, list[Row]]:
    """Do the work for each item, complain of those that fail, write the report. Returns exit code and rows."""
    rows: list[Row] = []
    try:
        for number, item in enumerate(items, 1):
            path = path_of(item)
            rows.append(report.new_row(path))
            console.begin(path, number, len(items))
            _attempt(lambda row, item=item: work(item, row), rows[-1], path, console)
    except KeyboardInterrupt:
        rows += [report.new_row(path_of(item)) for item in items[len(rows) :]]
        for row in rows:
            row["error"] = row["error"] or (None if row["ok"] else "Interrupted before it was done; run it again.")
        raise
    finally:
        if destination is not None:
            report.write(destination, rows)
    return (DONE if all(row["ok"] for row in rows) else FAILED), rows


def _attempt(work: Callable[[Row], None], row: Row, path: Path, console: Console) -> None:
    began = time.perf_counter()
    row["blender"] = bpy.app.version_string
    row["warnings"] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", StabilityWarning)
            work(row)
        row["warnings"] += [one_line(str(warning.message)) for warning in caught]
        row["ok"] = True
    except LookAtError as error:
        row["error"] = one_line(str(error))
    except Exception as error:
        console.traceback()
        row["error"] = one_line(f"unexpected: {type(error).__name__}: {error}; please report")
    finally:
        row["seconds"] = round(time.perf_counter() - began, 3)
    for warning in row["warnings"]:
        console.complain(f"note: {warning}", path)
    if row["error"]:
        console.complain(row["error"], path)


def _result(row: Row) -> str:
    """One line about a file that was written."""
    first, last = row["frames"]
    error = row["settled_error_deg"]
    aim = "" if error is None else f", aim error {error:.3f} degrees"
    off = row.get("effector_error")
    if off is not None and off == off:
        which = " (median)" if "largest_effector_error" in row else ""
        aim = f", effector off by {off:.2g}{which}"
    return f"{row['input']} -> {row['output']}: {row['bone']}, frames {first} to {last}{aim}"
