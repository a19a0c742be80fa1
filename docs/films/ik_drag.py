"""A hand is dragged about: the arm alone, and the whole body with its feet on the ground."""

from collections.abc import Iterator
from math import pi, sin

import bpy
import numpy as np

from docs.alive import stage

from .settle_time import stands
from .shooting import Shot, camera, whole_range

SECONDS = 5
HAND, FEET = "hand_fk.L", ("foot_ik.L", "foot_ik.R")
START, FAR = np.array((0.4, -0.4, 1.3)), np.array((0.75, -0.8, 0.8))


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    goal = stage.ball(scene, tuple(START))
    goal.scale = (0.45, 0.45, 0.45)
    for frame in range(1, scene.frame_end + 1, 4):
        share = sin(pi * (frame - 1) / (SECONDS * stage.FPS)) ** 2
        goal.location = START + share * (FAR - START) + np.array((0.0, 0.0, 0.25 * sin(4.0 * pi * share)))
        goal.keyframe_insert("location", frame=frame)
    stage.light(scene)
    camera(scene, (1.9, -4.2, 1.6), (0.2, -0.2, 1.05), 62.0)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    stage.select_bones(rig, [HAND])
    scene.lookat_pd_ik.target = goal
    own = rig.animation_data.action
    bpy.ops.lookat_pd.ik_bake()
    yield Shot("arm", scene, whole_range(scene))
    rig.animation_data.action = own
    settings = rig.lookat_pd_ik_body
    for name, target in ((HAND, goal), *((foot, None) for foot in FEET)):
        item = settings.effectors.add()
        item.bone, item.target = name, target
        item.priority = "NORMAL" if target else "HIGH"
    settings.balance = 1.0
    bpy.ops.lookat_pd.ik_body_bake()
    yield Shot("whole body, feet held", scene, whole_range(scene))
