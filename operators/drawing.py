"""How operators and panels draw their properties."""

from math import ceil

import blf
import bpy

_EDGES = 64
"""Pixels beside a line with an icon in a dialog, at a scale of 1."""


def prepared(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """The layout of an operator or panel, with property split and without decorators."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def dialog_width(context: bpy.types.Context, line: str, least: int) -> int:
    """Width of a dialog [pixels at a scale of 1] in which a line with an icon is not cut."""
    blf.size(0, context.preferences.ui_styles[0].widget.points)
    return max(least, ceil(blf.dimensions(0, line)[0]) + _EDGES)
