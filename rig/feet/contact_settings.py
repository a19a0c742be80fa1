"""The settings by which contacts are found, and come and go: of all feet, and of selected feet and hands."""

from typing import Any

from ...lookat_pd.body.contacts import Detection
from ..settings import number


def speed() -> Any:
    """The property of the largest speed of a contact."""
    return number(
        "Speed",
        "Largest speed of a foot or hand in contact, in lengths of its limb per second",
        Detection.speed,
        max=1000.0,
        min=0.001,
        soft_max=2.0,
    )


def height() -> Any:
    """The property of the largest height of a contact."""
    return number(
        "Height",
        "Largest height of a contact above the lowest position, in lengths of the limb; 0 for any. With a surface any "
        "height is allowed",
        Detection.height,
        max=1000.0,
        soft_max=1.0,
    )


def blend(default: float) -> Any:
    """The property of the time in which contacts come and go."""
    return number(
        "Blend",
        "Time in seconds of the transitions into and out of a contact; those of selected bones take longer where a "
        "foot or hand is displaced far",
        default,
        max=60.0,
        soft_max=1.0,
    )
