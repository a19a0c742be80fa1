"""Clips that play one after another: from the entries of a list to one action."""

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ....lookat_pd.errors import RigError
from ....lookat_pd.progress import drain
from ....rig.animation.key_writer import KeyWriter
from ....rig.transitions import clips, join, pose_markers, sequence
from ....rig.transitions.lock_feet import PlayedClip
from ....rig.transitions.sequence import ClipStep
from ....rig.transitions.splice import Blend
from ... import rigs
from . import velocity_jump
from .clip_list import Entry
from .made import Made
from .mode_task import ModeClip, ModeTask


def join_entries(task: ModeTask, entries: Sequence[Entry]) -> Made:
    """Raises RigError, which names the step that is wrong."""
    played = _play_all(task, entries)
    steps = list(_steps(task, entries, played))

    def chain(how: Blend) -> Generator[float, None, join.Joined]:
        own = [replace(step, blend=replace(step.blend, hard=how.hard)) for step in steps]
        return join.chaining(task.rig, own, **task.placing)

    joined = task.joined(chain, [step.blend for step in steps[1:]])
    return made(task, joined, joined.played)


def _play_all(task: ModeTask, entries: Sequence[Entry]) -> list[ModeClip]:
    """The clips of the entries. Raises RigError, which names the step that is wrong.

    The rig plays all in turn, and the first one again: so it is at rest in whatever not all of them animate.
    """
    played = []
    for number, entry in enumerate(entries, 1):
        with _numbered(number):
            played.append(task.take(entry.clip))
    rigs.use_action(task.rig, entries[0].clip, "NEW")
    return played


def _steps(task: ModeTask, entries: Sequence[Entry], played: Sequence[ModeClip]) -> Iterator[ClipStep]:
    """Raises RigError, which names the step that is wrong."""
    before = end = None
    for number, (entry, clip) in enumerate(zip(entries, played, strict=True), 1):
        with _numbered(number):
            first, last = sequence.frame_range(task.rig, clip.at(0.0))
            frame = float(first) if entry.frame is None else entry.frame
            if not first <= frame <= last:
                raise sequence.outside_keys(frame, entry.clip, first, last)
            at = entry.at
            if at is None:
                at = int(np.floor(frame)) if end is None else end
            if before is not None and at <= before:
                raise RigError(
                    "'{clip}' starts at frame {at}, but the clip before it starts at {before}; set a later "
                    "'at', or extend the clip before it.",
                    clip=entry.clip,
                    at=at,
                    before=before,
                )
            before, end = at, at + int(np.floor(last - frame + 1e-6))
        yield ClipStep(clip.at(frame), at, task.blend(entry.blend))


@contextlib.contextmanager
def _numbered(step: int) -> Iterator[None]:
    try:
        yield
    except RigError as error:
        raise RigError("Step {step}: {error}", step=step, error=error) from None


def made(task: ModeTask, joined: join.Joined, played: Sequence[PlayedClip]) -> Made:
    """The result, of which only the frames of --range are kept. Raises RigError where there are none."""
    task.warn_unlocked(joined.unlocked)
    action, slot, wanted = joined.action, joined.slot, task.options.range
    first, last = wanted or (joined.first, joined.last)
    if wanted is not None:
        first, last = max(first, joined.first), min(last, joined.last)
        if last <= first:
            raise RigError(
                "--range {begin} {end} leaves fewer than two frames of the result, frames {first} to "
                "{last}; choose other frames.",
                first=joined.first,
                last=joined.last,
                begin=wanted[0],
                end=wanted[1],
            )
        action, slot = _part(task.rig, joined, first, last, task.writer)
    cuts = [
        (cut, blend, method)
        for cut, blend, method in zip(joined.cuts, joined.blends, joined.methods, strict=True)
        if first < cut <= last
    ]
    return Made(
        action,
        slot,
        [clip.action.name for clip in played if clip.action is not None],
        [cut for cut, _, _ in cuts],
        [blend for _, blend, _ in cuts],
        [velocity_jump.across(cut) for cut, _, _ in cuts],
        list(joined.begins),
        joined.root or None,
        list(joined.missing),
        [method for _, _, method in cuts],
        None if joined.feet is None else (joined.feet.before, joined.feet.drift),
        converted=list(joined.converted),
        kept=[round(share, 4) for share in joined.kept],
    )


def _part(
    rig: bpy.types.Object, joined: join.Joined, first: int, last: int, writer: KeyWriter
) -> tuple[bpy.types.Action, bpy.types.ActionSlot]:
    """These frames of the result, in place of it."""
    part = clips.read(rig, joined.action, joined.slot, np.arange(first, last + 1))
    name = joined.action.name
    action, slot = join.make(rig, name, part, pose_markers.read(joined.action, first, last))
    clip = PlayedClip(joined.action, joined.slot, first, last, float(first), first, 0.0)
    drain(join.with_keys(rig, action, slot, [clip], writer))
    join.use(rig, action, slot)
    bpy.data.actions.remove(joined.action)
    action.name = name
    return action, slot
