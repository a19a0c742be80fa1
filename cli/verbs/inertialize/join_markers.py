"""`--markers`: the clips that the timeline markers of the scene name, each at its own frame."""

from ....rig.transitions import marker_clips
from . import played
from .clip_list import Entry
from .made import Made
from .mode import JOINING, Mode
from .mode_task import ModeTask


def make(task: ModeTask) -> Made:
    steps = marker_clips.from_markers(task.rig, task.scene, task.blend())
    entries = [Entry(step.clip.action.name, step.clip.frame, step.at) for step in steps]
    return played.join_entries(task, entries)


MODE = Mode(
    "markers",
    make,
    {"action": "store_true", "help": "take the clips from the timeline markers of the scene"},
    JOINING,
)
