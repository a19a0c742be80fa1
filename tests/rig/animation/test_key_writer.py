"""Which keys are written: kept ones are those that were there, fitted ones are within the errors that they state."""

import itertools

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .test_keys import INTERPOLATIONS, new_curve, values

actions = load("rig.animation.actions")
bake_transaction = load("rig.animation.bake_transaction")
channels = load("rig.animation.channels")
key_writer = load("rig.animation.key_writer")
keys = load("rig.animation.keys")
rotation = load("lookat_pd.rotation")

ALL = np.arange(-30.0, 75.0, 0.25)
FRAMES = np.arange(-20.0, 61.0)
CHANGED = slice(24, 45)
"""Indices of the frames that a bake changes."""


def motion(curve, new, frames=FRAMES, **more):
    return key_writer.ChannelMotion(
        "[]", frames, new[:, None], [keys.Keys.read(curve)], [curve.evaluate], [(False, False)], **more
    )


@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
@pytest.mark.parametrize("kinds", [*((kind,) for kind in INTERPOLATIONS), INTERPOLATIONS], ids=lambda kinds: kinds[0])
def test_kept_keys_are_those_outside_what_changes(kinds, extrapolation) -> None:
    """Bit for bit, but for the segments that a change divides, which keep their shape."""
    curve = new_curve(kinds, ("FREE", "ALIGNED", "VECTOR"), extrapolation)
    was, before = keys.Keys.read(curve), values(curve, ALL)
    new = values(curve, FRAMES)
    new[CHANGED] += 0.3 * np.sin(np.arange(len(new[CHANGED])))
    writer = key_writer.KeyWriter(key_writer.KEEP)
    (made,) = writer.keys(motion(curve, new))
    first, last = FRAMES[CHANGED][[0, -1]]
    outside = np.flatnonzero((was.frames < first) | (was.frames > last))
    # Beside a divided segment, handles are free.
    whole = outside[(was.frames[np.minimum(outside + 1, len(was) - 1)] < first) | (outside > 0)]
    whole = [
        n
        for n in whole
        if not any(
            was.frames[n] <= edge <= was.frames[min(n + 1, len(was) - 1)]
            or was.frames[max(n - 1, 0)] <= edge <= was.frames[n]
            for edge in (first - 1.0, last + 1.0)
        )
    ]
    at = [int(np.flatnonzero(made.frames == was.frames[n])[0]) for n in whole]
    assert len(whole) >= 2
    assert made.attributes[at].tobytes() == was.attributes[list(whole)].tobytes()
    made.write(curve)
    assert values(curve, FRAMES) == pytest.approx(new, abs=2e-4)
    divisible = {"CONSTANT", "LINEAR", "BEZIER"}.issuperset(kinds)
    same = (first - 1.0 >= ALL) | (last + 1.0 <= ALL)
    if divisible and extrapolation == "CONSTANT":
        # As for the replacement of a stretch.
        assert values(curve, ALL[same]) == pytest.approx(before[same], abs=5e-4)
    assert writer.count.keys == len(made) < writer.count.every_frame


@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
def test_frames_beside_a_change_at_an_end_stay(extrapolation) -> None:
    """Up to the first or last frame, and where one frame before or behind the change is left, between keys."""
    frames = np.arange(-25.0, 66.0)
    for span in (slice(0, 9), slice(1, 9), slice(-9, -1), slice(-9, None), slice(1, -1), slice(-2, -1), slice(1, 2)):
        curve = new_curve(("BEZIER", "LINEAR"), ("FREE", "VECTOR"), extrapolation)
        new = values(curve, frames)
        new[span] += 0.3 + 0.2 * np.sin(np.arange(len(new[span])))
        (made,) = key_writer.KeyWriter(key_writer.KEEP).keys(motion(curve, new, frames))
        assert frames[0] <= made.frames[0] and made.frames[-1] <= frames[-1], "no longer than it was"
        made.write(curve)
        assert values(curve, frames) == pytest.approx(new, abs=2e-4), span


