"""Markers of actions: in the result they mark the poses that they marked before."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, poses, use, walk
from .test_strips import place

chains = load("rig.transitions.marker_clips")
join = load("rig.transitions.join")
loop = load("rig.transitions.loop")
markers = load("rig.transitions.pose_markers")
pops = load("rig.transitions.pops")
strips = load("rig.transitions.strips")
Blend = load("rig.transitions.splice").Blend
ClipRef, ClipStep = join.ClipRef, join.ClipStep


@pytest.fixture
def pair():
    armature = character()
    one, two = walk(armature, "One", seed=1), walk(armature, "Two", seed=2)
    markers.write(one, [(1, "start"), (10, "left"), (20, "right"), (30, "left")])
    markers.write(two, [(3, "left"), (5, "contact"), (41, "end")])
    use(armature, one)
    scenes.goto(1)
    return armature, one, two


@pytest.mark.every_blender
def test_a_join_has_the_markers_of_what_plays(pair) -> None:
    armature, one, two = pair
    before = [markers.read(action) for action in (one, two)]
    made = join.join(armature, ClipRef(one, 20), ClipRef(two, 4), Blend(0.2))
    assert markers.read(made.action) == [(1, "start"), (10, "left"), (21, "contact"), (57, "end")]
    assert [markers.read(action) for action in (one, two)] == before


def test_each_cycle_has_its_markers_and_the_pose_between_two_of_them_once(pair) -> None:
    armature, one, two = pair
    markers.write(two, [(1, "end")])
    made = join.join(armature, ClipRef(one, 21), ClipRef(two, 1), Blend(0.2), repeat=3)
    found = markers.read(made.action)
    assert len(set(found)) == len(found)
    assert [frame for frame, name in found if name == "end"] == [21, 61, 101, 141]
    assert [frame for frame, name in found if name == "contact"] == [25, 65, 105]


def test_a_chain_that_enters_between_frames(pair) -> None:
    armature, one, two = pair
    steps = [ClipStep(ClipRef(one, 1), 101, Blend(0.2)), ClipStep(ClipRef(two, 2.6), 115, Blend(0.2))]
    found = markers.read(join.chain(armature, steps).action)
    assert found == [(101, "start"), (110, "left"), (115, "left"), (117, "contact"), (153, "end")]


def test_a_loop_has_those_of_its_range(pair) -> None:
    armature, one, _ = pair
    assert markers.read(loop.loop(armature, one, 5, 25).action) == [(10, "left"), (20, "right")]


def test_a_smoothed_copy_keeps_them(pair) -> None:
    armature, one, _ = pair
    scenes.goto(15)
    assert bpy.ops.lookat_pd.smooth_pop(into="NEW") == {"FINISHED"}
    made = armature.animation_data.action
    assert made != one and markers.read(made) == markers.read(one)


def test_visual_transitions_keep_them(pair) -> None:
    armature = pair[0]
    bpy.context.view_layer.objects.active = armature
    options = {"source": "One", "destination": "Two", "source_frame": 20, "destination_frame": 4}
    assert bpy.ops.lookat_pd.inertialize(**options, pose_source="VISUAL") == {"FINISHED"}
    assert (21, "contact") in markers.read(armature.animation_data.action)


SECONDS = [{}, {"scale": 0.5, "repeat": 3.0}, {"scale": 2.0}, {"use_reverse": True}, {"action_frame_start": 5.0}]


@pytest.mark.parametrize("settings", SECONDS, ids=str)
def test_a_transition_between_strips_has_those_that_the_second_shows(pair, settings) -> None:
    armature, one, two = pair
    markers.write(two, [(12, "right"), (36, "right")])
    use(armature, None)
    first = place(armature, one, 1, extrapolation="HOLD_FORWARD")
    second = place(armature, two, 30, extrapolation="HOLD_FORWARD", **settings)
    shown = scenes.poses(armature, range(30, 60))
    found = markers.of_strip(second, 30, 59)
    assert found
    alone = poses(armature, two, range(1, 42))
    for frame, name in found:
        # The rotation of the chest tells the frames from each other.
        chest = armature.pose.bones.keys().index("chest")
        away = np.abs(alone[:, chest, :3, :3] - shown[frame - 30, chest, :3, :3]).max(axis=(1, 2))
        near = min(abs(int(np.argmin(away)) + 1 - at) for at, called in markers.read(two) if called == name)
        assert near <= max(1.0, 0.5 / second.scale), (frame, name)
    made = strips.join(armature, first, second, Blend(0.4))
    assert markers.read(made.action) == [item for item in found if item[0] <= made.last]
