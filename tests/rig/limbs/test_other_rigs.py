"""Switching limbs between IK and FK on a rig that Rigify did not make."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes

errors = load("lookat_pd.errors")
limb_controls = load("rig.detection.limb_controls")
limb_switch = load("rig.limbs.limb_switch")
options = load("rig.animation.bake_options")

FIRST, LAST = 8, 16
FRAMES = range(FIRST - 2, LAST + 3)
LIMBS = {
    "hand": (control_rigs.ARM, "CTL_Hand_IK.L", "FK_Hand.L"),
    "foot": (control_rigs.LEG, "CTL_Foot_IK.L", "FK_Foot.L"),
}
STARTS = {"hand": ("IK", 1.0, "FK", 0.0), "foot": ("FK", 1.0, "IK", 0.0)}


@pytest.fixture
def human() -> bpy.types.Object:
    kept.scene(control_rigs.animated_scene)
    return bpy.data.objects["Made"]


def run(armature: bpy.types.Object, bones: list[str], state: str, into: str = "NEW") -> Any:
    options_ = options.BakeOptions(FIRST, LAST, into)
    return scenes.finish(limb_switch.switch(bpy.context.scene, armature, bones, state, options_))


def seen(armature: bpy.types.Object, end: str) -> np.ndarray:
    return scenes.poses(armature, FRAMES, [f"{part}.L" for part in LIMBS[end][0]])


def states(armature: bpy.types.Object, end: str) -> list[float]:
    bone, name = (word.format("L") for word in control_rigs.SWITCHES[end])
    return [float(armature.evaluated_get(scenes.goto(f)).pose.bones[bone][name]) for f in (FIRST - 1, FIRST, LAST)]


@pytest.mark.parametrize("end", LIMBS)
@pytest.mark.parametrize("click", [0, 1, 2])
def test_the_switch_keeps_the_pose(human, end, click) -> None:
    """Whichever bone of the limb is selected: the deforming one, its IK or its FK control."""
    bones, goal, control = LIMBS[end]
    _, before_value, state, value = STARTS[end]
    before = seen(human, end)
    found = run(human, [(f"{bones[-1]}.L", goal, control)[click]], state)
    assert [limb.goal for limb in found.limbs] == [goal]
    assert found.turned.max() < np.radians(0.1), np.degrees(found.turned.max())
    away = np.linalg.norm((seen(human, end) - before)[..., :3, 3], axis=-1)
    assert away.max() < 5e-5, away.max(axis=0)
    around = states(human, end)
    assert around[0] == before_value and abs(around[1] - value) < 1e-6 and abs(around[2] - value) < 1e-6


def test_there_and_back_is_as_before(human) -> None:
    before = seen(human, "hand")
    run(human, ["CTL_Hand_IK.L"], "FK")
    run(human, ["CTL_Hand_IK.L"], "IK", "CURRENT")
    assert np.linalg.norm((seen(human, "hand") - before)[..., :3, 3], axis=-1).max() < 1e-4


def held_by(armature: bpy.types.Object, item: bpy.types.ID, path: str) -> None:
    """Let a property of the armature, its data or another object switch the left arm."""
    for curve in armature.animation_data.drivers:
        target = curve.driver.variables[0].targets[0]
        if target.data_path.endswith('["arm_ik.L"]'):
            if target.id != item:
                curve.driver.variables[0].targets[0].id_type = item.id_type
                target.id = item
            target.data_path = path
    armature.update_tag()


@pytest.mark.parametrize(
    ("on_data", "path"),
    [(False, '["arm ik"]'), (True, '["arm ik"]'), (False, 'data["arm ik"]'), (False, 'pose.bones["Head"]["arm ik"]')],
)
@pytest.mark.parametrize("into", ["NEW", "CURRENT"])
def test_a_switch_may_be_held_by_the_armature_its_data_or_any_bone(human, on_data, path, into) -> None:
    for owner in (human, human.data, human.pose.bones["Head"]):
        owner["arm ik"] = 1.0
    held_by(human, human.data if on_data else human, path)
    before = seen(human, "hand")
    found = run(human, ["Hand.L"], "FK", into)
    assert found.errors.max() < 5e-5 and np.abs(seen(human, "hand") - before)[..., :3, 3].max() < 5e-5
    holder = human.data if on_data else human
    values = [float(holder.path_resolve(path)) for frame in (FIRST - 1, FIRST, LAST, LAST + 1) if scenes.goto(frame)]
    assert values == [1.0, 0.0, 0.0, 1.0]


def test_a_switch_that_another_object_holds_is_refused(human) -> None:
    ball = scenes.ball((0.0, 0.0, 0.0))
    ball["arm"] = 1.0
    held_by(human, ball, '["arm"]')
    actions = len(bpy.data.actions)
    with pytest.raises(errors.RigError, match="not driven by one custom property of a bone or of the armature"):
        run(human, ["CTL_Hand_IK.L"], "FK")
    assert len(bpy.data.actions) == actions


@pytest.fixture
def posed() -> bpy.types.Object:
    kept.scene(control_rigs.posed_scene)
    return bpy.data.objects["Made"]


def bent_back(armature: bpy.types.Object) -> None:
    """Let elbows and knees bend the other way."""
    for curve in armature.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        if "Lower" in curve.data_path and curve.data_path.endswith("rotation_euler") and curve.array_index == 0:
            for key in curve.keyframe_points:
                key.co.y *= -1.0
            curve.update()


@pytest.mark.parametrize("end", LIMBS)
@pytest.mark.parametrize("back", [False, True])
def test_inverse_kinematics_that_poses_the_body_itself_is_switched_by_its_influence(posed, end, back) -> None:
    """Arms to FK, legs to IK; the rotation of hands, which their IK controls turn, is switched as well."""
    if back:
        bent_back(posed)
    before = seen(posed, end)
    found = run(posed, [f"{LIMBS[end][0][-1]}.L"], STARTS[end][2])
    assert [limb.goal for limb in found.limbs] == [LIMBS[end][1]]
    assert found.errors.max() < 1e-5 and np.degrees(found.turned.max()) < 0.1
    assert np.abs(seen(posed, end) - before).max() < 1e-4
    limb = next(limb for limb in limb_controls.find(posed) if limb.goal == LIMBS[end][1])
    states = [limb.influence(posed.evaluated_get(scenes.goto(f))) for f in (FIRST - 1, FIRST, LAST, LAST + 1)]
    assert states == ([1.0, 0.0, 0.0, 1.0] if end == "hand" else [0.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("end", LIMBS)
def test_a_bend_backwards_keeps_its_roll_in_ik(human, end) -> None:
    """The bones from which the rig's inverse kinematics starts are turned the same way."""
    bent_back(human)
    goal = LIMBS[end][1]
    if end == "hand":
        run(human, [goal], "FK")
        bent_back(human)
    before = seen(human, end)
    found = run(human, [goal], "IK", "CURRENT")
    assert np.degrees(found.turned.max()) < 0.1 and found.errors.max() < 3e-4
    assert np.abs(seen(human, end) - before).max() < 2e-3


