"""Pops are found where they are and nowhere else, and smoothed without anything else moving."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, poses, stored, tweak, use, walk

actions = load("rig.animation.actions")
animated = load("rig.transitions.animated")
clips = load("rig.transitions.clips")
join = load("rig.transitions.join")
pops = load("rig.transitions.pops")
splice = load("rig.transitions.splice")
RigError = load("lookat_pd.errors").RigError

POP = 20


def popping(modes=("QUATERNION",)):
    """A clip cut hard into another one: the upper body leaps at frame 20, the legs go on."""
    armature = character(modes)
    one, two = (
        walk(armature, "One", seed=1),
        walk(armature, "Two", seed=4, bones=("chest", "neck", "head", "upper_arm.L")),
    )
    bag = actions.channelbag(two, two.slots[0])
    other = actions.channelbag(one, one.slots[0])
    for curve in other.fcurves:
        if bag.fcurves.find(curve.data_path, index=curve.array_index) is None:
            new = bag.fcurves.new(curve.data_path, index=curve.array_index)
            load("rig.animation.keys").Keys.read(curve).write(new)
    refs = join.ClipRef(one, POP), join.ClipRef(two, POP)
    return armature, join.join(armature, *refs, splice.Blend(0.0, "CUT"), root="NONE").action


@pytest.mark.every_blender
@pytest.mark.parametrize("modes", [(mode,) for mode in scenes.MODES], ids="+".join)
def test_pops_are_found(modes) -> None:
    armature, action = popping(modes)
    found = pops.find(armature, action)
    assert found and {pop.frame for pop in found} == {POP}
    assert {"upper_arm.L", "neck"} <= {pop.bone for pop in found} <= {"chest", "neck", "head", "upper_arm.L"}
    strengths = [pop.strength for pop in found]
    assert strengths == sorted(strengths, reverse=True) and strengths[-1] > pops.OUTLIER


def test_a_smooth_clip_has_none() -> None:
    armature = character()
    action = walk(armature, "Walk")
    assert not pops.find(armature, action)
    assert not pops.find(armature, action, 5, 7)


def test_a_fast_blow_is_none() -> None:
    """Speeding up over a few frames and slowing down again is how things move."""
    armature = character()
    frames = np.arange(1.0, 41.0)
    clip = clips.Clip(armature, frames)
    channel = animated.transform(armature, "upper_arm.L", "rotation")
    angle = 2.0 / (1.0 + np.exp(-(frames - 20.0) / 1.2))
    clip.raw[channel] = np.stack((np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle), axis=-1)
    assert np.diff(angle).max() > 0.3 and not pops.detect(clip)
    turned = angle + 0.3 * (frames >= 30.0)
    leaping = clips.Clip(armature, frames)
    leaping.raw[channel] = np.stack((np.cos(turned / 2), np.sin(turned / 2), 0 * angle, 0 * angle), axis=-1)
    assert [(pop.frame, pop.bone) for pop in pops.detect(leaping)] == [(30.0, "upper_arm.L")]


@pytest.mark.every_blender
@pytest.mark.parametrize("modes", [*((mode,) for mode in scenes.MODES), scenes.MODES], ids="+".join)
def test_smoothing_moves_only_the_blend(modes) -> None:
    armature, action = popping(modes)
    rows = list(range(1, POP)), list(range(POP, 42))
    before = [poses(armature, action, frames) for frames in rows]
    kept = stored(armature, action, rows[0])
    seconds = pops.smooth(armature, action, POP, splice.Blend(0.25)).seconds
    assert seconds == 0.25
    for key, values in stored(armature, action, rows[0]).items():
        np.testing.assert_array_equal(values, kept[key])
    after = [poses(armature, action, frames) for frames in rows]
    np.testing.assert_array_equal(after[0], before[0])
    end = 6 - 1
    np.testing.assert_allclose(after[1][end:], before[1][end:], atol=1e-6)
    assert not pops.find(armature, action)
    legs = [n for n, bone in enumerate(armature.pose.bones) if bone.name in ("thigh.L", "thigh.R", "hips")]
    np.testing.assert_array_equal(after[1][:, legs], before[1][:, legs])


def test_length_of_its_own_and_bones_by_name() -> None:
    armature, action = popping()
    kept = stored(armature, action, range(1, 42))
    seconds = pops.smooth(armature, action, POP, bones=["neck"]).seconds
    assert 0.1 <= seconds <= 0.6
    changed = {key[0] for key, values in stored(armature, action, range(1, 42)).items() if np.any(values != kept[key])}
    assert changed == {'pose.bones["neck"].rotation_quaternion'}


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (1, {}, "outside the keys"),
        (50, {}, "outside the keys"),
        (40, {"blend": splice.Blend(1.0)}, "longer than"),
        (POP, {"bones": ["hand.L"]}, "does not animate the bones"),
    ],
)
def test_bad_input(frame, options, words) -> None:
    armature, action = popping()
    before = scenes.snapshot()
    with pytest.raises(RigError, match=words):
        pops.smooth(armature, action, frame, **options)
    assert not scenes.differences(before, scenes.snapshot())


def test_keys_under_a_modifier_are_left_alone() -> None:
    armature, action = popping()
    use(armature, action)
    curve = actions.channelbag(action, action.slots[0]).fcurves.find('pose.bones["neck"].rotation_quaternion', index=1)
    curve.modifiers.new("NOISE")
    with pytest.raises(RigError, match="modifier"):
        pops.smooth(armature, action, POP, splice.Blend(0.2), bones=["neck"])
    assert bpy.context.scene is not None


def test_tweak_mode_is_reported() -> None:
    armature, action = popping()
    tweak(armature, action)
    before = scenes.snapshot()
    with pytest.raises(RigError, match="tweak mode"):
        pops.smooth(armature, action, POP)
    assert not scenes.differences(before, scenes.snapshot())


def test_messages_of_the_operator_name_the_users_action() -> None:
    """It works on a copy until all is done."""
    armature, action = popping()
    use(armature, action)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    for options in ({"frame": 50}, {"frame": 40, "use_auto_blend": False, "blend": 1.0}):
        with pytest.raises(RuntimeError, match=f"'{action.name}'"):
            bpy.ops.lookat_pd.smooth_pop(where="FRAME", **options)


def test_the_keys_of_a_linked_action_stay_and_a_copy_is_smoothed(tmp_path) -> None:
    """What is written into linked data is gone when the file is opened again."""
    armature, action = popping()
    path, name = str(tmp_path / "clip.blend"), action.name
    bpy.data.libraries.write(path, {action})
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = [name]
    use(armature, into.actions[0])
    bpy.context.view_layer.objects.active = armature
    before = scenes.poses(armature, range(1, 41))
    with pytest.raises(RuntimeError, match="linked from a library"):
        bpy.ops.lookat_pd.smooth_pop(where="FRAME", frame=POP, into="CURRENT")
    np.testing.assert_array_equal(scenes.poses(armature, range(1, 41)), before)
    assert bpy.ops.lookat_pd.smooth_pop(where="FRAME", frame=POP, into="NEW") == {"FINISHED"}
    assert armature.animation_data.action.library is None
