"""Shared by the tests of operators."""

import bpy
import pytest


@pytest.fixture(autouse=True)
def labels_of_presets(monkeypatch):
    """Panels of presets have their labels again: Blender writes the name of the last preset on them."""
    for name in dir(bpy.types):
        if name.startswith("LOOKAT_PD_PT_") and name.endswith("presets"):
            panel = getattr(bpy.types, name)
            monkeypatch.setattr(panel, "bl_label", panel.bl_label)
