"""A range of frames beside all keys of an action is told of, and no other."""

import bpy
import pytest

from extension import load

from .. import scenes

actions = load("rig.animation.actions")
key_extent = load("rig.animation.key_extent")

FIRST, LAST = 10, 30


@pytest.fixture
def walker() -> bpy.types.Object:
    armature = scenes.figure()
    for frame, angle in ((FIRST, 0.0), (LAST, 0.5)):
        armature.pose.bones["head"].rotation_quaternion = (1.0, angle, 0.0, 0.0)
        armature.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    return armature


def curves(armature: bpy.types.Object) -> list[bpy.types.FCurve]:
    return list(actions.curves(armature.animation_data.action, armature.animation_data.action_slot))


@pytest.mark.parametrize("beside", [(-20, FIRST - 1), (LAST + 1, LAST + 50)])
def test_a_range_beside_all_keys_is_told_of_with_that_of_the_action(walker, beside) -> None:
    note = str(key_extent.outside(walker, *beside))
    assert walker.animation_data.action.name in note and f"from frame {FIRST} to {LAST}" in note


@pytest.mark.parametrize("range_", [(1, FIRST), (LAST, 90), (15, 16), (-100, 100)])
def test_a_range_that_meets_the_keys_is_not(walker, range_) -> None:
    assert key_extent.outside(walker, *range_) is None


def test_a_pose_at_one_frame_is_for_all_frames() -> None:
    armature = scenes.figure()
    assert key_extent.outside(armature, 50, 90) is None
    armature.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    assert key_extent.outside(armature, 50, 90) is None


def test_curves_that_go_on_are_not_beside(walker) -> None:
    curve = next(iter(curves(walker)))
    curve.extrapolation = "LINEAR"
    assert key_extent.outside(walker, 50, 90) is None
    curve.extrapolation = "CONSTANT"
    assert key_extent.outside(walker, 50, 90) is not None
    curve.modifiers.new("CYCLES")
    assert key_extent.outside(walker, 50, 90) is None


def test_strips_may_play_there(walker) -> None:
    data = walker.animation_data
    data.nla_tracks.new().strips.new("Later", 50, data.action)
    assert key_extent.outside(walker, 50, 90) is None
    data.use_nla = False
    assert key_extent.outside(walker, 50, 90) is not None
