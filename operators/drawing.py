"""How operators and panels draw their properties."""

import bpy


def prepared(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """The layout of an operator or panel, with property split and without decorators."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout
