"""`--to` with `--library`: from the clip of the rig to another one along the cheapest path over its actions."""

import argparse
import dataclasses

import numpy as np

from ....rig.sampling import scene_time
from ....rig.transitions import library
from ....rig.transitions.library import PathEnds
from ... import clip_library, rigs
from ...arguments import Misuse
from . import played
from .clip_list import Entry
from .join_two import LONGEST_AUTO
from .made import Made
from .mode import Mode, flag, given
from .mode_task import ModeTask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    clip_library.add_arguments(parser, "with --to: join along the cheapest path over these actions")
    clip_library.add_path_arguments(parser)


def check(options: argparse.Namespace) -> None:
    for name in ("best_cut", "source_frame", "destination_frame", "repeat", "until"):
        if given(options, name):
            raise Misuse(f"--library finds the cuts itself; leave {flag(name)} out")
    clip_library.check(options)


def make(task: ModeTask) -> Made:
    options, rig, seconds = task.options, task.rig, task.blend().seconds
    source, destination = task.take().action, task.take(options.to).action
    rigs.use_action(rig, source.name, "NEW")
    room = (LONGEST_AUTO if seconds is None else seconds) / scene_time.seconds_per_frame(task.scene)
    ends = PathEnds(source.name, destination.name, (options.source_range, options.destination_range))
    known = clip_library.compare(task.scene, rig, options.library, task.console, ends, int(np.ceil(room)))
    cost = library.CUT_COST if options.cut_cost is None else options.cut_cost
    path = known.cuts.path(ends, cost)
    entries = [Entry(step.clip.action.name, step.clip.frame, step.at) for step in known.steps(path)]
    return dataclasses.replace(played.join_entries(task, entries), library=known, path=path)


MODE = Mode(
    "library",
    make,
    None,
    ("action",),
    beside={"cut_cost": ("library",), "plots": ("library",)},
    add_arguments=add_arguments,
    check=check,
)
