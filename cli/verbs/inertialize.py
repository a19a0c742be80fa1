"""`inertialize`: clips joined, looped or freed from pops."""

import argparse
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import bpy

from ...lookat_pd.checks import shown
from ...lookat_pd.errors import FileError
from ...lookat_pd.progress import drain
from ...lookat_pd.transitions import methods, spring
from ...rig.animation import actions, editable
from ...rig.sampling import scene_time
from ...rig.transitions import (
    blend_profiles,
    loop,
    path_following,
    pose_markers,
    profile_settings,
    sequence,
    travel,
)
from ...rig.transitions.as_seen import seen_feet, seen_loop, seen_pops, seen_transition
from ...rig.transitions.as_seen.seen_transition import SeenTransition
from .. import arguments as words
from .. import (
    clip_library,
    clip_list,
    each_action,
    each_file,
    jobs,
    profile_file,
    retime,
    rigs,
    scene_files,
    transitions,
    velocity_jump,
)
from ..arguments import Misuse
from ..clip_files import ClipFiles
from ..clip_list import Entry
from ..console import Console
from ..gltf_source import WholeFileNeeded
from ..jobs import FileJob
from ..report import Row
from ..transitions import AUTO, Made, TransitionRequest

NAME = "inertialize"
SUMMARY = "join clips, loop them, smooth pops, or keep planted feet on their places"
FIELDS = (
    "clips",
    "clip_frames",
    "cuts",
    "blends",
    "methods",
    "root",
    "missing_bones",
    "velocity_jump_deg_per_s",
    "pops",
    "keyed",
    "foot_drift",
    "markers",
    "library",
    "path",
    "plots",
    "travel",
)
"""What its report has beside the fields of every verb."""
EPILOG = """\
Choose one of --to, --list, --markers, --loop, --smooth-pops, --clean-feet, --in-place, --travel and --along. The result
is a new action, which is assigned to the rig. A clip list has one entry per clip:
  [{"clip": "Run"}, {"clip": "Walk", "frame": 10, "at": 40, "blend": 0.3}, {"clip": "Idle", "blend": "auto"}]
clip: action; frame: frame of the clip at which it starts (default: its first); at: frame of the result at which it
starts (default: the end of the previous clip); blend: time in seconds, or auto (default: --blend). Timeline markers
named "Walk" or "Walk @ 10" are such entries, each at its own frame.

--best-cut compares pose, speed and foot contacts of all frames of both clips and joins them at the two frames that
differ least. --library compares all actions of the rig instead, and joins those that lead from --action to the other
clip with the smallest differences at the cuts.

--range keeps only these frames of the result; with --loop it is the range that loops, and with --smooth-pops the
range in which pops are detected or feet cleaned."""

