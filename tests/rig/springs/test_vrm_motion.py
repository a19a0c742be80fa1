"""A character with the springs of a VRM file swings as a plain stepper of VRM lets it, in Blender too."""

import bpy
import numpy as np
import pytest

from extension import load

from ...lookat_pd.springs import vrm_stepper
from .. import scenes
from .tails import ROWS, TAIL

vrm_data = load("rig.springs.vrm_data")
vrm_springs = load("rig.springs.vrm_springs")
chains = load("rig.springs.chains")
vrm_writing = load("rig.springs.vrm_writing")
rotation = load("lookat_pd.rotation")
LENGTH, LAST = 0.15, 150
FRAMES = range(1, LAST + 1)


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


def plain(armature: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Places (F, 6, 3) and orientations (F, 6, 4) of the joints without springs, the end of the tail among them."""
    found = scenes.poses(armature, FRAMES, ("hips", *TAIL))
    ends = found[:, -1:, :3, 3] + LENGTH * found[:, -1:, :3, 1]
    turns = rotation.from_matrix(np.concatenate((found, found[:, -1:]), axis=1)[..., :3, :3])
    return np.concatenate((found[:, :, :3, 3], ends), axis=1), turns


def compared(said: object, places: np.ndarray, turns: np.ndarray, armature: bpy.types.Object) -> None:
    """The tail swings here as a plain stepper of VRM lets it swing with the joints of a file."""
    rows = [
        vrm_stepper.Joint(n + 1, n + 2, own.stiffness, own.drag, float(np.linalg.norm(own.pull)))
        for n, own in enumerate(said.joints[bone] for bone in TAIL)
    ]
    stepped = vrm_stepper.run(rows, [-1, 0, 1, 2, 3, 4], places, turns, 60.0)[36:]
    swung = scenes.poses(armature, FRAMES, TAIL)[36:]
    here = swung[..., :3, 3] + LENGTH * swung[..., :3, 1]
    away = np.linalg.norm(stepped - places[36:, 2:], axis=-1).max(axis=0)
    off = np.linalg.norm(here - stepped, axis=-1).max(axis=0)
    assert away[-1] > 0.4 * len(TAIL) * LENGTH
    assert (off < 0.05 * away).all()


def test_a_tail_swings_as_in_vrm() -> None:
    armature = runner()
    said = vrm_data.VrmSprings((vrm_data.VrmChain(tuple(map(joint, TAIL))),))
    bare = plain(armature)
    vrm_springs.take_over(bpy.context.scene, armature, said)
    compared(said, *bare, armature)


@pytest.mark.parametrize("version", ["1.0", "0.x"])
def test_what_is_written_swings_in_vrm_as_here(version) -> None:
    """Read, edited, written and stepped as a game does."""
    armature = runner()
    names = ["Hero", "root", "hips", *TAIL, "end"]
    places = np.array([[0.0, 0.0, 0.0]] * 2 + [[0.0, 1.0, 0.0], [0.0, 1.0, -0.1], *[[0.0, 0.0, -LENGTH]] * 4])
    nodes = [{"name": name, "translation": at.tolist()} for name, at in zip(names, places, strict=True)]
    for n, node in enumerate(nodes[:-1]):
        node["children"] = [n + 1]
    rows = [{"node": n, "stiffness": 1.2, "dragForce": 0.4, "gravityPower": 0.15} for n in range(3, 8)]
    new = {"VRMC_springBone": {"specVersion": "1.0", "springs": [{"joints": rows}]}}
    group = {"bones": [3], "stiffiness": 1.2, "dragForce": 0.4, "gravityPower": 0.15}
    old = {"VRM": {"secondaryAnimation": {"boneGroups": [group]}}}
    document = {"nodes": nodes, "extensions": new if version == "1.0" else old}
    bare = plain(armature)
    vrm_springs.take_over(bpy.context.scene, armature, vrm_data.read(document))
    (chain,) = chains.on(armature)
    chain.settings.settle_time *= 1.15
    chain.settings.drag *= 1.1
    made, written = vrm_writing.edited(document, bpy.context.scene, armature)
    assert written.changed == [TAIL[0]]
    compared(vrm_data.read(made), *bare, armature)
