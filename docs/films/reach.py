"""Both palms of a figure reach for a box along paths of least change of torque, and lift it."""

from collections.abc import Iterator

import bpy

from docs.alive import stage
from standalone import load

from .shooting import Shot, camera, whole_range

LAST = 90


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = stage.FPS, 1, LAST
    load("assets.demo.lifting").lift(scene, (0.0, 0.0, 0.0))
    stage.light(scene)
    for label, place in (("from the front", (0.9, -2.9, 1.6)), ("from above", (0.02, -1.4, 4.0))):
        camera(scene, place, (0.0, -0.1, 1.1), 48.0)
        yield Shot(label, scene, whole_range(scene))