def linear(mode: str, frames: np.ndarray, new: np.ndarray, at: np.ndarray, old: np.ndarray, **more):
    """What is to be in a channel at frames that has straight curves through `old` numbers at the frames `at`."""
    curves = [keys.Keys.dense(at, column) for column in old.T]
    evaluate = [lambda frame, column=column: float(np.interp(frame, at, column)) for column in old.T]
    edges = [(False, False)] * old.shape[1]
    return key_writer.ChannelMotion(mode, frames, new, curves, evaluate, edges, **more)


def test_the_length_of_a_quaternion_is_no_change() -> None:
    at, frames = np.array([1.0, 41.0]), np.arange(1.0, 42.0)
    ends = rotation.exp(np.array([(0.0, 0.0, 0.0), (1.0, 0.5, 2.0)]))
    between = np.stack([np.interp(frames, at, column) for column in ends.T], axis=1)
    new = rotation.normalize(between)
    assert np.abs(new - between).max() > 0.05
    made = key_writer.KeyWriter(key_writer.KEEP).keys(linear("QUATERNION", frames, new, at, ends))
    assert [list(curve.frames) for curve in made] == [[1.0, 41.0]] * 4


def test_what_is_between_whole_frames_is_keyed_with_those_beside_it() -> None:
    at, old = np.array([1.0, 41.0]), np.array([[0.0], [4.0]])
    frames = np.array([*np.arange(1.0, 21.0), 20.5, *np.arange(21.0, 42.0)])
    new = np.interp(frames, at, old[:, 0])[:, None]
    (made,) = key_writer.KeyWriter(key_writer.KEEP).keys(linear("[]", frames, new, at, old))
    assert list(made.frames) == [1.0, 19.0, 20.0, 20.5, 21.0, 22.0, 41.0]


def test_fitted_numbers_are_near_too_where_angles_do_not_show_it() -> None:
    """With the middle angle at 90 degrees the two others turn about one axis, against each other."""
    frames, wave = np.arange(1.0, 81.0), np.sin(np.arange(80.0) / 6.0)
    new = np.stack((wave, np.full(80, 0.5 * np.pi), wave), axis=1)
    made = key_writer.KeyWriter(key_writer.FITTED, angle=0.01).keys(linear("XYZ", frames, new, frames, new))
    assert len(made[0]) < 60
    armature = scenes.figure()
    action, slot = actions.new_action("Fitted", armature)
    bag = actions.channelbag(action, slot, ensure=True)
    for n, curve in enumerate(made):
        written = bag.fcurves.new("rotation_euler", index=n)
        curve.write(written)
        assert np.abs(values(written, frames) - new[:, n]).max() < 0.0101


def test_fitted_places_are_near_in_metres() -> None:
    """Whatever the unit: as many keys, and the same error is told."""
    frames, times = np.arange(1.0, 81.0), np.arange(80.0) / 9.0
    way = np.stack((np.sin(times), np.cos(1.7 * times), 0.3 * times), axis=1)
    told = []
    for metre in (1.0, 0.01, 25.4):
        writer = key_writer.KeyWriter(key_writer.FITTED, distance=0.02)
        writer.keys(linear(channels.LOCATION, frames, way / metre, frames, way / metre, metre=metre))
        told.append((writer.count.keys, round(writer.count.distance, 6)))
    assert told[0] == told[1] == told[2] and 0.005 < told[0][1] <= 0.02


def test_what_does_not_change_keeps_all_keys() -> None:
    curve = new_curve(INTERPOLATIONS, ("FREE", "AUTO_CLAMPED", "AUTO"))
    was = keys.Keys.read(curve)
    (made,) = key_writer.KeyWriter(key_writer.KEEP).keys(motion(curve, values(curve, FRAMES)))
    assert made.attributes.tobytes() == was.attributes.tobytes()


