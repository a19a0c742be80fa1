"""The list of effectors and its bake: what the buttons do, what they report, and why they are grey."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.ik.test_body_bake import hero, places

body_settings = load("rig.ik.body_settings")


@pytest.fixture
def body() -> bpy.types.Object:
    armature = hero()
    bpy.context.scene.frame_end = 24
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    return armature


def add(armature: bpy.types.Object, *bones: str) -> None:
    scenes.select(armature, *bones)
    assert bpy.ops.lookat_pd.ik_effector_add() == {"FINISHED"}


def test_selected_bones_are_added_once_and_feet_come_first(body) -> None:
    add(body, "foot.L", "foot.R", "hand.L")
    add(body, "hand.L", "head")
    effectors = body.lookat_pd_ik_body.effectors
    assert sorted(item.bone for item in effectors) == ["foot.L", "foot.R", "hand.L", "head"]
    assert {item.bone for item in effectors if item.priority == "HIGH"} == {"foot.L", "foot.R"}


@pytest.mark.every_blender
def test_bakes_all_effectors_and_undoes_it(body) -> None:
    add(body, "foot.L", "foot.R", "hand.L")
    ball = scenes.ball((0.35, -0.35, 1.3))
    settings = body.lookat_pd_ik_body
    next(item for item in settings.effectors if item.bone == "hand.L").target = ball
    before = body.animation_data.action
    assert bpy.ops.lookat_pd.ik_body_bake() == {"FINISHED"}
    assert body.animation_data.action != before
    assert np.max(np.linalg.norm(places(body, "hand.L") - np.array(ball.location), axis=-1)) < 1e-3


def test_a_keyed_weight_changes_over_time(body) -> None:
    add(body, "hand.L")
    ball = scenes.ball((0.35, -0.35, 1.3))
    item = body.lookat_pd_ik_body.effectors[0]
    item.target = ball
    for frame, weight in ((1, 0.0), (12, 1.0), (24, 1.0)):
        item.weight = weight
        assert item.keyframe_insert("weight", frame=frame)
    before = places(body, "hand.L")
    assert bpy.ops.lookat_pd.ik_body_bake() == {"FINISHED"}
    after = places(body, "hand.L")
    assert np.allclose(after[0], before[0], atol=1e-5)
    assert np.max(np.linalg.norm(after[12:] - np.array(ball.location), axis=-1)) < 1e-3


def test_removing_an_effector_keeps_the_keys_of_the_others(body) -> None:
    add(body, "foot.L", "foot.R", "hand.L")
    effectors = body.lookat_pd_ik_body.effectors
    for number in (0, 2):
        effectors[number].keyframe_insert("weight", frame=number + 1)
    names = [item.bone for item in effectors]
    body.lookat_pd_ik_body.effectors_index = 0
    assert bpy.ops.lookat_pd.ik_effector_remove() == {"FINISHED"}
    assert [item.bone for item in effectors] == names[1:]
    bag = body_settings.actions.channelbag(body.animation_data.action, body.animation_data.action_slot)
    weights = [curve for curve in bag.fcurves if "effectors" in curve.data_path]
    assert [(c.data_path, c.keyframe_points[0].co.x) for c in weights] == [
        ("lookat_pd_ik_body.effectors[1].weight", 3.0)
    ]


def test_the_report_names_an_effector_that_does_not_reach_its_target(body, capsys) -> None:
    add(body, "foot.L", "foot.R", "hand.L")
    effector = next(item for item in body.lookat_pd_ik_body.effectors if item.bone == "hand.L")
    effector.target = scenes.ball((3.0, -3.0, 1.0))
    assert bpy.ops.lookat_pd.ik_body_bake() == {"FINISHED"}
    assert "'hand.L' does not reach its target at 24 of 24 frames" in capsys.readouterr().out


def test_grey_with_a_reason(body) -> None:
    assert not bpy.ops.lookat_pd.ik_body_bake.poll()
    assert not bpy.ops.lookat_pd.ik_effector_remove.poll()
    add(body, "hand.L")
    assert bpy.ops.lookat_pd.ik_body_bake.poll() and bpy.ops.lookat_pd.ik_effector_remove.poll()
    body.lookat_pd_ik_body.effectors[0].use_position = False
    assert not bpy.ops.lookat_pd.ik_body_bake.poll()
