"""`ik` on a generated Rigify human: several effectors, and limbs that switch between IK and FK."""

from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
import pytest

import kept

from ..rig import scenes

FIRST, LAST = 20, 30
FRAMES = (FIRST - 1, *range(FIRST, LAST + 1, 2), LAST + 1)
ARM = ("DEF-upper_arm.L", "DEF-forearm.L", "DEF-hand.L")
ARM_IN_FK = ("DEF-upper_arm.R", "DEF-forearm.R", "DEF-hand.R")
LEG = ("DEF-thigh.L", "DEF-shin.L", "DEF-foot.L")
HANDS, FEET = ("DEF-hand.L", "DEF-hand.R"), ("DEF-foot.L", "DEF-foot.R")
RANGE = ("--range", FIRST, LAST, "--rig", "Human")


@pytest.fixture
def human(tools, tmp_path) -> Path:
    """The left arm and the legs are in IK, the right arm is in FK."""
    armature = kept.human()
    scenes.goto(FIRST)
    for side, away in (("L", (0.05, -0.15, 0.1)), ("R", (-0.05, -0.15, 0.1))):
        scenes.ball(armature.pose.bones[f"DEF-hand.{side}"].head + scenes.Vector(away), f"Goal.{side}")
    return tools.save(tmp_path / "human.blend")


def poses(path: Path, bones: Sequence[str]) -> np.ndarray:
    """Evaluated matrices (F, b, 4, 4) in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return scenes.poses(bpy.data.objects["Human"], FRAMES, bones)


def moved(before: np.ndarray, after: np.ndarray) -> float:
    """The largest distance between the heads of bones."""
    return float(np.linalg.norm((after - before)[..., :3, 3], axis=-1).max())


def state(control: str, frame: int) -> float:
    """IK-FK of a limb at a frame of the open file: 1 for FK."""
    return float(bpy.data.objects["Human"].evaluated_get(scenes.goto(frame)).pose.bones[control]["IK_FK"])


@pytest.mark.slow
def test_hands_reach_their_targets_and_the_feet_stay(human, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    hands = ("--effector", "hand_ik.L=Goal.L", "--effector", "hand_fk.R=Goal.R")
    outcome = call("ik", human, *hands, "--pin", "foot_ik.L", "--pin", "foot_ik.R", *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    feet = poses(human, FEET)[1:-1]
    assert outcome.row["largest_effector_error"] < 1e-3 and outcome.row["frames_in_reach"] == LAST - FIRST + 1
    assert moved(feet, poses(output, FEET)[1:-1]) < 2e-3
    places = scenes.poses(bpy.data.objects["Human"], FRAMES, HANDS)[1:-1, :, :3, 3]
    goals = np.array([bpy.data.objects[f"Goal.{side}"].location for side in "LR"])
    assert np.linalg.norm(places - goals, axis=-1).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("into", ["new", "current"])
def test_limbs_switch_to_fk_and_keep_their_pose(into, human, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--switch", "fk", "--limb", "hand_ik.L", "--limb", "DEF-foot.L", "--into", into)
    outcome = call("ik", human, *words, *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    row = outcome.row
    assert [limb["bone"] for limb in row["limbs"]] == ["hand_ik.L", "foot_ik.L"] and row["frames"] == [FIRST, LAST]
    assert all(limb["largest_error"] < 1e-5 and limb["largest_angle_deg"] < 0.01 for limb in row["limbs"])
    assert row["action"].endswith(" FK") is (into == "new")
    bones = (*ARM, *LEG)
    assert moved(poses(human, bones), poses(output, bones)) < 1e-5
    assert [state("upper_arm_parent.L", frame) for frame in (FIRST - 1, FIRST, LAST, LAST + 1)] == [0.0, 1.0, 1.0, 0.0]
    assert state("thigh_parent.R", FIRST) == 0.0
    assert f"Human, frames {FIRST} to {LAST}" in outcome.out


@pytest.mark.slow
def test_an_arm_switches_to_ik_as_near_as_the_report_says(human, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    outcome = call("ik", human, "--switch", "ik", "--limb", "hand_fk.R", *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    away = moved(poses(human, ARM_IN_FK), poses(output, ARM_IN_FK))
    reported = outcome.row["limbs"][0]["largest_error"]
    assert away < 0.012 and reported < 0.012 and away < reported + 1e-5
    assert state("upper_arm_parent.R", (FIRST + LAST) // 2) == 0.0


@pytest.mark.slow
def test_all_limbs_switch_in_each_action(human, call, tools, tmp_path) -> None:
    tools.reopen(human)
    action = bpy.data.objects["Human"].animation_data.action
    other = action.copy()
    other.name, other.use_fake_user = f"{action.name} again", True
    path = tools.save(tmp_path / "two.blend")
    outcome = call(
        "ik", path, "--switch", "fk", "--action", f"{action.name}*", *RANGE, "--output", tmp_path / "out.blend"
    )
    assert outcome.code == 0, outcome.errors
    assert len(outcome.row["baked"]) == 2
    for row in outcome.row["baked"]:
        assert len(row["limbs"]) == 3 and max(limb["largest_error"] for limb in row["limbs"]) < 1e-5
    # Said once of the file.
    assert sum("'hand_ik.R' is in FK already" in text for text in outcome.row["warnings"]) == 1


def test_a_limb_that_is_in_the_state_already_is_a_warning(human, call, tmp_path) -> None:
    """So that a folder of files can be brought to one state."""
    output = tmp_path / "out.blend"
    outcome = call("ik", human, "--switch", "fk", "--limb", "hand_fk.R", *RANGE, "--output", output)
    assert outcome.code == 0 and outcome.row["limbs"] == [], outcome.errors
    assert outcome.row["warnings"] == ["'hand_ik.R' is in FK already and was left as it is."]
    assert moved(poses(human, ARM_IN_FK), poses(output, ARM_IN_FK)) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--switch", "fk", "--limb", "head"), 1, "Bone 'head' is in no arm or leg that switches"),
        (("--switch", "fk", "--limb", "wing"), 1, "has no bone 'wing'"),
        (("--switch", "fk", "--limb", "hand_ik.L", "--limb", "hand_ik.L"), 2, "given twice"),
        (("--switch", "fk", "--bone", "hand_ik.L"), 2, "--switch keeps the pose; leave out --bone"),
        (("--switch", "fk", "--effector", "hand_ik.L=Goal.L"), 2, "leave out --effector"),
        (("--switch", "fk", "--contact", "foot_ik.L=found"), 2, "leave out --contact"),
        (("--switch", "ik", "--into", "layer"), 2, "--into layer cannot hold --switch"),
        (("--switch", "ik", "--tip"), 2, "leave out --tip"),
        (("--limb", "hand_ik.L"), 2, "--limb names a limb for --switch"),
    ],
)
def test_what_cannot_be_switched_is_refused_in_one_sentence(words, code, message, human, call, tmp_path) -> None:
    outcome = call("ik", human, *words, *RANGE, "--output", tmp_path / "out.blend")
    assert outcome.code == code and len(outcome.errors) == 1 and message in outcome.errors[0]
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 1, "No arm or leg of"),
        (("--range", 20, 10), 2, "reversed"),
        (("--range", 20, 20), 2, "choose at least two frames"),
    ],
)
def test_a_plain_rig_and_a_range_without_frames_are_refused(words, code, message, walk, call, tmp_path) -> None:
    outcome = call("ik", walk, "--switch", "fk", *words, "--output", tmp_path / "out.blend")
    assert outcome.code == code and len(outcome.errors) == 1 and message in outcome.errors[0]
    assert not (tmp_path / "out.blend").exists()
