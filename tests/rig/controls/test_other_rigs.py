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
limb_switch = load("rig.controls.limb_switch")
actions = load("rig.animation.actions")
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


@pytest.mark.every_blender
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


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["property", "bone", "location", "slider", "bone slider"])
@pytest.mark.parametrize("into", ["NEW", "CURRENT"])
def test_a_switch_may_be_held_by_another_object_or_be_a_slider(human, kind, into) -> None:
    """A custom property of an object or of a bone of it, or the location of either; it is keyed in the action of that
    object."""
    ball = scenes.figure("Other") if kind.startswith("bone") else scenes.ball((0.0, 0.0, 0.0))
    holder = ball.pose.bones["head"] if kind.startswith("bone") else ball
    if kind in ("property", "bone"):
        holder["arm"] = 1.0
        held_by(human, ball, 'pose.bones["head"]["arm"]' if kind == "bone" else '["arm"]')
    else:
        holder.location = (0.3, 0.2, 0.1)
        held_by(human, ball, "location.z")
        for variable in arm_variables(human):
            if kind != "location":
                variable.type = "TRANSFORMS"
                target = variable.targets[0]
                target.id, target.bone_target = ball, "head" if kind == "bone slider" else ""
                target.transform_type, target.transform_space = "LOC_Z", "LOCAL_SPACE"
        for curve in human.animation_data.drivers:
            if curve.driver.variables[0] in arm_variables(human):
                curve.driver.type, curve.driver.expression = "SCRIPTED", "value * 10"
    if into == "CURRENT":
        ball.animation_data_create()
        ball.animation_data.action, ball.animation_data.action_slot = actions.new_action("Own", ball)
    for _ in range(2):
        # Blender evaluates a new driver before what it reads.
        ball.update_tag()
        human.update_tag()
        bpy.context.view_layer.update()
    before, around = seen(human, "hand"), (FIRST - 1, FIRST, LAST, LAST + 1)
    found = run(human, ["CTL_Hand_IK.L"], "FK", into)
    assert [limb.goal for limb in found.limbs] == ["CTL_Hand_IK.L"]
    assert found.errors.max() < 5e-5 and np.abs(seen(human, "hand") - before)[..., :3, 3].max() < 5e-5
    influence = [influence_of_arm(human, frame) for frame in around]
    assert influence == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-6)
    assert (ball.animation_data.action.name == "Own") == (into == "CURRENT")
    if kind not in ("property", "bone"):
        scenes.goto(FIRST)
        assert list(holder.location) == pytest.approx([0.3, 0.2, 0.0], abs=1e-6)


def arm_variables(armature: bpy.types.Object) -> list[bpy.types.DriverVariable]:
    """Of the drivers that choose between IK and FK for the left arm."""
    arm = tuple(f'pose.bones["{part}.L"]' for part in control_rigs.ARM)
    drivers = (curve for curve in armature.animation_data.drivers if curve.data_path.startswith(arm))
    return [curve.driver.variables[0] for curve in drivers]


def influence_of_arm(armature: bpy.types.Object, frame: int) -> float:
    limb = next(limb for limb in limb_controls.find(armature) if limb.goal == "CTL_Hand_IK.L")
    return limb.influence(armature.evaluated_get(scenes.goto(frame)))


@pytest.mark.parametrize("kind", ["world", "scene", "two"])
def test_a_switch_that_cannot_be_keyed_is_refused_with_the_remedy(human, kind) -> None:
    ball = scenes.ball((0.0, 0.0, 1.0))
    for variable in arm_variables(human):
        if kind == "world":
            variable.type = "TRANSFORMS"
            variable.targets[0].id = ball
            variable.targets[0].transform_type, variable.targets[0].transform_space = "LOC_Z", "WORLD_SPACE"
        elif kind == "scene":
            variable.targets[0].id_type = "SCENE"
            variable.targets[0].id, variable.targets[0].data_path = bpy.context.scene, '["arm"]'
    if kind == "scene":
        bpy.context.scene["arm"] = 1.0
    if kind == "two":
        for curve in human.animation_data.drivers:
            curve.driver.variables.new()
    count = len(bpy.data.actions)
    with pytest.raises(errors.RigError, match="drive it in proportion by one custom property"):
        run(human, ["CTL_Hand_IK.L"], "FK")
    assert len(bpy.data.actions) == count


def test_limbs_with_one_switch_are_switched_together(human) -> None:
    """Otherwise the other arm would leave its pose."""
    for curve in human.animation_data.drivers:
        target = curve.driver.variables[0].targets[0]
        target.data_path = target.data_path.replace('arm_ik.R"]', 'arm_ik.L"]')
    human.update_tag()
    names = [f"{part}.{side}" for side in "LR" for part in control_rigs.ARM]
    before = scenes.poses(human, FRAMES, names)
    found = run(human, ["CTL_Hand_IK.L"], "FK")
    assert {limb.goal for limb in found.limbs} == {"CTL_Hand_IK.L", "CTL_Hand_IK.R"}
    assert np.abs(scenes.poses(human, FRAMES, names) - before)[..., :3, 3].max() < 5e-5


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
