"""Kept keys of a join: those of the clips wherever their motion is theirs, moved with them, and the same motion."""

import bpy
import numpy as np
import pytest

from extension import load
from grids import diagonal

from .motions import character, poses, walk

actions = load("rig.animation.actions")
join = load("rig.transitions.join")
key_writer = load("rig.animation.key_writer")
keys = load("rig.animation.keys")
locomotion = load("rig.transitions.locomotion")
loop = load("rig.transitions.loop")
splice = load("rig.transitions.splice")
KeyWriter = key_writer.KeyWriter

CUT, ENTER, BLEND = 21, 9, 6
SHIFT = CUT - ENTER
MODES = (("QUATERNION",), ("XYZ",), ("AXIS_ANGLE", "ZYX", "QUATERNION"))
PRECISE = 2e-5
"""Of poses, whose numbers have single precision."""


def pair(modes=("QUATERNION",)):
    armature = character(modes)
    run = walk(armature, "Run", seed=1, heading=0.5, speed=(0.0, -0.1, 0.0))
    stroll = walk(armature, "Stroll", seed=2, speed=(0.0, -0.04, 0.0))
    bpy.context.scene.render.fps = 24
    return armature, run, stroll


def joined(clips, mode: str, root: str = "NONE", blend: float = BLEND / 24, **options):
    armature, run, stroll = clips
    writer = KeyWriter(mode)
    refs = join.ClipRef(run, CUT), join.ClipRef(stroll, ENTER)
    options = {"lock_feet": False, "assign": False, "name": mode, **options}
    return join.join(armature, *refs, splice.Blend(blend), root=root, writer=writer, **options), writer.count


def curves(result) -> dict:
    return {(c.data_path, c.array_index): c for c in actions.curves(result.action, result.slot)}


def count(result) -> int:
    return sum(len(curve.keyframe_points) for curve in curves(result).values())


@pytest.mark.parametrize("modes", MODES, ids="+".join)
def test_keys_outside_the_blend_are_those_of_the_clips(modes) -> None:
    """Frames, values, handles, interpolation and types, two segments away from where the clips are cut."""
    clips = pair(modes)
    result, _ = joined(clips, key_writer.KEEP)
    compared = 0
    for clip, shift, (first, last) in ((clips[1], 0, (-99, CUT - 1)), (clips[2], SHIFT, (CUT + BLEND, 99))):
        for curve in actions.curves(clip, clip.slots[0]):
            made = curves(result).get((curve.data_path, curve.array_index))
            was = keys.Keys.read(curve)
            whole = [n for n, frame in enumerate(was.frames + shift) if first <= frame <= last]
            # Beside the borders handles are free.
            whole = whole[:-1] if shift == 0 else whole[1:]
            now = keys.Keys.read(made)
            at = [int(np.argmin(np.abs(now.frames - frame - shift))) for frame in was.frames[whole]]
            moved = was[np.array(whole, dtype=int)]
            for name in ("co", "handle_left", "handle_right"):
                moved.attributes[name][:, 0] += shift
            for name in ("interpolation", "easing", "type", "back", "amplitude", "period", "handle_left_type"):
                np.testing.assert_array_equal(now.attributes[name][at], moved.attributes[name])
            if shift == 0:
                np.testing.assert_array_equal(now.attributes["co"][at], moved.attributes["co"])
                for name in ("handle_left", "handle_right"):
                    # Blender places those of automatic types anew.
                    np.testing.assert_allclose(now.attributes[name][at], moved.attributes[name], rtol=1e-6, atol=1e-7)
            else:
                # A quaternion may have the other sign there, an angle a turn more.
                np.testing.assert_allclose(now.attributes["co"][at][:, 0], moved.attributes["co"][:, 0], atol=1e-5)
            compared += len(whole)
    assert compared > 100


