"""What of a hand comes to the goal of a reach, also if it is animated: the palm, the fingertips or the wrist."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .test_leaning import ROWS as BODY

reaching, reach_request = load("rig.dynamics.reaching"), load("rig.dynamics.reach_request")
palms, targets = load("rig.detection.palms"), load("rig.sampling.targets")

FINGERS = tuple(
    row
    for side, x in (("L", 1.0), ("R", -1.0))
    for row in (
        (f"thumb.{side}", f"hand.{side}", (0.24 * x, -0.08, 0.85), (0.24 * x, -0.1, 0.82)),
        (f"index.01.{side}", f"hand.{side}", (0.24 * x, -0.07, 0.77), (0.24 * x, -0.075, 0.73)),
        (f"index.02.{side}", f"index.01.{side}", (0.24 * x, -0.075, 0.73), (0.24 * x, -0.08, 0.70)),
        (f"middle.01.{side}", f"hand.{side}", (0.24 * x, -0.05, 0.77), (0.24 * x, -0.055, 0.72)),
        (f"middle.02.{side}", f"middle.01.{side}", (0.24 * x, -0.055, 0.72), (0.24 * x, -0.06, 0.68)),
    )
)
GOAL = (0.2, -0.35, 1.3)
ARRIVAL = 25


def hand_that_turns() -> bpy.types.Object:
    """A figure whose hand and fingers bend all the time, with hips that stand."""
    armature = scenes.figure(rows=(*BODY, *FINGERS))
    scenes.animate(armature, frames=(1, 60), bones=("hips",), size=0.0)
    for name, turn in (("hand.L", 0.6), ("middle.01.L", 0.9), ("middle.02.L", 0.9)):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, part in ((1, 0.0), (60, 1.0)):
            bone.rotation_euler = (turn * part, 0.3 * turn * part, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def reach(armature: bpy.types.Object, bone: str = "hand.L", **changes: Any) -> Any:
    given = {"first": 1, "duration": 1.0, **changes}
    request = reach_request.ReachRequest(bone, targets.Target(point=GOAL), **given)
    return scenes.finish(reaching.start(bpy.context.scene, armature, request))


def off(armature: bpy.types.Object, bone: str, point: Any, frame: int) -> float:
    """How far a point of a bone, in its frame, is from the goal."""
    bpy.context.scene.frame_set(frame)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(seen.matrix_world @ seen.pose.bones[bone].matrix)
    return float(np.linalg.norm(matrix[:3, :3] @ point + matrix[:3, 3] - GOAL))


@pytest.mark.every_blender
@pytest.mark.parametrize("hold", [0.0, 0.5])
def test_the_palm_comes_to_the_goal_and_stays_on_it(hold: float) -> None:
    armature = hand_that_turns()
    palm = palms.find(armature, "hand.L", "hand.R")
    result = reach(armature, point="HAND", hold=hold)
    assert np.linalg.norm(palm.middle) == pytest.approx(0.05, abs=0.01)
    for frame in range(ARRIVAL, ARRIVAL + round(hold * 24) + 1):
        assert off(armature, "hand.L", palm.middle, frame) < 1e-4
    # The animation of the hand itself is as it was.
    assert "hand.L" not in result.tree.bones and result.missed < 1e-4


def test_the_tip_of_the_longest_finger_comes_to_the_goal_as_it_is_bent_then() -> None:
    armature = hand_that_turns()
    reach(armature, point="FINGERTIPS")
    length = armature.data.bones["middle.02.L"].length
    assert off(armature, "middle.02.L", np.array((0.0, length, 0.0)), ARRIVAL) < 1e-4


def test_the_wrist_comes_to_the_goal_if_asked_for() -> None:
    armature = hand_that_turns()
    reach(armature, point="HEAD")
    assert off(armature, "hand.L", np.zeros(3), ARRIVAL) < 1e-4


def test_a_foot_has_no_palm() -> None:
    armature = hand_that_turns()
    scenes.animate(armature, frames=(1, 60), bones=("hips",), size=0.0)
    request = reach_request.ReachRequest(
        "foot.L", targets.Target(point=(0.15, -0.3, 0.3)), 1, duration=1.0, point="HAND"
    )
    result = scenes.finish(reaching.start(bpy.context.scene, armature, request))
    bpy.context.scene.frame_set(ARRIVAL)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert np.linalg.norm(np.array(seen.pose.bones["foot.L"].head) - (0.15, -0.3, 0.3)) < 1e-4 > result.missed


def test_the_palm_is_turned_as_its_goal_where_that_is_asked_for() -> None:
    armature = hand_that_turns()
    goal = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location, goal.rotation_euler = GOAL, (-1.2, 0.2, 0.1)
    request = reach_request.ReachRequest("hand.L", targets.Target(goal), 1, point="HAND", match_orientation=True)
    scenes.finish(reaching.start(bpy.context.scene, armature, request))
    assert off(armature, "hand.L", palms.find(armature, "hand.L", "hand.R").middle, ARRIVAL) < 1e-4
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    turned = seen.pose.bones["hand.L"].matrix.to_quaternion().rotation_difference(goal.matrix_world.to_quaternion())
    assert min(turned.angle, 2.0 * np.pi - turned.angle) < 1e-3
