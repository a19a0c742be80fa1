"""Doing one thing to many files: a bad one does not stop the others, and every one has a row in the report."""

import argparse
import copy
import dataclasses
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import bpy

from ..lookat_pd.errors import FileError, LookAtError, StabilityWarning
from ..lookat_pd.message import Message
from ..lookat_pd_batch import codes, manifest
from . import (
    dry_run,
    each_output,
    exporters,
    gltf_edit,
    gltf_source,
    jobs,
    provenance,
    report,
    scene_files,
    workers,
)
from .batch import FileBatch
from .console import Console, crash, one_line
from .jobs import GLTF, FileJob
from .report import Row, line
from .untrusted_drivers import DriversLeftOut

Item = TypeVar("Item")
DONE, FAILED = 0, 1


def convert(
    arguments: argparse.Namespace,
    console: Console,
    work: Callable[[bpy.types.Scene, FileJob, Row], bytes | None],
    fields: Sequence[str] = (),
) -> int:
    """Read each input, let `work` change the scene and fill the row, and write the output. Returns the exit code.

    What `work` returns is the content of the output; the scene is exported where that is nothing.
    fields: the verb's own fields of the report, besides those of all verbs.
    """
    planned = jobs.plan(arguments)
    jobs.check_report(arguments, (job.output for job in planned))
    read = jobs.FilesRead(arguments.inputs)

    def make(job: FileJob, row: Row) -> bytes | None:
        scene = scene_files.load(
            job.input,
            arguments.fps,
            console,
            trust=arguments.trust_scripts,
            source=job.source,
            clips=arguments.action,
        )
        return work(scene, job, row)

    def one(job: FileJob, row: Row) -> None:
        produce(job, row, arguments, console, make, read, _result)

    return run(planned, lambda job: job.input, one, arguments, console, fields)[0]


def produce(
    job: FileJob,
    row: Row,
    arguments: argparse.Namespace,
    console: Console,
    make: Callable[[FileJob, Row], bytes | None],
    read: jobs.FilesRead,
    result: Callable[[Row], str],
) -> None:
    """Check a job, let `make` bring its result into the present file, and write that; or leave out what is done.

    result: one line about a row that is done. Whoever interrupts while it is written gets the file: it is all but done.
    """

    def one(job: FileJob, row: Row) -> None:
        _produce(job, row, arguments, console, make, read, result)

    if job.is_each:
        each_output.run(job, row, arguments, console, make, one)
    else:
        one(job, row)


def _produce(
    job: FileJob,
    row: Row,
    arguments: argparse.Namespace,
    console: Console,
    make: Callable[[FileJob, Row], bytes | None],
    read: jobs.FilesRead,
    result: Callable[[Row], str],
) -> None:
    jobs.check_input(job.input)
    jobs.check_output(job, read)
    began = time.time()
    made_from = provenance.digest(job, arguments) if arguments.skip_done else None
    if made_from is not None and _is_done(job, row, made_from, console):
        return
    if _is_kept(job, row, arguments, console):
        return
    if arguments.dry_run is not None:
        dry_run.fill(job, row, make)
        return
    content = _edited(job, row, make)
    if content is None:
        content = make(job, row)
    console.progress(0.95, "writing")
    if made_from is not None and _is_done(job, row, made_from, console):
        row["warnings"].append(
            Message(
                "Another run has written {output} meanwhile; give each run a shard of its own, or another folder.",
                output=job.output,
                code="written-by-another-run",
            )
        )
        return
    _check_notes(row, arguments, console)
    with console.interruption.held():
        note = provenance.mark(job) if made_from is None else provenance.note(job, made_from, row, began)
        scene_files.save(job, console, note, content, _exported(job, arguments, note), [*_made(row)])
        row["output"], row["skipped"] = str(job.output), False
        console.say(result(row))
        row["ok"] = True


def _exported(job: FileJob, arguments: argparse.Namespace, note: provenance.Note) -> argparse.Namespace:
    """The arguments, with what of a character is exported: of a file that had it all, all. And which earlier output has
    the same character, if it was made from the same."""
    is_whole = job.input.suffix.lower() in GLTF
    bones, actions = ("all", "all") if is_whole else (exporters.BONES[0], exporters.ACTIONS[0])
    return argparse.Namespace(
        export_bones=arguments.export_bones or bones,
        export_actions=arguments.export_actions or actions,
        made_from=provenance.character(job, note, arguments),
        former=job.former or job.output,
        seen=job.seen,
    )


def _made(value: Any) -> Iterator[str]:
    """The names of the actions that a row says were made."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "action" and isinstance(item, str):
                yield item
            elif key != manifest.FIELD:
                yield from _made(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _made(item)


def _check_notes(row: Row, arguments: argparse.Namespace, console: Console) -> None:
    """Raise LookAtError where a note is an error."""
    notes = [*row["warnings"], *console.heard()]
    if arguments.warnings_as_errors and notes:
        raise LookAtError(
            "With --warnings-as-errors, this note is an error: {note}", note=notes[0], code="note-as-error"
        )


def _edited(job: FileJob, row: Row, make: Callable[[FileJob, Row], bytes | None]) -> bytes | None:
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
    output = job.former or job.output
    found = provenance.find(output, job.input, made_from, console)
    if found is None:
        return False
    row.update(found.row, output=str(output), skipped=True)
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

    With several jobs, or limits for a file, processes with the same arguments do the work, and this one hands out the
    files. Where the arguments are only checked, they are by now.
    """
    if arguments.checking:
        return DONE, []
    everything = arguments.everything or [*map(path_of, items)]
    command = arguments.of_command or provenance.command(arguments)
    shard = None if arguments.shard is None else str(arguments.shard)
    about = manifest.of_run(everything, arguments.words, command, shard)
    sharded = jobs.in_shards(items, path_of, arguments.shard, everything)
    items = [item for item, _ in sharded]
    paths = [path_of(item) for item in items]
    rows = [{**report.new_row(path, fields), "shard": shard} for path, (_, shard) in zip(paths, sharded, strict=True)]
    batch = FileBatch(paths, rows, [getattr(item, "output", None) for item in items], about, arguments, console)

    def one(index: int) -> None:
        _attempt(lambda row: work(items[index], row), rows[index], paths[index], console)

    if arguments.worker is not None:
        workers.serve(batch, one)
        return DONE, []
    batch.begin()
    try:
        _do(batch, one)
    except KeyboardInterrupt:
        for row in rows:
            if not row["ok"] and row["error"] is None:
                row["error"], row["code"] = "Interrupted before it was done; run it again.", "interrupted"
        raise
    finally:
        batch.end()
    if arguments.dry_run is not None:
        console.say(*dry_run.shown(rows, arguments.dry_run))
    return _exit_code(rows, arguments, console), rows


