"""Springs on what plays: strips of the NLA, cycles whose ends differ, and bones that cannot swing."""

import bpy
import numpy as np
import pytest
from numpy.testing import assert_allclose

from extension import load

from .. import scenes
from .tails import HAIR, TAIL, animal, bends, live, seen, swing

errors = load("lookat_pd.errors")


def status(armature: bpy.types.Object):
    return live.status(bpy.context.scene, armature, "", "SPRINGS")


def turning(keys: list[tuple[int, float]]) -> bpy.types.Object:
    armature = animal()
    armature.animation_data_clear()
    hips = armature.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    scenes.keyed(hips, "rotation_euler", [(frame, (0.0, angle, 0.0)) for frame, angle in keys])
    scenes.goto(1)
    return armature


def to_strip(armature: bpy.types.Object, start: int, scale: float) -> None:
    """What the armature plays as a strip."""
    data = armature.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new(action.name, start, action)
    strip.action_slot, strip.scale = slot, scale


def test_a_scaled_strip_swings_as_keys_that_are_as_far_apart() -> None:
    slow = turning([(5, 0.0), (17, 1.2)])
    swing(slow)
    wanted = seen(slow)
    bpy.ops.wm.read_homefile(use_empty=True)
    strips = turning([(3, 0.0), (9, 1.2)])
    for curve in load("rig.animation.actions").curves(strips.animation_data.action, strips.animation_data.action_slot):
        for point in curve.keyframe_points:
            # A key's handles are scaled with it.
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
    to_strip(strips, 5, 2.0)
    plain = seen(strips)
    swing(strips)
    found = seen(strips)
    assert status(strips).state == "SOLVED"
    assert np.abs(bends(found) - bends(plain)).max() > 0.15
    assert_allclose(found, wanted, atol=2e-3)


def test_a_strip_that_is_moved_is_followed() -> None:
    armature = turning([(3, 0.0), (9, 1.2)])
    to_strip(armature, 3, 1.0)
    swing(armature)
    found = seen(armature)
    (strip,) = armature.animation_data.nla_tracks[0].strips
    strip.frame_start_ui += 10
    moved = seen(armature)
    assert np.abs(moved[:9] - moved[0]).max() < 1e-3
    # What begins to move right after the first frame swings alike: nothing is made up about the time before.
    assert_allclose(moved[10:], found[:-10], atol=0.01)


def test_a_cycle_whose_ends_differ_is_told_with_the_remedy() -> None:
    armature = turning([(1, 0.0), (24, 0.5)])
    action = armature.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end, action.use_cyclic = True, 1, 24, True
    (chain,) = swing(armature)
    seen(armature, frames=[1])
    assert "make these poses the same" in " ".join(map(str, status(armature).notes))
    action.frame_end = 24.5
    seen(armature, frames=[1])
    assert "23.5 frames long" in " ".join(map(str, status(armature).notes))
    chain.settings.cyclic = False
    seen(armature, frames=[1])
    assert not status(armature).notes


def test_bones_without_a_length_and_of_linked_rigs_are_refused(tmp_path) -> None:
    armature = animal()
    swing(armature, HAIR)
    bpy.ops.object.mode_set(mode="EDIT")
    short = armature.data.edit_bones[TAIL[1]]
    long, short.tail = short.tail.copy(), short.head
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(errors.RigError, match="make it longer in edit mode"):
        swing(armature, TAIL)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones[TAIL[1]].tail = long
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    linked = bpy.data.objects["Hero"]
    bpy.context.scene.collection.objects.link(linked)
    with pytest.raises(errors.RigError, match="library override"):
        swing(linked, TAIL)


def test_chains_of_one_character_that_stand_still_beside_a_jump_stay_so() -> None:
    armature = turning([(1, 0.0), (2, 0.0)])
    scenes.keyed(armature, "location", [(20, (0.0, 0.0, 0.0)), (21, (5.0, 0.0, 0.0))])
    swing(armature, TAIL, HAIR)
    found = seen(armature, (*TAIL, *HAIR))
    assert np.abs(found - found[0]).max() < 1e-5
