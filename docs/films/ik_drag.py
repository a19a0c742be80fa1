"""A hand is dragged about: the arm alone, and the whole body with its feet on the ground."""

from collections.abc import Iterator

import bpy

from docs.alive import stage

from .settle_time import stands
from .shooting import Shot, camera, whole_range

SECONDS = 6
HAND, FEET = "hand_fk.L", ("foot_ik.L", "foot_ik.R")
PLACES = ((0.45, -0.4, 1.2), (0.35, -0.5, 1.75), (0.75, -0.15, 1.5), (0.6, -0.5, 1.15), (0.7, -0.85, 0.6))
"""Where the hand is dragged: up, aside, in front, and to the ground, which only the whole body reaches; and back."""


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Human", stands, SECONDS * stage.FPS)
    goal = stage.ball(scene, PLACES[0])
    goal.scale = (0.6, 0.6, 0.6)
    for number, place in enumerate((*PLACES, PLACES[0])):
        goal.location = place
        goal.keyframe_insert("location", frame=1 + number * SECONDS * stage.FPS // len(PLACES))
    stage.light(scene)
    camera(scene, (1.5, -3.95, 1.35), (0.2, -0.2, 1.02), 66.0)
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
