"""Bones of the chain that the animation leaves alone come back to where they were when a bake is put aside."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

look_at_edit = load("rig.look_at.edit")
bake = load("rig.look_at.look_at_bake")
look_at = load("rig.look_at.resolve")
bake_options = load("rig.animation.bake_options")


def baked() -> tuple[bpy.types.Object, bpy.types.Action, np.ndarray]:
    """A character whose action keys an arm only, its look-at switched off at frame 20, baked as the operator does."""
    hero, target = scenes.figure(), scenes.ball()
    hero.pose.bones["neck"].rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
    hero.pose.bones["upper_arm.L"].keyframe_insert("rotation_quaternion", frame=1)
    look_at_edit.add(bpy.context.scene, hero, "head", target)
    for frame, on in ((1, True), (20, False)):
        hero.pose.bones["head"].lookat_pd.use = on
        hero.keyframe_insert('pose.bones["head"].lookat_pd.use', frame=frame)
    action = hero.animation_data.action
    before = poses(hero, 150)
    again(hero)
    scenes.goto(10)
    assert np.abs(poses(hero, 10) - before).max() > 0.05
    hero.animation_data.action = action
    hero.animation_data.action_slot = action.slots[0]
    return hero, action, before


def again(hero: bpy.types.Object) -> None:
    options = bake_options.BakeOptions(1, 150)
    scenes.finish(bake.bake(bpy.context.scene, [look_at.resolve(hero, "head")], options))


def poses(hero: bpy.types.Object, frame: int) -> np.ndarray:
    scenes.goto(frame)
    return np.array([bone.matrix for bone in hero.pose.bones])


def test_baked_again_from_the_original_action_it_is_released_to_the_source() -> None:
    hero, _, before = baked()
    again(hero)
    assert np.array_equal(poses(hero, 150), before)


def test_removed_after_going_back_it_leaves_the_pose_as_it_was() -> None:
    hero, _, before = baked()
    look_at_edit.remove(hero, "head")
    assert np.array_equal(poses(hero, 150), before)


def test_a_bake_that_is_stopped_leaves_the_pose_as_it_stood() -> None:
    hero, _, _ = baked()
    seen = poses(hero, 150)
    job = bake.bake(bpy.context.scene, [look_at.resolve(hero, "head")], bake_options.BakeOptions(1, 150))
    next(job)
    job.close()
    assert np.array_equal(poses(hero, 150), seen)


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
def test_in_other_rotation_modes_as_well(mode) -> None:
    hero, target = scenes.figure(), scenes.ball()
    hero.pose.bones["head"].rotation_mode = mode
    before = poses(hero, 1)
    look_at_edit.add(bpy.context.scene, hero, "head", target)
    again(hero)
    scenes.goto(100)
    hero.animation_data.action = None
    look_at_edit.remove(hero, "head")
    assert np.abs(poses(hero, 1) - before).max() < 1e-6
