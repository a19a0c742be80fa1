"""One look with three settle times: the head arrives when it should, whatever the target did."""

from collections.abc import Iterator

import bpy

from docs.alive import stage
from standalone import load

from .shooting import Shot, camera, whole_range

SECONDS, TIMES = 6, (0.2, 0.6, 1.5)
PLACES = ((1, (1.1, -1.3, 1.6)), (37, (-1.1, -1.3, 2.2)), (85, (0.9, -1.3, 1.9)), (115, (0.0, -1.6, 1.5)))


def stands(time: float) -> dict:
    return {
        "torso": ((0.0, 0.0, 0.0), (0.0, 0.0, -0.012)),
        "chest": ((0.7 * stage.swing(time, 0.3, 1.0), 0.0, 0.0), (0.0, 0.0, 0.0)),
        "forearm_fk.L": ((-14.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        "forearm_fk.R": ((-14.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        "upper_arm_fk.L": ((0.0, 0.0, 45.0), (0.0, 0.0, 0.0)),
        "upper_arm_fk.R": ((0.0, 0.0, -45.0), (0.0, 0.0, 0.0)),
    }


def jumping(scene: bpy.types.Scene) -> bpy.types.Object:
    """A ball that is now here, now there."""
    ball = stage.ball(scene, PLACES[0][1])
    for frame, place in PLACES:
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    data = ball.animation_data
    for curve in load("rig.animation.actions").curves(data.action, data.action_slot):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    return ball


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    ball = jumping(scene)
    stage.light(scene)
    camera(scene, (0.0, -3.3, 1.86), (0.0, 0.0, 1.80), 150.0)
    for seconds in TIMES:
        with stage.looking(scene, rig, ball, {"settle_time": seconds}):
            yield Shot(f"settle time {seconds} s", scene, whole_range(scene))
