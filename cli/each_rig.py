"""Doing the work of a verb for each of the characters of a file."""

import argparse
from collections.abc import Callable, Sequence

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from . import dry_run, rigs
from .console import Console
from .gltf_source import WholeFileNeeded
from .jobs import FileJob
from .report import Row

FIELD = "characters"
"""Field of the report with a row for each character, where there are several."""


def run(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    job: FileJob,
    row: Row,
    console: Console,
    work: Callable[[Row], None],
    bones: Sequence[str] = (),
    besides: Sequence[bpy.types.Object] = (),
    among: Sequence[bpy.types.Object] | None = None,
) -> None:
    """Let `work` fill a row for each character, which is the only one that `options.rig` names meanwhile.

    bones: those that a character must have to be one of them, where none is named. besides: who is none of them then.
    among: who may be one, if not all characters. Raises RigError.
    """
    chosen = rigs.chosen(scene, options, row["warnings"], bones, besides, among)
    if len(chosen) > 1 and job.source is not None:
        raise WholeFileNeeded("Several characters are animated.")
    asked, rows = options.rig, []
    stopped = None
    try:
        for number, rig in enumerate(chosen):
            own: Row = {**row, "warnings": []} if len(chosen) > 1 else row
            options.rig = [rig.name]
            with console.portion(number, len(chosen)):
                try:
                    work(own)
                except dry_run.DryRunDone as stop:
                    stopped = stop
                except RigError as error:
                    if len(chosen) == 1 or isinstance(error, WholeFileNeeded):
                        raise
                    raise RigError("Character '{rig}': {error}", rig=rig.name, error=error) from None
            rows.append(own)
    finally:
        options.rig = asked
    if len(rows) > 1:
        _report(row, rows)
    if stopped is not None:
        raise stopped


def _report(row: Row, rows: Sequence[Row]) -> None:
    """Fill the row of a file: the fields of the first character, and those that differ of each."""
    notes = row["warnings"]
    common = [key for key in rows[0] if all(own.get(key) == rows[0][key] for own in rows)]
    row |= {**rows[0], "warnings": notes}
    for own in rows:
        row["warnings"] += [Message("Character '{rig}': {note}", rig=own["rig"], note=one) for one in own["warnings"]]
    row[FIELD] = [
        {k: value for k, value in own.items() if k not in (*common, "warnings") or k == "rig"} for own in rows
    ]