_ROOTS = ("none", "position", "heading", "all")
_MODES = ("to", "list", "markers", "loop", "smooth_pops", "clean_feet", "in_place", "travel", "along")
_OF_ONE = {
    "loop": "loop",
    "smooth_pops": "smooth",
    "clean_feet": "feet",
    "in_place": "in place",
    "travel": "travelling",
    "along": "along",
}
"""Ways that make something of each action, and what is added to its name."""
_MEANT_FOR = {
    "action": ("to", *_OF_ONE),
    "all_actions": tuple(_OF_ONE),
    "source_frame": ("to",),
    "destination_frame": ("to",),
    "best_cut": ("to",),
    "library": ("to",),
    "cut_cost": ("library",),
    "plots": ("library",),
    "source_range": ("best_cut", "library"),
    "destination_range": ("best_cut", "library"),
    "repeat": ("to",),
    "until": ("to",),
    "as_seen": ("to", "list", "markers", "loop", "smooth_pops"),
    "write_to": ("as_seen",),
    "loop_ends": ("loop",),
    "lock_feet": ("to", "list", "markers", "loop", "smooth_pops", "along"),
    "direction": ("travel",),
    "turning": ("travel",),
    "speed": ("along",),
    "ease": ("along",),
    "root": ("to", "list", "markers"),
    "method": ("to", "list", "markers", "smooth_pops"),
    "damping_ratio": ("to", "list", "markers", "smooth_pops"),
    "profile": ("to", "list", "markers", "loop", "smooth_pops"),
}
"""Flags that mean something only beside these others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--to", metavar="NAME", help="clip that plays after --action is cut")
    mode.add_argument("--list", type=Path, metavar="FILE.json", help="clips to play one after another, see below")
    mode.add_argument("--markers", action="store_true", help="take the clips from the timeline markers of the scene")
    mode.add_argument("--loop", action="store_true", help="make --action cyclic by blending its end into its start")
    mode.add_argument("--smooth-pops", action="store_true", help="detect the pops in --action and smooth each of them")
    mode.add_argument(
        "--clean-feet", action="store_true", help="keep the feet of --action on their places while they are planted"
    )
    mode.add_argument(
        "--in-place",
        choices=tuple(removed.lower() for removed in travel.REMOVED),
        help="remove the motion of the root of --action over the ground: its mean velocity (even), what is slower than "
        "a stride (smooth), or all of it",
    )
    mode.add_argument(
        "--travel",
        type=_travel,
        metavar="feet|SPEED",
        help="move --action over the ground with the speed of its planted feet, or in m/s",
    )
    mode.add_argument("--along", metavar="OBJECT", help="repeat --action along a curve, or as another object moves")
    _add_travel_arguments(parser)
    parser.add_argument(
        "--as-seen",
        action="store_true",
        help="blend the evaluated pose, with constraints, drivers and NLA, and add the difference with constraints "
        "(not with --loop)",
    )
    parser.add_argument(
        "--write-to",
        choices=tuple(into.lower() for into in transitions.WRITE_TO),
        help="with --as-seen: leave the difference in constraints (default), or key the bones and controls that are "
        "animated: in an NLA layer, a new action, or the current one",
    )
    parser.add_argument(
        "--source-frame",
        type=words.frame,
        metavar="N",
        help="with --to: frame of --action at which the other clip starts to play (default: its last)",
    )
    parser.add_argument(
        "--destination-frame",
        type=words.frame,
        metavar="N",
        help="with --to: frame of the other clip that plays at the cut (default: its first)",
    )
    parser.add_argument(
        "--repeat", type=_times, metavar="N", help="with --to: how many times the other clip plays (default: 1)"
    )
    parser.add_argument(
        "--until", type=words.frame, metavar="N", help="with --to: last frame; the other clip is repeated until it"
    )
    parser.add_argument("--best-cut", action="store_true", help="with --to: cut where the two clips are most similar")
    for name, role in (("source", "--action"), ("destination", "the other clip")):
        parser.add_argument(
            f"--{name}-range",
            nargs=2,
            type=words.frame,
            metavar=("A", "B"),
            help=f"with --best-cut or --library: the frames of {role} at which the cut may be",
        )
    clip_library.add_arguments(parser, "with --to: join along the cheapest path over these actions")
    clip_library.add_path_arguments(parser)
    parser.add_argument(
        "--blend",
        type=_blend,
        default=AUTO,
        metavar="S|auto",
        help="time in seconds in which the difference decays (default: derived from poses and speeds)",
    )
    parser.add_argument(
        "--root",
        choices=_ROOTS,
        help="root motion that continues from the previous clip (default: heading, which includes position)",
    )
    parser.add_argument(
        "--method",
        choices=tuple(methods.METHODS),
        help=f"{_listed(row.summary for row in methods.METHODS.values())} (default: {methods.default().id})",
    )
    parser.add_argument(
        "--damping-ratio",
        type=words.number(*spring.DAMPING_RATIOS),
        metavar="Z",
        help="with --method spring: 1 has no overshoot, below 1 overshoots (default: 1)",
    )
    parser.add_argument(
        "--profile",
        metavar="FILE|NAME",
        help="blend profile: JSON with a blend factor, delay or filter for some bones or properties, or the name of a "
        f"preset: {', '.join(profile_settings.available()).replace('%', '%%') or 'none yet'}",
    )
    parser.add_argument(
        "--loop-ends",
        choices=tuple(end.lower() for end in loop.SHARES),
        help="with --loop: what is changed so that the ends meet (default: both, by half of the difference)",
    )
    parser.add_argument("--lock-feet", action="store_true", help="keep planted feet on their places through the blends")
    parser.add_argument(
        "--clips", nargs="+", action="extend", type=Path, default=[], metavar="FILE", help="additional files with clips"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the new action")


def _add_travel_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--direction",
        type=words.number(-360.0, 360.0),
        metavar="DEG",
        help="with --travel SPEED: direction of travel from where the character faces, to the left (default: 0)",
    )
    parser.add_argument(
        "--turning",
        type=words.number(-3600.0, 3600.0),
        metavar="DEG",
        help="with --travel SPEED: degrees per second by which the character turns to the left (default: 0)",
    )
    parser.add_argument(
        "--speed",
        type=words.number(0.0, 1e6),
        metavar="S",
        help="with --along: speed of --action in m/s (default: its own or, in place, that of its planted feet)",
    )
    parser.add_argument(
        "--ease",
        type=words.number(0.0, 60.0),
        metavar="S",
        help="with --along: time in seconds over which the heading follows a turn of the path (default: "
        f"{path_following.EASE:g})",
    )


def _travel(word: str) -> float | str:
    return "feet" if word == "feet" else words.number(0.0, 1e6)(word)


def _listed(items: Iterable[str]) -> str:
    """As a sentence has them: a, b or c."""
    *first, last = items
    return f"{', '.join(first)} or {last}"


def _blend(word: str) -> float | str:
    return AUTO if word == AUTO else words.number(0.0, clip_list.LONGEST_BLEND)(word)


def _times(word: str) -> int:
    count = words.whole(word)
    if not 1 <= count <= sequence.MOST_TIMES:
        raise argparse.ArgumentTypeError(
            f"{shown(word)} is out of range; give a number of times from 1 to {sequence.MOST_TIMES}"
        )
    return count


def run(options: argparse.Namespace, console: Console) -> int:
    entries, profile = _check(options), profile_file.read(options.profile)
    planned = jobs.plan(options.inputs, options.output)
    read = [*options.inputs, *options.clips]
    jobs.check_report(options, [*read, *(job.output for job in planned)])
    files_read = jobs.FilesRead(read)
    mode = next(name for name in _MODES if _given(options, name))

    with ClipFiles(options.clips, trust=options.trust_scripts) as clip_files:
        request = TransitionRequest(options, mode, entries, clip_files, profile)

        def make(job: FileJob, row: Row) -> None:
            scene = _load(request, job, row, console)
            _inertialize(request, scene, job, row, console)
            if job.input.suffix.lower() == ".vrm" and job.output.suffix.lower() == ".glb" and job.source is None:
                row["warnings"].append("The output is plain glTF: what VRM adds to it is lost.")

        def one(job: FileJob, row: Row) -> None:
            each_file.produce(job, row, options, console, make, files_read, _result)

        return each_file.run(planned, lambda job: job.input, one, options, console, FIELDS)[0]


def _check(options: argparse.Namespace) -> tuple[Entry, ...]:
    """The entries of the clip list, none without one. Raises Misuse."""
    for flag, modes in _MEANT_FOR.items():
        if _given(options, flag) and not any(_given(options, mode) for mode in modes):
            raise Misuse(f"{_flag(flag)} means nothing without {' or '.join(map(_flag, modes))}")
    if options.damping_ratio is not None and not methods.METHODS[options.method or methods.default().id].has_damping:
        raise Misuse("--damping-ratio means nothing without --method spring")
    if options.as_seen:
        _check_as_seen(options)
    how = methods.METHODS[options.method or methods.default().id]
    if (options.as_seen or options.smooth_pops) and (not how.blends or how.plays_both):
        flag = "--as-seen" if options.as_seen else "--smooth-pops"
        raise Misuse(f"--method {how.id} needs two clips or none; choose another method with {flag}")
    if options.library is not None:
        _check_library(options)
    if isinstance(options.travel, str) and (options.direction is not None or options.turning is not None):
        raise Misuse("--travel feet measures where the clip goes; leave --direction and --turning out")
    if options.range is not None and any(_given(options, mode) for mode in ("in_place", "travel", "along")):
        raise Misuse("--range means nothing for a whole clip; leave it out with --in-place, --travel and --along")
    if options.best_cut and (options.source_frame is not None or options.destination_frame is not None):
        raise Misuse("--best-cut finds the frames itself; leave --source-frame and --destination-frame out")
    if options.until is not None and options.repeat is not None:
        raise Misuse("--until says how long the other clip is repeated; leave --repeat out")
    if options.range is not None and options.range[1] <= options.range[0]:
        first, last = options.range
        raise Misuse(f"--range {first} {last} holds less than two frames; put the smaller number first")
    if options.name is not None and (options.all_actions or len(options.action or ()) > 1):
        raise Misuse("--name is the name of one action; leave it out, or give one --action")
    if options.name is not None and not options.name.strip():
        raise Misuse("--name is empty; leave it out, or give a name")
    for path in options.clips:
        try:
            jobs.check_input(path)
        except FileError as error:
            raise Misuse(f"--clips {path}: {error}") from None
    return clip_list.read(options.list) if options.list is not None else ()


def _check_library(options: argparse.Namespace) -> None:
    """Raise Misuse where flags do not fit a path."""
    for flag in ("best_cut", "source_frame", "destination_frame", "repeat", "until"):
        if _given(options, flag):
            raise Misuse(f"--library finds the cuts itself; leave {_flag(flag)} out")
    clip_library.check(options)


def _check_as_seen(options: argparse.Namespace) -> None:
    """Raise Misuse where flags do not fit the evaluated pose, of which there is one."""
    if options.all_actions or len(options.action or ()) > 1:
        raise Misuse("--as-seen smooths what the rig plays; give one --action")
    mode = "--loop" if options.loop else "--smooth-pops"
    changes_nothing_else = options.loop or options.smooth_pops
    if changes_nothing_else and options.name is not None:
        raise Misuse(f"--name means nothing with {mode} --as-seen, which makes no action")
    if not changes_nothing_else and options.range is not None:
        raise Misuse("--range keeps only a part of the result; leave it out with --as-seen")


def _given(options: argparse.Namespace, name: str) -> bool:
    # A frame or a name may be 0 or empty.
    value = getattr(options, name)
    return value is not None and value is not False


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _load(request: TransitionRequest, job: FileJob, row: Row, console: Console) -> bpy.types.Scene:
    """Read an input, and add the clips of further files at its frame rate. Raises LookAtError."""
    options = request.options
    if job.source is not None and options.clips:
        raise WholeFileNeeded("Clips of other files are added.")

    def load() -> bpy.types.Scene:
        return scene_files.load(job.input, options.fps, console, trust=options.trust_scripts, source=job.source)

    scene = load()
    rate = retime.rate(scene)
    if not request.clip_files.is_ready(rate):
        request.clip_files.read(rate, console)
        scene = load()
    request.clip_files.add(scene, rate, row["warnings"])
    row["fps"] = retime.reported(scene)
    return scene


def _inertialize(request: TransitionRequest, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    rig = editable.check_armature(rigs.choose(scene, request.options.rig, row["warnings"]))
    row["rig"] = rig.name
    transitions.check(rig)
    for unused in blend_profiles.unused(request.profile, rig):
        row["warnings"].append(f"Row '{unused.pattern}' of the profile names no bone of '{rig.name}'.")
    if request.options.as_seen and job.source is not None:
        raise WholeFileNeeded("The result is in constraints.")
    if request.options.as_seen and request.mode in _AS_SEEN:
        _play(request, rig, job)
        _AS_SEEN[request.mode](request, scene, rig, row, console)
        row["keyed"] = request.write(scene, rig)
        data = rig.animation_data
        row["action"] = data.action.name if data is not None and data.action is not None else None
        _keep_all()
        return

    def one(own: Row) -> bpy.types.Action:
        console.progress(0.2, "joining")
        made = transitions.make(request, scene, rig, own["warnings"], console)
        own["keyed"] = request.write(scene, rig, is_new=True)
        console.progress(0.6, "verifying")
        jumps = velocity_jump.velocity_jumps(scene, rig, made.places)
        _keep_all()
        _fill(own, made, jumps)
        if made.library is not None:
            own["library"], own["path"] = clip_library.described(made.library), clip_library.as_rows(made.path)
            if request.options.plots is not None:
                own["plots"] = clip_library.plot(request.options.plots, job.output.stem, made.library, made.path)
        if own["frames"][0] >= 0:
            scene.frame_start = min(scene.frame_start, own["frames"][0])
        scene.frame_end = max(scene.frame_end, own["frames"][1])
        return made.action

    mode = request.mode
    if mode in _OF_ONE:
        task = each_action.ActionTask(
            request.options,
            job,
            row,
            console,
            [rig],
            "NEW",
            lambda name: f"{name} {_OF_ONE[mode]}",
            is_copy=mode in ("smooth_pops", "clean_feet"),
            others=request.clip_files.names,
        )
        each_action.run(task, one)
        return
    if mode == "to":
        name = each_action.only(request.options, rig, job, request.clip_files.names)
        if name is not None:
            rigs.use_action(rig, name, "NEW")
    own: Row = {"rig": rig.name, "warnings": row["warnings"]}
    action = one(own)
    row |= own
    each_action.note_written(job, rig, action)


def _play(request: TransitionRequest, rig: bpy.types.Object, job: FileJob) -> None:
    name = each_action.only(request.options, rig, job, request.clip_files.names)
    if name is not None:
        rigs.use_action(rig, name, "CURRENT")


def _smooth_as_seen(
    request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, row: Row, console: Console
) -> None:
    first, last = request.options.range or scene_time.key_range(scene)
    steps = seen_transition.smooth_all(scene, rig, first, last, request.blend(rig))
    made = drain(steps, lambda fraction: console.progress(0.2 + 0.4 * fraction, "smoothing"))
    if request.options.lock_feet and made:
        feet = drain(seen_feet.lock_through(scene, rig, [transition for _, transition in made], first, last))
        row["foot_drift"] = None if feet is None else [round(drift, 6) for drift in (feet.before, feet.drift)]
    console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(scene, rig, [velocity_jump.across(pop.frame) for pop, _ in made])
    _fill_seen(row, first, last, [pop.frame for pop, _ in made], [transition for _, transition in made], jumps)
    row["pops"] = [
        {
            "frame": pop.frame,
            "bones": [seen_pops.label(rig, bone) for bone in pop.bones],
            "turn_deg": round(math.degrees(pop.turn), 3),
            "cause": str(pop.cause),
        }
        for pop, _ in made
    ]
    if not made:
        row["warnings"].append(f"No pop was found in the evaluated pose of '{rig.name}' from frame {first} to {last}.")


def _loop_as_seen(
    request: TransitionRequest, scene: bpy.types.Scene, rig: bpy.types.Object, row: Row, console: Console
) -> None:
    first, last = request.options.range or scene_time.key_range(scene)
    ends = (request.options.loop_ends or "both").upper()
    lock_feet = request.options.lock_feet
    steps = seen_loop.closed(scene, rig, first, last, request.blend(rig), ends=ends, lock_feet=lock_feet)
    made = drain(steps, lambda fraction: console.progress(0.2 + 0.4 * fraction, "looping"))
    if lock_feet:
        row["foot_drift"] = made.feet and [round(drift, 6) for drift in (made.feet.before, made.feet.drift)]
    console.progress(0.6, "verifying")
    jumps = velocity_jump.velocity_jumps(scene, rig, [((last - 1, last), (first, first + 1))])
    _fill_seen(row, first, last, [last], [made], jumps)


_AS_SEEN = {"smooth_pops": _smooth_as_seen, "loop": _loop_as_seen}
"""Ways that leave the keys as they are, and what is done instead."""


def _fill_seen(
    row: Row,
    first: int,
    last: int,
    cuts: Sequence[int],
    made: Sequence[SeenTransition],
    jumps: Sequence[float | None],
) -> None:
    row["frames"], row["cuts"] = [first, last], list(cuts)
    row["blends"] = [round(transition.blend, 4) for transition in made]
    row["methods"] = [transition.how.id for transition in made]
    row["velocity_jump_deg_per_s"] = [None if jump is None else round(jump, 3) for jump in jumps]


# The report


def _keep_all() -> None:
    """Let actions that nothing plays any more be saved."""
    for action in bpy.data.actions:
        actions.keep(action)


def _fill(row: Row, made: Made, jumps: Sequence[float | None]) -> None:
    row["frames"] = list(sequence.key_range(made.action, made.slot))
    row["action"], row["clips"] = made.action.name, made.clips
    row["clip_frames"] = made.begins
    row["cuts"], row["blends"] = made.cuts, [round(blend, 4) for blend in made.blends]
    row["methods"] = made.methods
    row["foot_drift"] = None if made.foot_drift is None else [round(drift, 6) for drift in made.foot_drift]
    row["markers"] = [{"frame": frame, "name": name} for frame, name in pose_markers.read(made.action)]
    row["travel"] = made.travel
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
        if slot.target_id_type not in ("OBJECT", "UNSPECIFIED") and not actions.is_empty(bpy.data.actions[name], slot)
    }
    if others:
        row["warnings"].append(
            f"Only the motion of '{row['rig']}' is in the result, not what the clips do to {', '.join(sorted(others))}."
        )


def _result(row: Row) -> str:
    """One line about a file that was written."""
    if row["baked"]:
        return f"{row['input']} -> {row['output']}: {', '.join(own['action'] for own in row['baked'])}"
    first, last = row["frames"]
    pairs = zip(row["cuts"], row["blends"], strict=True)
    cuts = ", ".join(f"{cut} ({blend:.2f} s)" for cut, blend in pairs)
    about = f", blended at {cuts}" if cuts else ""
    return f"{row['input']} -> {row['output']}: {row['action'] or row['rig']}, frames {first} to {last}{about}"
