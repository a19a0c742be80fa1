"""The settings of which keys are written: of all operators that bake or join, of the panel, and of the command line.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from typing import Any

from ..settings import angle, choice, number
from . import key_writer
from .key_writer import EVERY_FRAME, KEEP, MODE_ITEMS, KeyWriter

NAMES = ("key_mode", "fit_angle", "fit_distance")
_DESCRIPTION = "Which keys the result has"


class FitErrors:
    """Mixin: how far fitted keys may be from the motion."""

    fit_angle: angle(
        "Largest Error",
        "Largest angle between the fitted keys and the motion",
        key_writer.ANGLE,
        45.0,
        0.001,
        soft_max=5.0,
    )
    fit_distance: number(
        "Distance (mm)",
        "Largest distance in millimeters between the locations of the fitted keys and those of the motion",
        1000.0 * key_writer.DISTANCE,
        10000.0,
        0.001,
        soft_max=100.0,
        precision=3,
    )


class BakedKeys(FitErrors):
    """Mixin of operators that bake: a key at every frame, unless other keys are chosen."""

    key_mode: choice("Keys", _DESCRIPTION, MODE_ITEMS, EVERY_FRAME)


class KeptKeys(FitErrors):
    """Mixin of settings and operators that join or change clips: their keys are kept, unless others are chosen."""

    key_mode: choice("Keys", _DESCRIPTION, MODE_ITEMS, KEEP)


def writer(settings: Any) -> KeyWriter:
    """What writes the keys that the settings choose."""
    return KeyWriter(settings.key_mode, settings.fit_angle, 0.001 * settings.fit_distance)


def draw(layout: Any, settings: Any) -> None:
    """The settings of an operator or of the panel."""
    column = layout.column(align=True)
    column.prop(settings, "key_mode")
    if settings.key_mode == key_writer.FITTED:
        column.prop(settings, "fit_angle")
        column.prop(settings, "fit_distance")
