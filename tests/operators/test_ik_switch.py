"""The buttons that switch limbs between IK and FK: what they report, and why they are grey."""

import bpy
import pytest

import kept
from extension import load

from ..rig import scenes

ik_switch = load("operators.ik_switch")


@pytest.fixture
def human() -> bpy.types.Object:
    armature = kept.human()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 16
    return armature


def test_the_selected_limb_is_switched_in_its_action(human, capsys) -> None:
    scenes.select(human, "hand_ik.L")
    action = human.animation_data.action
    before = scenes.poses(human, (9, 12, 17), ("DEF-hand.L",))
    assert bpy.ops.lookat_pd.ik_switch(to="FK") == {"FINISHED"}
    assert human.animation_data.action == action
    assert abs(scenes.poses(human, (9, 12, 17), ("DEF-hand.L",)) - before).max() < 1e-4
    scenes.goto(12)
    assert human.pose.bones["upper_arm_parent.L"]["IK_FK"] == 1.0
    assert "Switched hand_fk.L to FK from frame 10 to 16" in capsys.readouterr().out


def test_a_new_action_keeps_the_old_one(human) -> None:
    scenes.select(human, "hand_ik.L")
    action = human.animation_data.action
    curves = len(action.layers[0].strips[0].channelbags[0].fcurves)
    assert bpy.ops.lookat_pd.ik_switch(to="FK", into="NEW") == {"FINISHED"}
    assert human.animation_data.action.name == f"{action.name} FK"
    assert len(action.layers[0].strips[0].channelbags[0].fcurves) == curves


def test_it_is_grey_without_a_limb(human) -> None:
    scenes.select(human, "head")
    assert "No arm or leg" in ik_switch.why_not(bpy.context)
    scenes.select(human)
    human.data.bones.active = None
    assert ik_switch.why_not(bpy.context) == "Select a control of the arm or leg"
