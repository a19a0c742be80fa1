"""Which actions of a file a verb works on, and doing so for each of them."""

import argparse
import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..lookat_pd_batch import codes
from ..rig.animation import key_extent
from ..rig.detection import moving_actions
from ..rig.detection.moving_actions import Playing
from . import dry_run, gltf_source, rigs
from .arguments import Misuse
from .console import Console
from .jobs import FileJob
from .report import Row

FIELD = "baked"
"""Field of the report with a row for each action, where there are several."""


@dataclass(frozen=True)
class ActionTask:
    """What is done to each action."""

    options: argparse.Namespace
    job: FileJob
    row: Row
    console: Console
    armatures: Sequence[bpy.types.Object]
    """Armatures whose animation is changed; the first one plays the actions."""
    into: str
    """As of `BakeOptions`."""
    result: Callable[[str], str]
    """Returns the name of the result of an action by its name."""
    is_copy: bool = True
    """A result has all F-curves of the action that are not replaced."""
    others: Collection[str] = ()
    """As of `chosen`."""

    @property
    def rig(self) -> bpy.types.Object:
        return self.armatures[0]


def check(options: argparse.Namespace, into: str) -> None:
    """Raises Misuse."""
    alone = options.template is not None and options.template.has("action")
    if into == "LAYER" and not alone and (options.all_actions or len(options.action or ()) > 1):
        raise Misuse("--into layer adds a layer to one action; give one --action, or another --into")


def run(task: ActionTask, one: Callable[[Row], bpy.types.Action]) -> None:
    """Let the rig play each chosen action, do the work and fill the row. Raises RigError.

    one: fills a row of its own and returns the action that it has made. Every action begins with the same pose, so that
    its result does not depend on the others.
    """
    names = chosen(task.options, task.rig, task.job, task.others)
    if task.into == "LAYER" and len(names) > 1:
        raise RigError("--into layer adds a layer to one action; choose one action, or another --into.")
    if task.into == "NEW" and len(names) > 1:
        moving_actions.check_results([str(name) for name in names], task.result)
    if task.options.dry_run is not None:
        dry_run.stop(task.row, task.rig.name, names)
    start = [Playing.of(armature) for armature in task.armatures]
    rows, made = [], []
    for number, name in enumerate(names):
        for state in start if number else ():
            state.restore()
        if name is not None:
            rigs.use_action(task.rig, name, task.into)
        source = task.rig.animation_data.action if task.rig.animation_data else None
        before = _reference(task, source)
        own: Row = {"rig": task.rig.name, "warnings": _outside(task)}
        with task.console.portion(number, len(names), name), _named(name if len(names) > 1 else None):
            action = one(own)
        rows.append({"source": None if source is None else source.name, **own})
        made.append((action, task.rig.animation_data.action_slot))
        note_written(task.job, task.rig, action, before, source, in_place=task.into == "CURRENT")
    if len(names) > 1 and task.into == "NEW":
        for state in start:
            state.restore()
        rigs.use_action(task.rig, str(names[0]), task.into)
        moving_actions.keep_on_tracks(task.rig, made)
    _report(task.row, rows)


def _outside(task: ActionTask) -> list[str]:
    """Warnings of a given range without keys."""
    if task.options.range is None:
        return []
    found = (key_extent.outside(rig, *task.options.range) for rig in task.armatures)
    return [str(note) for note in found if note is not None]


def note_written(
    job: FileJob,
    rig: bpy.types.Object,
    action: bpy.types.Action,
    before: tuple[bpy.types.Action, bpy.types.ActionSlot] | None = None,
    source: bpy.types.Action | None = None,
    *,
    in_place: bool = False,
) -> None:
    """Have an action that the rig plays written to the output, where that is the input with edited animations."""
    if job.source is None:
        return
    pose = moving_actions.pose_of(rig)
    slot = rig.animation_data.action_slot
    old, old_slot = (None, None) if before is None else before
    name = "" if source is None else source.name
    job.source.written.append(gltf_source.Written(rig, action, slot, pose, old, old_slot, name, in_place))


