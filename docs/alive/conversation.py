"""Two people who talk: a look away leaves the face, and who speaks moves the head."""

from collections.abc import Iterator
from math import radians
from typing import Any

import bpy
import numpy as np

from lookat_pd import rotation
from lookat_pd.conversation import Manner
from standalone import load

from . import stage
from .sheets import Take

TITLE = "A conversation; Anna, on the left, speaks from 0.4 s, Bo from 3.3 s"
SECONDS = 7
PLACES = {"Anna": (-0.4, 55.0), "Bo": (0.4, -55.0)}
SPOKEN = ((10, "Anna"), (80, "Bo"))
SEED = 3
BEFORE: dict[str, Any] = {"nearest": 0.0, "scanning": 0.0, "gestures": 0.0, "shifts": 0.0}


def stands(time: float) -> dict:
    sway = stage.swing(time, 0.23, 1.0)
    pose = {
        "torso": ((0.0, 0.0, 0.0), (0.012 * sway, 0.0, -0.012)),
        "chest": ((0.6 * stage.swing(time, 0.27, 1.0), 1.5 * sway, 0.0), (0.0, 0.0, 0.0)),
    }
    return pose | {
        f"upper_arm_fk.{side}": ((0.0, 0.0, 45.0 * sign), (0.0, 0.0, 0.0)) for side, sign in (("L", 1), ("R", -1))
    }


def takes() -> Iterator[Take]:
    scene = bpy.context.scene
    people = []
    for name, (aside, turn) in PLACES.items():
        rig = stage.character(scene, name, stands, SECONDS * stage.FPS)
        rig.location.x, rig.rotation_euler.z = aside, radians(turn)
        people.append(rig)
    stage.light(scene)
    load("assets.demo.human").add_camera(scene, (0.0, -3.6, 1.65), (0.0, 0.0, 1.5), 52.0)
    talk, find_head = load("rig.look_at.directing.conversation"), load("rig.look_at.resolve").find_head
    turns = [(frame, bpy.data.objects[name]) for frame, name in SPOKEN]
    for label, manner in (("before", Manner(seed=SEED, **BEFORE)), ("after", Manner(seed=SEED))):
        talk.converse(scene, turns, people, talk.Options(manner, end=scene.frame_end, eyes=True, body=True))
        for rig in people:
            load("assets.demo.human").shut_wholly(rig.pose.bones[find_head(rig)].lookat_pd)
            if label == "before":
                # An eye was looked at, not the middle between both.
                stage.settle(rig, stage.EARLIER | {"subtarget": stage.EYES[0]})
        load("rig.layers.live").finish(scene)
        times, _, heads = stage.heads(scene, people[0])
        seen = [stage.heads(scene, people[0], f"ORG-eye.{side}") for side in "LR"]
        _, faces, _ = stage.heads(scene, people[1])
        speed = np.degrees(rotation.distance(heads[1:], heads[:-1])) * stage.FPS
        curves = {
            "Anna's gaze, off Bo [°]": (
                times,
                stage.aim_error(seen[0][1], [turns for _, _, turns in seen], faces),
            ),
            "speed of her head [°/s]": (times[1:], speed),
        }
        yield Take(label, scene, curves)
        for rig in people:
            stage.select(rig)
            bpy.ops.lookat_pd.remove(bone=find_head(rig))
