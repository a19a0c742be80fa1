"""Bake, and back: what plays afterwards is what played before the bake, to the bit, with the look-at live."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

edit_live = load("rig.look_at.edit_live")
errors = load("lookat_pd.errors")
look_at_edit = load("rig.look_at.edit")
actions = load("rig.animation.actions")

FRAMES = (1, 7, 20, 33, scenes.LAST)


def character(name: str = "Hero", *, keyed: bool = True, whole: bool = False) -> bpy.types.Object:
    armature = scenes.figure(name)
    if keyed:
        scenes.animate(armature)
    settings = scenes.aim(armature, scenes.ball((1.0, -2.0, 1.6), f"{name} Ball"))
    if whole:
        load("rig.look_at.body.layers").switch_on(settings)
    return armature


def state(armature: bpy.types.Object) -> tuple:
    """What plays, and what is set, at the first frame."""
    scenes.goto(1)
    data = armature.animation_data
    playing = None if data is None or data.action is None else (data.action, data.action_slot)
    pose = [(bone.name, tuple(bone.location), tuple(bone.rotation_quaternion)) for bone in armature.pose.bones]
    muted = [bone.lookat_pd.mute for bone in armature.pose.bones if load("rig.look_at.resolve").exists_on(bone)]
    tracks = [] if data is None else [(track.name, track.mute) for track in data.nla_tracks]
    return playing, pose, muted, tracks


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("whole", [False, True])
def test_there_and_back(into, keyed, whole) -> None:
    armature = character(keyed=keyed, whole=whole)
    before, seen = state(armature), scenes.poses(armature, FRAMES)
    scenes.run_bake(armature, into=into)
    found = edit_live.baked(armature, "head")
    assert found is not None and found.into == into
    played = scenes.poses(armature, FRAMES)
    scenes.goto(1)
    assert edit_live.edit_live(armature, "head") == ["head"]
    assert edit_live.baked(armature, "head") is None
    np.testing.assert_array_equal(scenes.poses(armature, FRAMES), seen)
    after = state(armature)
    if into == "NEW":
        assert after == before
    else:
        assert after[2] == [False]
    assert found.action.name in bpy.data.actions and found.action.users, "the bake is lost"
    scenes.run_bake(armature, into=into)
    np.testing.assert_allclose(scenes.poses(armature, FRAMES), played, atol=1e-6)


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_channels_without_keys_stand_as_before(into, subtests) -> None:
    """Of a bone only some channels are keyed, or a layer below holds those that are not at rest; then it is removed."""
    poses = {"XYZ": (0.2, 0.0, 0.1), "QUATERNION": (0.98, 0.2, 0.0, 0.0), "AXIS_ANGLE": (0.3, 0.0, 1.0, 0.0)}
    for mode, keyed in [(mode, keyed) for mode in poses for keyed in [(), (0,), (1, 2)]]:
        with subtests.test(mode=mode, keyed=keyed):
            armature = character()
            data = armature.animation_data
            for bone in (armature.pose.bones[name] for name in ("head", "chest")):
                actions.remove_curves(armature, bone.path_from_id())
                bone.rotation_mode, path = mode, actions.rotation_path(bone.name, mode)
                armature.path_resolve(path)[:] = poses[mode]
                for index, frame in [(index, frame) for index in keyed for frame in (1, 30)]:
                    armature.keyframe_insert(path, index=index, frame=frame)
                for curve in actions.curves_at(data.action, data.action_slot, path, 3)[2:]:
                    if curve is not None:
                        curve.mute = True
            still, seen = scenes.animated(armature, FRAMES), scenes.poses(armature, FRAMES)
            scenes.run_bake(armature, into=into)
            np.testing.assert_allclose(scenes.poses(armature, FRAMES), seen, atol=2e-3)
            scenes.goto(20)
            edit_live.edit_live(armature, "head")
            np.testing.assert_allclose(scenes.poses(armature, FRAMES), seen, atol=1e-6)
            look_at_edit.remove(armature, "head")
            np.testing.assert_allclose(scenes.poses(armature, FRAMES), still, atol=1e-6)


def test_a_layer_takes_the_place_of_the_one_from_which_there_was_a_way_back() -> None:
    """Its action stays; tracks that the animator has muted, or with another look-at, stay too."""
    armature = character()
    data = armature.animation_data
    scenes.run_bake(armature, into="LAYER")
    own, played = data.nla_tracks.new(), scenes.poses(armature, FRAMES)
    own.name, own.mute = "Own", True
    own.strips.new("Own", 1, bpy.data.actions.new("Own"))
    tracks = len(data.nla_tracks)
    for _ in range(2):
        layer = edit_live.baked(armature, "head").action
        edit_live.edit_live(armature, "head")
        scenes.run_bake(armature, into="LAYER")
        assert len(data.nla_tracks) == tracks and "Own" in data.nla_tracks
        assert layer.use_fake_user and edit_live.baked(armature, "head").action != layer
    np.testing.assert_allclose(scenes.poses(armature, FRAMES), played, atol=1e-6)
    edit_live.edit_live(armature, "head")
    scenes.aim(armature, scenes.ball((-1.0, -2.0, 1.0), "Other"), "hand.L")
    armature.pose.bones["head"].lookat_pd.mute = True
    scenes.run_bake(armature, into="LAYER")
    assert len(data.nla_tracks) == tracks + 1


def test_several_look_ats_of_one_bake_come_back_together() -> None:
    armature = character()
    scenes.aim(armature, scenes.ball((-1.0, -2.0, 1.0), "Other"), "hand.L")
    seen = scenes.poses(armature, FRAMES)
    scenes.run_bake(armature)
    assert sorted(edit_live.edit_live(armature, "hand.L")) == ["hand.L", "head"]
    np.testing.assert_array_equal(scenes.poses(armature, FRAMES), seen)


def test_bakes_one_after_the_other_come_back_together() -> None:
    """What was baked first is not in the action that both come from."""
    armature = character()
    source = armature.animation_data.action
    scenes.run_bake(armature)
    scenes.aim(armature, scenes.ball((-1.0, -2.0, 1.0), "Other"), "hand.L")
    scenes.run_bake(armature)
    assert sorted(edit_live.edit_live(armature, "hand.L")) == ["hand.L", "head"]
    assert armature.animation_data.action == source


def test_only_what_plays_counts() -> None:
    """Another action is assigned: the look-at is free. The baked one again: it is baked."""
    armature = character()
    data = armature.animation_data
    source, slot = data.action, data.action_slot
    scenes.run_bake(armature)
    made, place = data.action, data.action_slot
    data.action, data.action_slot = source, slot
    assert edit_live.baked(armature, "head") is None
    made.name = "Renamed"
    data.action, data.action_slot = made, place
    assert edit_live.baked(armature, "head").action == made
    assert edit_live.baked(armature, "hand.L") is None


def refused(armature: bpy.types.Object) -> str:
    before = state(armature)
    with pytest.raises(errors.RigError) as raised:
        edit_live.edit_live(armature, "head")
    assert state(armature) == before
    return str(raised.value)


def test_no_way_back_says_why() -> None:
    armature = character()
    assert "is not baked into what plays" in refused(armature)
    scenes.run_bake(armature, into="CURRENT")
    assert "replaced keys of the animation" in refused(armature)
    other = character("Other")
    source = other.animation_data.action
    scenes.run_bake(other)
    bpy.data.actions.remove(source)
    assert "is not in the file any more" in refused(other)


def test_a_deleted_look_at_stays_deleted() -> None:
    armature = character()
    scenes.aim(armature, scenes.ball((-1.0, -2.0, 1.0), "Other"), "hand.L")
    scenes.run_bake(armature)
    look_at_edit.remove(armature, "hand.L")
    assert edit_live.edit_live(armature, "head") == ["head"]
