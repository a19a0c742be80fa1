"""What `inertialize` does to a rig: clips joined, looped or freed from pops, as a new action that it plays."""

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..lookat_pd.progress import drain
from ..lookat_pd.transitions import inertialization, methods
from ..lookat_pd.transitions.profiles import ProfileRow
from ..rig.animation import actions
from ..rig.animation.bake_options import BakeOptions
from ..rig.feet import skate
from ..rig.sampling import scene_time
from ..rig.transitions import (
    best_cut,
    blend_profiles,
    chains,
    clips,
    join,
    library,
    loop,
    path_following,
    pop_smoothing,
    pops,
    pose_markers,
    sequence,
    travel,
)
from ..rig.transitions.as_seen import seen_join, seen_keys
from ..rig.transitions.library import Library, LibraryCut, PathEnds
from ..rig.transitions.sequence import ClipRef, ClipStep
from ..rig.transitions.splice import Blend
from . import clip_library, rigs, velocity_jump
from .clip_files import ClipFiles
from .clip_list import Entry
from .console import Console

AUTO = "auto"
WRITE_TO = ("CONSTRAINTS", *actions.INTO)
"""Where transitions as seen may be written."""
_LONGEST_AUTO = inertialization.BLEND_TIMES[1]


@dataclass(frozen=True)
class TransitionRequest:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    mode: str
    entries: tuple[Entry, ...]
    clip_files: ClipFiles
    profile: tuple[ProfileRow, ...] = ()

    def blend(self, rig: bpy.types.Object, own: float | str | None = None) -> Blend:
        """own: what a step says itself."""
        seconds = self.options.blend if own is None else own
        return Blend(
            None if isinstance(seconds, str) else seconds,
            methods.METHODS[self.options.method or methods.default().id].identifier,
            blend_profiles.fitted(self.profile, rig),
            1.0 if self.options.damping_ratio is None else self.options.damping_ratio,
        )

    def joined(
        self,
        scene: bpy.types.Scene,
        rig: bpy.types.Object,
        make: Callable[[Blend], join.Joined],
        blends: Sequence[Blend] = (),
    ) -> join.Joined:
        """What `make` joins with a blend of the keys or, as seen, of the evaluated pose. blends: of
        each cut, by default the same. Raises LookAtError."""
        if not self.options.as_seen:
            return make(self.blend(rig))
        lock_feet = self.options.lock_feet
        return drain(seen_join.joined(scene, rig, make, blends or self.blend(rig), lock_feet=lock_feet))

    def write(self, scene: bpy.types.Scene, rig: bpy.types.Object, *, is_new: bool = False) -> list[str] | None:
        """Write what was made as seen where it shall be, and return the bones that have keys; None where it stays in
        constraints. is_new: the action was just made, and needs no copy. Raises LookAtError."""
        into = (self.options.write_to or WRITE_TO[0]).upper()
        if not self.options.as_seen or into == WRITE_TO[0]:
            return None
        if is_new and into == "NEW":
            into = "CURRENT"
        return list(dict.fromkeys(bone for made in drain(seen_keys.write(scene, rig, into)) for bone in made.controls))

    @property
    def root(self) -> str:
        return (self.options.root or "heading").upper()


