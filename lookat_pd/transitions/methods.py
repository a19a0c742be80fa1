"""The methods of transitions: one row each.

Splicing, the menus of methods and the choices of the command line derive from this table, so a new method is one more
row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import checks
from ..rotation import Array
from . import cut, inertialization, spring
from .hinges import BlendedHinges


@dataclass(frozen=True)
class TransitionMethod:
    """A method of blending from one clip to another."""

    id: str
    """The word on the command line; in capitals the identifier in Blender."""
    label: str
    description: str
    """`label`, `description`: name and tooltip."""
    summary: str
    """The method within a sentence that lists all of them."""
    blend: Callable[..., Array]
    """Blend from (previous, target, source, dt, duration, kind), as for `inertialization.transition`, to the output (F,
    B, ...); source is the continued previous clip (F, B, ...), or None if it is not used or not known."""
    plays_both: bool = False
    """Whether it needs the continued source."""
    blends: bool = True
    """Whether it has a blend time."""
    glide: Callable[[float], float] | None = None
    """Fraction of the blend for which a velocity of the difference would persist, from the damping ratio; the root is
    placed ahead by that and its height decays separately. None if the blend does not start from a difference."""
    scalars: str = ""
    """Id of the method for single numbers, such as influences, which must not leave the range of both clips; "" for
    this one."""
    has_damping: bool = False
    """`blend` takes a damping_ratio."""
    swings: bool = False
    """Joints may leave the range of both clips, unless `blend` is given their hinges."""
    chooses: bool = False
    """Stands for another method, which `choose` gives for a cut."""
    is_default: bool = False
    """Whether it is the default; true for exactly one row."""

    @property
    def identifier(self) -> str:
        """The identifier in Blender's enumerations."""
        return self.id.upper()


def _inertialize(
    previous: Array,
    target: Array,
    source: Array | None,
    dt: float,
    duration: Array,
    kind: str,
    *,
    clamps_acceleration: bool = True,
) -> Array:
    return inertialization.transition(
        previous, target, dt, duration, kind=kind, clamps_acceleration=clamps_acceleration
    )


def _dead_blend(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return inertialization.dead_blend(previous, target, dt, duration, kind=kind)


def _swing(
    previous: Array,
    target: Array,
    source: Array | None,
    dt: float,
    duration: Array,
    kind: str,
    *,
    hinges: BlendedHinges | None = None,
) -> Array:
    return inertialization.swing_transition(previous, target, dt, duration, kind=kind, hinges=hinges)


def _spring(
    previous: Array,
    target: Array,
    source: Array | None,
    dt: float,
    duration: Array,
    kind: str,
    *,
    damping_ratio: float = 1.0,
) -> Array:
    return spring.transition(previous, target, dt, duration, kind=kind, damping_ratio=damping_ratio)


def _cross_fade(
    previous: Array,
    target: Array,
    source: Array | None,
    dt: float,
    duration: Array,
    kind: str,
    *,
    is_linear: bool = False,
) -> Array:
    if source is None:
        return cut.checked_poses("target", target, kind)
    return inertialization.cross_fade(source, target, dt, duration, kind=kind, is_linear=is_linear)


def _cut(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return cut.checked_poses("target", target, kind)


def _automatic(previous: Array, target: Array, source: Array | None, dt: float, duration: Array, kind: str) -> Array:
    return choose(previous, target, dt, kind).blend(previous, target, source, dt, duration, kind)


def _glide(damping_ratio: float) -> float:
    return inertialization.GLIDE


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
            glide=_glide,
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
        TransitionMethod(
            "auto",
            "Automatic",
            "For each cut, inertialization with swing where joints would stop, dead blending for large differences, "
            "or plain inertialization",
            "automatic choice",
            _automatic,
            chooses=True,
            is_default=True,
        ),
        TransitionMethod(
            "spring",
            "Spring",
            "Let the difference move as a damped spring: joints keep their velocity, also away from the destination",
            "a damped spring",
            _spring,
            glide=spring.glide,
            has_damping=True,
        ),
        TransitionMethod(
            "linear",
            "Linear Cross-Fade",
            "Play both clips and mix them with a weight that changes at constant speed; for comparison",
            "linear cross-fade",
            partial(_cross_fade, is_linear=True),
            plays_both=True,
        ),
        TransitionMethod(
            "unclamped",
            "Unclamped Inertialization",
            "Inertialization with the initial acceleration as most descriptions give it; for comparison",
            "unclamped inertialization",
            partial(_inertialize, clamps_acceleration=False),
            glide=_glide,
        ),
        TransitionMethod(
            "swing",
            "Inertialization with Swing",
            "Inertialization that keeps velocity also away from the destination: joints swing out and come back",
            "inertialization with swing",
            _swing,
            glide=_glide,
            scalars="inertial",
            swings=True,
        ),
    )
}


def default() -> TransitionMethod:
    """The default method."""
    return next(row for row in METHODS.values() if row.is_default)


def of_identifier(identifier: str) -> TransitionMethod | None:
    """The method with this identifier in Blender; None if there is none."""
    return next((row for row in METHODS.values() if row.identifier == identifier), None)


FAST = np.radians(30.0)
"""Discarded speed [rad/s] of a joint above which `choose` prefers inertialization with swing: it shows as a jump of the
velocity."""
FAR = np.radians(75.0)
"""Distance [rad] above which `choose` prefers dead blending."""


def choose(previous: Array, target: Array, dt: float, kind: str = "rotation", size: float = 1.0) -> TransitionMethod:
    """The method for a cut between the last two frames of the output and a target, as for `inertialization.transition`.

    Inertialization; dead blending if for one of ten joints the distance exceeds FAR; else inertialization with swing if
    for any joint the velocity that inertialization would discard exceeds FAST. size: with vectors the length that
    counts as one radian. Raises InvalidArgument.
    """
    checks.number("size", size, 1e-9)
    speed, distance = inertialization.discarded_velocity(previous, target, dt, kind=kind)
    if not speed.size:
        return METHODS["inertial"]
    unit = size if kind == "vector" else 1.0
    if np.quantile(distance, 0.9) > FAR * unit:
        return METHODS["dead"]
    return METHODS["swing" if np.max(speed) > FAST * unit else "inertial"]
