"""What the verbs that bake share: where the keys go, over which frames, and how far they are."""

import argparse
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

import bpy

from ..lookat_pd.errors import LookAtError, RigError
from ..lookat_pd.progress import drain
from ..rig.animation import actions, bake_options
from . import arguments as words
from . import each_action, key_arguments, retime, rigs, setting_flags
from .arguments import Misuse
from .console import Console
from .jobs import FileJob
from .report import Row

Returned = TypeVar("Returned")

INTO = {"new": "NEW", "current": "CURRENT", "layer": "LAYER"}
"""From arguments of the command line to bakes of the rig."""


def add_into(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--into",
        choices=INTO,
        default="new",
        help="new action (default), current action, or an NLA layer that contains only the offsets (.blend only)",
    )
    key_arguments.add(parser)


def add_controller(parser: argparse.ArgumentParser, owner: type, applied: str) -> None:
    """Settle time and damping, as `use_controller` sets them. owner: the settings that have them. applied: to what they
    are applied too."""
    help = f"settle time in seconds; also applied to {applied}"
    setting_flags.add(parser, "--settle-time", owner, "settle_time", "S", help=help, stored=True)
    parser.add_argument(
        "--damping",
        type=words.damping,
        metavar="critical|responsive|NUMBER",
        help=f"critical (no overshoot), responsive (slight overshoot) or a damping ratio; also applied to {applied}",
    )


def use_controller(options: argparse.Namespace, settings: Any) -> None:
    """Set settle time and damping of a look-at, or of PD Follow, as far as the arguments say."""
    setting_flags.apply(options, settings, ["settle_time"])
    if isinstance(options.damping, str):
        settings.damping = options.damping
    elif options.damping is not None:
        settings.damping, settings.damping_ratio = "CUSTOM", options.damping


def check(options: argparse.Namespace) -> None:
    """Raises Misuse."""
    each_action.check(options, INTO[options.into])
    key_arguments.check(options)
    if options.range is not None:
        try:
            bake_options.check_range(*options.range)
        except LookAtError as error:
            raise Misuse(f"--range: {error}") from None


def check_output(into: str, job: FileJob) -> None:
    """Raises RigError where a file of that kind cannot hold what is baked."""
    if into == "LAYER" and job.output.suffix.lower() != ".blend":
        raise RigError(
            "A {suffix} has no NLA layers; write to a .blend, or bake with --into new.",
            suffix=job.output.suffix,
            code="format-cannot-hold",
        )


def choose_rig(
    options: argparse.Namespace, scene: bpy.types.Scene, row: Row, bone: str | None = None
) -> bpy.types.Object:
    """The rig to work on; it and `bone` are in the report's row. Raises RigError."""
    row["fps"] = retime.reported(scene)
    rig = rigs.choose(scene, options.rig, row["warnings"])
    row["rig"] = rig.name
    if bone is not None:
        row["bone"] = bone
        rigs.check_bones(rig, [bone])
    return rig


def named(ending: str) -> Callable[[str], str]:
    """From the name of an action to that of the new action that a bake makes of it."""
    return partial(actions.name_of_result, ending=ending)


def work(steps: Generator[float, None, Returned], console: Console, doing: str) -> Returned:
    """Run a bake to its end while the console shows how far it is, between reading and writing the file."""
    return drain(steps, lambda fraction: console.progress(0.1 + 0.85 * fraction, doing))


def trim(action: bpy.types.Action, extent: tuple[int, int], first: int, last: int) -> None:
    """Let a clip be as long as it was, or as the bake: keys just outside, which hold the curves, are no part of it.

    extent: first and last frame of the clip as it was. The exporter would move a clip that begins before frame 0, and
    a longer one would loop out of step.
    """
    if not action.use_frame_range:
        action.use_frame_range = True
        action.frame_start, action.frame_end = min(extent[0], first), max(extent[1], last)
