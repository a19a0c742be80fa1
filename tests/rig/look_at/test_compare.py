"""Compare: the plain animation as it was before the look-at and its bake, with nothing changed by looking at it."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from extension import load

from .. import scenes

compare = load("rig.look_at.compare")
operator = load("operators.compare")
sampler = load("rig.sampling.sampler")
RigError = load("lookat_pd.errors").RigError
TIPS = [(bone, frame) for bone in ("head", "chest") for frame in (1, 9, 30, 60)]


@pytest.fixture(autouse=True)
def hidden():
    bpy.context.scene.frame_end = 60
    yield
    compare.hide()


@pytest.fixture
def plain():
    """A swaying character, and where its bones end without a look-at, {(bone, frame): (3,)}."""
    hero = scenes.swaying()
    settings = hero.armature.pose.bones["head"].lookat_pd
    settings.mute = True
    found = _tips(hero.armature)
    settings.mute = False
    return hero, found


def _tips(armature: bpy.types.Object) -> dict:
    found = {}
    for bone, frame in TIPS:
        bpy.context.scene.frame_set(frame)
        found[bone, frame] = np.array(
            armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone].tail
        )
    return found


def _is_plain(ghost, found: dict) -> bool:
    return all(
        np.abs(ghost.tips(frame)[ghost.bones.index(bone)] - place).max() < 1e-5
        for (bone, frame), place in found.items()
    )


def sampled(armature: bpy.types.Object):
    return scenes.finish(compare.plain(bpy.context.scene, armature))


def next_of(work):
    """The result of work in steps once it has come to its end, None before."""
    try:
        next(work)
    except StopIteration as end:
        return end.value
    return None


def test_of_a_live_look_at_it_is_the_animation_alone(plain) -> None:
    hero, found = plain
    turned = _tips(hero.armature)
    bpy.context.scene.frame_set(30)
    assert np.abs(turned["head", 30] - found["head", 30]).max() > 0.02
    assert _is_plain(sampled(hero.armature), found)
    # The look-at is shown as before, also in the frame that is there.
    bpy.context.view_layer.update()
    pose = hero.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    assert np.abs(np.array(pose["head"].tail) - turned["head", 30]).max() < 1e-5
    assert all(np.abs(place - turned[key]).max() < 1e-5 for key, place in _tips(hero.armature).items())


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_of_a_bake_it_is_what_was_baked_from(plain, into) -> None:
    hero, found = plain
    scenes.run_bake(hero.armature, into=into)
    bpy.context.scene.frame_set(30)
    before = scenes.snapshot()
    # The animator sees the bake, also while a copy plays what it was baked from.
    work, k, data = compare.plain(bpy.context.scene, hero.armature), 0, hero.armature.animation_data
    plays = data.action, [track.mute for track in data.nla_tracks]
    while (ghost := next_of(work)) is None:
        assert (data.action, [track.mute for track in data.nla_tracks]) == plays
        sampler.park_all()
        k += 1
        assert k % 20 or scenes.differences(before, scenes.snapshot()) == []
    assert k > 60
    bpy.context.view_layer.update()
    assert _is_plain(ghost, found)
    assert scenes.differences(before, scenes.snapshot()) == []
    assert not _is_plain(ghost, _tips(hero.armature))
    if into == "NEW":
        # Baked once more, it is still compared with the first one.
        hero.armature.pose.bones["head"].lookat_pd.mute = False
        scenes.run_bake(hero.armature, into=into)
        assert _is_plain(sampled(hero.armature), found)


def test_a_pose_without_keys_stays(plain) -> None:
    hero, _ = plain
    scenes.run_bake(hero.armature)
    bpy.context.scene.frame_set(30)
    bone = hero.armature.pose.bones["chest"]
    bone.rotation_quaternion = Quaternion((0, 0, 1), 0.7)
    sampled(hero.armature)
    assert bone.rotation_quaternion.angle == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("gone", ["muted", "current", "deleted"])
def test_without_a_plain_animation_there_is_a_reason(plain, gone) -> None:
    hero, _ = plain
    source = hero.armature.animation_data.action
    if gone == "muted":
        hero.armature.pose.bones["head"].lookat_pd.mute = True
    else:
        scenes.run_bake(hero.armature, into="CURRENT" if gone == "current" else "NEW")
    if gone == "deleted":
        bpy.data.actions.remove(source)
    assert operator.why_not(bpy.context) == "There is neither a live look-at nor a bake to compare"
    with pytest.raises(RigError, match="neither a live look-at nor a bake"):
        sampled(hero.armature)
    assert not bpy.ops.lookat_pd.compare.poll()


def test_the_button_shows_and_hides_it(plain) -> None:
    hero, found = plain
    before = list(bpy.app.handlers.depsgraph_update_post)
    assert bpy.ops.lookat_pd.compare() == {"FINISHED"}
    assert _is_plain(compare.ghost(hero.armature), found)
    assert bpy.ops.lookat_pd.compare() == {"FINISHED"}
    assert compare.ghost(hero.armature) is None and not compare.is_on()
    assert list(bpy.app.handlers.depsgraph_update_post) == before, "nothing of it is entered while it is off"


def test_it_is_sampled_again_once_the_animation_has_changed(plain) -> None:
    hero, found = plain
    bpy.ops.lookat_pd.compare()
    assert compare.out_of_date() == []
    bone = hero.armature.pose.bones["chest"]
    bone.rotation_quaternion = Quaternion((0, 0, 1), 0.7)
    bone.keyframe_insert("rotation_quaternion", frame=30)
    bpy.context.view_layer.update()
    assert compare.out_of_date() == [hero.armature]
    operator.refresh()
    assert compare.out_of_date() == []
    ghost = compare.ghost(hero.armature)
    assert np.abs(ghost.tips(30)[ghost.bones.index("head")] - found["head", 30]).max() > 0.02
    assert np.abs(ghost.tips(1)[ghost.bones.index("head")] - found["head", 1]).max() < 1e-5


def test_sampling_again_in_slices_gives_way_to_the_animator(plain) -> None:
    """Between slices nothing of it is in the file; what is hidden meanwhile stays hidden."""
    hero, found = plain
    bpy.ops.lookat_pd.compare()
    bone = hero.armature.pose.bones["chest"]
    bone.rotation_quaternion = Quaternion((0, 0, 1), 0.7)
    bone.keyframe_insert("rotation_quaternion", frame=30)
    bpy.context.view_layer.update()
    scenes_before, fractions = len(bpy.data.scenes), []
    while (fraction := operator.refresh(0.0)) is not None:
        fractions.append(fraction)
        assert len(bpy.data.scenes) == scenes_before
    assert len(fractions) > 3 and fractions == sorted(fractions) and fractions[-1] <= 1.0
    ghost = compare.ghost(hero.armature)
    assert compare.out_of_date() == [] and not _is_plain(ghost, found)
    bone.keyframe_insert("rotation_quaternion", frame=40)
    bpy.context.view_layer.update()
    operator.refresh(0.0)
    compare.hide(hero.armature)
    operator.refresh()
    assert not compare.is_on()


def test_what_is_live_again_is_not_sampled_any_more(plain) -> None:
    """The bake that was compared no longer plays; undone, it is compared again."""
    hero, found = plain
    scenes.run_bake(hero.armature, into="NEW")
    baked = hero.armature.animation_data.action
    bpy.ops.lookat_pd.compare()
    assert bpy.ops.lookat_pd.edit_live() == {"FINISHED"}
    assert any(operator.refresh(0.0) is None for _ in range(1000))
    assert compare.ghost(hero.armature) is None
    hero.armature.animation_data.action = baked
    hero.armature.animation_data.action_slot = baked.slots[0]
    hero.armature.pose.bones["head"].lookat_pd.mute = True
    operator.refresh()
    assert compare.out_of_date() == [] and _is_plain(compare.ghost(hero.armature), found)


def test_octahedra_go_from_head_to_tail_in_the_world(plain) -> None:
    hero, _ = plain
    ghost = sampled(hero.armature)
    world = np.eye(4)
    world[:3, 3] = 1.0, 2.0, 3.0
    lines = ghost.outline(30, world)
    assert lines.shape == (12 * len(ghost.bones), 2, 3)
    ends = ghost.tips(30) + world[:3, 3]
    assert np.abs(lines.reshape(len(ghost.bones), 24, 3) - ends[:, None]).max(axis=2).min(axis=1).max() < 1e-9
