"""Clips: what an action animates as arrays, exactly as stored, and back."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import BODY, character, poses, stored, use, walk

actions = load("rig.animation.actions")
animated = load("rig.transitions.animated")
clips = load("rig.transitions.clips")
rotation = load("lookat_pd.rotation")
splice = load("rig.transitions.splice")
RigError = load("lookat_pd.errors").RigError

MODES = [*((mode,) for mode in scenes.MODES), scenes.MODES]


def read(armature, action, frames=range(1, 42)):
    return clips.read(armature, action, actions.find_slot(armature, action), list(frames))


@pytest.mark.every_blender
@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_written_clip_plays_the_same(modes) -> None:
    armature = character(modes)
    action = walk(armature, "Walk", seed=1)
    clip = read(armature, action)
    copy, slot = actions.new_action("Copy", armature)
    clips.write(copy, slot, clip)
    for key, values in stored(armature, action, range(1, 42)).items():
        np.testing.assert_array_equal(stored(armature, copy, range(1, 42))[key], values)
    np.testing.assert_array_equal(poses(armature, copy, range(1, 42)), poses(armature, action, range(1, 42)))


@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_rotations_are_blenders(modes) -> None:
    armature = character(modes)
    clip = read(armature, walk(armature, "Walk", seed=1), (7,))
    use(armature, bpy.data.actions["Walk"])
    scenes.goto(7)
    for channel, values in clip.values.items():
        if channel.kind == "rotation":
            wanted = armature.pose.bones[channel.bone].matrix_basis.to_quaternion()
            assert abs(abs(values[0] @ np.array(wanted)) - 1.0) < 1e-5


@pytest.mark.every_blender
def test_channels_of_every_kind() -> None:
    armature = character()
    action = walk(armature, "Walk")
    head = armature.pose.bones["head"]
    constraint = head.constraints.new("COPY_ROTATION")
    for path in ("influence", "mute"):
        constraint.keyframe_insert(path, frame=1)
    head.rotation_mode = "XYZ"
    head.keyframe_insert("rotation_euler", frame=1)
    armature.keyframe_insert("location", frame=1)
    found = animated.channels_of(armature, action, actions.find_slot(armature, action))
    kinds = {(channel.bone, channel.path.rpartition("]")[2].lstrip(".") or "own"): channel.kind for channel in found}
    assert kinds["head", "influence"] == "scalar" and kinds["head", "mute"] == "switch"
    # The mode in use only: keys of the other one do not play.
    assert kinds["head", "rotation_euler"] == "rotation" and ("head", "rotation_quaternion") not in kinds
    assert kinds["chest", "scale"] == "vector" and kinds["", "location"] == "vector"
    assert {channel.kind for channel in found if '["mood"]' in channel.path} == {"scalar"}
    assert {channel.kind for channel in found if '["style"]' in channel.path} == {"switch"}


def test_choices_are_switches_and_have_a_present_value() -> None:
    armature = character()
    armature.animation_data_create()
    armature.keyframe_insert("display_type", frame=1)
    action = armature.animation_data.action
    (channel,) = animated.channels_of(armature, action, armature.animation_data.action_slot)
    assert channel.kind == "switch"
    armature.display_type = "WIRE"
    prop = armature.bl_rna.properties["display_type"]
    assert animated.current(armature, channel)[0] == prop.enum_items["WIRE"].value


def test_bones_with_awkward_names() -> None:
    armature = character()
    bone = armature.pose.bones["neck"]
    bone.name = 'a "quoted\\ name].rotation'
    action = walk(armature, "Walk", bones=[name for name in BODY if name != "neck"])
    bone.keyframe_insert("location", frame=3)
    found = animated.contents(armature, action, actions.find_slot(armature, action))
    assert bone.name in found.fitting and not found.missing


def test_numbers_that_are_none_are_reported() -> None:
    armature = character()
    action = walk(armature, "Walk")
    actions.channelbag(action, action.slots[0]).fcurves[0].keyframe_points[2].co.y = float("inf")
    with pytest.raises(RigError, match="not a number"):
        read(armature, action)


def test_muted_curves_and_groups_do_not_play() -> None:
    armature = character()
    action = walk(armature, "Walk")
    bag = actions.channelbag(action, action.slots[0])
    bag.fcurves.find('pose.bones["head"].rotation_quaternion', index=1).mute = True
    armature.pose.bones["head"].rotation_quaternion = (1, 0, 0, 0)
    clip = read(armature, action)
    (channel,) = [c for c in clip.raw if c.bone == "head" and c.kind == "rotation"]
    assert not np.any(clip.raw[channel][:, 1]) and np.any(clip.raw[channel][:, 2])


def test_slot_of_this_object_is_found() -> None:
    armature, other = character(), character(name="Other")
    action = walk(armature, "Walk")
    mine = action.slots[0]
    theirs = action.slots.new(id_type="OBJECT", name="Other")
    shape = action.slots.new(id_type="KEY", name="Hero")
    actions.channelbag(action, theirs, ensure=True).fcurves.new("location", index=0)
    use(armature, None)
    assert actions.find_slot(armature, action) == mine and actions.find_slot(other, action) == theirs
    keyed = bpy.data.actions.new("Keys only")
    keyed.slots.new(id_type="KEY", name="Hero")
    with pytest.raises(RigError, match="no slot"):
        actions.find_slot(armature, keyed)
    assert shape.target_id_type == "KEY"


@pytest.mark.parametrize("mode", scenes.MODES)
def test_another_way_of_writing_is_the_same_rotation(mode) -> None:
    random = np.random.default_rng(3)
    size = 4 if mode in ("QUATERNION", "AXIS_ANGLE") else 3
    stored_values = random.normal(size=(6, 1, size))
    near = stored_values[0] * (-1.0 if size == 4 else 1.0) + (2.0 * np.pi if size == 3 else 0.0)
    written = splice.nearest_writing(mode, stored_values, stored_values[0], near)
    np.testing.assert_allclose(written[0], near, atol=1e-9)
    to = load("rig.animation.channels").to_quaternion
    cosine = np.abs(np.sum(to(written[:, 0], mode) * to(stored_values[:, 0], mode), axis=-1))
    np.testing.assert_allclose(cosine, 1.0, atol=1e-12)
    same = splice.nearest_writing(mode, stored_values, stored_values[2], stored_values[2] + 0.01)
    np.testing.assert_array_equal(same, stored_values)
