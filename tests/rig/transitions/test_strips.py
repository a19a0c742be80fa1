"""Transitions in the NLA: read as Blender plays them, with a strip of its own that blends two others."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, use, walk

clips = load("rig.transitions.clips")
actions = load("rig.animation.actions")
splice = load("rig.transitions.splice")
strips = load("rig.transitions.strips")
RigError = load("lookat_pd.errors").RigError

SMALL = 2e-5


def place(armature, action, start, height=None, **settings):
    """A strip on a new track, or on the one at that height."""
    data = armature.animation_data_create() if armature.animation_data is None else armature.animation_data
    track = data.nla_tracks.new() if height is None else data.nla_tracks[height]
    strip = track.strips.new(action.name, int(start), action)
    strip.action_slot = actions.find_slot(armature, action)
    for name, value in settings.items():
        setattr(strip, name, value)
    return strip


def stage(modes=("QUATERNION",), **second):
    """Two strips on two tracks, the second from frame 30 on."""
    armature = character(modes)
    one, two = walk(armature, "One", seed=1), walk(armature, "Two", seed=2)
    use(armature, None)
    a = place(armature, one, 1, extrapolation="HOLD_FORWARD")
    b = place(armature, two, 30, **{"extrapolation": "HOLD_FORWARD", **second})
    return armature, a, b


SECONDS = [
    {},
    {"scale": 0.7},
    {"repeat": 2.0},
    {"use_reverse": True},
    {"scale": 1.3, "repeat": 1.5, "use_reverse": True},
    {"action_frame_start": 9.0},
]


@pytest.mark.every_blender
@pytest.mark.parametrize("modes", [("QUATERNION",), scenes.MODES], ids=["QUATERNION", "all"])
@pytest.mark.parametrize("second", SECONDS, ids=str)
def test_transition_between_two_tracks(second, modes) -> None:
    armature, a, b = stage(modes, **second)
    frames = range(20, 60)
    hard = scenes.poses(armature, frames)
    strip_data = [scenes.plain(strip) for strip in (a, b)]
    before = {action.name: scenes.curves(action) for action in (a.action, b.action)}
    made = strips.join(armature, a, b, splice.Blend(0.25))
    soft = scenes.poses(armature, frames)
    assert (made.first, made.blend) == (30, 0.25) and made.last == 30 + 6
    np.testing.assert_allclose(soft[:10], hard[:10], atol=SMALL)
    np.testing.assert_allclose(soft[15:], hard[15:], atol=SMALL)
    ways = [np.linalg.norm(np.diff(poses[8:12, :, :3, 3], 2, axis=0)[1], axis=-1) for poses in (soft, hard)]
    assert np.median(ways[0]) < 0.25 * np.median(ways[1])
    assert strip_data == [scenes.plain(strip) for strip in (a, b)]
    assert not scenes.differences(before, {action.name: scenes.curves(action) for action in (a.action, b.action)})


def smoothness(soft, hard, cut):
    """The acceleration of the bones at the cut, as a part of that without a transition."""
    after = [
        np.linalg.norm(np.diff(poses[cut - 2 : cut + 2, :, :3, 3], 2, axis=0)[1], axis=-1) for poses in (soft, hard)
    ]
    return np.median(after[0]) / np.median(after[1])


LAYERS = ("COMBINE", "ADD", "SUBTRACT", "MULTIPLY")


@pytest.mark.parametrize("second", [{}, {"scale": 1.3, "repeat": 2.0}], ids=str)
@pytest.mark.parametrize("blend_type", LAYERS)
def test_layers_that_follow_each_other_on_a_base(blend_type, second) -> None:
    """The base plays on below; on two tracks both layers play at the frame at which one ends and the other begins."""
    armature = character()
    base = walk(armature, "Base", seed=3, last=81)
    one, two = walk(armature, "One", seed=1, last=30), walk(armature, "Two", seed=2)
    use(armature, None)
    place(armature, base, 1)
    end = 30.0 if blend_type == "COMBINE" else 29.0
    a = place(armature, one, 1, blend_type=blend_type, extrapolation="NOTHING")
    b = place(armature, two, int(end) if blend_type == "COMBINE" else 30, blend_type=blend_type, **second)
    a.frame_end_ui = end
    b.extrapolation = "NOTHING"
    frames = range(20, 60)
    hard = scenes.poses(armature, frames)
    made = strips.join(armature, a, b, splice.Blend(0.25))
    soft = scenes.poses(armature, frames)
    assert made.first == 30
    np.testing.assert_allclose(soft[:10], hard[:10], atol=SMALL)
    np.testing.assert_allclose(soft[17:], hard[17:], atol=SMALL)
    assert smoothness(soft, hard, 10) < 0.35


def test_a_layer_that_begins_above_a_strip() -> None:
    armature, a, b = stage(blend_type="COMBINE")
    hard = scenes.poses(armature, range(20, 60))
    made = strips.join(armature, a, b, splice.Blend(0.25))
    soft = scenes.poses(armature, range(20, 60))
    assert made.first == 30
    np.testing.assert_allclose(soft[:10], hard[:10], atol=SMALL)
    np.testing.assert_allclose(soft[17:], hard[17:], atol=SMALL)
    assert smoothness(soft, hard, 10) < 0.25


def _influence(strip):
    strip.use_animated_influence = True
    for key in strip.fcurves.find("influence").keyframe_points:
        key.co.y = 0.6


def _time(strip):
    strip.use_animated_time = True
    for frame, time in ((30.0, 3.0), (70.0, 30.0)):
        strip.fcurves.find("strip_time").keyframe_points.insert(frame, time)


@pytest.mark.parametrize("change", [_influence, _time, lambda strip: setattr(strip, "influence", 0.5)])
def test_strips_with_an_influence_or_a_time_of_their_own(change) -> None:
    armature, a, b = stage()
    change(b)
    hard = scenes.poses(armature, range(20, 60))
    strips.join(armature, a, b, splice.Blend(0.25))
    soft = scenes.poses(armature, range(20, 60))
    np.testing.assert_allclose(soft[:10], hard[:10], atol=SMALL)
    np.testing.assert_allclose(soft[17:], hard[17:], atol=SMALL)
    assert smoothness(soft, hard, 10) < 0.35


def test_tracks_above_and_the_current_action_stay_above() -> None:
    armature, a, b = stage()
    top = walk(armature, "Top", seed=3, bones=("head",), size=0.8)
    use(armature, None)
    place(armature, top, 1, blend_type="COMBINE")
    hard = scenes.poses(armature, range(20, 60))
    strips.join(armature, a, b, splice.Blend(0.25))
    soft = scenes.poses(armature, range(20, 60))
    np.testing.assert_allclose(soft[:10], hard[:10], atol=SMALL)
    np.testing.assert_allclose(soft[17:], hard[17:], atol=SMALL)
    assert [track.name for track in armature.animation_data.nla_tracks][2] == "One > Two"


@pytest.mark.every_blender
def test_transition_on_one_track() -> None:
    armature, a, b = stage()
    track = armature.animation_data.nla_tracks[1]
    two = b.action
    track.strips.remove(b)
    b = place(armature, two, 43, 0)
    hard = scenes.poses(armature, range(38, 60))
    made = strips.join(armature, a, b)
    assert made.first == 43
    soft = scenes.poses(armature, range(38, 60))
    rest = made.last - 38
    np.testing.assert_allclose(soft[:5], hard[:5], atol=SMALL)
    np.testing.assert_allclose(soft[rest:], hard[rest:], atol=SMALL)
    assert np.abs(soft[5] - hard[5]).max() > 0.01


def test_the_first_strip_may_be_the_upper_one() -> None:
    armature, a, b = stage()
    one, two = a.action, b.action
    for track in list(armature.animation_data.nla_tracks):
        armature.animation_data.nla_tracks.remove(track)
    b = place(armature, two, 25, extrapolation="HOLD_FORWARD")
    a = place(armature, one, 1, extrapolation="NOTHING")
    made = strips.join(armature, a, b, splice.Blend(0.2))
    assert made.first == 41


def _tweak(armature):
    track = armature.animation_data.nla_tracks[0]
    track.select = track.strips[0].select = True
    armature.animation_data.nla_tracks.active = track
    armature.animation_data.use_tweak_mode = True


def bad(case):
    armature, a, b = stage()
    changes = {
        "muted": lambda: setattr(b, "mute", True),
        "first pose": lambda: setattr(b, "extrapolation", "HOLD"),
        "blended in": lambda: setattr(b, "blend_in", 20.0),
        "slot": lambda: setattr(b, "action_slot", None),
        "longer than": lambda: None,
        "tweak mode": lambda: _tweak(armature),
    }
    changes[case]()
    return armature, a, b


@pytest.mark.parametrize(
    "case",
    ["muted", "first pose", "blended in", "slot", "longer than", "tweak mode"],
)
def test_bad_input_is_reported_and_changes_nothing(case) -> None:
    armature, a, b = bad(case)
    words = {"muted": "is muted"}
    scenes.goto(1)
    before = scenes.snapshot()
    with pytest.raises(RigError, match=words.get(case, case)):
        strips.join(armature, a, b, splice.Blend(9.0 if case == "longer than" else 0.2))
    assert not scenes.differences(before, scenes.snapshot())


def test_the_wrong_order_is_reported() -> None:
    armature, a, b = stage()
    with pytest.raises(RigError, match="consecutive"):
        strips.join(armature, b, a)


def test_operator_takes_the_selected_strips() -> None:
    armature, a, b = stage()
    armature.select_set(True)
    for strip in (a, b):
        strip.select = True
    assert bpy.ops.lookat_pd.strip_transition(use_auto_blend=False, blend=0.2) == {"FINISHED"}
    assert len(armature.animation_data.nla_tracks) == 3
    a.select = b.select = False
    for track in armature.animation_data.nla_tracks:
        for strip in track.strips:
            strip.select = False
    with pytest.raises(RuntimeError, match="Select two strips"):
        bpy.ops.lookat_pd.strip_transition()