def posed(mode: str, count: int = 120):
    """Channel values of a bone that turns smoothly and far, in a rotation mode."""
    times = np.arange(count) / 30.0
    vectors = np.stack((2.0 * np.sin(times), 1.2 * np.sin(1.7 * times + 1.0), 0.8 * np.cos(2.3 * times)), axis=1)
    return channels.of_rotations(rotation.exp(vectors), mode), rotation.exp(vectors)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", scenes.MODES)
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_fitted_bake_is_within_the_angle_that_it_states(mode, into) -> None:
    armature = scenes.figure()
    scenes.animate(armature)
    bone = armature.pose.bones["chest"]
    bone.rotation_mode = mode
    frames = np.arange(1.0, 121.0)
    raw, turns = posed(mode)
    writer = key_writer.KeyWriter(key_writer.FITTED, np.radians(0.5))
    path, size = actions.rotation_path("chest", mode), raw.shape[1]
    keyed = actions.curves_at(armature.animation_data.action, armature.animation_data.action_slot, path, size)
    base = np.tile(channels.at_rest(mode), (len(frames), 1))
    if keyed[0] is not None:
        base = np.stack([values(curve, frames) for curve in keyed], axis=1)
    with bake_transaction.BakeTransaction(armature) as work:
        work.write("chest", mode, frames, raw, base)
        action = work.commit(into, "Fitted", writer)
    slot = action.slots[0]
    curves = actions.curves_at(action, slot, path, size)
    assert len({tuple(point.co.x for point in curve.keyframe_points) for curve in curves}) == 1
    assert len(curves[0].keyframe_points) < 60
    seen = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        seen.append(np.array(bone.matrix_basis.to_quaternion()))
    away = rotation.distance(np.array(seen), turns)
    assert away.max() <= np.radians(0.5) + 1e-5
    assert writer.count.angle <= np.radians(0.5) and away.max() <= writer.count.angle + 1e-4
    told = str(writer.count.told())
    assert f"{writer.count.keys:,} keys instead of {writer.count.every_frame:,}" in told and "°" in told


@pytest.mark.parametrize(("keying", "into"), [*itertools.product(["KEEP", "FITTED"], ["NEW", "CURRENT"])])
def test_the_keys_before_and_after_a_bake_stay(keying, into) -> None:
    armature = scenes.figure()
    source = scenes.animate(armature)
    path = actions.rotation_path("chest", armature.pose.bones["chest"].rotation_mode)
    mode = armature.pose.bones["chest"].rotation_mode
    slot = armature.animation_data.action_slot
    olds = actions.curves_at(source, slot, path, channels.channel(mode)[1])
    first, last = (int(edge) for edge in source.curve_frame_range)
    frames = np.arange(first + 6.0, first + 12.0)
    outside = np.concatenate((np.arange(first, first + 5.0, 0.25), np.arange(first + 12.0, last + 1.0, 0.25)))
    before = [values(curve, outside) for curve in olds]
    base = np.stack([values(curve, frames) for curve in olds], axis=1)
    turned = channels.turned(base, mode, np.tile(rotation.exp(np.array([0.0, 0.0, 0.4])), (len(frames), 1)))
    with bake_transaction.BakeTransaction(armature) as work:
        work.write("chest", mode, frames, turned, base)
        action = work.commit(into, "Kept", key_writer.KeyWriter(keying))
    curves = actions.curves_at(action, armature.animation_data.action_slot, path, channels.channel(mode)[1])
    for curve, was in zip(curves, before, strict=True):
        assert values(curve, outside) == pytest.approx(was, abs=1e-6)


def test_rotations_of_many_bones_are_fitted_quickly() -> None:
    """60 bones over 500 frames, in a small multiple of the time in which their numbers are turned into rotations."""
    raw, _ = posed("QUATERNION", 500)
    curves = [lambda frame: 0.0] * 4

    def one() -> None:
        writer.keys(
            key_writer.ChannelMotion(
                "QUATERNION", np.arange(500.0), raw, [keys.Keys.read(None)] * 4, curves, [(False, False)] * 4
            )
        )

    writer = key_writer.KeyWriter(key_writer.FITTED)
    one()
    assert writer.count.keys < 0.2 * writer.count.every_frame