def test_quaternions_of_another_length_keep_their_keys() -> None:
    clips = pair()
    few = count(joined(clips, key_writer.KEEP)[0])
    for clip in clips[1:]:
        for curve in actions.curves(clip, clip.slots[0]):
            if curve.data_path.endswith("rotation_quaternion"):
                scaled = keys.Keys.read(curve)
                for name in ("co", "handle_left", "handle_right"):
                    scaled.attributes[name][:, 1] *= 0.7
                scaled.write_as_is(curve)
    assert count(joined(clips, key_writer.KEEP)[0]) <= few


@pytest.mark.thorough
@diagonal(root=["NONE", "POSITION", "HEADING", "ALL"], modes=MODES)
def test_the_motion_is_that_of_a_key_at_every_frame(modes, root) -> None:
    clips = pair(modes)
    kept, counted = joined(clips, key_writer.KEEP, root)
    every, _ = joined(clips, key_writer.EVERY_FRAME, root)
    fitted, fit = joined(clips, key_writer.FITTED, root)
    frames = range(every.first, every.last + 1)
    wanted = poses(clips[0], every.action, frames)
    np.testing.assert_allclose(poses(clips[0], kept.action, frames), wanted, atol=PRECISE)
    assert count(kept) == counted.keys < 0.75 * counted.every_frame and counted.every_frame == count(every)
    assert count(fitted) == fit.keys < 0.75 * fit.every_frame
    assert 0.0 < fit.angle <= np.radians(0.1) and fit.distance <= 0.001
    # A chain of nine bones adds up.
    np.testing.assert_allclose(poses(clips[0], fitted.action, frames), wanted, atol=9 * 0.002)


def test_between_the_frames_the_clips_are_seen() -> None:
    clips = pair()
    result, _ = joined(clips, key_writer.KEEP)
    for clip, shift, times in (
        (clips[1], 0, np.arange(1.0, CUT - 1.0, 0.125)),
        (clips[2], SHIFT, np.arange(CUT + BLEND + 1.0, result.last, 0.125)),
    ):
        for curve in actions.curves(clip, clip.slots[0]):
            made = curves(result)[curve.data_path, curve.array_index]
            here = np.array([made.evaluate(time) for time in times])
            there = np.array([curve.evaluate(time - shift) for time in times])
            np.testing.assert_allclose(np.abs(here), np.abs(there), atol=2e-6 * max(1.0, np.abs(there).max()))


def test_a_turned_root_keeps_its_keys() -> None:
    """The numbers of location and rotation are mixed by the placement, with all handles."""
    armature, run, stroll = pair()
    result, _ = joined((armature, run, stroll), key_writer.KEEP, "HEADING")
    own = {c.data_path: len(c.keyframe_points) for c in actions.curves(stroll, stroll.slots[0])}
    for path in ('pose.bones["hips"].location', 'pose.bones["hips"].rotation_quaternion'):
        after = [p for p in curves(result)[path, 1].keyframe_points if p.co.x > CUT + BLEND + 1]
        assert len(after) <= own[path] + 2


@pytest.mark.parametrize("mode", [key_writer.KEEP, key_writer.FITTED])
def test_the_action_is_as_long_as_the_join(mode) -> None:
    """Also where clips begin and end between frames."""
    clips = pair()
    for clip in clips[1:]:
        for curve in actions.curves(clip, clip.slots[0]):
            for point in curve.keyframe_points:
                point.co.x += 0.4
            curve.update()
    result, _ = joined(clips, mode)
    assert tuple(result.action.curve_frame_range) == (result.first, result.last)


def test_keys_between_frames_stay() -> None:
    """Also where there are more of them than frames, as of a clip that was made for a higher frame rate."""
    clips = pair()
    curve = actions.channelbag(clips[1], clips[1].slots[0]).fcurves.find('pose.bones["hips"].location', index=0)
    times = np.arange(1.0, 41.0, 0.625)
    made = keys.Keys.dense(times, np.array([curve.evaluate(time) for time in times]))
    made.write(curve)
    result, _ = joined(clips, key_writer.KEEP)
    kept = {point.co.x for point in curves(result)[curve.data_path, 0].keyframe_points}
    assert {time for time in times if time < CUT - 2} <= kept


