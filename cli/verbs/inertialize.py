"""`inertialize`: clips joined, looped or freed from pops."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from ...lookat_pd.errors import FileError, RigError
from ...rig import actions, bake, clips, join, look_at, loop, pops, splice, timeline
from ...rig.splice import Blend
from ...rig.timeline import ClipRef, Step
from .. import arguments as words
from .. import clip_list, each_file, jobs, retime, rigs, scene_files, velocity_jump
from ..arguments import Misuse
from ..clip_files import ClipFiles
from ..clip_list import Entry
from ..console import Console
from ..jobs import Job
from ..report import Row

NAME = "inertialize"
SUMMARY = "join clips, loop them, or smooth pops, without a leap of the motion"
EPILOG = """\
One of --to, --list, --markers, --loop and --smooth-pops says what to do; the result is a new action, which the rig
plays. A clip list has a step for each clip:
  [{"clip": "Run"}, {"clip": "Walk", "frame": 10, "at": 40, "blend": 0.3}, {"clip": "Idle", "blend": "auto"}]
clip: action; frame: frame of the clip that plays first (default: its first); at: frame of the result at which it
does (default: where the clip before ends); blend: seconds, or auto (default: --blend). Timeline markers called
"Walk" or "Walk@10" are such steps, each at its own frame.

