"""Transitions between motions: inertialization, dead blending, cross-fade, and finding the best cut."""

from .best_cut import CutSearch, Weights, foot_contacts, search
from .inertialization import blend_time, cross_fade, dead_blend, decay, swing_transition, transition

__all__ = [
    "CutSearch",
    "Weights",
    "blend_time",
    "cross_fade",
    "dead_blend",
    "decay",
    "foot_contacts",
    "search",
    "swing_transition",
    "transition",
]
