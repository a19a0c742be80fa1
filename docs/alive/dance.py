"""A dance with a still target: the gaze holds while the body moves."""

from collections.abc import Iterator

import bpy

from standalone import load

from . import stage
from .sheets import Take

TITLE = "A dance, and a ball that hangs still"
SECONDS = 6
BALL = (-0.75, -1.6, 1.5)


def dance(time: float) -> dict:
    """Sways from foot to foot, bobs twice as often, arms that swing."""
    side, bob = stage.swing(time, 0.8, 1.0), stage.swing(time, 1.6, 1.0, 0.15)
    arm = {
        f"upper_arm_fk.{letter}": ((30.0 * sign * side, 0.0, sign * -55.0 + 12.0 * bob), (0.0, 0.0, 0.0))
        for letter, sign in (("L", 1.0), ("R", -1.0))
    }
    return arm | {
        "torso": ((4.0 * bob, 14.0 * side, 0.0), (0.07 * side, 0.0, -0.06 + 0.03 * bob)),
        "chest": ((13.0 * bob, -18.0 * side, -9.0 * side), (0.0, 0.0, 0.0)),
        "neck": ((4.0 * stage.swing(time, 1.6, 1.0, 0.35), 0.0, 6.0 * side), (0.0, 0.0, 0.0)),
    }


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Dancer", dance, SECONDS * stage.FPS)
    target = stage.ball(scene, BALL)
    stage.light(scene)
    load("assets.demo.human").add_camera(scene, (0.9, -3.6, 1.55), (-0.12, 0.0, 1.42), 68.0)
    stage.select(rig)
    for label, times, places, turns in stage.looks(scene, rig, target):
        error = stage.aim_error(places, [turns], BALL)
        curves = {
            "face off the ball [°]": (times, error),
            "pitch of the head in the world [°]": (times, stage.pitch(turns)),
        }
        yield Take(label, scene, curves)
