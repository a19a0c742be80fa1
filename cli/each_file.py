"""Doing one thing to many files: a bad one does not stop the others, and every one has a row in the report."""

import argparse
import copy
import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import bpy

from ..lookat_pd.errors import LookAtError, StabilityWarning
from . import gltf_edit, gltf_source, jobs, provenance, report, scene_files, workers
from .console import Console, crash, one_line
from .jobs import GLTF, FileJob
from .report import Row, line
from .untrusted_drivers import DriversLeftOut

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
    read = jobs.FilesRead(arguments.inputs)

    def make(job: FileJob, row: Row) -> None:
        scene = scene_files.load(
            job.input,
            arguments.fps,
            console,
            trust=arguments.trust_scripts,
            source=job.source,
            clips=arguments.action,
        )
        work(scene, job, row)

    def one(job: FileJob, row: Row) -> None:
        produce(job, row, arguments, console, make, read, _result)

    return run(planned, lambda job: job.input, one, arguments, console, fields)[0]


def produce(
    job: FileJob,
    row: Row,
    arguments: argparse.Namespace,
    console: Console,
    make: Callable[[FileJob, Row], None],
    read: jobs.FilesRead,
    result: Callable[[Row], str],
) -> None:
    """Check a job, let `make` bring its result into the present file, and write that; or leave out what is done.

    result: one line about a row that is done. Whoever interrupts while it is written gets the file: it is all but done.
    """
    jobs.check_input(job.input)
    jobs.check_output(job, read)
    made_from = provenance.digest(job, arguments) if arguments.skip_done else None
    if made_from is not None and _is_done(job, row, made_from, console):
        return
    content = _edited(job, row, make)
    if content is None:
        make(job, row)
    console.progress(0.95, "writing")
    if made_from is not None and _is_done(job, row, made_from, console):
        row["warnings"].append(
            f"Another run has written {job.output} meanwhile; give each run a shard of its own, or another folder."
        )
        return
    with console.interruption.held():
        note = None if made_from is None else provenance.note(job, made_from, row)
        scene_files.save(job.output, job.input, console, note, content)
        row["output"], row["skipped"] = str(job.output), False
        console.say(result(row))
        row["ok"] = True


def _edited(job: FileJob, row: Row, make: Callable[[FileJob, Row], None]) -> bytes | None:
    """The content of a .glb that is its glTF input with edited animations; None where the file must be exported.

    Whatever goes wrong with the copy without meshes is tried again with the whole file, which says what it is.
    """
    if job.input.suffix.lower() not in GLTF or job.output.suffix.lower() != ".glb":
        return None
    attempt = copy.deepcopy(row)
    try:
        source = gltf_source.read(job.input)
        make(dataclasses.replace(job, source=source), attempt)
        content = gltf_edit.edited(source)
    except LookAtError:
        return None
    row.update(attempt)
    return content


def _is_done(job: FileJob, row: Row, made_from: str, console: Console) -> bool:
    """Whether the output was made from the same; then the row is as it was."""
    found = provenance.find(job, made_from, console)
    if found is None:
        return False
    row.update(found.row, output=str(job.output), skipped=True)
    return True


def run(
    items: Sequence[Item],
    path_of: Callable[[Item], Path],
    work: Callable[[Item, Row], None],
    arguments: argparse.Namespace,
    console: Console,
    fields: Sequence[str] = (),
) -> tuple[int, list[Row]]:
    """Do the work for each item, complain of those that fail, write the report. Returns exit code and rows.

    With several jobs, processes with the same arguments do the work, and this one hands out the files.
    """
    sharded = jobs.in_shards(items, path_of, arguments.shard)
    items = [item for item, _ in sharded]
    paths = [path_of(item) for item in items]
    rows = [{**report.new_row(path, fields), "shard": shard} for path, (_, shard) in zip(paths, sharded, strict=True)]

    def one(index: int) -> None:
        _attempt(lambda row: work(items[index], row), rows[index], paths[index], console)

    if arguments.worker is not None:
        workers.serve(arguments.worker, paths, rows, one, console)
        return DONE, []
    console.tally(len(items))
    try:
        if arguments.jobs > 1 and len(items) > 1:
            workers.share(paths, rows, arguments, console)
        else:
            for index, path in enumerate(paths):
                if console.interruption.number is not None:
                    raise KeyboardInterrupt
                console.begin(path, index + 1)
                one(index)
                console.end(failed=not rows[index]["ok"])
    except KeyboardInterrupt:
        for row in rows:
            row["error"] = row["error"] or (None if row["ok"] else "Interrupted before it was done; run it again.")
        raise
    finally:
        if arguments.report is not None:
            with console.interruption.held():
                report.write(arguments.report, rows)
    skipped = sum(row["skipped"] is True for row in rows)
    if skipped:
        console.complain(f"note: {skipped} of {len(rows)} outputs were already made and are left as they are.")
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
    except MemoryError:
        row["error"] = "There is not enough memory for the file; close other programs, or give fewer --jobs."
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
    what = row["bone"] or row["rig"]
    if row["baked"]:
        return f"{row['input']} -> {row['output']}: {what}, {len(row['baked'])} actions"
    error = row["aim_error_deg"]
    aim = ""
    if error is not None:
        aim = f", aim error {error['median']:.2f} degrees (median), {error['largest']:.1f} at frame {error['frame']}"
    off = row.get("effector_error")
    if off is not None and off == off:
        which = " (median)" if row.get("largest_effector_error") is not None else ""
        aim = f", effector off by {off:.2g}{which}"
    return line(row, what, aim)
