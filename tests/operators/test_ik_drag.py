"""The drag operator where there is no window: when it refuses. What it does there: tests/window."""

import bpy
import pytest

from .test_ik_bake import hero  # noqa: F401 - a fixture


def test_needs_pose_mode(hero) -> None:  # noqa: F811
    assert bpy.ops.lookat_pd.ik_drag.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.lookat_pd.ik_drag.poll()
    with pytest.raises(RuntimeError, match="pose mode"):
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")


def test_pins_are_set_and_taken_away(hero) -> None:  # noqa: F811
    for bone in hero.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in ("arm", "hips")
    assert bpy.ops.lookat_pd.ik_pin() == {"FINISHED"}
    assert [bone.name for bone in hero.pose.bones if bone.lookat_pd_ik_pin] == ["hips", "arm"]
    assert bpy.ops.lookat_pd.ik_pin() == {"FINISHED"}
    assert not any(bone.lookat_pd_ik_pin for bone in hero.pose.bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.lookat_pd.ik_pin.poll()
