"""Scenes of 100 frames: live updates solve all, and with Blender's 250 these tests would take much longer."""

import bpy
import pytest


@pytest.fixture(autouse=True)
def short_scene(empty_file: None) -> None:
    bpy.context.scene.frame_end = 100
