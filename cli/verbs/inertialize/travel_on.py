"""`--travel`: a clip that moves over the ground with the speed of its planted feet, or with a given one."""

import argparse
from functools import partial

from ....rig.transitions import locomotion
from ....rig.transitions.travel_settings import TravelSettings
from ... import setting_flags
from ...arguments import Misuse
from . import speed
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask

_FEET = "feet"


def _speed_or_feet(word: str) -> float | str:
    return _FEET if word == _FEET else setting_flags.number(TravelSettings.bl_rna.properties["speed"])(word)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = partial(setting_flags.add, parser, stored=True)
    help = "with --travel SPEED: direction of travel from where the character faces, to the left (default: 0)"
    add("--direction", TravelSettings, "direction", "DEG", help=help)
    help = "with --travel SPEED: degrees per second by which the character turns to the left (default: 0)"
    add("--turning", TravelSettings, "turn_speed", "DEG", help=help, dest="turning")


def check(options: argparse.Namespace) -> None:
    if options.travel == _FEET and (options.direction is not None or options.turning is not None):
        raise Misuse("--travel feet measures where the clip goes; leave --direction and --turning out")


def make(task: ModeTask) -> Made:
    clip = task.take()
    missing = task.missing(clip)
    how = {"name": task.name, "writer": task.writer}
    moving = locomotion.travelling(task.scene, task.rig, clip.action, _speed(task.options), **how)
    return speed.made(task, clip, moving, moving.speed, missing)


def _speed(options: argparse.Namespace) -> locomotion.Speed | None:
    """The speed of the command line, None for that of the feet."""
    if options.travel == _FEET:
        return None
    return locomotion.Speed(options.travel, options.direction or 0.0, options.turning or 0.0)


MODE = Mode(
    "travel",
    make,
    {
        "type": _speed_or_feet,
        "metavar": "feet|SPEED",
        "help": "move --action over the ground with the speed of its planted feet, or in m/s",
    },
    (*EACH_ACTION, "direction", "turning"),
    add_arguments=add_arguments,
    check=check,
    ending="travelling",
    has_range=False,
)
