"""What leads to what on a generated Rigify human, and nothing on other rigs."""

import pytest

import kept
from extension import load

from .. import scenes

limb_controls = load("rig.detection.limb_controls")


@pytest.mark.every_blender
def test_limbs_of_a_generated_human() -> None:
    found = limb_controls.find(kept.human())
    assert {limb.goal for limb in found} == {"hand_ik.L", "hand_ik.R", "foot_ik.L", "foot_ik.R"}
    arm = found[0]
    assert arm.turned == ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L")
    assert arm.shown == ("ORG-upper_arm.L", "ORG-forearm.L", "ORG-hand.L")


def test_any_bone_leads_to_the_control_that_turns_it() -> None:
    armature = kept.human()
    wanted = {
        "hand_ik.L": "hand_fk.L",
        "hand_fk.R": "hand_fk.R",
        "DEF-hand.L": "hand_fk.L",
        "hand_tweak.L": "hand_fk.L",
        "DEF-forearm.L.001": "forearm_fk.L",
        "shin_tweak.L.001": "shin_fk.L",
        "foot_ik.R": "foot_fk.R",
        "hips": "torso",
        "torso": "torso",
        "chest": "spine_fk.003",
        "DEF-spine.003": "spine_fk.003",
        "tweak_spine.002": "spine_fk.002",
        "tweak_spine.004": "neck",
        "DEF-spine.006": "head",
        "shoulder.L": "shoulder.L",
        "upper_arm_ik_target.L": "",
        "MCH-torso.parent": "",
    }
    assert {bone: limb_controls.control_of(armature, bone) for bone in wanted} == wanted
    line = limb_controls.line(armature, "hand_fk.L")
    assert line[:6] == ["hand_fk.L", "forearm_fk.L", "upper_arm_fk.L", "shoulder.L", "spine_fk.003", "spine_fk.002"]


@pytest.mark.parametrize("bone", ["hand.L", "head"])
def test_other_rigs_are_as_their_parents_say(bone: str) -> None:
    armature = scenes.figure()
    assert limb_controls.find(armature) == []
    assert limb_controls.control_of(armature, bone) == bone == limb_controls.line(armature, bone)[0]
