"""Live Follow: the head and the whole body follow a hand that leads the ball about, as it goes."""

from collections.abc import Iterator
from math import cos, sin

import bpy

from docs.alive import stage
from standalone import load

from .settle_time import stands
from .shooting import EVERY, Shot, camera, whole_range

SECONDS = 7
STEPS = 5
"""Of the session for each frame that is seen, as in a window of 60 pictures a second."""


def led(time: float) -> tuple[float, float, float]:
    """Where the hand leads the ball: as far aside as the picture is wide there."""
    return 0.46 * sin(1.7 * time) + 0.14 * sin(4.1 * time), -0.75, 1.66 + 0.22 * cos(2.3 * time)


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    ball = stage.ball(scene, led(0.0))
    ball.scale = (0.55, 0.55, 0.55)
    stage.light(scene)
    camera(scene, (0.0, -3.6, 1.75), (0.0, 0.0, 1.52), 76.0)
    stage.select(rig)
    bpy.ops.lookat_pd.add(target=ball.name)
    bone = load("rig.look_at.resolve").find_head(rig)
    live_follow = load("rig.look_at.live_follow.live_follow_session")
    session = live_follow.LiveFollowSession(scene, bpy.context.view_layer, rig, bone)

    def follow(frame: int) -> None:
        for step in range(STEPS):
            ball.location = led((frame - 1 + step * EVERY / STEPS) / stage.FPS)
            bpy.context.view_layer.update()
            session.tick(EVERY / STEPS / stage.FPS)
        bpy.context.view_layer.update()

    yield Shot("", scene, whole_range(scene), follow)
    session.restore()
