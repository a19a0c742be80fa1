"""A hand that follows a path out of its reach and back: the elbow does not snap straight."""

from collections.abc import Iterator

import bpy
import numpy as np

from lookat_pd.rotation import Array
from standalone import load

from . import stage
from .sheets import Take

TITLE = "A hand follows a ball out of its reach and back"
SECONDS = 3
HAND, UPPER, FORE = "hand_fk.L", "DEF-upper_arm.L", "DEF-forearm.L"
NEAR, FAR = np.array((0.42, -0.28, 1.35)), np.array((0.95, -0.55, 1.55))


def stands(time: float) -> dict:
    return {"torso": ((0.0, 0.0, 0.0), (0.0, 0.0, -0.012)), "upper_arm_fk.L": ((0.0, 0.0, 30.0), (0.0, 0.0, 0.0))}


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Reacher", stands, SECONDS * stage.FPS)
    target = stage.ball(scene, tuple(NEAR))
    target.scale = (0.4, 0.4, 0.4)
    for frame in range(scene.frame_start, scene.frame_end + 1):
        share = 0.5 - 0.5 * np.cos(2.0 * np.pi * (frame - 1) / (SECONDS * stage.FPS))
        target.location = NEAR + share * (FAR - NEAR)
        target.keyframe_insert("location", frame=frame)
    stage.light(scene)
    load("assets.demo.human").add_camera(scene, (1.5, -3.4, 1.6), (0.35, 0.0, 1.4), 60.0)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    stage.select_bones(rig, [HAND])
    settings, own = scene.lookat_pd_ik, rig.animation_data.action
    settings.target = target
    softness = settings.soft_reach
    for label, soft in (("before", 0.0), ("after", softness)):
        rig.animation_data.action = own
        settings.soft_reach = soft
        bpy.ops.lookat_pd.ik_bake()
        times, bend = _bend(scene, rig)
        curves = {
            "bend of the elbow [°]": (times, bend),
            "its speed [°/s]": (times[1:], np.abs(np.diff(bend)) * stage.FPS),
        }
        yield Take(label, scene, curves)


def _bend(scene: bpy.types.Scene, rig: bpy.types.Object) -> tuple[Array, Array]:
    """Times [s] and the angle between upper arm and forearm [degrees]."""
    angles = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        upper, fore, hand = (np.array(bones[name].head) for name in (UPPER, FORE, "DEF-hand.L"))
        one, other = fore - upper, hand - fore
        angles.append(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1.0, 1.0)))
    return np.arange(len(angles)) / stage.FPS, np.degrees(angles)
