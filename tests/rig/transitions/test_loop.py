"""A looped clip: its last pose is its first, with no kink between, and it travels on."""

import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, key_still, poses, stored, tweak, walk

actions = load("rig.animation.actions")
join = load("rig.transitions.join")
loop = load("rig.transitions.loop")
root_motion = load("rig.transitions.root_motion")
splice = load("rig.transitions.splice")
RigError = load("lookat_pd.errors").RigError

MODES = [*((mode,) for mode in scenes.MODES), scenes.MODES]


def hips(armature):
    return [bone.name for bone in armature.pose.bones].index("hips")


@pytest.mark.slow
@pytest.mark.parametrize("modes", MODES, ids="+".join)
@pytest.mark.parametrize("turn", [0.0, 0.02])
def test_in_place_the_first_pose_is_the_last(modes, turn) -> None:
    armature = character(modes)
    action = walk(armature, "Walk", seed=2, turn=turn, heading=0.4)
    before = scenes.curves(action)
    result = loop.loop(armature, action, 3, 35, in_place=True)
    assert not scenes.differences(before, scenes.curves(action))
    assert (result.first, result.last) == (3, 35) and result.cycles and result.turn == 0.0
    found = poses(armature, result.action, (2, 3, 4, 34, 35, 36))
    np.testing.assert_allclose(found[1], found[4], atol=2e-5)
    # The Cycles modifiers go on: a frame after the end is a frame after the start.
    np.testing.assert_allclose(found[2], found[5], atol=2e-4)
    np.testing.assert_allclose(found[0], found[3], atol=2e-4)
    ways = np.diff(poses(armature, result.action, range(1, 60))[:, :, :3, 3], 2, axis=0)
    assert np.median(np.linalg.norm(ways, axis=-1), axis=1)[31:36].max() < 0.06


