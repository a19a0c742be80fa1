"""Transitions in the NLA: read as Blender plays them, with a strip of its own that blends two others."""

from itertools import product

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


@pytest.mark.slow
@pytest.mark.parametrize(("offset", "scale", "repeat"), list(product((1, 10.5, -7), (1, 0.5, 1.7), (1, 2, 2.5))))
@pytest.mark.parametrize("reverse", [False, True])
def test_time_of_a_strip_is_blenders(offset, scale, repeat, reverse) -> None:
    item = bpy.data.objects.new("Ramp", None)
    bpy.context.scene.collection.objects.link(item)
    action, slot = actions.new_action("Ramp", item)
    curve = actions.channelbag(action, slot, ensure=True).fcurves.new("location", index=0)
    load("rig.animation.keys").Keys.dense(np.array([0.0, 100.0]), np.array([0.0, 100.0])).write(curve)
    track = item.animation_data_create().nla_tracks.new()
    strip = track.strips.new("Strip", int(offset), action)
    strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = 5.0, 17.3
    strip.frame_start_ui = offset
    strip.scale, strip.repeat, strip.use_reverse = scale, repeat, reverse
    timing = strips.Timing.of(strip)
    frames = np.arange(np.floor(strip.frame_start) - 3, strip.frame_end + 4, 0.5)
    seen = [item.evaluated_get(scenes.goto(frame)).location[0] for frame in frames]
    np.testing.assert_allclose(timing.action_frame(frames), seen, atol=1e-3)


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
        "blend type": lambda: setattr(b, "blend_type", "COMBINE"),
        "influence": lambda: setattr(a, "use_animated_influence", True),
        "time": lambda: setattr(b, "use_animated_time", True),
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
    ["blend type", "influence", "time", "muted", "first pose", "blended in", "slot", "longer than", "tweak mode"],
)
def test_bad_input_is_reported_and_changes_nothing(case) -> None:
    armature, a, b = bad(case)
    words = {"blend type": "Replace", "influence": "animated influence", "time": "animated time", "muted": "is muted"}
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
