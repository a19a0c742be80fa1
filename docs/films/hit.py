"""A push on the chest and one on the head: the body gives way joint by joint and comes back; and the bare animation."""

from collections.abc import Iterator

import bpy

from docs.alive import stage

from .settle_time import stands
from .shooting import Shot, camera, whole_range

SECONDS = 4
HITS = ((13, "chest", 60.0, (0.2, 1.0, 0.0)), (49, "head", 14.0, (-1.0, 0.3, 0.0)))


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    stage.light(scene)
    camera(scene, (2.2, -3.6, 1.7), (0.0, 0.0, 1.4), 78.0)
    yield Shot("animation", scene, whole_range(scene))
    stage.select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for frame, bone, impulse, direction in HITS:
        hit = rig.lookat_pd_hits.hits.add()
        hit.frame, hit.bone, hit.impulse, hit.direction = frame, bone, impulse, direction
    stage.select_bones(rig, ["chest"])
    bpy.ops.lookat_pd.hit()
    yield Shot("with hits", scene, whole_range(scene))
