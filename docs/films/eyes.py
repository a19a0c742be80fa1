"""Eyes go first, the head follows; blinks, and small motions while they rest."""

from collections.abc import Iterator

import bpy

from docs.alive import stage
from standalone import load

from .settle_time import jumping, stands
from .shooting import Shot, camera, whole_range

SECONDS = 6


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    ball = jumping(scene)
    stage.light(scene)
    camera(scene, (0.35, -2.2, 1.92), (0.0, -0.03, 1.87), 165.0)
    with stage.looking(scene, rig, ball, {}):
        yield Shot("head", scene, whole_range(scene))
    stage.select(rig)
    bpy.ops.lookat_pd.add(target=ball.name)
    bone = load("rig.look_at.resolve").find_head(rig)
    settings = rig.pose.bones[bone].lookat_pd
    load("rig.look_at.body.layers").switch_on(settings, ("eyes", "blink", "lids"))
    load("assets.demo.human").shut_wholly(settings)
    load("rig.layers.live").finish(scene)
    yield Shot("eyes and head", scene, whole_range(scene))
