"""Feet that skate under a body that sways, and the same with its contacts cleaned up."""

from collections.abc import Iterator

import bpy

from docs.alive import stage

from .shooting import Shot, camera, whole_range

SECONDS = 5


def skates(time: float) -> dict:
    """Shifts its weight and turns, and its feet come along."""
    side = stage.swing(time, 0.4, 1.0)
    pose = {
        "torso": ((4.0, 16.0 * side, 3.0 * side), (0.10 * side, 0.0, -0.05)),
        "chest": ((0.0, -8.0 * side, -3.0 * side), (0.0, 0.0, 0.0)),
    }
    for letter, sign in (("L", 1.0), ("R", -1.0)):
        pose[f"foot_ik.{letter}"] = ((0.0, 0.0, 0.0), (0.03 * sign + 0.08 * side, -0.05 * sign * side, 0.0))
        pose[f"upper_arm_fk.{letter}"] = ((15.0 * sign * side, 0.0, 40.0 * sign), (0.0, 0.0, 0.0))
    return pose


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Skater", skates, SECONDS * stage.FPS)
    stage.light(scene)
    camera(scene, (1.1, -3.0, 1.0), (0.0, 0.0, 0.45), 62.0)
    stage.select(rig)
    yield Shot("animation", scene, whole_range(scene))
    bpy.ops.object.mode_set(mode="POSE")
    stage.select_bones(rig, ["foot_ik.L", "foot_ik.R"])
    bpy.ops.lookat_pd.ik_contacts()
    yield Shot("contacts held", scene, whole_range(scene))
