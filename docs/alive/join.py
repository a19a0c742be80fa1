"""A run that is joined to a turn: the arms keep their swing."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.rotation import Array
from standalone import load

from . import stage
from .run import run
from .sheets import Take

TITLE = "A run, joined at 0 s to a turn of the body; the largest change of a joint's velocity from frame to frame"
FRAMES, CUT, ENTERED = 40, 22, 9
LIMBS = {"arms": ("upper_arm", "forearm"), "legs": ("thigh", "shin")}


def in_place(time: float) -> dict:
    return run(time) | {"root": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))}


def turn(time: float) -> dict:
    """Stands, and turns from one side to the other with swinging arms."""
    side = stage.swing(time, 0.7, 1.0)
    pose = {
        "root": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        "torso": ((2.0, 25.0 * side, 0.0), (0.03 * side, 0.0, -0.05)),
        "chest": ((3.0, 20.0 * side, 4.0 * side), (0.0, 0.0, 0.0)),
    }
    for letter, sign in (("L", 1.0), ("R", -1.0)):
        pose[f"foot_ik.{letter}"] = ((0.0, 0.0, 0.0), (0.04 * sign, 0.0, 0.0))
        pose[f"upper_arm_fk.{letter}"] = ((25.0 * sign * side, 0.0, 10.0 * sign - 20.0 * side), (0.0, 0.0, 0.0))
        pose[f"forearm_fk.{letter}"] = ((-35.0 - 15.0 * side, 0.0, 0.0), (0.0, 0.0, 0.0))
    return pose


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Runner", in_place, FRAMES)
    rig.animation_data.action.name = "Run"
    stage.perform(rig, "Turn", turn, FRAMES)
    stage.light(scene)
    load("assets.demo.human").add_camera(scene, (1.8, -4.2, 1.5), (0.0, 0.0, 1.05), 50.0)
    stage.select(rig)
    scene.frame_start, scene.frame_end = CUT - 8, CUT + 15
    given = {"source": "Run", "source_frame": CUT, "destination": "Turn", "destination_frame": ENTERED}
    for label, options in (("before", {"method": "INERTIAL", "lock_feet": False}), ("after", {})):
        bpy.ops.lookat_pd.inertialize(**given, **options)
        curves = {}
        for limb, parts in LIMBS.items():
            names = [f"DEF-{part}.{side}" for part in parts for side in "LR"]
            velocity = np.degrees(turns_of(scene, rig, names)) * stage.FPS
            change = np.linalg.norm(np.diff(velocity, axis=0), axis=-1).max(axis=-1)
            times = (np.arange(1, len(velocity)) - (CUT - scene.frame_start)) / stage.FPS
            curves[f"change of velocity, {limb} [°/s]"] = (times, change)
        yield Take(label, scene, curves)


def turns_of(scene: bpy.types.Scene, rig: bpy.types.Object, names: Sequence[str]) -> Array:
    """Turn (n, bones, 3) [rad] of bones, relative to their parents, in each step of the range and the one before it."""
    poses = []
    for frame in range(scene.frame_start - 1, scene.frame_end + 1):
        scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        local = [bones[name].parent.matrix.inverted() @ bones[name].matrix for name in names]
        poses.append([tuple(matrix.to_quaternion()) for matrix in local])
    return rotation.log(rotation.multiply(rotation.inverse(np.array(poses)[:-1]), np.array(poses)[1:]))
