"""The operators of PD Follow: what they do, undo, and say when they cannot."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes

pd_follow = load("operators.pd_follow")


@pytest.fixture
def box() -> bpy.types.Object:
    """An active object beside a selected ball that moves."""
    bpy.context.scene.frame_end = 30
    ball, box = (bpy.data.objects.new(name, None) for name in ("Ball", "Box"))
    for item in (ball, box):
        bpy.context.scene.collection.objects.link(item)
        item.select_set(True)
    for frame, x in ((1, 0.0), (15, 3.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = box
    bpy.context.scene.frame_set(1)
    return box


def places(item: bpy.types.Object) -> np.ndarray:
    found = []
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        found.append(item.matrix_world.translation.copy())
    return np.array(found)


@pytest.mark.every_blender
def test_add_bake_and_remove(box):
    assert "FINISHED" in bpy.ops.lookat_pd.pd_follow_add()
    assert box.lookat_pd_follow.target == bpy.data.objects["Ball"]
    live = places(box)
    assert live[-1, 0] > 2.5
    assert "FINISHED" in bpy.ops.lookat_pd.pd_follow_bake()
    assert box.lookat_pd_follow.mute
    np.testing.assert_allclose(places(box), live, atol=1e-5)
    assert "FINISHED" in bpy.ops.lookat_pd.pd_follow_remove()
    assert not box.constraints
    np.testing.assert_allclose(places(box), live, atol=1e-5)


@pytest.mark.every_blender
def test_undo_and_redo(box):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.lookat_pd.pd_follow_add()
    bpy.context.view_layer.update()
    live = places(box)
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.lookat_pd.pd_follow_bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    box = bpy.data.objects["Box"]
    assert not box.lookat_pd_follow.mute
    assert box.animation_data is None or box.animation_data.action is None
    np.testing.assert_allclose(places(box), live, atol=1e-6)
    bpy.ops.ed.undo()
    box = bpy.data.objects["Box"]
    assert not box.lookat_pd_follow.exists
    assert not places(box).any()
    bpy.ops.ed.redo()
    np.testing.assert_allclose(places(bpy.data.objects["Box"]), live, atol=1e-6)


def test_the_active_bone_follows_in_pose_mode(box):
    armature = scenes.figure()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["hand.L"]
    for item in bpy.context.selected_objects:
        item.select_set(item == armature)
    bpy.ops.lookat_pd.pd_follow_add(target="Ball")
    hand = armature.pose.bones["hand.L"].lookat_pd_follow
    assert hand.exists
    assert not armature.lookat_pd_follow.exists
    bpy.ops.lookat_pd.pd_follow_key(setting="influence")
    owner = pd_follow.owner(bpy.context)
    assert pd_follow.key_state(owner, "influence", bpy.context.scene.frame_current) == "KEYED"
    bpy.ops.lookat_pd.pd_follow_key(setting="influence")
    assert pd_follow.key_state(owner, "influence", bpy.context.scene.frame_current) == "NONE"


@pytest.fixture
def chain(box) -> bpy.types.Object:
    """A figure that turns, in pose mode, with three bones of its back selected."""
    armature = scenes.figure()
    for frame, turn in ((1, 0.0), (10, 1.0), (20, 0.0)):
        armature.rotation_euler.z = turn
        armature.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    for item in bpy.context.selected_objects:
        item.select_set(item == armature)
    scenes.select(armature, "chest", "neck", "head")
    armature.data.bones.active = armature.data.bones["neck"]
    return armature


def heads(armature: bpy.types.Object) -> np.ndarray:
    found = []
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        found.append(np.array(armature.matrix_world @ armature.pose.bones["head"].matrix))
    return np.array(found)


@pytest.mark.every_blender
def test_selected_bones_become_a_chain(chain):
    bones, bone = ("chest", "neck", "head"), chain.pose.bones
    plain = heads(chain)
    bpy.ops.lookat_pd.pd_follow_add()
    assert {item.name for item in bone if item.lookat_pd_follow.exists} == set(bones)
    assert not any(bone[name].lookat_pd_follow.use_location for name in bones)
    assert pd_follow.owner(bpy.context).bone == "neck"
    bone["neck"].lookat_pd_follow.settle_time = 0.3
    bpy.ops.lookat_pd.pd_follow_copy()
    assert {round(bone[name].lookat_pd_follow.settle_time, 6) for name in bones} == {0.3}
    live = heads(chain)
    assert np.abs(live - plain).max() > 0.1
    bpy.ops.ed.undo_push(message="added")
    bpy.ops.lookat_pd.pd_follow_bake()
    assert all(bone[name].lookat_pd_follow.mute for name in bones)
    np.testing.assert_allclose(heads(chain), live, atol=2e-5)
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    chain = bpy.data.objects["Hero"]
    np.testing.assert_allclose(heads(chain), live, atol=1e-6)
    bpy.ops.lookat_pd.pd_follow_remove()
    assert not any(item.lookat_pd_follow.exists or item.constraints for item in chain.pose.bones)
    np.testing.assert_allclose(heads(chain), plain, atol=1e-6)


def test_a_chain_grows_by_bones_that_are_selected_later(chain):
    scenes.select(chain, "chest")
    chain.data.bones.active = chain.data.bones["chest"]
    bpy.ops.lookat_pd.pd_follow_add(target="Ball")
    scenes.select(chain, "chest", "head")
    chain.data.bones.active = chain.data.bones["head"]
    assert pd_follow.why_no_copy(bpy.context) == "Add PD Follow first"
    bpy.ops.lookat_pd.pd_follow_add(target="Ball")
    assert chain.pose.bones["chest"].lookat_pd_follow.target is not None
    assert chain.pose.bones["head"].lookat_pd_follow.target is None
    scenes.select(chain, "head")
    assert pd_follow.why_no_copy(bpy.context) == "Select further bones that have PD Follow"
    with pytest.raises(RuntimeError, match="already has PD Follow"):
        bpy.ops.lookat_pd.pd_follow_add()


def test_the_offset_is_set_anew(box):
    bpy.ops.lookat_pd.pd_follow_add()
    assert "FINISHED" in bpy.ops.lookat_pd.pd_follow_offset()
    bpy.context.scene.frame_set(30)
    assert box.matrix_world.translation.x > 2.5
    bpy.ops.lookat_pd.pd_follow_offset()
    bpy.context.scene.frame_set(30)
    assert abs(box.matrix_world.translation.x) < 0.1


def test_reasons_why_it_is_disabled(box):
    for operator in ("remove", "bake", "offset", "key"):
        assert not getattr(bpy.ops.lookat_pd, f"pd_follow_{operator}").poll()
    assert pd_follow.why_no_follow(bpy.context) == "Add PD Follow first"
    for item in bpy.context.selected_objects:
        item.select_set(item == box)
    bpy.ops.lookat_pd.pd_follow_add()
    assert box.lookat_pd_follow.target is None
    assert pd_follow.why_no_offset(bpy.context) == "Choose a target to follow"
    with pytest.raises(RuntimeError, match="already has PD Follow"):
        bpy.ops.lookat_pd.pd_follow_add()
    bpy.ops.lookat_pd.pd_follow_remove()
    with pytest.raises(RuntimeError, match="no object 'Nobody'"):
        bpy.ops.lookat_pd.pd_follow_add(target="Nobody")
    bpy.context.view_layer.objects.active = None
    assert not bpy.ops.lookat_pd.pd_follow_add.poll()