@pytest.mark.parametrize("end", ["foot"])
def test_a_straight_limb_keeps_the_direction_of_its_pole(posed, end) -> None:
    for curve in posed.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        if "Leg" in curve.data_path and curve.data_path.endswith("rotation_euler"):
            for key in curve.keyframe_points:
                key.co.y = 0.0
            curve.update()
    before = side_of_pole(posed)
    run(posed, ["Foot.L"], "IK")
    assert np.sum(side_of_pole(posed) * before, axis=-1).min() > 0.9


def side_of_pole(armature: bpy.types.Object) -> np.ndarray:
    """(F, 3), the direction of the pole from the thigh, across the leg."""
    root, foot, pole = np.moveaxis(scenes.poses(armature, FRAMES, ["UpperLeg.L", "Foot.L", "CTL_Knee.L"]), 1, 0)[
        ..., :3, 3
    ]
    along = (foot - root) / np.linalg.norm(foot - root, axis=-1, keepdims=True)
    away = pole - root
    away -= along * np.sum(along * away, axis=-1, keepdims=True)
    return away / np.linalg.norm(away, axis=-1, keepdims=True)


def test_a_rig_without_a_switch_is_refused() -> None:
    armature = scenes.figure()
    scenes.animate(armature)
    with pytest.raises(errors.RigError, match="No arm or leg of 'Hero' switches"):
        run(armature, ["hand.L"], "FK")


@pytest.mark.parametrize("word", ['the "left" hand', "hand\\L"])
def test_names_with_quotes_and_backslashes_are_no_hindrance(human, word) -> None:
    """Of the bone that copies, of its constraint, and of the bone and property that hold the switch."""
    bones = human.pose.bones
    bones["Hand.L"].name = word
    bones["CTL_Props"].name = holder = f"props of {word}"
    bones[holder][word] = 1.0
    for curve in human.animation_data.drivers:
        target = curve.driver.variables[0].targets[0]
        if target.data_path.endswith('["arm_ik.L"]'):
            target.data_path = f'pose.bones["{bpy.utils.escape_identifier(holder)}"]'
            target.data_path += f'["{bpy.utils.escape_identifier(word)}"]'
    found = run(human, [word], "FK")
    assert [limb.goal for limb in found.limbs] == ["CTL_Hand_IK.L"] and found.errors.max() < 5e-5
    assert human.evaluated_get(scenes.goto(FIRST)).pose.bones[holder][word] == 0.0
