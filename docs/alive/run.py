"""A run past a target: the gaze holds on it, and the head does not roll with the lean."""

from collections.abc import Iterator

import bpy
from mathutils import Matrix, Vector

from standalone import load

from . import stage
from .sheets import Take

TITLE = "A run past a ball that hangs still"
SECONDS = 2.5
SPEED, STEPS = 3.2, 1.35
"""Metres a second, and cycles of two steps a second."""
BALL = (-2.2, -2.6, 1.75)


def run(time: float) -> dict:
    """Runs to -Y, leans forwards and into its steps."""
    side, bob = stage.swing(time, STEPS, 1.0), stage.swing(time, 2.0 * STEPS, 1.0)
    pose = {
        "root": ((0.0, 0.0, 0.0), (0.0, 4.2 - SPEED * time, 0.0)),
        "torso": ((14.0 + 3.0 * bob, 12.0 * side, 6.0 * side), (0.02 * side, 0.0, -0.07 + 0.035 * bob)),
        "chest": ((10.0 - 4.0 * bob, -24.0 * side, -8.0 * side), (0.0, 0.0, 0.0)),
    }
    for letter, sign in (("L", 1.0), ("R", -1.0)):
        forwards = stage.swing(time, STEPS, sign)
        lifted = max(0.0, stage.swing(time, STEPS, sign, 0.25))
        shift = (0.0, -0.42 * forwards, 0.05 + 0.3 * lifted)
        pose[f"foot_ik.{letter}"] = ((25.0 * lifted - 12.0 * forwards, 0.0, 0.0), shift)
        pose[f"upper_arm_fk.{letter}"] = ((40.0 * forwards, 0.0, 38.0 * sign), (0.0, 0.0, 0.0))
        pose[f"forearm_fk.{letter}"] = ((-75.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return pose


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Runner", run, round(SECONDS * stage.FPS))
    target = stage.ball(scene, BALL)
    stage.light(scene)
    camera = load("assets.demo.human").add_camera(scene, (1.6, -4.0, 1.6), (-0.1, 0.0, 1.15), 52.0)
    camera.parent, camera.parent_type, camera.parent_bone = rig, "BONE", "root"
    camera.matrix_parent_inverse = (rig.matrix_world @ rig.data.bones["root"].matrix_local).inverted() @ _to_tail(rig)
    stage.select(rig)
    for label, times, places, turns in stage.looks(scene, rig, target):
        error = stage.aim_error(places, [turns], BALL)
        curves = {
            "face off the ball [°]": (times, error),
            "roll of the head in the world [°]": (times, stage.roll(turns)),
        }
        yield Take(label, scene, curves)


def _to_tail(rig: bpy.types.Object) -> Matrix:
    """Bones carry what hangs on them at their tail."""
    return Matrix.Translation(Vector((0.0, -rig.data.bones["root"].length, 0.0)))
