"""`--clean-feet`: a clip whose feet stay on their places while they are planted."""

from ....lookat_pd.progress import drain
from ....rig.animation.bake_options import BakeOptions
from ....rig.feet import skate
from ....rig.transitions import sequence
from .made import Made
from .mode import EACH_ACTION, Mode
from .mode_task import ModeTask


def make(task: ModeTask) -> Made:
    clip = task.take()
    missing = task.missing(clip)
    first, last = task.options.range or sequence.key_range(clip.action, clip.slot)
    name = task.name or f"{clip.action.name} feet"
    cleaned = drain(skate.clean(task.scene, task.rig, BakeOptions(first, last, "NEW", name, writer=task.writer)))
    return Made(
        cleaned.action,
        task.rig.animation_data.action_slot,
        [clip.action.name],
        begins=[first],
        missing=missing,
        foot_drift=(cleaned.before, cleaned.drift),
    )


MODE = Mode(
    "clean_feet",
    make,
    {"action": "store_true", "help": "keep the feet of --action on their places while they are planted"},
    EACH_ACTION,
    ending="feet",
    is_copy=True,
)
