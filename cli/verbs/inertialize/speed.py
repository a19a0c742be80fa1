"""What a clip that was given another motion over the ground tells of its speed."""

from typing import Any

import numpy as np

from ....rig.transitions.locomotion import Speed
from .made import Made
from .mode_task import ModeClip, ModeTask


def made(task: ModeTask, clip: ModeClip, result: Any, speed: Speed, missing: list[str], **figures: float) -> Made:
    """result: has an action and its first frame. figures: further ones for the report, by name."""
    travel = {
        "speed": speed.speed,
        "direction_deg": np.degrees(speed.direction),
        "turn_deg_per_s": np.degrees(speed.turn),
        **figures,
    }
    return Made(
        result.action,
        task.rig.animation_data.action_slot,
        [clip.action.name],
        begins=[result.first],
        missing=missing,
        travel={name: round(float(value), 6) + 0.0 for name, value in travel.items()},
    )
