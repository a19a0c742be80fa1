"""What `inertialize` does to a rig: clips joined, looped or freed from pops, as a new action that it plays."""

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..lookat_pd import inertialize
from ..lookat_pd.errors import RigError
from ..rig import sample
from ..rig.transitions import best_cut, chains, clips, join, loop, pops, timeline
from ..rig.transitions.splice import Blend
from ..rig.transitions.timeline import ClipRef, Step
from . import rigs, velocity_jump
from .clip_files import ClipFiles
from .clip_list import Entry

AUTO = "auto"
_LONGEST_AUTO = inertialize.BLEND_TIMES[1]


@dataclass(frozen=True)
class Wish:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    way: str
    entries: tuple[Entry, ...]
    clip_files: ClipFiles

    def blend(self, own: float | str | None = None) -> Blend:
        """own: what a step says itself."""
        seconds = self.options.blend if own is None else own
        return Blend(None if isinstance(seconds, str) else seconds, (self.options.method or "inertial").upper())

    @property
    def root(self) -> str:
        return (self.options.root or "heading").upper()


@dataclass(frozen=True)
class Made:
    """What came of it.

    clips: names of the actions; begins: the frame of each at which it begins. cuts, blends [s]: one a transition, and
    places: the two steps whose speeds are compared there. root: bone by which clips were placed. missing: bones that
    the rig lacks.
    """

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    clips: list[str]
    cuts: list[int]
    blends: list[float]
    places: list[tuple[velocity_jump.Step, velocity_jump.Step]]
    begins: list[float] = field(default_factory=list)
    root: str | None = None
    missing: list[str] = field(default_factory=list)


def make(wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object, notes: list[str]) -> Made:
    """Raises LookAtError."""
    if rig.animation_data is not None and rig.animation_data.use_tweak_mode:
        raise RigError(f"'{rig.name}' is in NLA tweak mode; leave it (Tab in the NLA editor) and save the file again.")
    if wish.way == "loop":
        return _loop(wish, scene, rig)
    if wish.way == "smooth_pops":
        return _smooth_pops(wish, scene, rig, notes)
    return _join(wish, scene, rig)


# Clips


@dataclass(frozen=True)
class _Clip:
    action: bpy.types.Action
    slot: bpy.types.ActionSlot

    def at(self, frame: float) -> ClipRef:
        return ClipRef(self.action, frame, self.slot)


def _take(wish: Wish, rig: bpy.types.Object, name: str | None) -> _Clip:
    """The clip called so, None for the one that the rig plays; the rig plays it then. Raises RigError."""
    if name is not None:
        rigs.use_action(rig, name, "NEW")
    data = rig.animation_data
    if data is None or data.action is None:
        raise RigError(f"'{rig.name}' plays no action; name one with --action.")
    if data.action_slot is None:
        rigs.use_action(rig, data.action.name, "NEW")
    timeline.fitting(rig, data.action, data.action_slot)
    wish.clip_files.check(rig, data.action, data.action_slot)
    return _Clip(data.action, data.action_slot)


# Ways


