"""The settings of each bone of a chain: the chain's, their change towards its tip, and the bone's own factors."""

from collections.abc import Iterator
from dataclasses import dataclass

from .chains import SpringChain


@dataclass(frozen=True)
class BoneTuning:
    """How one bone of a chain swings."""

    bone: str
    settle_time: float
    """[s]"""
    damping_ratio: float
    drag: float
    """[1/s]"""
    gravity: float
    """Part of the scene's gravity."""
    radius: float
    """In the armature's space."""


def of(chain: SpringChain) -> Iterator[BoneTuning]:
    """Each bone of a chain, the first one first."""
    s, bones = chain.settings, chain.bones
    last = max(len(bones) - 1, 1)
    own = {item.bone: item for item in chain.items}
    for n, bone in enumerate(bones):
        at, item = (n / last) ** s.falloff, own.get(bone)

        def value(name: str, factor: float, item: object = item) -> float:
            return factor * (1.0 if item is None else getattr(item, name))

        yield BoneTuning(
            bone,
            min(max(s.settle_time * value("settle_factor", s.tip_factor**at), _SHORTEST), _LONGEST),
            s.damping_ratio * value("damping_factor", _part(s.tip_damping, at)),
            min(s.drag * value("drag_factor", _part(s.tip_drag, at)), _MOST_DRAG),
            s.gravity * value("gravity_factor", _part(s.tip_gravity, at)),
            s.radius * value("radius_factor", _part(s.tip_radius, at)),
        )


_SHORTEST, _LONGEST = 1e-3, 1e3
"""Settle times [s] that can be solved."""
_MOST_DRAG = 1e4


def _part(factor: float, at: float) -> float:
    """What a value is multiplied with on the way to the tip, where that is this factor."""
    return 1.0 + (factor - 1.0) * at
