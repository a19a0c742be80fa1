"""How people behave in a conversation: shares of gaze, sizes of glances and gestures, rates of blinks and nods; and
personalities.

Sources: shares of gaze, Argyle and Cook, *Gaze and Mutual Gaze* (1976): 75 % while listening, 41 % while speaking,
both at once 30 %; a look 3 s. Blinks, Bentivoglio and others (1997): 17 a minute at rest, 26 while talking. Nods,
Kihara and others (2016).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidArgument

MOST_GLANCE = np.radians(25.0)
"""Largest angle of a glance: of those who speak."""


@dataclass(frozen=True)
class Manner:
    """Behavior of one person or of all. Raises InvalidArgument."""

    seed: int = 0
    reaction: tuple[float, float] = (0.2, 0.6)
    """Shortest and longest time [s] until a listener turns to a new speaker."""
    glances: float = 1.0
    """0 for no looks away to 1 for these fractions."""
    listening: float = 0.75
    speaking: float = 0.41
    """`listening`, `speaking`: fraction of the time in which a listener looks at the speaker, and a speaker at a
    listener."""
    hold: float = 3.3
    """Mean time [s] after which a look is reconsidered."""
    nearest: float = np.radians(10.0)
    """Angle [rad] by which a glance is at least beside the partner: it leaves the face."""
    size: float = 1.0
    """Factor of the angles by which glances go beyond the nearest."""
    scanning: float = 1.0
    """Factor of how often the eyes go to another part of the face at which they look."""
    blinks: float = 1.0
    """Factor of the rates of blinks."""
    nods: float = 1.0
    """Factor of the rate of nods."""
    tilts: float = 1.0
    """Factor of the angles by which the head tilts."""
    gestures: float = 1.0
    """Factor of the angles by which the head of a speaker moves with the speech."""
    shifts: float = 1.0
    """Factor of the distances by which weight is shifted to one leg."""

    def __post_init__(self) -> None:
        shortest, longest = checks.exactly("reaction times", self.reaction, 2).tolist()
        if not 0.0 <= shortest <= longest < np.inf:
            raise InvalidArgument(
                "The reaction times must be 0 or more with the shorter one first, not {shortest} and {longest}.",
                shortest=shortest,
                longest=longest,
            )
        checks.fraction("amount of glances", self.glances)
        checks.fraction("share of gaze while listening", self.listening)
        checks.fraction("share of gaze while speaking", self.speaking)
        checks.number("time of a look", self.hold, 0.3, 1e3)
        checks.number("size of glances", self.size, 0.0, 2.0)
        checks.number("rate of blinks", self.blinks, 0.0, 5.0)
        checks.number("rate of nods", self.nods, 0.0, 5.0)
        checks.number("size of tilts", self.tilts, 0.0, 5.0)
        checks.number("angle of the nearest glance", self.nearest, 0.0, MOST_GLANCE)
        checks.number("rate of scanning", self.scanning, 0.0, 5.0)
        checks.number("size of gestures", self.gestures, 0.0, 5.0)
        checks.number("size of weight shifts", self.shifts, 0.0, 5.0)
        checks.whole("seed", self.seed, 0, 2**63)

    def looking(self, share: float) -> float:
        """A share of gaze with the amount of glances."""
        return 1.0 - self.glances * (1.0 - share)


def of_each(manner: Manner | Sequence[Manner] | None, people: int) -> list[Manner]:
    """The manners of so many people, from one of all, one of each, or none. Raises InvalidArgument."""
    if manner is None or isinstance(manner, Manner):
        return [manner or Manner()] * people
    manners = list(manner)
    if len(manners) != people:
        raise InvalidArgument(
            "There are manners of {manners} people, but {people} people; give one of each.",
            manners=len(manners),
            people=people,
        )
    return manners


@dataclass(frozen=True)
class Personality:
    """A preset."""

    id: str
    label: str
    description: str
    manner: dict[str, Any] = field(default_factory=dict)
    """Values of `Manner`."""
    settle: float = 1.0
    """Factor of the settle time of the look-at."""


PERSONALITIES: dict[str, Personality] = {
    row.id: row
    for row in (
        Personality("BALANCED", "Balanced", "Looks as people do on average"),
        Personality(
            "SHY",
            "Shy",
            "Looks at others seldom and briefly, glances far aside and blinks often",
            {
                "listening": 0.55,
                "speaking": 0.25,
                "hold": 1.6,
                "size": 1.3,
                "blinks": 1.3,
                "nods": 1.2,
                "tilts": 1.3,
                "gestures": 0.7,
            },
        ),
        Personality(
            "ATTENTIVE",
            "Attentive",
            "Looks at others for long, reacts quickly and nods often",
            {
                "listening": 0.88,
                "speaking": 0.55,
                "reaction": (0.15, 0.4),
                "hold": 3.0,
                "size": 0.8,
                "nods": 1.6,
                "tilts": 1.4,
            },
        ),
        Personality(
            "DOMINANT",
            "Dominant",
            "Looks at others more while speaking than while listening, moves slowly and blinks and nods seldom",
            {"listening": 0.55, "speaking": 0.65, "hold": 3.5, "size": 0.8, "blinks": 0.7, "nods": 0.3, "tilts": 0.4},
            settle=1.25,
        ),
        Personality(
            "DISTRACTED",
            "Distracted",
            "Reacts late and often looks about",
            {"listening": 0.45, "speaking": 0.35, "reaction": (0.5, 1.2), "hold": 1.4, "size": 1.4, "nods": 0.4},
        ),
    )
}