@pytest.mark.thorough
@pytest.mark.parametrize("mode", [key_writer.KEEP, key_writer.FITTED])
@pytest.mark.parametrize("off", [-0.004, -2e-5, 2e-5, 0.004])
def test_keys_beside_whole_frames(mode, off) -> None:
    """As importers make them; Blender merges keys that are that close to each other."""
    clips = pair()
    for clip in clips[1:]:
        for curve in actions.curves(clip, clip.slots[0]):
            frames = np.arange(1.0, 42.0) + off
            keys.Keys.dense(frames, np.array([curve.evaluate(time) for time in frames])).write(curve)
    result, _ = joined(clips, mode, "HEADING")
    every, _ = joined(clips, key_writer.EVERY_FRAME, "HEADING")
    frames = range(every.first, every.last + 1)
    atol = 1e-4 if mode == key_writer.KEEP else 9 * 0.002
    np.testing.assert_allclose(poses(clips[0], result.action, frames), poses(clips[0], every.action, frames), atol=atol)


def test_a_curve_that_eases_is_keyed_where_it_is_divided() -> None:
    clips = pair()
    for curve in actions.curves(clips[1], clips[1].slots[0]):
        for point in curve.keyframe_points:
            point.interpolation = "BOUNCE"
    frames = range(1, 30)
    kept, _ = joined(clips, key_writer.KEEP)
    every, _ = joined(clips, key_writer.EVERY_FRAME)
    np.testing.assert_allclose(
        poses(clips[0], kept.action, frames), poses(clips[0], every.action, frames), atol=PRECISE
    )
    kinds = {p.interpolation for curve in curves(kept).values() for p in curve.keyframe_points}
    assert "BOUNCE" in kinds


@pytest.mark.parametrize("mode", [key_writer.KEEP, key_writer.FITTED])
def test_a_loop_has_keys_at_its_ends_and_closes(mode) -> None:
    armature, run, _ = pair()
    made = loop.loop(armature, run, 3, 33, splice.Blend(0.2), in_place=True, lock_feet=False, writer=KeyWriter(mode))
    for curve in curves(made).values():
        assert (curve.keyframe_points[0].co.x, curve.keyframe_points[-1].co.x) == (3.0, 33.0)
        assert curve.keyframe_points[0].co.y == pytest.approx(curve.keyframe_points[-1].co.y, abs=1e-6)
    seen = poses(armature, made.action, [3, 33, 63])
    np.testing.assert_allclose(seen[1:], seen[:1].repeat(2, axis=0), atol=PRECISE)


def test_a_clip_in_place_keeps_its_keys() -> None:
    """Evenly removed travel is added to the keys of the root."""
    armature, run, _ = pair()
    writer = KeyWriter(key_writer.KEEP)
    made = locomotion.in_place(bpy.context.scene, armature, run, writer=writer)
    assert count(made) < 1.3 * sum(len(c.keyframe_points) for c in actions.curves(run, run.slots[0]))
    every = locomotion.in_place(bpy.context.scene, armature, run, writer=KeyWriter())
    frames = range(made.first, made.last + 1)
    np.testing.assert_allclose(
        poses(armature, made.action, frames), poses(armature, every.action, frames), atol=PRECISE
    )


@pytest.mark.parametrize("mode", [key_writer.KEEP, key_writer.FITTED])
def test_a_join_that_fails_while_keys_are_chosen_leaves_nothing(mode, monkeypatch) -> None:
    clips = pair()
    before = {action.name for action in bpy.data.actions}
    monkeypatch.setattr(keys.Keys, "write_as_is", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        joined(clips, mode)
    assert {action.name for action in bpy.data.actions} == before
