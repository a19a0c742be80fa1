"""Baking onto several checked actions: what is made, what is listed, and that nothing is left of a bake that ends."""

import bpy
import numpy as np
import pytest
from mathutils import Euler

from extension import load

from ..rig import scenes

bake_actions = load("rig.look_at.bake_actions")
operator = load("operators.bake_actions")
look_at_edit = load("rig.look_at.edit")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
)
CLIPS = {"Walk": (1, 12, "hips"), "Run": (0, 8, "chest"), "Wave": (1, 10, "neck")}


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character with three actions that looks at a ball, active, in pose mode; the ball has an action too."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    ball = scenes.ball((0.8, -2.0, 1.9))
    ball.keyframe_insert("location", frame=1)
    armature.animation_data_create()
    for name, (first, last, bone) in CLIPS.items():
        armature.animation_data.action = bpy.data.actions.new(name)
        armature.animation_data.action.use_fake_user = True
        for frame, angle in ((first, 0.0), (last, 0.3)):
            armature.pose.bones[bone].rotation_quaternion = Euler((angle, 0.0, 0.0)).to_quaternion()
            armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    for bone in armature.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    armature.animation_data.action = bpy.data.actions["Walk"]
    look_at_edit.add(bpy.context.scene, armature, "head", ball)
    return armature


def values(action: bpy.types.Action) -> dict:
    found = {}
    for curve in load("rig.animation.actions").curves(action, action.slots[0]):
        co = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", co)
        found[curve.data_path, curve.array_index] = co.tobytes()
    return found


def state(armature: bpy.types.Object) -> tuple:
    data = armature.animation_data
    return (
        data.action.name,
        [track.name for track in data.nla_tracks],
        sorted((action.name, action.users, action.use_fake_user) for action in bpy.data.actions),
        [tuple(bone.matrix_basis.to_quaternion()) for bone in armature.pose.bones],
        armature.pose.bones["head"].lookat_pd.mute,
    )


@pytest.mark.every_blender
def test_each_checked_action_is_baked_as_if_it_were_the_only_one(hero) -> None:
    assert [action.name for action in operator.listed(bpy.context)] == ["Run", "Walk", "Wave"]
    bpy.ops.lookat_pd.check_actions(which="ALL")
    bpy.data.actions["Wave"].lookat_pd.checked = False
    assert bpy.ops.lookat_pd.bake_onto_actions() == {"FINISHED"}
    data = hero.animation_data
    assert [track.name for track in data.nla_tracks] == ["Run look-at", "Walk look-at"]
    assert all(track.mute for track in data.nla_tracks) and data.action.name == "Run look-at"
    assert "Wave look-at" not in bpy.data.actions and hero.pose.bones["head"].lookat_pd.mute
    assert tuple(bpy.data.actions["Run look-at"].frame_range) == (0.0, 8.0)
    together = values(bpy.data.actions["Walk look-at"])
    bpy.data.actions.remove(bpy.data.actions["Walk look-at"])
    hero.pose.bones["head"].lookat_pd.mute = False
    for name in CLIPS:
        bpy.data.actions[name].lookat_pd.checked = name == "Walk"
    bpy.ops.lookat_pd.bake_onto_actions()
    assert values(bpy.data.actions["Walk look-at"]) == together


def test_keys_of_settings_in_one_action_change_no_other_one(hero) -> None:
    """An action that switches the look on at its end, or a switch of the rig, leaves the actions after it alone."""
    hero.pose.bones["chest"]["switch"] = 0.0
    settings, first, last = hero.pose.bones["head"].lookat_pd, *CLIPS["Run"][:2]
    hero.animation_data.action = bpy.data.actions["Run"]
    for frame, use, switch in ((first, False, 1.0), (last, True, 0.0)):
        settings.use, hero.pose.bones["chest"]["switch"] = use, switch
        hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=frame)
        hero.pose.bones["chest"].keyframe_insert('["switch"]', frame=frame)
    made = []
    for names in (["Walk"], ["Run", "Walk"]):
        hero.animation_data.action = bpy.data.actions["Walk"]
        settings.use, hero.pose.bones["chest"]["switch"], settings.mute = True, 0.0, False
        for bone in hero.pose.bones:
            bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        chosen = [bpy.data.actions[name] for name in names]
        for _ in bake_actions.bake_actions(bpy.context.scene, hero, ["head"], chosen):
            # As a redraw of the window does.
            bpy.context.scene.frame_set(1)
        made.append(values(bpy.data.actions["Walk look-at"]))
        for name in names:
            bpy.data.actions.remove(bpy.data.actions[f"{name} look-at"])
    assert made[0] == made[1]


def test_a_bake_that_ends_early_leaves_nothing(hero) -> None:
    before = state(hero)
    for steps in (1, 3, 30):
        job = bake_actions.bake_actions(bpy.context.scene, hero, ["head"], list(operator.listed(bpy.context)))
        for _ in range(steps):
            next(job)
        job.close()
        assert state(hero) == before


def test_an_error_leaves_nothing(hero) -> None:
    still = bpy.data.actions["Wave"]
    still.use_frame_range, still.frame_start, still.frame_end = True, 3, 3
    before = state(hero)
    bpy.ops.lookat_pd.check_actions(which="ALL")
    with pytest.raises(RuntimeError, match="Action 'Wave': The frame range contains only frame 3"):
        bpy.ops.lookat_pd.bake_onto_actions()
    assert state(hero) == before


def test_it_is_disabled_with_a_reason(hero) -> None:
    assert operator.why_not(bpy.context) == "Check the actions to bake onto"
    assert not bpy.ops.lookat_pd.bake_onto_actions.poll()
    bpy.ops.lookat_pd.check_actions(which="INVERT")
    assert operator.why_not(bpy.context) is None and bpy.ops.lookat_pd.bake_onto_actions.poll()
    bpy.ops.lookat_pd.check_actions(which="NONE")
    assert not bpy.ops.lookat_pd.bake_onto_actions.poll()
    for name in CLIPS:
        bpy.data.actions.remove(bpy.data.actions[name])
    assert operator.why_not(bpy.context) == "No action moves the armature"
