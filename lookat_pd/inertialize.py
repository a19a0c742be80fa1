"""Inertialization by its former name: the same as `lookat_pd.transitions`, kept importable."""

from .transitions import blend_time, cross_fade, dead_blend, decay, transition

__all__ = ["blend_time", "cross_fade", "dead_blend", "decay", "transition"]
