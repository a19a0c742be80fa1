"""`--list`: the clips of a list, one after another."""

from pathlib import Path

from . import played
from .made import Made
from .mode import JOINING, Mode
from .mode_task import ModeTask


def make(task: ModeTask) -> Made:
    return played.join_entries(task, task.request.entries)


MODE = Mode(
    "list",
    make,
    {"type": Path, "metavar": "FILE.json", "help": "clips to play one after another, see below"},
    JOINING,
)
