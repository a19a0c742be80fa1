"""The PD look-at: from an animated pose and targets, for all frames, to local offsets of the bones of a chain.

`solve` does all of it; `prepare`, `run_timeline` and `solve_samples` are its steps. Quaternions are w, x, y, z.
"""

from ..pd.followers import Tuning
from .chain import Chain, Event, Solution
from .kept_parts import KeptParts
from .solver import (
    GazeSamples,
    of_frames,
    pieces,
    prepare,
    run_timeline,
    samples_per_frame,
    solve,
    solve_samples,
    solve_shifted,
)
from .timeline import Timeline
from .timeline_parts import BEHIND_MARGIN, INSTANT

__all__ = [
    "BEHIND_MARGIN",
    "INSTANT",
    "Chain",
    "Event",
    "GazeSamples",
    "KeptParts",
    "Solution",
    "Timeline",
    "Tuning",
    "of_frames",
    "pieces",
    "prepare",
    "run_timeline",
    "samples_per_frame",
    "solve",
    "solve_samples",
    "solve_shifted",
]