def _reference(
    task: ActionTask, source: bpy.types.Action | None
) -> tuple[bpy.types.Action, bpy.types.ActionSlot] | None:
    """The action that is worked on, as it is before."""
    if task.job.source is None or source is None or not task.is_copy:
        return None
    slot = task.rig.animation_data.action_slot
    if task.into != "CURRENT":
        return source, slot
    copy = source.copy()
    return copy, copy.slots[slot.identifier]


# Choosing


def chosen(
    options: argparse.Namespace, rig: bpy.types.Object, job: FileJob, others: Collection[str] = ()
) -> list[str | None]:
    """Names of the actions to work on; None for what the rig plays. Raises RigError where that is no choice.

    others: names of actions that are not of the file, and taken only by name.
    """
    own = [name for name in rigs.moving(rig) if name not in others]
    if options.all_actions:
        names = own
        if not names:
            raise RigError(
                "No action of the file moves '{rig}'; leave --all-actions out.", rig=rig.name, code="no-actions"
            )
        return [*names]
    if options.action:
        return [*matching(rig, options.action)]
    data = rig.animation_data
    is_choice = job.input.suffix.lower() == ".blend" and data is not None and rigs.is_animated(data)
    candidates = [] if is_choice else own
    if len(candidates) > 1:
        raise RigError(
            "Several actions of the file move '{rig}': {names}; choose with --action, or take all with --all-actions.",
            rig=rig.name,
            names=", ".join(f"'{name}'" for name in candidates),
            code="several-actions",
        )
    plays = data is not None and data.action is not None
    return [candidates[0] if candidates and not plays and job.input.suffix.lower() != ".blend" else None]


def only(options: argparse.Namespace, rig: bpy.types.Object, job: FileJob, others: Collection[str] = ()) -> str | None:
    """The name of the one action to work on, as of `chosen`. Raises RigError where there are several."""
    names = chosen(options, rig, job, others)
    if len(names) > 1:
        raise RigError(
            "--action stands for {count} actions: {names}; choose one of them.",
            count=len(names),
            names=", ".join(f"'{name}'" for name in names),
            code="several-actions",
        )
    return names[0]


def matching(rig: bpy.types.Object, patterns: Sequence[str]) -> list[str]:
    """Names of the actions that move the rig and match the patterns, in their order. Raises RigError for a pattern
    that matches none."""
    names: dict[str, None] = {}
    for pattern in patterns:
        if pattern in bpy.data.actions:
            rigs.check_moves(rig, bpy.data.actions[pattern])
            names[pattern] = None
            continue
        here = [name for name in rigs.moving(rig) if fnmatchcase(name, pattern)]
        if not here:
            raise rigs.no_action(rig, pattern)
        names |= dict.fromkeys(here)
    return [*names]


@contextlib.contextmanager
def _named(name: str | None) -> Iterator[None]:
    """Errors say which action they are about, where there are several."""
    try:
        yield
    except RigError as error:
        if name is None:
            raise
        raise RigError("Action '{name}': {error}", name=name, error=error) from None


def once(rows: Sequence[Row]) -> list[str]:
    """The warnings of all actions, each kind of them once, with the first action that it is about."""
    if len(rows) == 1:
        return rows[0]["warnings"]
    about: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for own in rows:
        for warning in own["warnings"]:
            kind = codes.of_note(warning), getattr(warning, "template", warning)
            about.setdefault(kind, []).append((own["source"], warning))
    found = []
    for (action, warning), *others in about.values():
        more = len({name for name, _ in others} - {action})
        if more:
            found.append(Message("Action '{action}' and {count} more: {note}", action=action, count=more, note=warning))
        else:
            found.append(Message("Action '{action}': {note}", action=action, note=warning))
    return found


def _report(row: Row, rows: Sequence[Row]) -> None:
    """Fill the row of a file: the fields of the first action, and those of each where there are several."""
    first = {key: value for key, value in rows[0].items() if key != "source"}
    row |= {**first, "warnings": row["warnings"]}
    row["warnings"] += once(rows)
    if len(rows) > 1:
        row[FIELD] = [{key: value for key, value in own.items() if key != "warnings"} for own in rows]
