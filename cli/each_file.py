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
from .console import Console, crash, one_line
from .jobs import FileJob
from .report import Row
from .scripts import DriversLeftOut

Item = TypeVar("Item")
DONE, FAILED = 0, 1


def convert(
    arguments: argparse.Namespace,
    console: Console,
    work: Callable[[bpy.types.Scene, FileJob, Row], None],
    fields: Sequence[str] = (),
) -> int:
    """Read each input, let `work` change the scene and fill the row, and write the output. Returns the exit code.

    fields: the verb's own fields of the report, besides those of all verbs.
    """
    planned = jobs.plan(arguments.inputs, arguments.output)
    jobs.check_report(arguments, (job.output for job in planned))

    def one(job: FileJob, row: Row) -> None:
        jobs.check_input(job.input)
        jobs.check_output(job, arguments.inputs)
        scene = scene_files.load(job.input, arguments.fps, console, trust=arguments.trust_scripts)
        work(scene, job, row)
        write(job, row, console, _result)

    return run(planned, lambda job: job.input, one, arguments.report, console, fields)[0]


def write(job: FileJob, row: Row, console: Console, result: Callable[[Row], str]) -> None:
    """Write the output and tell so. Whoever interrupts now gets this file, since it is all but done."""
    console.progress(0.95, "writing")
    with console.interruption.held():
        scene_files.save(job.output, job.input, console)
        row["output"] = str(job.output)
        console.say(result(row))
        row["ok"] = True


def run(
    items: Sequence[Item],
    path_of: Callable[[Item], Path],
    work: Callable[[Item, Row], None],
    destination: Path | None,
    console: Console,
    fields: Sequence[str] = (),
) -> tuple[int, list[Row]]:
    """Do the work for each item, complain of those that fail, write the report. Returns exit code and rows."""
    rows: list[Row] = []
    try:
        for number, item in enumerate(items, 1):
            if console.interruption.number is not None:
                raise KeyboardInterrupt
            path = path_of(item)
            rows.append(report.new_row(path, fields))
            console.begin(path, number, len(items))
            _attempt(lambda row, item=item: work(item, row), rows[-1], path, console)
    except KeyboardInterrupt:
        rows += [report.new_row(path_of(item), fields) for item in items[len(rows) :]]
        for row in rows:
            row["error"] = row["error"] or (None if row["ok"] else "Interrupted before it was done; run it again.")
        raise
    finally:
        if destination is not None:
            with console.interruption.held():
                report.write(destination, rows)
    return (DONE if all(row["ok"] for row in rows) else FAILED), rows


def _attempt(work: Callable[[Row], None], row: Row, path: Path, console: Console) -> None:
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", StabilityWarning)
            warnings.simplefilter("always", DriversLeftOut)
            work(row)
        row["warnings"] += dict.fromkeys(str(warning.message) for warning in caught)
        row["ok"] = True
    except LookAtError as error:
        row["error"] = one_line(str(error))
    except Exception as error:
        console.traceback()
        if console.interruption.number is not None:
            # Within an operator written in Python, Blender makes another exception of it.
            raise KeyboardInterrupt from None
        row["error"] = crash(error)
    finally:
        row["seconds"] = round(time.perf_counter() - began, 3)
    row["warnings"] = [one_line(warning) for warning in row["warnings"]]
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
        which = " (median)" if row.get("largest_effector_error") is not None else ""
        aim = f", effector off by {off:.2g}{which}"
    return f"{row['input']} -> {row['output']}: {row['bone']}, frames {first} to {last}{aim}"
