"""Switching limbs of a generated Rigify human between IK and FK, measured on the bones that bend its skin."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes

errors = load("lookat_pd.errors")
limb_switch = load("rig.controls.limb_switch")
options = load("rig.animation.bake_options")
sampler = load("rig.sampling.sampler")

FIRST, LAST = 20, 32
FRAMES = range(FIRST - 4, LAST + 5)
LIMBS = {
    "hand_ik.L": ("DEF-upper_arm.L", "DEF-forearm.L", "DEF-hand.L"),
    "hand_fk.R": ("DEF-upper_arm.R", "DEF-forearm.R", "DEF-hand.R"),
    "foot_ik.L": ("DEF-thigh.L", "DEF-shin.L", "DEF-foot.L"),
}
SETTINGS = {"hand_ik.L": "upper_arm_parent.L", "hand_fk.R": "upper_arm_parent.R", "foot_ik.L": "thigh_parent.L"}


@pytest.fixture
def human() -> bpy.types.Object:
    """The left arm and the legs are in IK, the right arm is in FK."""
    return kept.human()


def run(armature: bpy.types.Object, bones: list[str], state: str, into: str = "NEW") -> Any:
    options_ = options.BakeOptions(FIRST, LAST, into)
    return scenes.finish(limb_switch.switch(bpy.context.scene, armature, bones, state, options_))


def state(armature: bpy.types.Object, control: str, frame: int) -> float:
    """IK-FK at a frame."""
    return float(armature.evaluated_get(scenes.goto(frame)).pose.bones[SETTINGS[control]]["IK_FK"])


def distances(armature: bpy.types.Object, before: np.ndarray, bones: tuple[str, ...]) -> np.ndarray:
    """(F, b) of the heads [m]."""
    after = scenes.poses(armature, FRAMES, bones)
    return np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("control", ["hand_ik.L", "foot_ik.L"])
@pytest.mark.parametrize("into", ["NEW", "CURRENT"])
def test_a_limb_in_fk_has_the_pose_that_it_had_in_ik(human, control, into) -> None:
    """Stretched or not, at the frames of the range and at all others, which stay in IK."""
    before = scenes.poses(human, FRAMES, LIMBS[control])
    found = run(human, [control], "FK", into)
    assert found.errors.max() < 1e-5 and found.turned.max() < 1e-4
    assert distances(human, before, LIMBS[control]).max() < 1e-5
    assert [state(human, control, frame) for frame in (FIRST - 1, FIRST, LAST, LAST + 1)] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.every_blender
def test_a_hand_in_ik_is_where_it_was_in_fk(human) -> None:
    """A forearm that is twisted in FK is not in IK; the state is eased then, so nothing jumps."""
    bones = LIMBS["hand_fk.R"]
    before = scenes.poses(human, FRAMES, bones)
    found = run(human, ["hand_fk.R"], "IK")
    away = distances(human, before, bones)
    assert away.max() < 5e-4
    states = np.array([state(human, "hand_fk.R", frame) for frame in FRAMES])
    assert np.all(states[:4] == 1.0) and np.all(states[-4:] == 1.0) and states[len(states) // 2] == 0.0
    jumps = np.linalg.norm(
        np.diff(scenes.poses(human, FRAMES, bones)[..., :3, 3] - before[..., :3, 3], axis=0), axis=-1
    )
    assert jumps.max() < 0.35 * away.max() and found.errors.max() < 5e-4


def test_one_that_is_stopped_leaves_nothing_behind(human) -> None:
    """A window shows frames of an unfinished bake between its slices."""
    scenes.goto(FIRST)
    controls = human.pose.bones

    def standing() -> list:
        return [controls[SETTINGS["hand_ik.L"]]["IK_FK"], *(list(bone.matrix_basis) for bone in controls)]

    before, seen = standing(), []
    steps = limb_switch.switch(bpy.context.scene, human, ["hand_ik.L"], "FK", options.BakeOptions(FIRST, LAST, "NEW"))
    for fraction in steps:
        if fraction > 0.3:
            sampler.park_all()
            scenes.goto(FIRST + 2)
            seen.append(controls[SETTINGS["hand_ik.L"]]["IK_FK"])
            break
    steps.close()
    assert seen == [1.0], "its keys were not shown: this shows nothing"
    scenes.goto(FIRST)
    assert standing() == before


@pytest.mark.slow
def test_there_and_back_is_as_before(human) -> None:
    before = scenes.poses(human, FRAMES, LIMBS["hand_ik.L"])
    run(human, ["hand_ik.L"], "FK")
    run(human, ["hand_fk.L"], "IK", "CURRENT")
    assert distances(human, before, LIMBS["hand_ik.L"]).max() < 5e-4
    assert state(human, "hand_ik.L", FIRST) == 0.0


@pytest.mark.slow
def test_a_pole_in_use_is_placed(human) -> None:
    human.pose.bones["upper_arm_parent.R"]["pole_vector"] = True
    human.update_tag()
    before = scenes.poses(human, FRAMES, LIMBS["hand_fk.R"])
    assert run(human, ["hand_fk.R"], "IK").errors.max() < 5e-4
    assert distances(human, before, LIMBS["hand_fk.R"]).max() < 5e-4


@pytest.mark.slow
@pytest.mark.parametrize("bend", [0.6, -0.6])
@pytest.mark.parametrize("pole", [False, True])
def test_an_elbow_that_is_bent_forwards_or_backwards_keeps_its_roll_in_ik(human, bend, pole) -> None:
    """About the axis of the rig's own inverse kinematics, which by itself bends it one way only."""
    forearm = human.pose.bones["forearm_fk.R"]
    forearm.rotation_mode = "XYZ"
    forearm.rotation_euler = bend, 0.0, 0.0
    forearm.keyframe_insert("rotation_euler", frame=FIRST)
    human.pose.bones["upper_arm_parent.R"]["pole_vector"] = pole
    human.update_tag()
    before = scenes.poses(human, FRAMES, LIMBS["hand_fk.R"])
    found = run(human, ["hand_fk.R"], "IK")
    assert np.degrees(found.turned.max()) < 0.1 and found.errors.max() < 1e-5
    after = scenes.poses(human, FRAMES, LIMBS["hand_fk.R"])
    assert np.abs(after[4:-4] - before[4:-4]).max() < 1e-4


