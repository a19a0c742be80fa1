"""The methods of transitions: one row each.

Splicing, the menus of methods and the choices of the command line derive from this table, so a new method is one more
row.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..rotation import Array
from . import inertialization


@dataclass(frozen=True)
class TransitionMethod:
    """A method of blending from one clip to another.

    id: the word on the command line; in capitals the identifier in Blender. label, description: name and tooltip.
    summary: the method within a sentence that lists all of them. blend: from (previous, target, source, dt, duration,
    kind), as for `inertialization.transition`, to the output (F, B, ...); source is the continued previous clip (F, B,
    ...), or None if it is not used or not known. plays_both: needs it. blends: has a blend time. carries_velocity: the
    difference decays with its initial velocity, so the root is placed ahead and its height decays separately.
    is_default: true for exactly one row.
    """

    id: str
    label: str
    description: str
    summary: str
    blend: Callable[[Array, Array, Array | None, float, Array, str], Array]
    plays_both: bool = False
    blends: bool = True
    carries_velocity: bool = False
    is_default: bool = False

    @property
    def identifier(self) -> str:
        """The identifier in Blender's enumerations."""
        return self.id.upper()


def _inertialize(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return inertialization.transition(previous, target, dt, duration, kind=kind)


def _dead_blend(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return inertialization.dead_blend(previous, target, dt, duration, kind=kind)


def _cross_fade(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return target if source is None else inertialization.cross_fade(source, target, dt, duration, kind=kind)


def _cut(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return target


# Blender saves the number of a row with the scene: append new ones at the end.
METHODS: dict[str, TransitionMethod] = {
    row.id: row
    for row in (
        TransitionMethod(
            "inertial",
            "Inertialization",
            "Play only the destination, and decay its difference from the source",
            "inertialization",
            _inertialize,
            carries_velocity=True,
            is_default=True,
        ),
        TransitionMethod(
            "dead",
            "Dead Blending",
            "Extrapolate the motion of the source and fade it out; calmer for large differences in pose",
            "dead blending",
            _dead_blend,
        ),
        TransitionMethod(
            "fade", "Cross-Fade", "Play both clips and mix them", "cross-fade", _cross_fade, plays_both=True
        ),
        TransitionMethod("cut", "Cut", "No blending", "none", _cut, blends=False),
    )
}


def default() -> TransitionMethod:
    """The default method."""
    return next(row for row in METHODS.values() if row.is_default)


def of_identifier(identifier: str) -> TransitionMethod | None:
    """The method with this identifier in Blender; None if there is none."""
    return next((row for row in METHODS.values() if row.identifier == identifier), None)
