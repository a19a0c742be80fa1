"""`inertialize`: clips joined, looped or freed from pops."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import bpy

from ...lookat_pd.errors import FileError
from ...rig import actions, look_at
from ...rig.transitions import splice, timeline
from .. import arguments as words
from .. import clip_list, each_file, jobs, retime, rigs, scene_files, transitions, velocity_jump
from ..arguments import Misuse
from ..clip_files import ClipFiles
from ..clip_list import Entry
from ..console import Console
from ..jobs import Job
from ..report import Row
from ..transitions import AUTO, Made, Wish

NAME = "inertialize"
SUMMARY = "join clips, loop them, or smooth pops, without a leap of the motion"
EPILOG = """\
One of --to, --list, --markers, --loop and --smooth-pops says what to do; the result is a new action, which the rig
plays. A clip list has a step for each clip:
  [{"clip": "Run"}, {"clip": "Walk", "frame": 10, "at": 40, "blend": 0.3}, {"clip": "Idle", "blend": "auto"}]
clip: action; frame: frame of the clip that plays first (default: its first); at: frame of the result at which it
does (default: where the clip before ends); blend: seconds, or auto (default: --blend). Timeline markers called
"Walk" or "Walk @ 10" are such steps, each at its own frame.

With --best-cut, pose, speed and foot contacts of all frames of both clips are compared, and the two that differ
least are where the clips are joined.

--range keeps only these frames of the result; with --loop they are the frames that loop, and with --smooth-pops
those in which pops are looked for."""

_ROOTS = ("none", "position", "heading", "all")
_METHODS = tuple(method.lower() for method in splice.METHODS)
_WAYS = ("to", "list", "markers", "loop", "smooth_pops")
_MEANT_FOR = {
    "action": ("to", "loop", "smooth_pops"),
    "source_frame": ("to",),
    "destination_frame": ("to",),
    "best_cut": ("to",),
    "root": ("to", "list", "markers"),
    "method": ("to", "list", "markers"),
}
"""Flags that mean something only beside these others."""


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
    parser.add_argument("--best-cut", action="store_true", help="with --to: find where both clips are most alike")
    parser.add_argument(
        "--blend",
        type=_blend,
        default=AUTO,
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
    return AUTO if word == AUTO else words.number(0.0, clip_list.LONGEST_BLEND)(word)


def run(options: argparse.Namespace, console: Console) -> int:
    entries = _check(options)
    planned = jobs.plan(options.inputs, options.output)
    read = [*options.inputs, *options.clips]
    jobs.check_report(options.report, [*read, *(job.output for job in planned)])
    way = next(name for name in _WAYS if _given(options, name))

    with ClipFiles(options.clips) as clip_files:
        wish = Wish(options, way, entries, clip_files)

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
        if _given(options, flag) and not any(_given(options, way) for way in ways):
            raise Misuse(f"{_flag(flag)} means nothing without {' or '.join(map(_flag, ways))}")
    if options.best_cut and (options.source_frame is not None or options.destination_frame is not None):
        raise Misuse("--best-cut finds the frames itself; leave --source-frame and --destination-frame out")
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


def _given(options: argparse.Namespace, name: str) -> bool:
    # A frame or a name may be 0 or empty.
    value = getattr(options, name)
    return value is not None and value is not False


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _load(wish: Wish, path: Path, row: Row, console: Console) -> bpy.types.Scene:
    """Read an input, and add the clips of further files at its frame rate."""
    scene = scene_files.load(path, wish.options.fps, console)
    rate = retime.rate(scene)
    if not wish.clip_files.is_ready(rate):
        wish.clip_files.read(rate, console)
        scene = scene_files.load(path, wish.options.fps, console)
    wish.clip_files.add(scene, rate, row["warnings"])
    row["fps"] = retime.reported(scene)
    return scene


def _inertialize(wish: Wish, scene: bpy.types.Scene, row: Row, console: Console) -> None:
    rig = look_at.check_armature(rigs.choose(scene, wish.options.rig, row["warnings"]))
    row["rig"] = rig.name
    console.progress(0.2, "joining")
    made = transitions.make(wish, scene, rig, row["warnings"])
    console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(scene, rig, made.places)
    _keep_all()
    _fill(row, made, jumps)
    if row["frames"][0] >= 0:
        scene.frame_start = min(scene.frame_start, row["frames"][0])
    scene.frame_end = max(scene.frame_end, row["frames"][1])


# What is told


def _keep_all() -> None:
    """Let actions that nothing plays any more be saved."""
    for action in bpy.data.actions:
        if action.users == 0 and action.library is None:
            action.use_fake_user = True


def _fill(row: Row, made: Made, jumps: Sequence[float | None]) -> None:
    row["frames"] = list(timeline.key_range(made.action, made.slot))
    row["action"], row["clips"] = made.action.name, made.clips
    row["clip_frames"] = made.begins
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