@pytest.mark.every_blender
@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_travel_is_kept_and_goes_on(modes) -> None:
    armature = character(modes)
    action = walk(armature, "Walk", seed=3, heading=0.3)
    result = loop.loop(armature, action)
    n = hips(armature)
    found = poses(armature, result.action, (1, 41, 81))
    way = found[1, n, :3, 3] - found[0, n, :3, 3]
    assert np.linalg.norm(way) > 1.0
    if result.cycles:
        np.testing.assert_allclose(found[2, n, :3, 3] - found[1, n, :3, 3], way, atol=1e-4)
    moved = found[1] @ np.linalg.inv(found[0])
    names = [bone.name for bone in armature.pose.bones]
    body = [names.index(name) for name in names if name != "root"]
    np.testing.assert_allclose(moved[body], np.broadcast_to(moved[n], moved[body].shape), atol=5e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_the_middle_stays(modes) -> None:
    armature = character(modes)
    action = walk(armature, "Walk", seed=3)
    loop.loop(armature, action, blend=splice.Blend(0.25))
    result = loop.loop(armature, action, blend=splice.Blend(0.25))
    middle = range(8, 35)
    np.testing.assert_allclose(poses(armature, result.action, middle), poses(armature, action, middle), atol=2e-5)


@pytest.mark.parametrize("ends", ["START", "END"])
def test_one_end_may_stay_as_it_is(ends) -> None:
    armature = character()
    action = walk(armature, "Walk", seed=3)
    result = loop.loop(armature, action, blend=splice.Blend(0.4), ends=ends, in_place=False)
    stays = range(1, 22) if ends == "END" else range(22, 42)
    np.testing.assert_allclose(poses(armature, result.action, stays), poses(armature, action, stays), atol=2e-5)
    found = poses(armature, result.action, (1, 41))
    moved = found[1] @ np.linalg.inv(found[0])
    body = [bone != "root" for bone in armature.pose.bones.keys()]
    np.testing.assert_allclose(moved[body], np.broadcast_to(moved[hips(armature)], moved[body].shape), atol=5e-5)
    assert loop.loop(armature, action, blend=splice.Blend(0.4), ends=ends, in_place=True).cycles
    cycles = loop.loop(armature, action, blend=splice.Blend(0.4), ends=ends, in_place=True).action
    ways = np.diff(poses(armature, cycles, range(30, 60))[:, :, :3, 3], 2, axis=0)
    assert np.median(np.linalg.norm(ways, axis=-1), axis=1)[8:14].max() < 0.06


def test_switches_and_channels_stay_as_they_are() -> None:
    armature = character()
    action = walk(armature, "Walk", seed=3)
    result = loop.loop(armature, action, cycles=False, assign=False, name="Cycle")
    assert result.action.name == "Cycle" and armature.animation_data.action == action
    assert set(stored(armature, action, ())) == set(stored(armature, result.action, ()))
    bag = actions.channelbag(result.action, result.slot)
    assert not any(len(curve.modifiers) for curve in bag.fcurves)


def test_heading_is_the_shorter_arc() -> None:
    up = np.array([0.0, 0.0, 1.0])
    assert abs(root_motion.heading(up, np.array([-1.0, 0.0, 0.0, -1e-9]))) < 1e-6
    assert abs(root_motion.heading(up, np.array([-np.cos(0.2), 0.0, 0.0, -np.sin(0.2)])) - 0.4) < 1e-9


def test_part_of_a_placement() -> None:
    rotation = load("lookat_pd.rotation")
    up = np.array([0.0, 0.0, 1.0])
    whole = root_motion.Placement(rotation.exp(1.2 * up), np.array([1.0, -2.0, 0.3]))
    half = root_motion.part(whole, up, 0.5)
    twice = rotation.rotate(half.rotation, half.translation) + half.translation
    np.testing.assert_allclose(twice, whole.translation, atol=1e-12)
    back = root_motion.part(whole, up, -1.0)
    np.testing.assert_allclose(back.translation, root_motion.inverse(whole).translation, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first": 5, "last": 7}, "too short"),
        ({"first": -3}, "are outside the keys of 'Walk', frames 1 to 41"),
        ({"last": 50}, "are outside the keys"),
        ({"first": 60}, "are outside the keys"),
        ({"blend": splice.Blend(5.0)}, "half"),
    ],
)
def test_bad_input(options, words) -> None:
    armature = character()
    action = walk(armature, "Walk")
    before = scenes.snapshot()
    with pytest.raises(RigError, match=words):
        loop.loop(armature, action, **options)
    assert not scenes.differences(before, scenes.snapshot())


def test_tweak_mode_is_reported_before_anything_is_made() -> None:
    armature = character()
    action = walk(armature, "Walk")
    tweak(armature, action)
    before = scenes.snapshot()
    with pytest.raises(RigError, match="tweak mode"):
        loop.loop(armature, action)
    assert not scenes.differences(before, scenes.snapshot())
    assert loop.loop(armature, action, assign=False).action.name == "Walk loop"


def test_travel_below_a_still_root_with_keys() -> None:
    """The root stays where it is, and the loop is the same as without its keys."""
    armature = character()
    action = walk(armature, "Walk", seed=3, heading=0.3)
    expected = poses(armature, loop.loop(armature, action, name="Expected").action, range(1, 42, 4))
    key_still(armature, action, "root", (1, 41))
    result = loop.loop(armature, action)
    np.testing.assert_allclose(poses(armature, result.action, range(1, 42, 4)), expected, atol=2e-4)


def test_keys_that_end_between_frames() -> None:
    """The loop ends within the clip: no pose is held, at the last frame or at the first."""
    armature = character()
    action = walk(armature, "Walk", every=1, speed=(0, -0.1, 0), size=0.0)
    for curve in actions.channelbag(action, action.slots[0]).fcurves:
        for point in curve.keyframe_points:
            point.co.x = 0.48 * point.co.x
        curve.update()
    result = loop.loop(armature, action)
    assert (result.first, result.last) == (1, 19)
    n = hips(armature)
    way = np.linalg.norm(np.diff(poses(armature, result.action, range(1, 20))[:, n, :3, 3], axis=0), axis=-1)
    assert way.min() > 0.9 * way.max()