def _join(wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> Made:
    options = wish.options
    name = options.name or ""
    if wish.way == "to":
        source, destination = _take(wish, rig, options.action), _take(wish, rig, options.to)
        rigs.use_action(rig, source.action.name, "NEW")
        cut, enter = _frames(wish, scene, rig, source, destination)
        joined = join.join(
            rig, source.at(cut), destination.at(enter), wish.blend(), root=wish.root, name=name, scene=scene
        )
        played, begins = [source, destination], [timeline.reach(rig, source.at(0.0))[0], enter]
    else:
        entries = wish.entries or _from_markers(wish, scene, rig)
        played = _play_all(wish, rig, entries)
        steps = list(_steps(wish, rig, entries, played))
        joined = join.chain(rig, steps, root=wish.root, name=name, scene=scene)
        begins = [step.clip.frame for step in steps]
    names = [clip.action.name for clip in played]
    return dataclasses.replace(_in_range(rig, joined, names, options.range), begins=begins)


def _frames(
    wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object, source: _Clip, destination: _Clip
) -> tuple[int, int]:
    """Frame of the source at which the destination takes over, and that of the destination which plays there."""
    options = wish.options
    (first, last), (begin, end) = (timeline.reach(rig, clip.at(0.0)) for clip in (source, destination))
    if options.best_cut:
        dt = sample.seconds_per_frame(scene)
        seconds = wish.blend().seconds
        # What suits the poses is known only when the cut is: as long as it can be, if the clip has as much.
        room = min(_LONGEST_AUTO / dt, 0.5 * (end - begin)) if seconds is None else np.ceil(seconds / dt)
        found = best_cut.find(rig, source.action, destination.action, count=1, room=int(room), scene=scene)
        if not found.cuts:
            raise RigError(
                f"'{source.action.name}' or '{destination.action.name}' is too short for a search; give --source-frame "
                "and --destination-frame."
            )
        return found.cuts[0][:2]
    cut = max(last, first + 1) if options.source_frame is None else options.source_frame
    return cut, begin if options.destination_frame is None else options.destination_frame


def _from_markers(wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> list[Entry]:
    steps = chains.from_markers(rig, scene, wish.blend())
    return [Entry(step.clip.action.name, step.clip.frame, step.at) for step in steps]


def _play_all(wish: Wish, rig: bpy.types.Object, entries: Sequence[Entry]) -> list[_Clip]:
    """The clips of the entries. Raises RigError, which names the step that is wrong.

    The rig plays all in turn, and the first one again: so it is at rest in whatever not all of them animate.
    """
    found = []
    for number, entry in enumerate(entries, 1):
        with _numbered(number):
            found.append(_take(wish, rig, entry.clip))
    rigs.use_action(rig, entries[0].clip, "NEW")
    return found


def _steps(wish: Wish, rig: bpy.types.Object, entries: Sequence[Entry], played: Sequence[_Clip]) -> Iterator[Step]:
    """Raises RigError, which names the step that is wrong."""
    before = end = None
    for number, (entry, clip) in enumerate(zip(entries, played, strict=True), 1):
        with _numbered(number):
            first, last = timeline.reach(rig, clip.at(0.0))
            frame = float(first) if entry.frame is None else entry.frame
            if not first <= frame <= last:
                raise RigError(
                    f"Frame {frame:g} lies outside '{entry.clip}', which has keys from frame {first} to {last}; choose "
                    "a frame in between."
                )
            at = entry.at
            if at is None:
                at = int(np.floor(frame)) if end is None else end
            if before is not None and at <= before:
                raise RigError(
                    f"'{entry.clip}' would play from frame {at}, and the clip before does from {before}; give it a "
                    "later 'at', or let the one before last longer."
                )
            before, end = at, at + int(np.floor(last - frame + 1e-6))
        yield Step(clip.at(frame), at, wish.blend(entry.blend))


@contextlib.contextmanager
def _numbered(step: int) -> Iterator[None]:
    try:
        yield
    except RigError as error:
        raise RigError(f"Step {step}: {error}") from None


def _in_range(rig: bpy.types.Object, joined: join.Joined, names: list[str], wanted: Sequence[int] | None) -> Made:
    """The result, of which only the frames wanted are kept. Raises RigError where there are none."""
    action, slot, (first, last) = joined.action, joined.slot, wanted or (joined.first, joined.last)
    if wanted is not None:
        first, last = max(first, joined.first), min(last, joined.last)
        if last <= first:
            raise RigError(
                f"Of the result, frames {joined.first} to {joined.last}, --range {wanted[0]} {wanted[1]} leaves less "
                "than two; choose other frames."
            )
        part = clips.read(rig, action, slot, np.arange(first, last + 1))
        name = action.name
        action, slot = join.make(rig, name, part)
        join.use(rig, action, slot)
        bpy.data.actions.remove(joined.action)
        action.name = name
    cuts = [(cut, blend) for cut, blend in zip(joined.cuts, joined.blends, strict=True) if first < cut <= last]
    return Made(
        action,
        slot,
        names,
        [cut for cut, _ in cuts],
        [blend for _, blend in cuts],
        [velocity_jump.across(cut) for cut, _ in cuts],
        root=joined.root or None,
        missing=list(joined.missing),
    )


def _loop(wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> Made:
    options = wish.options
    clip = _take(wish, rig, options.action)
    first, last = options.range or (None, None)
    looped = loop.loop(
        rig, clip.action, first, last, wish.blend().seconds, slot=clip.slot, name=options.name or "", scene=scene
    )
    end, start = (looped.last - 1, looped.last), (looped.first, looped.first + 1)
    missing = timeline.fitting(rig, clip.action, clip.slot).missing
    return Made(
        looped.action,
        looped.slot,
        [clip.action.name],
        [looped.last],
        [looped.blend],
        [(end, start)],
        [looped.first],
        missing=missing,
    )


def _smooth_pops(wish: Wish, scene: bpy.types.Scene, rig: bpy.types.Object, notes: list[str]) -> Made:
    options, seconds = wish.options, wish.blend().seconds
    clip = _take(wish, rig, options.action)
    fits = timeline.fitting(rig, clip.action, clip.slot)
    found = pops.by_frame(pops.find(rig, clip.action, *(options.range or ()), slot=clip.slot))
    begin, end = timeline.key_range(clip.action, clip.slot)
    dt = sample.seconds_per_frame(scene)
    action, called = clip.action.copy(), clip.action.name
    action.name = options.name or f"{clip.action.name} smooth"
    slot = action.slots[clip.slot.identifier]
    blends = []
    for frame, here in found.items():
        left = (end - frame + 1) * dt
        blend = None if seconds is None else min(seconds, left)
        bones = {pop.bone for pop in here}
        blends.append(pops.smooth(rig, action, int(frame), blend, bones=bones, slot=slot, scene=scene, called=called))
    join.use(rig, action, slot)
    if not found:
        notes.append(f"No pop was found in '{clip.action.name}'; '{action.name}' is the same.")
    cuts = [int(frame) for frame in found]
    places = [velocity_jump.across(cut) for cut in cuts]
    return Made(action, slot, [clip.action.name], cuts, blends, places, [begin], missing=list(fits.missing))
