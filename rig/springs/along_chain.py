"""The settings of each bone of a chain: the chain's, their change towards its tip, and the bone's own factors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import pi

from .chains import SpringChain
from .settings import OF_BONE, TIPS, SpringBone, SpringSettings


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
    wind: float
    """Part of the wind."""
    inertia: float
    limit: float
    """[rad]"""
    stretch: float


def of(chain: SpringChain) -> Iterator[BoneTuning]:
    """Each bone of a chain, the first one first."""
    s, bones, items = chain.settings, chain.bones, chain.items
    every = {name: _factors(s, items, len(bones), name) for name in OF_BONE}
    for n, bone in enumerate(bones):
        own = {name: values[n] for name, values in every.items()}
        yield BoneTuning(
            bone,
            min(max(s.settle_time * own["settle_factor"], _SHORTEST), _LONGEST),
            s.damping_ratio * own["damping_factor"],
            min(s.drag * own["drag_factor"], _MOST_DRAG),
            s.gravity * own["gravity_factor"],
            s.radius * own["radius_factor"],
            own["wind_factor"],
            min(s.inertia * own["inertia_factor"], 1.0),
            min(max(s.limit * own["limit_factor"], _LEAST_LIMIT), pi),
            min(s.stretch * own["stretch_factor"], 1.0),
        )


_SHORTEST, _LONGEST = 1e-3, 1e3
"""Settle times [s] that can be solved."""
_MOST_DRAG = 1e4
_LEAST_LIMIT = 1e-3
"""[rad]"""


def factors(chain: SpringChain, name: str) -> list[float]:
    """By what a setting is multiplied at each bone. name: one of those that bones have of their own."""
    return _factors(chain.settings, chain.items, len(chain.bones), name)


def _factors(s: SpringSettings, items: Sequence[SpringBone], count: int, name: str) -> list[float]:
    own = [getattr(item, name) for item in items] or [1.0] * count
    return [_towards_tip(s, name, at) * factor for at, factor in zip(places(count), own, strict=True)]


def places(count: int) -> list[float]:
    """Where so many bones are along their chain, the first one at 0 and the last one at 1."""
    return [n / max(count - 1, 1) for n in range(count)]


def draw(chain: SpringChain, name: str, curve: Callable[[float], float]) -> None:
    """Let a setting be multiplied at each bone by what a curve has at its place, instead of by what it was before."""
    if name in TIPS:
        setattr(chain.settings, TIPS[name], 1.0)
    for item, at in zip(chain.items, places(len(chain.items)), strict=True):
        setattr(item, name, max(curve(at), 0.0))


def is_drawn(chain: SpringChain, name: str) -> bool:
    """Whether bones have factors of their own."""
    return any(abs(getattr(item, name) - 1.0) > _SAME for item in chain.items)


_SAME = 1e-4


def _towards_tip(s: SpringSettings, name: str, at: float) -> float:
    """What the settings of a chain multiply a setting with on the way to the tip."""
    if name not in TIPS:
        return 1.0
    at, tip = at**s.falloff, getattr(s, TIPS[name])
    # A time twice as long is as far as one half as long.
    return tip**at if name == "settle_factor" else 1.0 + (tip - 1.0) * at
