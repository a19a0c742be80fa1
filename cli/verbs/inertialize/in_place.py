"""`--in-place`: a clip without the motion of its root over the ground."""

from ....rig.transitions import locomotion
from . import speed
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask


def make(task: ModeTask) -> Made:
    clip = task.take()
    missing = task.missing(clip)
    removed = task.options.in_place.upper()
    still = locomotion.in_place(task.scene, task.rig, clip.action, removed, name=task.name, writer=task.writer)
    return speed.made(task, clip, still, still.speed, missing)


MODE = Mode(
    "in_place",
    make,
    {
        "choices": tuple(removed.lower() for removed in locomotion.REMOVED),
        "help": "remove the motion of the root of --action over the ground: its mean velocity (even), what is slower "
        "than a stride (smooth), or all of it",
    },
    EACH_ACTION,
    ending="in place",
    has_range=False,
)