--range keeps only these frames of the result; with --loop they are the frames that loop, and with --smooth-pops
those in which pops are looked for."""

_ROOTS = ("none", "position", "heading", "all")
_METHODS = tuple(method.lower() for method in splice.METHODS)
_AUTO = "auto"
_WAYS = ("to", "list", "markers", "loop", "smooth_pops")
_MEANT_FOR = {
    "action": ("to", "loop", "smooth_pops"),
    "source_frame": ("to",),
    "destination_frame": ("to",),
    "root": ("to", "list", "markers"),
    "method": ("to", "list", "markers"),
}
"""Flags that mean something only beside these others."""


@dataclass(frozen=True)
class _Wish:
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
class _Made:
    """What came of it. places: for each cut the two steps whose speeds are compared."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    clips: list[str]
    cuts: list[int]
    blends: list[float]
    places: list[tuple[velocity_jump.Step, velocity_jump.Step]]
    root: str | None = None
    missing: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--to", metavar="NAME", help="clip that goes on where --action is cut")
    way.add_argument("--list", type=Path, metavar="FILE.json", help="clips that play one after another, see below")
    way.add_argument("--markers", action="store_true", help="the same from the scene's timeline markers")
    way.add_argument("--loop", action="store_true", help="make --action cyclic, its end running into its start")
    way.add_argument("--smooth-pops", action="store_true", help="find the leaps in --action and smooth each")
    parser.add_argument(
        "--source-frame",
        type=words.frame,
        metavar="N",
        help="with --to: frame of --action at which the other clip takes over (default: its last)",
    )
    parser.add_argument(
        "--destination-frame",
        type=words.frame,
        metavar="N",
        help="with --to: frame of that clip which plays there (default: its first)",
    )
    parser.add_argument(
        "--blend",
        type=_blend,
        default=_AUTO,
        metavar="S|auto",
        help="seconds until the difference has died away (default: what suits poses and speeds)",
    )
    parser.add_argument(
        "--root", choices=_ROOTS, help="what of the root goes on from the clip before (default: heading, and position)"
    )
    parser.add_argument(
        "--method", choices=_METHODS, help="inertialization, dead blending, cross-fade or none (default: inertial)"
    )
    parser.add_argument(
        "--clips", nargs="+", action="extend", type=Path, default=[], metavar="FILE", help="further files with clips"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the new action")


def _blend(word: str) -> float | str:
    return _AUTO if word == _AUTO else words.number(0.0, clip_list.LONGEST_BLEND)(word)


def run(options: argparse.Namespace, console: Console) -> int:
    entries = _check(options)
    planned = jobs.plan(options.inputs, options.output)
    read = [*options.inputs, *options.clips]
    jobs.check_report(options.report, [*read, *(job.output for job in planned)])
    way = next(name for name in _WAYS if getattr(options, name))

    with ClipFiles(options.clips) as clip_files:
        wish = _Wish(options, way, entries, clip_files)

        def one(job: Job, row: Row) -> None:
            jobs.check_input(job.input)
            jobs.check_output(job, read)
            scene = _load(wish, job.input, row, console)
            _inertialize(wish, scene, row, console)
            if job.input.suffix.lower() == ".vrm" and job.output.suffix.lower() == ".glb":
                row["warnings"].append("The output is plain glTF: what VRM adds to it is lost.")
            console.progress(0.95, "writing")
            scene_files.save(job.output, job.input, console)
            row["output"] = str(job.output)
            console.say(_result(row))

        return each_file.run(planned, lambda job: job.input, one, options.report, console)[0]


def _check(options: argparse.Namespace) -> tuple[Entry, ...]:
    """The entries of the clip list, none without one. Raises Misuse."""
    for flag, ways in _MEANT_FOR.items():
        if getattr(options, flag) is not None and not any(getattr(options, way) for way in ways):
            raise Misuse(f"{_flag(flag)} means nothing without {' or '.join(map(_flag, ways))}")
    if options.range is not None and options.range[1] <= options.range[0]:
        first, last = options.range
        raise Misuse(f"--range {first} {last} holds less than two frames; put the smaller number first")
    if options.name is not None and not options.name.strip():
        raise Misuse("--name is empty; leave it out, or give a name")
    for path in options.clips:
        try:
            jobs.check_input(path)
        except FileError as error:
            raise Misuse(f"--clips {path}: {error}") from None
    return clip_list.read(options.list) if options.list is not None else ()


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _load(wish: _Wish, path: Path, row: Row, console: Console) -> bpy.types.Scene:
    """Read an input, and add the clips of further files at its frame rate."""
    scene = scene_files.load(path, wish.options.fps, console)
    rate = retime.rate(scene)
    if not wish.clip_files.is_ready(rate):
        wish.clip_files.read(rate, console)
        scene = scene_files.load(path, wish.options.fps, console)
    wish.clip_files.add(scene, rate, row["warnings"])
    row["fps"] = retime.reported(scene)
    return scene


def _inertialize(wish: _Wish, scene: bpy.types.Scene, row: Row, console: Console) -> None:
    rig = look_at.check_armature(rigs.choose(scene, wish.options.rig, row["warnings"]))
    row["rig"] = rig.name
    console.progress(0.2, "joining")
    if wish.way == "loop":
        made = _loop(wish, scene, rig)
    elif wish.way == "smooth_pops":
        made = _smooth_pops(wish, scene, rig, row)
    else:
        made = _join(wish, scene, rig)
    console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(scene, rig, made.places)
    _keep_all()
    _fill(row, made, jumps)
    if row["frames"][0] >= 0:
        scene.frame_start = min(scene.frame_start, row["frames"][0])
    scene.frame_end = max(scene.frame_end, row["frames"][1])


# Clips


@dataclass(frozen=True)
class _Clip:
    action: bpy.types.Action
    slot: bpy.types.ActionSlot

    def at(self, frame: float) -> ClipRef:
        return ClipRef(self.action, frame, self.slot)


def _take(wish: _Wish, rig: bpy.types.Object, name: str | None) -> _Clip:
    """The clip called so, None for the one that the rig plays; the rig plays it then. Raises RigError."""
    if name is not None:
        rigs.use_action(rig, name, "NEW")
    data = rig.animation_data
    if data is None or data.action is None:
        raise RigError(f"'{rig.name}' plays no action; name one with --action.")
    if data.action_slot is None:
        rigs.use_action(rig, data.action.name, "NEW")
    wish.clip_files.check_modes(rig, data.action, data.action_slot)
    return _Clip(data.action, data.action_slot)


# Ways


def _join(wish: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> _Made:
    options = wish.options
    name = options.name or ""
    if wish.way == "to":
        source, destination = _take(wish, rig, options.action), _take(wish, rig, options.to)
        rigs.use_action(rig, source.action.name, "NEW")
        first, last = timeline.reach(rig, source.at(0.0))
        cut = max(last, first + 1) if options.source_frame is None else options.source_frame
        enter = options.destination_frame
        if enter is None:
            enter = timeline.reach(rig, destination.at(0.0))[0]
        joined = join.join(
            rig, source.at(cut), destination.at(enter), wish.blend(), root=wish.root, name=name, scene=scene
        )
        played = [source, destination]
    else:
        entries = wish.entries or clip_list.from_markers(scene)
        played = _play_all(wish, rig, entries)
        steps = list(_steps(wish, rig, entries, played))
        joined = join.chain(rig, steps, root=wish.root, name=name, scene=scene)
    names = [clip.action.name for clip in played]
    return _in_range(rig, joined, names, options.range)


def _play_all(wish: _Wish, rig: bpy.types.Object, entries: Sequence[Entry]) -> list[_Clip]:
    """The clips of the entries. Raises RigError, which names the step that is wrong.

    The rig plays all in turn, and the first one again: so it is at rest in whatever not all of them animate.
    """
    found = []
    for number, entry in enumerate(entries, 1):
        with _numbered(number):
            found.append(_take(wish, rig, entry.clip))
    rigs.use_action(rig, entries[0].clip, "NEW")
    return found


def _steps(wish: _Wish, rig: bpy.types.Object, entries: Sequence[Entry], played: Sequence[_Clip]) -> Iterator[Step]:
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


def _in_range(rig: bpy.types.Object, joined: join.Joined, names: list[str], wanted: Sequence[int] | None) -> _Made:
    """The result, of which only the frames wanted are kept. Raises RigError where there are none."""
    action, slot, (first, last) = joined.action, joined.slot, wanted or (joined.first, joined.last)
    if wanted is not None:
        first, last = max(first, joined.first), min(last, joined.last)
        if last <= first:
            raise RigError(
                f"Of the result, frames {joined.first} to {joined.last}, --range {wanted[0]} {wanted[1]} leaves nothing that "
                "moves; choose other frames."
            )
        part = clips.read(rig, action, slot, np.arange(first, last + 1))
        name = action.name
        action, slot = join.make(rig, name, part)
        join.use(rig, action, slot)
        bpy.data.actions.remove(joined.action)
        action.name = name
    cuts = [(cut, blend) for cut, blend in zip(joined.cuts, joined.blends, strict=True) if first < cut <= last]
    return _Made(
        action,
        slot,
        names,
        [cut for cut, _ in cuts],
        [blend for _, blend in cuts],
        [velocity_jump.across(cut) for cut, _ in cuts],
        joined.root or None,
        list(joined.missing),
    )


def _loop(wish: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> _Made:
    options = wish.options
    clip = _take(wish, rig, options.action)
    first, last = options.range or (None, None)
    looped = loop.loop(
        rig, clip.action, first, last, wish.blend().seconds, slot=clip.slot, name=options.name or "", scene=scene
    )
    end, start = (looped.last - 1, looped.last), (looped.first, looped.first + 1)
    missing = timeline.fitting(rig, clip.action, clip.slot).missing
    return _Made(
        looped.action,
        looped.slot,
        [clip.action.name],
        [looped.last],
        [looped.blend],
        [(end, start)],
        missing=missing,
    )


def _smooth_pops(wish: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object, row: Row) -> _Made:
    options, seconds = wish.options, wish.blend().seconds
    clip = _take(wish, rig, options.action)
    fits = timeline.fitting(rig, clip.action, clip.slot)
    found = pops.by_frame(pops.find(rig, clip.action, *(options.range or ()), slot=clip.slot))
    end = timeline.key_range(clip.action, clip.slot)[1]
    dt = bake.seconds_per_frame(scene)
    action = clip.action.copy()
    action.name = options.name or f"{clip.action.name} smooth"
    slot = action.slots[clip.slot.identifier]
    blends = []
    for frame, here in found.items():
        left = (end - frame + 1) * dt
        blend = None if seconds is None else min(seconds, left)
        bones = {pop.bone for pop in here}
        blends.append(pops.smooth(rig, action, int(frame), blend, bones=bones, slot=slot, scene=scene))
    join.use(rig, action, slot)
    if not found:
        row["warnings"].append(f"No pop was found in '{clip.action.name}'; '{action.name}' is the same.")
    cuts = [int(frame) for frame in found]
    places = [velocity_jump.across(cut) for cut in cuts]
    return _Made(action, slot, [clip.action.name], cuts, blends, places, missing=list(fits.missing))


# What is told


def _keep_all() -> None:
    """Let actions that nothing plays any more be saved."""
    for action in bpy.data.actions:
        if action.users == 0 and action.library is None:
            action.use_fake_user = True


def _fill(row: Row, made: _Made, jumps: Sequence[float | None]) -> None:
    row["frames"] = list(timeline.key_range(made.action, made.slot))
    row["action"], row["clips"] = made.action.name, made.clips
    row["cuts"], row["blends"] = made.cuts, [round(blend, 4) for blend in made.blends]
    row["root"], row["missing_bones"] = made.root, made.missing
    row["velocity_jump_deg_per_s"] = [None if jump is None else round(jump, 3) for jump in jumps]
    if made.missing:
        row["warnings"].append(
            f"'{row['rig']}' has not all bones that the clips move, and their motion is left out: "
            f"{', '.join(made.missing)}."
        )
    others = {
        slot.name_display
        for name in made.clips
        for slot in bpy.data.actions[name].slots
        if slot.target_id_type not in ("OBJECT", "UNSPECIFIED") and _has_keys(bpy.data.actions[name], slot)
    }
    if others:
        row["warnings"].append(
            f"Only the motion of '{row['rig']}' is in the result, not what the clips do to {', '.join(sorted(others))}."
        )


def _has_keys(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bool:
    bag = actions.channelbag(action, slot)
    return bag is not None and len(bag.fcurves) > 0


def _result(row: Row) -> str:
    """One line about a file that was written."""
    first, last = row["frames"]
    pairs = zip(row["cuts"], row["blends"], strict=True)
    cuts = ", ".join(f"{cut} ({blend:.2f} s)" for cut, blend in pairs)
    about = f", blended at {cuts}" if cuts else ""
    return f"{row['input']} -> {row['output']}: {row['action']}, frames {first} to {last}{about}"
