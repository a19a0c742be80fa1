"""The methods of transitions: one row each.

What splices clips, the menus of methods and the choices of the command line are made from this table, so a new method
is one more row.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..rotation import Array
from . import inertialization


@dataclass(frozen=True)
class TransitionMethod:
    """One way to pass from one clip to another.

    id: the word on the command line; in capitals the identifier in Blender. label, description: name and tooltip.
    summary: the method in a sentence that lists them all. blend: from (previous, target, source, dt, duration, kind),
    as `inertialization.transition` has them, to the target (F, B, ...) as it is shown; source is the clip before
    played on (F, B, ...), or None where it is not asked for or not known. plays_both: asks for it. blends: takes
    time. carries_velocity: what was different goes on with the velocity it had and dies away, so that the root is
    placed ahead and its height dies away by itself. is_default: chosen where nothing is said; true of one row.
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
        """In Blender's enumerations."""
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
    """The method where none is chosen."""
    return next(row for row in METHODS.values() if row.is_default)


def of_identifier(identifier: str) -> TransitionMethod | None:
    """The method that Blender's enumerations call so; None where there is none."""
    return next((row for row in METHODS.values() if row.identifier == identifier), None)
