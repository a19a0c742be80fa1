"""A hammer that is swung up and down: joints break in succession, and the heavy end arrives late."""

from collections.abc import Iterator

import bpy
import numpy as np

from standalone import load

from . import stage
from .join import turns_of
from .sheets import Take

TITLE = "A hammer of 4 kg, keyed at four poses"
KEYS = {
    1: (10.0, -20.0, -5.0),
    17: (-95.0, -85.0, -25.0),
    29: (5.0, -10.0, 10.0),
    44: (5.0, -10.0, 10.0),
    56: (10.0, -20.0, -5.0),
}
"""Frame to the pitch of upper arm, forearm and hand [degrees]."""
ARM = ("upper_arm_fk.R", "forearm_fk.R", "hand_fk.R")
HAMMER = 4.0


def stands(time: float) -> dict:
    return {"torso": ((0.0, 0.0, 0.0), (0.0, 0.0, -0.012)), "upper_arm_fk.L": ((0.0, 0.0, 45.0), (0.0, 0.0, 0.0))}


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Smith", stands, max(KEYS))
    _swing(rig)
    stage.light(scene)
    load("assets.demo.human").add_camera(scene, (-2.6, -2.6, 1.5), (-0.1, -0.2, 1.3), 52.0)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    stage.select_bones(rig, ARM)
    rig.pose.bones[ARM[-1]].lookat_pd_body.mass = HAMMER
    own = rig.animation_data.action
    for label, law in (("before", "TENSION"), ("after", "MASS")):
        rig.animation_data.action = own
        scene.lookat_pd_dynamics.between = law
        bpy.ops.lookat_pd.interpolate_keys()
        curves = {}
        for part, bone in zip(("upper arm", "forearm", "hand"), ARM, strict=True):
            speed = np.degrees(np.linalg.norm(turns_of(scene, rig, (bone,))[1:, 0], axis=-1)) * stage.FPS
            curves[f"speed of the {part} [°/s]"] = (np.arange(len(speed)) / stage.FPS, speed)
        yield Take(label, scene, curves)


def _swing(rig: bpy.types.Object) -> None:
    animation = load("assets.demo.animation")
    for n, name in enumerate(ARM):
        bone, rest = rig.pose.bones[name], rig.data.bones[name].matrix_local.to_quaternion()
        bone.rotation_mode = "QUATERNION"
        for frame, pitches in KEYS.items():
            turn = animation.character_turn(pitches[n], 0.0, -40.0 if n == 0 else 0.0)
            bone.rotation_quaternion = rest.inverted() @ turn @ rest
            bone.keyframe_insert("rotation_quaternion", frame=frame)