def test_several_limbs_at_once(human) -> None:
    found = run(human, ["foot_ik.L", "foot_ik.R", "thigh_fk.L"], "FK")
    assert [limb.goal for limb in found.limbs] == ["foot_ik.L", "foot_ik.R"] and found.errors.shape == (
        2,
        LAST - FIRST + 1,
    )


def test_what_has_no_switch_is_refused(human) -> None:
    action = human.animation_data.action
    with pytest.raises(errors.RigError, match="No arm or leg"):
        run(human, ["head"], "FK")
    with pytest.raises(errors.RigError, match=r"No arm or leg of .* switches"):
        run(scenes.figure("Plain"), ["hand.L"], "FK")
    assert human.animation_data.action == action


def test_a_limb_that_is_in_the_state_already_gets_no_keys(human) -> None:
    """Those that are not are switched beside it; if there is none, nothing is done."""
    found = run(human, ["hand_ik.L", "hand_fk.R"], "FK", "CURRENT")
    assert [limb.goal for limb in found.limbs] == ["hand_ik.L"]
    assert [limb.goal for limb in found.skipped] == ["hand_ik.R"]
    action = human.animation_data.action
    paths = {curve.data_path for curve in action.layers[0].strips[0].channelbags[0].fcurves}
    assert not any("upper_arm_parent.R" in path for path in paths) and any("upper_arm_parent.L" in p for p in paths)
    before = len(bpy.data.actions)
    with pytest.raises(errors.RigError, match=r"in FK already from frame 20 to 32: 'hand_ik.R'"):
        run(human, ["hand_fk.R"], "FK")
    assert len(bpy.data.actions) == before and human.animation_data.action == action


def test_a_limb_that_is_in_the_state_at_some_frames_is_switched_at_all(human) -> None:
    holder = human.pose.bones[SETTINGS["hand_fk.R"]]
    for frame, value in ((FIRST + 4, 1.0), (FIRST + 5, 0.0)):
        holder["IK_FK"] = value
        holder.keyframe_insert('["IK_FK"]', frame=frame)
    found = run(human, ["hand_fk.R"], "FK")
    assert not found.skipped and {state(human, "hand_fk.R", frame) for frame in range(FIRST, LAST + 1)} == {1.0}
