"""The buttons that switch limbs between IK and FK: what they report, and why they are grey."""

import bpy
import pytest

import kept
from extension import load

from ..rig import scenes

errors = load("lookat_pd.errors")
ik_switch = load("operators.ik_switch")
limb_switch = load("rig.controls.limb_switch")


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


@pytest.mark.every_blender
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


def test_a_rig_is_read_again_once_it_has_changed(human, monkeypatch) -> None:
    """Each redraw asks for each button."""
    read, find = [], limb_switch.limbs_of
    monkeypatch.setattr(limb_switch, "limbs_of", lambda *given: read.append(given) or find(*given))
    scenes.select(human, "hand_ik.L")
    bpy.context.view_layer.update()
    assert [ik_switch.why_not(bpy.context) for _ in range(3)] == [None] * 3 and len(read) == 1
    human.data.bones["hand_ik.L"].name = "hand"
    bpy.context.view_layer.update()
    assert "No arm or leg" in ik_switch.why_not(bpy.context)
    human.data.bones["hand"].name = "hand_ik.L"
    bpy.context.view_layer.update()
    assert ik_switch.why_not(bpy.context) is None


def test_what_cannot_be_switched_is_known_before(human) -> None:
    """For the drag, which goes on then: an action that another object plays too, and a range without length."""
    context = bpy.context
    ik_switch.arguments(context, human, "hand_ik.L", "FK")
    context.scene.frame_end = context.scene.frame_start
    with pytest.raises(errors.RigError, match="only frame 10"):
        ik_switch.arguments(context, human, "hand_ik.L", "FK")
    context.scene.frame_end = 16
    other = scenes.ball()
    data = other.animation_data_create()
    data.action, data.action_slot = human.animation_data.action, human.animation_data.action_slot
    before, keys = len(bpy.data.actions), scenes.fingerprint(human.animation_data.action)
    with pytest.raises(errors.RigError, match="also animates 'Ball"):
        ik_switch.arguments(context, human, "hand_ik.L", "FK")
    assert len(bpy.data.actions) == before and scenes.fingerprint(human.animation_data.action) == keys
    assert human.animation_data.action == data.action


def test_the_arguments_of_a_drag_switch_the_limb(human) -> None:
    arguments = ik_switch.arguments(bpy.context, human, "DEF-hand.L", "FK")
    scenes.select(human, "head", "hand_ik.L")
    assert bpy.ops.lookat_pd.ik_switch(**arguments) == {"FINISHED"}
    scenes.goto(12)
    assert human.pose.bones["upper_arm_parent.L"]["IK_FK"] == 1.0
