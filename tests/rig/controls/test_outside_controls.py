"""Switching limbs whose inverse kinematics reaches for an object or a bone of another armature."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes
from ..outside_targets import SETUPS, fail_at_the_end, reaching

errors = load("lookat_pd.errors")
limb_switch = load("rig.controls.limb_switch")
limb_controls = load("rig.detection.limb_controls")
bake_options = load("rig.animation.bake_options")

FIRST, LAST = 3, 20
FRAMES = range(FIRST, LAST + 1)
BONES = ("UpperArm.L", "LowerArm.L", "Hand.L")


@pytest.fixture
def human() -> bpy.types.Object:
    kept.scene(control_rigs.posed_scene)
    return bpy.data.objects["Made"]


def run(armature: bpy.types.Object, state: str, into: str = "NEW") -> Any:
    options = bake_options.BakeOptions(FIRST, LAST, into)
    return scenes.finish(limb_switch.switch(bpy.context.scene, armature, ["Hand.L"], state, options))


def shown(armature: bpy.types.Object) -> np.ndarray:
    return scenes.poses(armature, FRAMES, BONES)


def displaced(armature: bpy.types.Object) -> None:
    """Turn the arm in FK, so that it is elsewhere than its target."""
    for curve in armature.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        if "UpperArm.L" in curve.data_path and curve.data_path.endswith("rotation_euler"):
            for key in curve.keyframe_points:
                key.co.y += 0.25
            curve.update()


@pytest.mark.slow
@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_fk_and_back_keep_the_pose(human, kind, setup, pole) -> None:
    """To FK the bones are keyed; back, after another pose in FK, what they reach for and bend to."""
    item = reaching(human, kind, setup, pole=pole)
    before, still = shown(human), item.animation_data is None
    found = run(human, "FK")
    assert found.errors.max() < 1e-5 and not found.others
    assert np.abs(shown(human) - before).max() < 1e-4
    displaced(human)
    posed = shown(human)
    assert np.abs(posed - before).max() > 0.02
    found = run(human, "IK", "CURRENT")
    assert np.abs(shown(human) - posed)[..., :3, 3].max() < 1e-3 and np.degrees(found.turned.max()) < 0.5
    moved = {item, bpy.data.objects["Elbow"]} if pole else {item}
    assert {other.armature for other in found.others} == moved
    assert still or item.animation_data.action is not None


def test_a_failure_leaves_all_actions_as_they_were(human, monkeypatch) -> None:
    reaching(human, "object", "animated", pole=True)
    run(human, "FK")
    displaced(human)
    before = scenes.snapshot()
    fail_at_the_end(human, monkeypatch)
    with pytest.raises(RuntimeError):
        run(human, "IK", "CURRENT")
    assert not scenes.differences(before, scenes.snapshot())


def test_a_target_that_cannot_be_moved_is_no_hindrance_on_the_way_to_fk(human) -> None:
    item = reaching(human, "object", "plain")
    item.lock_location = (True, True, True)
    run(human, "FK")
    with pytest.raises(errors.RigError, match="Object 'Props' has a locked location; unlock it"):
        run(human, "IK")


def test_another_target_of_the_same_name_is_read_anew(human) -> None:
    """What is kept of a rig's controls holds no data of the file."""
    reaching(human, "object", "plain")
    (limb,) = [limb for limb in limb_controls.find(human) if limb.shown[-1] == "Hand.L"]
    other = scenes.ball((0.4, -0.3, 1.3), "Other")
    human.pose.bones["LowerArm.L"].constraints["IK"].target = other
    human.pose.bones["Hand.L"].constraints["Turn"].target = other
    bpy.data.objects.remove(bpy.data.objects["Props"])
    other.name = "Props"
    assert limb in limb_controls.find(human)
    assert limb_controls.outside_of(human, limb)["Props"].object == other