@dataclass(frozen=True)
class Made:
    """What came of it.

    clips: names of the actions; begins: the frame of each at which it begins. cuts, blends [s], methods: one a
    transition, and places: the two steps whose speeds are compared there. root: bone by which clips were placed.
    missing: bones that the rig lacks. foot_drift: largest distance [units of the world] between two places of a planted
    foot before and after it was locked, None where none was. library: the actions that were compared, path: the cuts
    among them that were taken. travel: the speed of a clip that was converted, for the report.
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
    methods: list[str] = field(default_factory=list)
    foot_drift: tuple[float, float] | None = None
    library: Library | None = None
    path: list[LibraryCut] = field(default_factory=list)
    travel: dict[str, float] | None = None


def check(rig: bpy.types.Object) -> None:
    """Raise RigError where the rig cannot play another action."""
    if rig.animation_data is not None and rig.animation_data.use_tweak_mode:
        raise RigError(
            "'{rig}' is in NLA tweak mode; leave tweak mode (Tab in the NLA editor) and save the file again.",
            rig=rig.name,
        )


def make(
    request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, notes: list[str], console: Console
) -> Made:
    """Raises LookAtError."""
    if request.mode == "loop":
        return _loop(request, scene, rig)
    if request.mode in ("in_place", "travel", "along"):
        return _travelled(request, scene, rig, console)
    if request.mode == "clean_feet":
        return _clean_feet(request, scene, rig)
    if request.mode == "smooth_pops":
        return _smooth_pops(request, scene, rig, notes)
    if request.options.library is not None:
        return _along_path(request, scene, rig, console)
    return _join(request, scene, rig, request.entries)


# Clips


@dataclass(frozen=True)
class _Clip:
    action: bpy.types.Action
    slot: bpy.types.ActionSlot

    def at(self, frame: float) -> ClipRef:
        return ClipRef(self.action, frame, self.slot)


def _take(request: TransitionRequest, rig: bpy.types.Object, name: str | None = None) -> _Clip:
    """The clip called so, None for the one that the rig plays; the rig plays it then. Raises RigError."""
    if name is not None:
        rigs.use_action(rig, name, "NEW")
    data = rig.animation_data
    if data is None or data.action is None:
        raise RigError("'{rig}' has no action; choose one with --action.", rig=rig.name)
    if data.action_slot is None:
        rigs.use_action(rig, data.action.name, "NEW")
    sequence.fitting(rig, data.action, data.action_slot)
    request.clip_files.check(rig, data.action, data.action_slot)
    return _Clip(data.action, data.action_slot)


# Ways


def _along_path(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, console: Console) -> Made:
    """Clips joined along the cheapest path."""
    options, seconds = request.options, request.blend(rig).seconds
    source, destination = _take(request, rig).action, _take(request, rig, options.to).action
    rigs.use_action(rig, source.name, "NEW")
    room = (_LONGEST_AUTO if seconds is None else seconds) / scene_time.seconds_per_frame(scene)
    ends = PathEnds(source.name, destination.name, (options.source_range, options.destination_range))
    known = clip_library.compare(scene, rig, options.library, console, ends, int(np.ceil(room)))
    cost = library.CUT_COST if options.cut_cost is None else options.cut_cost
    path = known.cuts.path(ends, cost)
    entries = [Entry(step.clip.action.name, step.clip.frame, step.at) for step in known.steps(path)]
    return dataclasses.replace(_join(request, scene, rig, entries), library=known, path=path)


def _join(
    request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, entries: Sequence[Entry] = ()
) -> Made:
    """entries: of a clip list or a path, none for two clips and for markers."""
    options = request.options
    locks_keys = options.lock_feet and not options.as_seen
    placing = {"root": request.root, "name": options.name or "", "lock_feet": locks_keys, "scene": scene}
    if request.mode == "to" and not entries:
        source, destination = _take(request, rig), _take(request, rig, options.to)
        rigs.use_action(rig, source.action.name, "NEW")
        cut, enter = _frames(request, scene, rig, source, destination)
        refs, repeat = (source.at(cut), destination.at(enter)), {"repeat": options.repeat or 1, "until": options.until}
        joined = request.joined(
            scene,
            rig,
            lambda how: join.join(rig, *refs, how, **placing, **repeat),
        )
        played = [source, *[destination] * len(joined.cuts)]
    else:
        entries = entries or _from_markers(request, scene, rig)
        played = _play_all(request, rig, entries)
        steps = list(_steps(request, rig, entries, played))

        def chain(how: Blend) -> join.Joined:
            own = [replace(step, blend=replace(step.blend, hard=how.hard)) for step in steps]
            return join.chain(rig, own, **placing)

        joined = request.joined(scene, rig, chain, [step.blend for step in steps[1:]])
    names = [clip.action.name for clip in played]
    return dataclasses.replace(_in_range(rig, joined, names, options.range), begins=list(joined.begins))


def _frames(
    request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, source: _Clip, destination: _Clip
) -> tuple[int, int]:
    """Frame of the source at which the destination takes over, and that of the destination which plays there."""
    options = request.options
    (first, last), (begin, end) = (sequence.reach(rig, clip.at(0.0)) for clip in (source, destination))
    if options.best_cut:
        dt = scene_time.seconds_per_frame(scene)
        seconds = request.blend(rig).seconds
        # What suits the poses is known only when the cut is: as long as it can be, if the clip has as much.
        room = min(_LONGEST_AUTO / dt, 0.5 * (end - begin)) if seconds is None else np.ceil(seconds / dt)
        ranges = options.source_range, options.destination_range
        found = best_cut.find(
            rig, source.action, destination.action, count=1, room=int(room), ranges=ranges, scene=scene
        )
        if not found.cuts:
            raise RigError(
                "'{action}' or '{destination_action}' is too short for a search; give --source-frame "
                "and --destination-frame.",
                action=source.action.name,
                destination_action=destination.action.name,
            )
        return found.cuts[0][:2]
    cut = max(last, first + 1) if options.source_frame is None else options.source_frame
    return cut, begin if options.destination_frame is None else options.destination_frame


def _from_markers(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object) -> list[Entry]:
    steps = chains.from_markers(rig, scene, request.blend(rig))
    return [Entry(step.clip.action.name, step.clip.frame, step.at) for step in steps]


def _play_all(request: TransitionRequest, rig: bpy.types.Object, entries: Sequence[Entry]) -> list[_Clip]:
    """The clips of the entries. Raises RigError, which names the step that is wrong.

    The rig plays all in turn, and the first one again: so it is at rest in whatever not all of them animate.
    """
    found = []
    for number, entry in enumerate(entries, 1):
        with _numbered(number):
            found.append(_take(request, rig, entry.clip))
    rigs.use_action(rig, entries[0].clip, "NEW")
    return found


def _steps(
    request: TransitionRequest, rig: bpy.types.Object, entries: Sequence[Entry], played: Sequence[_Clip]
) -> Iterator[ClipStep]:
    """Raises RigError, which names the step that is wrong."""
    before = end = None
    for number, (entry, clip) in enumerate(zip(entries, played, strict=True), 1):
        with _numbered(number):
            first, last = sequence.reach(rig, clip.at(0.0))
            frame = float(first) if entry.frame is None else entry.frame
            if not first <= frame <= last:
                raise RigError(
                    "Frame {frame:g} is outside the keys of '{action}', frames {first} to {last}; choose a "
                    "frame in this range.",
                    frame=frame,
                    action=entry.clip,
                    first=first,
                    last=last,
                )
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
        yield ClipStep(clip.at(frame), at, request.blend(rig, entry.blend))


@contextlib.contextmanager
def _numbered(step: int) -> Iterator[None]:
    try:
        yield
    except RigError as error:
        raise RigError("Step {step}: {error}", step=step, error=error) from None


def _in_range(rig: bpy.types.Object, joined: join.Joined, names: list[str], wanted: Sequence[int] | None) -> Made:
    """The result, of which only the frames wanted are kept. Raises RigError where there are none."""
    action, slot, (first, last) = joined.action, joined.slot, wanted or (joined.first, joined.last)
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
        part = clips.read(rig, action, slot, np.arange(first, last + 1))
        name = action.name
        action, slot = join.make(rig, name, part, pose_markers.read(joined.action, first, last))
        join.use(rig, action, slot)
        bpy.data.actions.remove(joined.action)
        action.name = name
    cuts = [
        (cut, blend, method)
        for cut, blend, method in zip(joined.cuts, joined.blends, joined.methods, strict=True)
        if first < cut <= last
    ]
    return Made(
        action,
        slot,
        names,
        [cut for cut, _, _ in cuts],
        [blend for _, blend, _ in cuts],
        [velocity_jump.across(cut) for cut, _, _ in cuts],
        root=joined.root or None,
        missing=list(joined.missing),
        methods=[method for _, _, method in cuts],
        foot_drift=None if joined.feet is None else (joined.feet.before, joined.feet.drift),
    )


def _loop(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object) -> Made:
    options = request.options
    clip = _take(request, rig)
    first, last = options.range or (None, None)
    how = {"ends": (options.loop_ends or "both").upper(), "name": options.name or "", "lock_feet": options.lock_feet}
    looped = loop.loop(rig, clip.action, first, last, request.blend(rig), slot=clip.slot, scene=scene, **how)
    end, start = (looped.last - 1, looped.last), (looped.first, looped.first + 1)
    missing = sequence.fitting(rig, clip.action, clip.slot).missing
    return Made(
        looped.action,
        looped.slot,
        [clip.action.name],
        [looped.last],
        [looped.blend],
        [(end, start)],
        [looped.first],
        missing=missing,
        foot_drift=None if looped.feet is None else (looped.feet.before, looped.feet.drift),
    )


def _smooth_pops(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, notes: list[str]) -> Made:
    options, how = request.options, request.blend(rig)
    clip = _take(request, rig)
    fits = sequence.fitting(rig, clip.action, clip.slot)
    found = pops.bones_by_frame(pops.find(rig, clip.action, *(options.range or ()), slot=clip.slot))
    begin, _ = sequence.key_range(clip.action, clip.slot)
    made = drain(
        pop_smoothing.smooth(scene, rig, found, how, name=options.name or "", lock_feet=options.lock_feet, shorten=True)
    )
    if not found:
        notes.append(
            Message(
                "No pop was found in '{action}'; '{result}' is an unchanged copy.",
                action=clip.action.name,
                result=made.action.name,
            )
        )
    cuts = list(made.blends)
    return Made(
        made.action,
        made.slot,
        [clip.action.name],
        cuts,
        [used.seconds or 0.0 for used in made.blends.values()],
        [velocity_jump.across(cut) for cut in cuts],
        [begin],
        missing=list(fits.missing),
        methods=[used.how.id for used in made.blends.values()],
        foot_drift=None if made.feet is None else (made.feet.before, made.feet.drift),
    )


def _clean_feet(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object) -> Made:
    options = request.options
    clip = _take(request, rig)
    missing = sequence.fitting(rig, clip.action, clip.slot).missing
    first, last = options.range or sequence.key_range(clip.action, clip.slot)
    name = options.name or f"{clip.action.name} feet"
    cleaned = drain(skate.clean(scene, rig, BakeOptions(first, last, "NEW", name)))
    slot = rig.animation_data.action_slot
    drift = cleaned.before, cleaned.drift
    return Made(cleaned.action, slot, [clip.action.name], [], [], [], [first], missing=list(missing), foot_drift=drift)


def _travelled(request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, console: Console) -> Made:
    """A clip in place, on the move, or along a path."""
    options, clip = request.options, _take(request, rig)
    missing = sequence.fitting(rig, clip.action, clip.slot).missing
    called, covered, feet = clip.action.name, {}, None
    if request.mode == "in_place":
        made = travel.in_place(scene, rig, clip.action, options.in_place.upper(), name=options.name or "")
        speed = made.speed
    elif request.mode == "travel":
        made = travel.travelling(scene, rig, clip.action, _speed(options), name=options.name or "")
        speed = made.speed
    else:
        path = scene.objects.get(options.along)
        if path is None:
            raise RigError("There is no object '{name}' in the scene; choose a path.", name=options.along)
        steps = path_following.follow(
            scene,
            rig,
            clip.action,
            path,
            speed=options.speed,
            ease=path_following.EASE if options.ease is None else options.ease,
            lock_feet=options.lock_feet,
            name=options.name or f"{called} along",
        )
        made = drain(steps, lambda fraction: console.progress(0.2 + 0.4 * fraction, "following the path"))
        speed = travel.Speed(made.speed)
        feet = made.feet
        covered = {"distance": made.distance, "cycles": made.cycles}
    found = {
        "speed": speed.speed,
        "direction_deg": np.degrees(speed.direction),
        "turn_deg_per_s": np.degrees(speed.turn),
        **covered,
    }
    slot = rig.animation_data.action_slot
    return Made(
        made.action,
        slot,
        [called],
        [],
        [],
        [],
        [made.first],
        missing=list(missing),
        travel={name: round(float(value), 6) + 0.0 for name, value in found.items()},
        foot_drift=None if feet is None else (feet.before, feet.drift),
    )


def _speed(options: argparse.Namespace) -> travel.Speed | None:
    """The speed of the command line, None for that of the feet."""
    if isinstance(options.travel, str):
        return None
    return travel.Speed(options.travel, np.radians(options.direction or 0.0), np.radians(options.turning or 0.0))
