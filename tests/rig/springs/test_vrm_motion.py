"""A character with the springs of a VRM file swings as a plain stepper of VRM lets it, in Blender too."""

import bpy
import numpy as np

from extension import load

from ...lookat_pd.springs import vrm_stepper
from .. import scenes
from .tails import ROWS, TAIL

vrm_data = load("rig.springs.vrm_data")
vrm_springs = load("rig.springs.vrm_springs")
LENGTH, LAST = 0.15, 150


def runner() -> bpy.types.Object:
    """At 60 frames a second it turns, and steps to the side."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_end = 60, LAST
    armature = scenes.figure(rows=ROWS)
    hips = armature.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    scenes.keyed(hips, "rotation_euler", [(40, (0.0, 0.0, 0.0)), (70, (0.0, 0.9, 0.0))])
    scenes.keyed(hips, "location", [(90, (0.0, 0.0, 0.0)), (115, (0.3, 0.1, 0.0))])
    return armature


def joint(bone: str) -> object:
    return vrm_data.VrmJoint(bone, LENGTH, 1.0, 0.4, (0.0, 0.0, -0.15), 0.0)


def compared() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tails (F, 4, 3) of the joints here, of the stepper, and without springs."""
    armature, frames = runner(), range(1, LAST + 1)
    bones = ("hips", *TAIL)
    plain = scenes.poses(armature, frames, bones)
    tails = plain[:, 1:, :3, 3] + LENGTH * plain[:, 1:, :3, 1]
    places = np.concatenate((plain[:, :, :3, 3], tails[:, -1:]), axis=1)
    rotation = load("lookat_pd.rotation")
    turns = rotation.from_matrix(np.concatenate((plain, plain[:, -1:]), axis=1)[..., :3, :3])
    joints = [vrm_stepper.Joint(n + 1, n + 2, 1.0, 0.4, 0.15) for n in range(len(TAIL))]
    stepped = vrm_stepper.run(joints, [-1, 0, 1, 2, 3, 4], places, turns, 60.0)
    said = vrm_data.VrmSprings((vrm_data.VrmChain(tuple(map(joint, TAIL))),))
    vrm_springs.take_over(bpy.context.scene, armature, said)
    swung = scenes.poses(armature, frames, TAIL)
    return swung[..., :3, 3] + LENGTH * swung[..., :3, 1], stepped, tails


def test_a_tail_swings_as_in_vrm() -> None:
    here, stepped, tails = (values[36:] for values in compared())
    away = np.linalg.norm(stepped - tails, axis=-1).max(axis=0)
    off = np.linalg.norm(here - stepped, axis=-1).max(axis=0)
    assert away[-1] > 0.5 * len(TAIL) * LENGTH
    assert (off < 0.05 * away).all()
