"""`--along`: a clip repeated along a path."""

import argparse
import dataclasses
from functools import partial

from ....lookat_pd.progress import drain
from ....rig.transitions import path_following
from ....rig.transitions.locomotion import Speed
from ....rig.transitions.travel_settings import TravelSettings
from ... import setting_flags
from . import speed
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = partial(setting_flags.add, parser, stored=True)
    help = "with --along: speed of --action in m/s (default: its own or, in place, that of its planted feet)"
    add("--speed", TravelSettings, "speed", "S", help=help)
    help = "with --along: time in seconds over which the heading follows a turn of the path (default: "
    add("--ease", TravelSettings, "ease", "S", help=f"{help}{path_following.EASE:g})")


def make(task: ModeTask) -> Made:
    options, scene, clip = task.options, task.scene, task.take()
    missing = task.missing(clip)
    steps = path_following.follow(
        scene,
        task.rig,
        clip.action,
        path_following.find_path(scene, options.along),
        speed=options.speed,
        ease=path_following.EASE if options.ease is None else options.ease,
        lock_feet=options.lock_feet,
        name=task.name or f"{clip.action.name} along",
        writer=task.writer,
    )
    followed = drain(steps, lambda fraction: task.console.progress(0.2 + 0.4 * fraction, "following the path"))
    task.warn_unlocked(followed.unlocked)
    figures = {"distance": followed.distance, "cycles": followed.cycles}
    made = speed.made(task, clip, followed, Speed(followed.speed), missing, **figures)
    feet = followed.feet
    return dataclasses.replace(made, foot_drift=None if feet is None else (feet.before, feet.drift))


MODE = Mode(
    "along",
    make,
    {"metavar": "OBJECT", "help": "repeat --action along a curve, or as another object moves"},
    (*EACH_ACTION, "lock_feet", "speed", "ease"),
    add_arguments=add_arguments,
    ending="along",
    has_range=False,
)
