"""The torso leans for what the arm cannot reach."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

errors = load("lookat_pd.errors")
reaching, reach_request = load("rig.dynamics.reaching"), load("rig.dynamics.reach_request")
targets = load("rig.sampling.targets")

ROWS = (
    ("hips", None, (0.0, 0.0, 0.95), (0.0, 0.0, 1.05)),
    ("spine", "hips", (0.0, 0.0, 1.05), (0.0, 0.0, 1.2)),
    ("chest", "spine", (0.0, 0.0, 1.2), (0.0, 0.0, 1.45)),
    ("neck", "chest", (0.0, 0.0, 1.45), (0.0, 0.0, 1.55)),
    ("head", "neck", (0.0, 0.0, 1.55), (0.0, 0.0, 1.75)),
    *(
        row
        for side, x in (("L", 1.0), ("R", -1.0))
        for row in (
            (f"upper_arm.{side}", "chest", (0.18 * x, 0.0, 1.42), (0.22 * x, 0.02, 1.13)),
            (f"forearm.{side}", f"upper_arm.{side}", (0.22 * x, 0.02, 1.13), (0.24 * x, -0.03, 0.87)),
            (f"hand.{side}", f"forearm.{side}", (0.24 * x, -0.03, 0.87), (0.24 * x, -0.05, 0.77)),
            (f"thigh.{side}", "hips", (0.1 * x, 0.0, 0.92), (0.1 * x, -0.02, 0.5)),
            (f"shin.{side}", f"thigh.{side}", (0.1 * x, -0.02, 0.5), (0.1 * x, 0.0, 0.09)),
            (f"foot.{side}", f"shin.{side}", (0.1 * x, 0.0, 0.09), (0.1 * x, -0.15, 0.02)),
        )
    ),
)
ARM = "upper_arm.L", "forearm.L"
NEAR, FAR, BEYOND = (0.2, -0.35, 1.3), (0.2, -0.75, 1.1), (0.2, -3.0, 1.1)


def figure() -> bpy.types.Object:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, frames=(1, 60), bones=("hips",), size=0.0)
    return armature


def reach(armature: bpy.types.Object, goal: Sequence[float], **changes: Any) -> Any:
    given = {"first": 1, "duration": 1.0, "length": 2, **changes}
    request = reach_request.ReachRequest("hand.L", targets.Target(point=tuple(goal)), **given)
    return scenes.finish(reaching.start(bpy.context.scene, armature, request))


def place(armature: bpy.types.Object, frame: float) -> np.ndarray:
    bpy.context.scene.frame_set(int(frame))
    return np.array(armature.matrix_world @ armature.pose.bones["hand.L"].head)


def test_an_arm_that_reaches_alone_leaves_the_torso_alone() -> None:
    armature = figure()
    assert set(reach(armature, NEAR).tree.bones) == {"upper_arm.L", "forearm.L"}


@pytest.mark.every_blender
def test_the_torso_leans_for_what_the_arm_cannot_reach() -> None:
    armature = figure()
    result = reach(armature, FAR, after="HOLD")
    assert set(result.tree.bones) == {"spine", "chest", "upper_arm.L", "forearm.L"}
    assert np.linalg.norm(place(armature, result.frames[-1]) - FAR) < 1e-3
    bpy.context.scene.frame_set(int(result.frames[-1]))
    top = armature.pose.bones["neck"].head
    assert top.y < -0.05


def test_it_need_not_lean() -> None:
    with pytest.raises(errors.LookAtError, match="out of reach"):
        reach(figure(), FAR, lean=False)


def test_what_nobody_can_reach_is_refused_and_nothing_changes() -> None:
    armature = figure()
    before = armature.animation_data.action
    with pytest.raises(errors.LookAtError, match="out of reach"):
        reach(armature, BEYOND)
    assert armature.animation_data.action == before


def bends(armature: bpy.types.Object, frames: Any) -> np.ndarray:
    """How far [degrees] the elbow bends about its axis, negative beyond straight."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        upper, fore = (np.array(seen.pose.bones[f"{name}.L"].matrix)[:3, 1] for name in ("upper_arm", "forearm"))
        side = np.array(seen.pose.bones["forearm.L"].matrix)[:3, 0]
        found.append(np.degrees(np.arctan2(np.cross(upper, fore) @ side, upper @ fore)))
    return np.array(found)


@pytest.mark.every_blender
@pytest.mark.parametrize("part", [0.98, 0.998])
def test_an_arm_does_not_become_straight_at_the_end_of_its_reach(part: float) -> None:
    """With a torso this leans; without one the hand stays before its goal, which is said; with no Soft Reach the arm
    becomes as straight as it must."""
    shoulder, away = np.array((0.18, 0.0, 1.42)), np.array((0.1, -1.0, -0.2))
    arm = sum(np.linalg.norm(np.subtract(tail, head)) for name, _, head, tail in ROWS if name in ARM)
    goal = shoulder + part * arm * away / np.linalg.norm(away)
    leaning, alone, straight = ({}, {"lean": False}, {"soft_reach": 0.0})
    armature = figure()
    result = reach(armature, goal, after="HOLD", **leaning)
    assert "chest" in result.tree.bones and not result.warnings
    assert np.linalg.norm(place(armature, result.frames[-1]) - goal) < 1e-3
    # Less than the bend that it has at the start it never has, nor one backwards.
    found = bends(armature, result.frames)
    assert np.all(np.sign(found[0]) * found > abs(found[0]) - 0.1)
    armature = figure()
    result = reach(armature, goal, after="HOLD", **alone)
    assert result.softened == pytest.approx(result.missed, abs=1e-4) and 5e-4 < result.missed < 0.012 * arm
    assert any("does not become straight" in str(text) for text in result.warnings) == (result.missed > 1e-3)
    armature = figure()
    assert reach(armature, goal, after="HOLD", **straight).missed < 1e-4


def test_what_is_near_the_end_of_the_reach_is_missed_by_ever_more() -> None:
    """The distance that is left is continuous in the place of the goal, and nothing before the soft part."""
    shoulder, away = np.array((0.18, 0.0, 1.42)), np.array((0.0, -1.0, 0.0))
    arm = sum(np.linalg.norm(np.subtract(tail, head)) for name, _, head, tail in ROWS if name in ARM)
    left = [reach(figure(), shoulder + part * arm * away, lean=False).softened for part in (0.96, 0.971, 0.98, 0.99)]
    assert left[0] == 0.0 < left[1] < 1e-4 < left[2] < left[3] < 0.03 / np.e * arm
