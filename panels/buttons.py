"""Buttons that get their properties from the settings of a panel."""

from collections.abc import Sequence

import bpy


def hand_over(settings: bpy.types.bpy_struct, button: bpy.types.bpy_struct, names: Sequence[str]) -> None:
    """Set the properties of a button from the settings of the panel."""
    for name in names:
        setattr(button, name, getattr(settings, name))
