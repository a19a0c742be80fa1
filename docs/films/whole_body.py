"""A ball comes up from beside the knee, and goes down again: a head alone turns after it, or the whole body, whose
feet stay."""

from collections.abc import Iterator
from math import cos, radians, sin

import bpy

from docs.alive import stage
from standalone import load

from .settle_time import stands
from .shooting import Shot, camera, whole_range

SECONDS = 7


def circling(scene: bpy.types.Scene) -> bpy.types.Object:
    """A ball that goes from beside the knee up to the front, and back."""
    ball = stage.ball(scene, (0.0, -1.4, 1.8))
    for frame in range(1, SECONDS * stage.FPS + 2, 6):
        share = 0.5 + 0.5 * cos(2.0 * 3.14159265 * (frame - 1) / (SECONDS * stage.FPS))
        angle = radians(100.0 * share)
        ball.location = (1.4 * sin(angle), -1.4 * cos(angle), 1.85 - 1.1 * share)
        ball.keyframe_insert("location", frame=frame)
    return ball


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    ball = circling(scene)
    stage.light(scene)
    camera(scene, (1.3, -4.2, 1.9), (0.45, 0.0, 1.08), 62.0)
    with stage.looking(scene, rig, ball, {}):
        yield Shot("head", scene, whole_range(scene))
    stage.select(rig)
    bpy.ops.lookat_pd.add(target=ball.name)
    bpy.ops.lookat_pd.whole_body()
    load("rig.layers.live").finish(scene)
    yield Shot("whole body", scene, whole_range(scene))
