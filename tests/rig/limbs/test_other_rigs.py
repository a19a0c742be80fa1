"""Switching limbs between IK and FK on a rig that Rigify did not make."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes

errors = load("lookat_pd.errors")
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
    assert found.turned.max() < np.radians(3.0), np.degrees(found.turned.max())
    away = np.linalg.norm((seen(human, end) - before)[..., :3, 3], axis=-1)
    assert away.max() < (5e-5 if state == "FK" else 2e-3), away.max(axis=0)
    around = states(human, end)
    assert around[0] == before_value and abs(around[1] - value) < 1e-6 and abs(around[2] - value) < 1e-6


def test_there_and_back_is_as_before(human) -> None:
    before = seen(human, "hand")
    run(human, ["CTL_Hand_IK.L"], "FK")
    run(human, ["CTL_Hand_IK.L"], "IK", "CURRENT")
    assert np.linalg.norm((seen(human, "hand") - before)[..., :3, 3], axis=-1).max() < 1e-4


def test_a_switch_that_no_bone_holds_is_refused(human) -> None:
    human["arm"] = 1.0
    path = next(c for c in human.animation_data.drivers if c.data_path.startswith('pose.bones["Hand.L"]'))
    path.driver.variables[0].targets[0].data_path = '["arm"]'
    actions = len(bpy.data.actions)
    with pytest.raises(errors.RigError, match="not driven by one custom property of a bone"):
        run(human, ["CTL_Hand_IK.L"], "FK")
    assert len(bpy.data.actions) == actions


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
