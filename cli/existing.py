"""Outputs that are there already: which are replaced, and which stay."""

import argparse

from ..lookat_pd.errors import FileError
from ..lookat_pd.message import Message
from . import provenance
from .console import Console
from .jobs import FileJob
from .report import Row


def is_kept(job: FileJob, row: Row, arguments: argparse.Namespace, console: Console) -> bool:
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
