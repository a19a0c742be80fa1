"""Conversations: who looks at whom, who glances away, blinks and nods, given who speaks when. Random, from a seed.

`plan` gives the looks, `blinks`, `nods` and `tilts` the signs of life, `shares` measures them. All times are in
seconds, all angles in radians.
"""

from .looks import Look, plan
from .manner import PERSONALITIES, Manner, Personality
from .measures import Shares, shares
from .signs import Nod, Tilt, blinks, nods, tilts
from .turns import DWELL, Turn

__all__ = [
    "DWELL",
    "PERSONALITIES",
    "Look",
    "Manner",
    "Nod",
    "Personality",
    "Shares",
    "Tilt",
    "Turn",
    "blinks",
    "nods",
    "plan",
    "shares",
    "tilts",
]
