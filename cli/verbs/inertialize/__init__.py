"""`inertialize`: clips joined, looped or freed from pops. Each mode is a file, listed in `modes`."""

import argparse
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ....lookat_pd.errors import FileError
from ....lookat_pd.transitions import methods
from ....rig.animation.key_writer import KEEP
from ....rig.transitions import profile_settings
from ....rig.transitions import settings as transition_settings
from ... import arguments as words
from ... import each_file, jobs, key_arguments, profile_file, setting_flags
from ...arguments import Misuse
from ...console import Console
from ...jobs import FileJob
from ...report import Row
from . import clip_list, made, modes, on_file
from .clip_files import ClipFiles
from .mode import Mode, flag
from .mode_task import WRITE_TO, TransitionRequest, check_method, method

NAME = "inertialize"
SUMMARY = "join clips, loop them, smooth pops, or keep planted feet on their places"
FIELDS = (
    "clips",
    "clip_frames",
    "kept",
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

_AUTO = "auto"
_BESIDE = {"write_to": ("visual",)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    # --name is that of the action.
    words.add_conversion(parser, ["--file-name"])
    modes.add_arguments(parser)
    parser.add_argument(
        "--visual",
        "--as-seen",
        action="store_true",
        help="blend the visual pose, with constraints, drivers and NLA, and add the difference with constraints "
        "(not with --loop)",
    )
    parser.add_argument(
        "--write-to",
        choices=tuple(into.lower() for into in WRITE_TO),
        help="with --visual: leave the difference in constraints (default), or key the bones and controls that are "
        "animated: in an NLA layer, a new action, or the current one",
    )
    parser.add_argument(
        "--blend",
        type=_blend,
        default=_AUTO,
        metavar="S|auto",
        help="time in seconds in which the difference decays (default: derived from poses and speeds)",
    )
    add = partial(setting_flags.add, parser, stored=True)
    help = "root motion that continues from the previous clip (default: heading, which includes position)"
    add("--root", transition_settings.TransitionSettings, "root", help=help)
    help = f"{_listed(row.summary for row in methods.METHODS.values())} (default: {methods.default().id})"
    add("--method", transition_settings.TransitionSettings, "method", help=help)
    help = "with --method spring: 1 has no overshoot, below 1 overshoots (default: 1)"
    add("--damping-ratio", transition_settings.TransitionSettings, "damping_ratio", "Z", help=help)
    parser.add_argument(
        "--profile",
        metavar="FILE|NAME",
        help="blend profile: JSON with a blend factor, delay or filter for some bones or properties, or the name of a "
        f"preset: {', '.join(profile_settings.available()).replace('%', '%%') or 'none yet'}",
    )
    parser.add_argument(
        "--lock-feet",
        action=argparse.BooleanOptionalAction,
        help="keep planted feet on their places through the blends; with the flag it is an error if that is not "
        "possible (default: where it is)",
    )
    parser.add_argument(
        "--clips", nargs="+", action="extend", type=Path, default=[], metavar="FILE", help="additional files with clips"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the new action")
    key_arguments.add(parser, KEEP)


def _listed(items: Iterable[str]) -> str:
    """As a sentence has them: a, b or c."""
    *first, last = items
    return f"{', '.join(first)} or {last}"


def _blend(word: str) -> float | str:
    return _AUTO if word == _AUTO else words.number(0.0, transition_settings.LONGEST_BLEND)(word)


def run(options: argparse.Namespace, console: Console) -> int:
    mode = _check(options)
    entries = clip_list.read(options.list) if options.list is not None else ()
    profile = profile_file.read(options.profile)
    planned = jobs.plan(options)
    read = [*options.inputs, *options.clips]
    jobs.check_report(options, [*read, *(job.output for job in planned)])
    files_read = jobs.FilesRead(read)

    with ClipFiles(options.clips, trust=options.trust_scripts) as clip_files:
        request = TransitionRequest(options, clip_files, entries, profile)

        def make(job: FileJob, row: Row) -> None:
            on_file.run(mode, request, job, row, console)

        def one(job: FileJob, row: Row) -> None:
            each_file.produce(job, row, options, console, make, files_read, made.result)

        return each_file.run(planned, lambda job: job.input, one, options, console, FIELDS)[0]


def _check(options: argparse.Namespace) -> Mode:
    """The mode that is chosen. Raises Misuse."""
    mode = modes.check(options, _BESIDE)
    key_arguments.check(options)
    if options.damping_ratio is not None and not method(options).has_damping:
        raise Misuse("--damping-ratio means nothing without --method spring")
    if options.visual:
        _check_visual(options, mode)
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
    return mode


def _check_visual(options: argparse.Namespace, mode: Mode) -> None:
    """Raise Misuse where options do not fit the visual pose, of which there is one."""
    if options.all_actions or len(options.action or ()) > 1:
        raise Misuse("--visual smooths what the rig plays; give one --action")
    check_method(options, "--visual")
    if mode.make_visual is not None and options.name is not None:
        raise Misuse(f"--name means nothing with {flag(mode.name)} --visual, which makes no action")
    if mode.make_visual is None and options.range is not None:
        raise Misuse("--range keeps only a part of the result; leave it out with --visual")
