"""Outputs whose names have {action}: a file for each action, known once the input is read."""

import argparse
import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass

import bpy

from ..lookat_pd.errors import FileError, LookAtError, RigError
from ..lookat_pd.message import Message
from ..lookat_pd_batch import manifest
from . import dry_run, each_action, each_rig, jobs, provenance
from .console import Console, one_line
from .jobs import FileJob
from .report import FIELDS, Row

_OF_FILE = ("input", "seconds", "version", "blender", "shard", "warnings", "note_codes", each_action.FIELD)
"""Fields that an output does not have for itself."""


@dataclass(frozen=True)
class _Choice:
    """What one output is made of."""

    action: str
    """Its name, which is that in the name of the output."""
    is_chosen: bool
    """Whether it is chosen by that name, or is what the character plays."""
    owner: str
    """The first character that it moves."""
    rigs: Sequence[str]
    """All of them, where the file has several characters."""


def run(
    job: FileJob,
    row: Row,
    arguments: argparse.Namespace,
    console: Console,
    make: Callable[[FileJob, Row], object],
    one: Callable[[FileJob, Row], None],
) -> None:
    """Let `one` make an output of each action that the arguments choose, and fill the row. Raises LookAtError, once all
    outputs that can be made are made.

    make: chooses the actions, and stops there in a dry run.
    """
    jobs.check_input(job.input)
    rows: list[Row] = []
    with provenance.digests_kept():
        each = _each(job, row, arguments, console, make)
        choices = [_Choice(*choice) for choice in each.choices]
        made = [jobs.named(job, choice.action, each, arguments) for choice in choices]
        _check_apart(choices, made)
        for number, (choice, of_action) in enumerate(zip(choices, made, strict=True)):
            own = _fresh(row)
            if arguments.dry_run is not None:
                dry_run.put(own, choice.owner, [choice.action])
            name = choice.action if len(choices) > 1 else None
            with console.portion(number, len(choices), name), _narrowed(arguments, choice), console.listening():
                try:
                    one(of_action, own)
                    own["ok"] = True
                except LookAtError as error:
                    own["error"], own["code"] = error, Message("{error}", error=error).code
                own["warnings"] += console.heard()
            rows.append({"source": choice.action, **own})
    _report(row, rows)
    _complain([one for one in rows if not one["ok"]], len(rows))


def _fresh(row: Row) -> Row:
    """A row to fill as that of the file. What it says of its run, with all inputs, is not copied."""
    return copy.deepcopy({key: value for key, value in row.items() if key != manifest.FIELD})


def of(row: Row) -> Sequence[Row]:
    """What a row says of each output: itself where it is one."""
    return [one for one in row[each_action.FIELD] or () if "output" in one] or [row]


def _each(
    job: FileJob, row: Row, arguments: argparse.Namespace, console: Console, make: Callable[[FileJob, Row], object]
) -> jobs.EachOf:
    """The outputs that there are, without reading the input where an earlier one says it. Raises LookAtError."""
    made_from = provenance.digest(job, arguments) if arguments.skip_done else None
    if made_from is not None:
        found = provenance.siblings(job, made_from, jobs.made_before(job, arguments), console)
        if found is not None:
            return found
    with console.listening():
        return jobs.EachOf(made_from, tuple(map(astuple, _choices(job, row, arguments, make))))


def _choices(
    job: FileJob, row: Row, arguments: argparse.Namespace, make: Callable[[FileJob, Row], object]
) -> list[_Choice]:
    """What is worked on, as a dry run finds it. Raises LookAtError."""
    asked, given = _fresh(row), arguments.dry_run
    arguments.dry_run = given or "table"
    try:
        dry_run.fill(job, asked, make)
    finally:
        arguments.dry_run = given
    characters = [{**asked, **own} for own in asked[each_rig.FIELD] or [{}]]
    owners: dict[tuple[str, bool], list[str]] = {}
    for own in characters:
        for source in [entry["source"] for entry in own["baked"] or ()] or [None]:
            name = _played(own["rig"]) if source is None else source
            owners.setdefault((name, source is not None), []).append(own["rig"])
    several = len(characters) > 1
    return [_Choice(*key, rigs[0], tuple(rigs) if several else ()) for key, rigs in owners.items()]


def _played(rig: str) -> str:
    """The action that a character plays. Raises RigError."""
    data = bpy.data.objects[rig].animation_data
    if data is None or data.action is None:
        raise RigError(
            "'{rig}' plays no action by whose name an output could be called; choose with --action or --all-actions, "
            "or leave {field} out of the name.",
            rig=rig,
            field=jobs.ACTION,
            code="no-actions",
        )
    return data.action.name


def _check_apart(choices: Sequence[_Choice], made: Sequence[FileJob]) -> None:
    """Raises FileError where two actions would be one file."""
    taken: dict[str, str] = {}
    for choice, job in zip(choices, made, strict=True):
        other = taken.setdefault(str(job.output).casefold(), choice.action)
        if other != choice.action:
            raise FileError(
                "Actions '{other}' and '{action}' would both be written to {output}; rename one of them.",
                other=other,
                action=choice.action,
                output=job.output,
                code="outputs-alike",
            )


@contextlib.contextmanager
def _narrowed(arguments: argparse.Namespace, choice: _Choice) -> Iterator[None]:
    """The arguments as if this one were the only choice: what is made does not depend on the others."""
    names = ("action", "all_actions", "rig")
    given = {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}
    if choice.is_chosen:
        arguments.action, arguments.all_actions = [choice.action], False
    if choice.rigs:
        arguments.rig = [*choice.rigs]
    try:
        yield
    finally:
        for name, value in given.items():
            setattr(arguments, name, value)


def _report(row: Row, rows: Sequence[Row]) -> None:
    """Fill the row of a file: the fields of its first output, and those of each where there are several."""
    first = next((own for own in rows if own["ok"]), rows[0])
    notes = each_action.once(rows)
    row |= {key: value for key, value in first.items() if key != "source"}
    row["warnings"], row["ok"], row["error"], row["code"] = notes, False, None, None
    if len(rows) == 1:
        return
    row["skipped"] = all(own["skipped"] for own in rows) if all(own["ok"] for own in rows) else None
    row[each_action.FIELD] = [
        {key: _sentence(value) for key, value in own.items() if key not in _OF_FILE and _says(key, value)}
        for own in rows
    ]


def _says(key: str, value: object) -> bool:
    """Whether an entry has a field: those of all verbs only where there is something to say."""
    return value is not None or key not in FIELDS or key == "error"


def _sentence(value: object) -> object:
    return one_line(str(value)) if isinstance(value, LookAtError) else value


def _complain(failed: Sequence[Row], count: int) -> None:
    """Raises LookAtError where outputs could not be made."""
    if not failed:
        return
    if count == 1:
        raise failed[0]["error"]
    raise LookAtError(
        "{failed} of {count} outputs were not made, first that of action '{action}': {error}",
        failed=len(failed),
        count=count,
        action=failed[0]["source"],
        error=failed[0]["error"],
    )