def _do(batch: FileBatch, one: Callable[[int], None]) -> None:
    arguments, console, count = batch.arguments, batch.console, len(batch.paths)
    if count and ((arguments.jobs > 1 and count > 1) or arguments.timeout is not None or arguments.retry):
        workers.share(batch, range(count))
        return
    for index, path in enumerate(batch.paths):
        if console.interruption.number is not None:
            raise KeyboardInterrupt
        if index and workers.is_full():
            # Blender gives little back of what it has taken.
            workers.share(batch, range(index, count))
            return
        console.begin(path, index + 1)
        one(index)
        batch.finish(index)


def _exit_code(rows: Sequence[Row], arguments: argparse.Namespace, console: Console) -> int:
    outputs = [one for row in rows for one in each_output.of(row)]
    skipped = sum(one["skipped"] is True for one in outputs)
    if skipped:
        console.complain(f"note: {skipped} of {len(outputs)} outputs were already made and are left as they are.")
    failed = sum(not row["ok"] for row in rows)
    if failed and arguments.tolerate_failures.holds(failed, len(rows)):
        console.complain(f"note: {failed} of {len(rows)} files failed, which --tolerate-failures accepts.")
        return DONE
    return FAILED if failed else DONE


def _attempt(work: Callable[[Row], None], row: Row, path: Path, console: Console) -> None:
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", StabilityWarning)
            warnings.simplefilter("always", DriversLeftOut)
            with console.listening():
                work(row)
                row["warnings"] += console.heard()
        row["ok"] = True
    except LookAtError as error:
        _fail(row, str(error))
    except MemoryError:
        said = "There is not enough memory for the file; close other programs, or give fewer --jobs."
        _fail(row, Message(said, code="out-of-memory"))
    except UnicodeEncodeError:
        _fail(row, Message("Blender cannot use this name, which is not UTF-8; rename the file.", code="input-name"))
    except Exception as error:
        console.traceback()
        if console.interruption.number is not None:
            # Within an operator written in Python, Blender makes another exception of it.
            raise KeyboardInterrupt from None
        _fail(row, Message(crash(error), code="unexpected"))
    finally:
        row["seconds"] = round(time.perf_counter() - began, 3)
    row["note_codes"] = [codes.of_note(warning) for warning in row["warnings"]]
    row["warnings"] = [one_line(warning) for warning in row["warnings"]]
    for warning, code in zip(row["warnings"], row["note_codes"], strict=True):
        console.complain(f"note: {warning}", path, code)
    if row["error"]:
        console.complain(row["error"], path, row["code"])


def _fail(row: Row, sentence: str) -> None:
    row["code"], row["error"] = codes.of_error(sentence), one_line(sentence)


def _result(row: Row) -> str:
    """One line about a file that was written."""
    what = row["bone"] or row["rig"]
    if row["baked"]:
        return f"{row['input']} -> {row['output']}: {what}, {len(row['baked'])} actions"
    if row["frames"] is None:
        return f"{row['input']} -> {row['output']}: {what}"
    error = row["aim_error_deg"]
    aim = ""
    if error is not None:
        aim = f", aim error {error['median']:.2f} degrees (median), {error['largest']:.1f} at frame {error['frame']}"
    off = row.get("effector_error")
    if off is not None and off == off:
        which = " (median)" if row.get("largest_effector_error") is not None else ""
        aim = f", effector off by {off:.2g}{which}"
    return line(row, what, aim)


def _is_kept(job: FileJob, row: Row, arguments: argparse.Namespace, console: Console) -> bool:
    """Whether an output stays as it is; the row says so. Raises FileError where it is not ours to replace."""
    if not job.output.exists():
        return False
    if arguments.no_clobber:
        row["warnings"].append(
            Message("{output} exists already and is left as it is.", output=job.output, code="output-kept")
        )
        row["output"], row["skipped"] = str(job.output), True
        return True
    note = provenance.of_ours(job.output, console) if job.each is not None or not arguments.overwrite else None
    if note is None and not arguments.overwrite:
        raise FileError(
            "{output} exists and was not written by Look-at PD; choose another name, or replace it with --overwrite.",
            output=job.output,
            code="output-not-ours",
        )
    other = note.of["input"] if note is not None and note.of is not None else None
    if other not in (None, job.input.name) and job.input.with_name(other).exists():
        raise FileError(
            "{output} is an output of {other} already; put another sign between the fields of the name, or a folder "
            "between the inputs.",
            output=job.output,
            other=job.input.with_name(other),
            code="outputs-alike",
        )
    return False
