"""What the verbs that bake share: where the keys go, over which frames, and how far they are."""

import argparse
from collections.abc import Callable, Generator
from typing import TypeVar

import bpy

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import bake
from .arguments import Misuse
from .jobs import Job

INTO = {"new": "NEW", "current": "CURRENT", "layer": "LAYER"}
"""What the command line says, and what the rig is told."""
Returned = TypeVar("Returned")


def add_into(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--into",
        choices=INTO,
        default="new",
        help="a new action (default), the current one, or an NLA layer that holds only the offsets (.blend only)",
    )


def check_range(options: argparse.Namespace) -> None:
    """Raises Misuse."""
    if options.range is not None:
        try:
            bake.check_range(*options.range)
        except LookAtError as error:
            raise Misuse(f"--range: {error}") from None


def check_output(into: str, job: Job) -> None:
    """Raises RigError where a file of that kind cannot hold what is baked."""
    if into == "LAYER" and job.output.suffix.lower() == ".glb":
        raise RigError("A .glb has no NLA layers; write to a .blend, or bake with --into new.")


def follow(steps: Generator[float, None, Returned], show: Callable[[float], None]) -> Returned:
    """Take all steps of a generator, showing the fractions it yields; what it returns."""
    while True:
        try:
            show(next(steps))
        except StopIteration as end:
            return end.value


def trim(action: bpy.types.Action, extent: tuple[int, int], first: int, last: int) -> None:
    """Let a clip be as long as it was, or as the bake: keys just outside, which hold the curves, are no part of it.

    extent: first and last frame of the clip as it was. The exporter would move a clip that begins before frame 0, and
    a longer one would loop out of step.
    """
    if not action.use_frame_range:
        action.use_frame_range = True
        action.frame_start, action.frame_end = min(extent[0], first), max(extent[1], last)
