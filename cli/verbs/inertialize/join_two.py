"""`--to`: the clip of the rig until the cut, then another one."""

import argparse

import numpy as np

from ....lookat_pd.errors import RigError
from ....lookat_pd.transitions import inertialization
from ....rig.sampling import scene_time
from ....rig.transitions import best_cut, join, sequence
from ....rig.transitions import settings as transition_settings
from ... import arguments as words
from ... import rigs, setting_flags
from ...arguments import Misuse
from . import played
from .made import Made
from .mode import JOINING, Mode
from .mode_task import ModeClip, ModeTask

LONGEST_AUTO = inertialization.BLEND_TIMES[1]
"""Seconds that a blend of automatic length may take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    help = "with --to: how many times the other clip plays (default: 1)"
    setting_flags.add(parser, "--repeat", transition_settings.TransitionSettings, "repeat", "N", help=help, stored=True)
    parser.add_argument(
        "--until", type=words.frame, metavar="N", help="with --to: last frame; the other clip is repeated until it"
    )
    parser.add_argument(
        "--best-cut",
        action="store_true",
        help="with --to: cut where the two clips are most similar, and most of both is kept",
    )
    for name, role, half in (("source", "--action", "second"), ("destination", "the other clip", "first")):
        parser.add_argument(
            f"--{name}-range",
            nargs=2,
            type=words.frame,
            metavar=("A", "B"),
            help=f"with --best-cut or --library: the frames of {role} at which the cut may be (default: {half} half)",
        )


def check(options: argparse.Namespace) -> None:
    if options.best_cut and (options.source_frame is not None or options.destination_frame is not None):
        raise Misuse("--best-cut finds the frames itself; leave --source-frame and --destination-frame out")
    if options.until is not None and options.repeat is not None:
        raise Misuse("--until says how long the other clip is repeated; leave --repeat out")


def make(task: ModeTask) -> Made:
    options = task.options
    source, destination = task.take(), task.take(options.to)
    rigs.use_action(task.rig, source.action.name, "NEW")
    cut, enter, times = _frames(task, source, destination)
    clips = source.at(cut), destination.at(enter)
    repeated = {"repeat": options.repeat or times, "until": options.until}
    joined = task.joined(lambda blend: join.joining(task.rig, *clips, blend, **task.placing, **repeated))
    return played.made(task, joined, joined.played)


def _frames(task: ModeTask, source: ModeClip, destination: ModeClip) -> tuple[int, int, int]:
    """Frame of the source at which the destination takes over, that of the destination which plays there, and how many
    times the destination plays."""
    options = task.options
    (first, last), (begin, end) = (sequence.frame_range(task.rig, clip.at(0.0)) for clip in (source, destination))
    if options.best_cut:
        return _best_cut(task, source, destination, end - begin)
    cut = max(last, first + 1) if options.source_frame is None else options.source_frame
    return cut, begin if options.destination_frame is None else options.destination_frame, 1


def _best_cut(task: ModeTask, source: ModeClip, destination: ModeClip, length: int) -> tuple[int, int, int]:
    """The same where both clips are most similar. length: frames of the destination."""
    dt, seconds = scene_time.seconds_per_frame(task.scene), task.blend().seconds
    # What suits the poses is known only when the cut is: as long as it can be, if the clip has as much.
    room = min(LONGEST_AUTO / dt, 0.5 * length) if seconds is None else np.ceil(seconds / dt)
    ranges = task.options.source_range, task.options.destination_range
    search = best_cut.find(
        task.rig, source.action, destination.action, count=1, room=int(room), ranges=ranges, scene=task.scene
    )
    if not search.cuts:
        raise RigError(
            "'{action}' or '{destination_action}' is too short for a search; give --source-frame "
            "and --destination-frame.",
            action=source.action.name,
            destination_action=destination.action.name,
        )
    found = search.cuts[0]
    return found.source_frame, found.destination_frame, found.repeat


MODE = Mode(
    "to",
    make,
    {"metavar": "NAME", "help": "clip that plays after --action is cut"},
    ("action", "source_frame", "destination_frame", "best_cut", "library", "repeat", "until", *JOINING),
    {"source_range": ("best_cut", "library"), "destination_range": ("best_cut", "library")},
    add_arguments=add_arguments,
    check=check,
)
