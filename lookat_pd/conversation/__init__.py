"""Conversations: who looks at whom, who glances away, blinks and nods, given who speaks when. Random, from a seed.

`plan` gives the looks and `fixations` where in a face they rest; `blinks`, `nods` and `tilts` are the signs of life,
`gestures` and `shifts` of weight go with the speech; `shares` measures the looks. All times are in seconds, all angles
in radians.
"""

from .faces import Fixation, fixations
from .looks import FACE, Look, plan
from .manner import PERSONALITIES, Manner, Personality
from .measures import Shares, shares
from .signs import Nod, Tilt, blinks, nods, tilts
from .speech_motion import Gesture, WeightChange, gestures, shifts
from .turns import DWELL, Turn

__all__ = [
    "DWELL",
    "FACE",
    "PERSONALITIES",
    "Fixation",
    "Gesture",
    "Look",
    "Manner",
    "Nod",
    "Personality",
    "Shares",
    "Tilt",
    "Turn",
    "WeightChange",
    "blinks",
    "fixations",
    "gestures",
    "nods",
    "plan",
    "shares",
    "shifts",
    "tilts",
]
