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
    camera(scene, (0.0, -2.2, 1.86), (0.0, 0.0, 1.86), 85.0)
    with stage.looking(scene, rig, ball, {}):
        yield Shot("head", scene, whole_range(scene))
    stage.select(rig)
    bpy.ops.lookat_pd.add(target=ball.name)
    bone = load("rig.look_at.resolve").find_head(rig)
    load("rig.look_at.body.layers").switch_on(rig.pose.bones[bone].lookat_pd, ("eyes", "blink", "lids"))
    load("rig.layers.live").finish(scene)
    yield Shot("eyes and head", scene, whole_range(scene))
