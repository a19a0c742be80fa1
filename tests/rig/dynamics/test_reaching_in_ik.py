"""Reaches of limbs that only inverse kinematics poses: their targets and poles are keyed."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load
from grids import diagonal

from .. import scenes
from . import ik_figure

reaching = load("rig.dynamics.reaching")
engine = load("lookat_pd.dynamics.engine")
errors = load("lookat_pd.errors")
targets = load("rig.sampling.targets")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

ARM = ("upper_arm.L", "forearm.L", "hand.L")
PLACE, OTHER = (0.4, -0.35, 1.45), (-0.35, -0.3, 1.35)
FIRST, LAST = 5, 60


def begin(armature: bpy.types.Object, into: str = "NEW", **changes: Any) -> Any:
    given = {"effector": "hand.L", "goal": targets.Target(point=PLACE), "first": FIRST, "duration": 1.0, **changes}
    return reaching.start(bpy.context.scene, armature, reaching.ReachRequest(**given), into)


def run(armature: bpy.types.Object, into: str = "NEW", **changes: Any) -> Any:
    return scenes.finish(begin(armature, into, **changes))


def poses(armature: bpy.types.Object, frames: Any, bones: Any = ARM) -> np.ndarray:
    """Matrices (F, b, 4, 4) of the evaluated bones."""
    found = []
    for frame in frames:
        seen = armature.evaluated_get(scenes.goto(float(frame))).pose.bones
        found.append([np.array(seen[name].matrix) for name in bones])
    return np.array(found)


def in_fk(armature: bpy.types.Object) -> None:
    """Let the arm have the pose at the first frame by keys of its own, without inverse kinematics."""
    for name, matrix in zip(ARM, poses(armature, [FIRST])[0], strict=True):
        bone = armature.pose.bones[name]
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        bpy.context.view_layer.update()
        bone.matrix = matrix.T.tolist()
        bone.keyframe_insert("rotation_quaternion", frame=FIRST)
        bpy.context.view_layer.update()


def reach_far(armature: bpy.types.Object) -> None:
    """Let the target be where the arm cannot reach."""
    bone = armature.pose.bones["hand_ik.L"]
    for frame in (1, LAST):
        bone.location = (0.3, 0.1, -0.3)
        bone.keyframe_insert("location", frame=frame)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pole", "turned", "length", "far"),
    [(True, True, 2, False), (False, False, 2, False), (True, False, 3, False), (False, True, 3, True)],
)
def test_the_arm_moves_as_it_does_in_fk(pole: bool, turned: bool, length: int, far: bool) -> None:
    """With or without pole, a hand that has the rotation of the target, and a trunk that leans; also from where the
    target is out of reach."""
    found = []
    for change in (None, in_fk):
        bpy.ops.wm.read_homefile(use_empty=True)
        armature = ik_figure.figure(pole=pole, turned=turned)
        if far:
            reach_far(armature)
        if change is not None:
            change(armature)
        result = run(armature, length=length, keep_velocity=False)
        found.append(poses(armature, result.frames, ("chest", *ARM)))
    made, expected = found
    assert np.abs(made[-1, 3, :3, 3] - PLACE).max() < 1e-4
    assert np.abs(made - expected)[..., 3].max() < 1e-3
    assert np.abs(made - expected)[:, : 3 if turned else 4].max() < 1e-3


@pytest.mark.thorough
@diagonal(into=["NEW", "CURRENT", "LAYER"], after=["ANIMATION", "RETURN", "HOLD"])
def test_the_hand_arrives_and_goes_on(after: str, into: str) -> None:
    armature = ik_figure.figure()
    frames = np.arange(1, LAST + 30)
    before = poses(armature, frames)
    result = run(armature, into, after=after, hold=0.2, duration=0.6, blend=0.6)
    made = poses(armature, frames)
    hand, arrival = made[:, 2, :3, 3], int(result.frames[-1])
    held = frames >= arrival
    held &= frames <= (LAST if after == "HOLD" else arrival + 4)
    assert np.linalg.norm(hand[held] - PLACE, axis=-1).max() < 1e-3
    rest = (frames <= FIRST) | (frames >= result.keyed[-1]) if after != "HOLD" else frames <= FIRST
    assert np.abs(made - before)[rest].max() < (1e-3 if into == "LAYER" else 1e-4)
    steps = np.linalg.norm(np.diff(hand, axis=0), axis=-1)
    reached = (frames[:-1] >= FIRST) & (frames[:-1] < arrival)
    assert steps[~reached].max() <= steps[reached].max()
    assert result.missed < 1e-4


def turn_by_target(armature: bpy.types.Object) -> None:
    """Let the constraint turn the forearm as the target is turned."""
    armature.pose.bones["forearm.L"].constraints["IK"].use_rotation = True


@pytest.mark.thorough
@pytest.mark.parametrize("pole", [True, False])
def test_an_arm_of_which_the_target_turns_the_forearm_moves_as_it_does_in_fk(pole: bool) -> None:
    found = []
    for change in (None, in_fk):
        bpy.ops.wm.read_homefile(use_empty=True)
        armature = ik_figure.figure(pole=pole, turned=False)
        turn_by_target(armature)
        if change is not None:
            change(armature)
        result = run(armature, keep_velocity=False)
        found.append(poses(armature, result.frames))
    made, expected = found
    assert np.abs(made[-1, 2, :3, 3] - PLACE).max() < 1e-3
    assert np.abs(made - expected).max() < 2e-3


def test_a_target_that_turns_forearm_and_hand_is_refused() -> None:
    armature = ik_figure.figure()
    turn_by_target(armature)
    with pytest.raises(errors.RigError, match="turn Rotation off"):
        begin(armature)


def test_the_target_of_an_arm_without_a_hand_stands_for_its_end() -> None:
    armature = ik_figure.figure(turned=False)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.remove(armature.data.edit_bones["hand.L"])
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.data.bones["upper_arm.L"].use_deform = armature.data.bones["forearm.L"].use_deform = True
    result = run(armature, effector="hand_ik.L")
    seen = armature.evaluated_get(scenes.goto(result.frames[-1])).pose.bones["forearm.L"]
    assert np.linalg.norm(np.array(seen.tail) - PLACE) < 1e-3


@pytest.mark.thorough
@pytest.mark.parametrize("turned", [True, False])
def test_the_target_of_an_arm_stands_for_its_hand_and_both_reach_at_once(turned: bool) -> None:
    armature = ik_figure.figure(sides="LR", turned=turned)
    result = run(armature, effector="hand_ik.L", others=(("hand_ik.R", targets.Target(point=OTHER)),))
    hands = poses(armature, result.frames[-1:], ("hand.L", "hand.R"))[0, :, :3, 3]
    assert np.linalg.norm(hands - (PLACE, OTHER), axis=-1).max() < 1e-3


def test_the_hand_takes_the_orientation_of_its_goal_by_the_target() -> None:
    armature, item = ik_figure.figure(), scenes.ball(PLACE)
    item.rotation_euler = (0.4, -0.3, -1.2)
    bpy.context.view_layer.update()
    result = run(armature, goal=targets.Target(item), match_orientation=True)
    made = poses(armature, result.frames[-1:], ("hand.L",))[0, 0]
    assert np.abs(made[:3, :3] - np.array(item.matrix_world)[:3, :3]).max() < 1e-3
    assert np.abs(made[:3, 3] - PLACE).max() < 1e-3


@pytest.mark.thorough
def test_a_target_that_is_held_back_is_named() -> None:
    armature = ik_figure.figure()
    limited = armature.pose.bones["hand_ik.L"].constraints.new("LIMIT_LOCATION")
    limited.use_min_y, limited.min_y = True, PLACE[1] + 0.05
    [warning] = run(armature).warnings
    assert "50.0 mm" in str(warning)
    assert not run(ik_figure.figure()).warnings


def _below(armature: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["hand_ik.L"].parent = armature.data.edit_bones["chest"]
    bpy.ops.object.mode_set(mode="OBJECT")


def _pole_elsewhere(armature: bpy.types.Object) -> None:
    bent = armature.pose.bones["forearm.L"].constraints["IK"]
    bent.pole_target = scenes.ball((0.5, 1.0, 1.4), "Elsewhere")


def _goal_elsewhere(armature: bpy.types.Object) -> None:
    bent = armature.pose.bones["forearm.L"].constraints["IK"]
    bent.subtarget, bent.target = "", scenes.ball((0.5, -0.2, 1.4), "Cup")


@pytest.mark.parametrize(
    ("change", "match", "changes"),
    [
        (_below, "'hand_ik.L'.* moves with the chain .* another parent", {"length": 3}),
        (_pole_elsewhere, "pole of the constraint 'IK' .* no bone of 'Hero'", {}),
        (_goal_elsewhere, "target 'Cup' is no bone of 'Hero'", {}),
        (lambda armature: None, "also poses bone 'upper_arm.L'.*increase Chain Length", {"at_tip": True}),
    ],
)
def test_what_cannot_follow_is_refused(change: Any, match: str, changes: dict[str, Any]) -> None:
    armature = ik_figure.figure(turned=False)
    change(armature)
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=match):
        begin(armature, **changes)
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.parametrize("steps", [10, 40])
def test_a_stopped_reach_leaves_nothing(steps: int) -> None:
    """While it is sampled, and while it is solved."""
    armature = ik_figure.figure()
    assert bpy.context.scene.lookat_pd_dynamics  # Blender 4.5 stores the settings when they are first read.
    before = scenes.snapshot()
    work = begin(armature)
    for _ in range(steps):
        next(work)
    work.close()
    assert not scenes.differences(before, scenes.snapshot())
