"""Visual transitions as keys of bones and controls: they show what the constraints show, and these are gone."""

from collections.abc import Iterable

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .test_visual import FRAMES, POP, hand_held, held, ik_fk, layered, moved, shown, smooth

visual_keys = load("rig.transitions.visual.visual_keys")
visual_offsets = load("rig.transitions.visual.visual_offsets")
drain = load("lookat_pd.progress").drain
rotation = load("lookat_pd.rotation")
splice = load("rig.transitions.splice")
RigError = load("lookat_pd.errors").RigError

IN_LAYER = 5e-4
"""Blender's NLA takes the angle of a quaternion from its first number, and has none below this angle [rad]."""


def differences(wanted: np.ndarray, got: np.ndarray) -> tuple[float, float]:
    """Largest angle [rad] and distance between world matrices (F, b, 4, 4)."""
    turns = (rotation.from_matrix(matrices[..., :3, :3].astype(float)) for matrices in (wanted, got))
    first, second = turns
    angles = np.linalg.norm(rotation.log(rotation.multiply(rotation.inverse(first), second)), axis=-1)
    return float(angles.max()), float(np.abs(wanted - got)[..., :3, 3].max())


def write(armature: bpy.types.Object, into: str) -> list:
    return drain(visual_keys.write(bpy.context.scene, armature, into))


def check_same(armature: bpy.types.Object, into: str, most: float, frames: Iterable[int] = FRAMES) -> list:
    plain = shown(armature, frames)
    made = smooth(armature)
    wanted = shown(armature, frames)
    written = write(armature, into)
    after = shown(armature, frames)
    turn, move = differences(wanted, after)
    assert turn < most and move < most
    outside = [k for k, at in enumerate(frames) if at < POP or at > made.last + 1]
    np.testing.assert_allclose(after[outside], plain[outside], atol=1e-5)
    assert not visual_offsets.of(armature)
    return written


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["LAYER", "NEW", "CURRENT"])
def test_keys_show_what_constraints_show(into: str) -> None:
    armature = held()
    source = armature.animation_data.action
    before = scenes.curves(source)
    (written,) = check_same(armature, into, IN_LAYER if into == "LAYER" else 1e-4)
    assert written.controls == ("upper_arm.L",)
    assert (written.action == source) == (into == "CURRENT")
    assert bool(scenes.differences(before, scenes.curves(source))) == (into == "CURRENT")


def test_a_layer_on_layers() -> None:
    armature = layered()
    tracks = len(armature.animation_data.nla_tracks)
    check_same(armature, "LAYER", IN_LAYER)
    assert len(armature.animation_data.nla_tracks) == tracks + 1
    assert armature.animation_data.nla_tracks[-1].strips[0].blend_type == "COMBINE"


def twice():
    """An armature with two transitions that do not overlap: the prop that holds it turns after the first one."""
    armature = held()
    prop = bpy.data.objects["Prop"]
    for frame, angle in ((1, 0.3), (POP + 19, 0.3), (POP + 20, 0.9), (80, 0.9)):
        prop.rotation_euler.x = angle
        prop.keyframe_insert("rotation_euler", index=0, frame=frame)
    smooth(armature, blend=splice.Blend(0.3))
    smooth(armature, POP + 20, splice.Blend(0.3))
    return armature


def test_transitions_that_do_not_overlap_are_written_one_by_one() -> None:
    armature = twice()
    frames = range(1, POP + 40)
    wanted = shown(armature, frames)
    written = write(armature, "NEW")
    assert [item.first for item in written] == [POP, POP + 20]
    assert written[0].action == written[1].action == armature.animation_data.action
    assert max(differences(wanted, shown(armature, frames))) < 1e-4


def test_what_cannot_be_keyed_changes_nothing() -> None:
    armature = held()
    smooth(armature)
    bone = armature.pose.bones["upper_arm.L"]
    for path, size in (("rotation_quaternion", 4), ("location", 3)):
        for index in range(size):
            bone.driver_add(path, index)
    before, data = shown(armature), scenes.snapshot()
    with pytest.raises(RigError, match="No controls that can be keyed pose 'upper_arm"):
        write(armature, "LAYER")
    assert not scenes.differences(data, scenes.snapshot())
    np.testing.assert_array_equal(shown(armature), before)


def test_keys_need_an_action() -> None:
    armature = layered()
    smooth(armature)
    before = scenes.snapshot()
    with pytest.raises(RigError, match="'Hero' has no action that transitions could be keyed in"):
        write(armature, "NEW")
    assert not scenes.differences(before, scenes.snapshot())


def test_an_object_that_jumps_is_named() -> None:
    armature = moved()
    smooth(armature)
    before = scenes.snapshot()
    with pytest.raises(RigError, match="The object 'Hero' itself jumps"):
        write(armature, "LAYER")
    assert not scenes.differences(before, scenes.snapshot())


def test_cancelled_in_the_second_group_leaves_nothing() -> None:
    armature = twice()
    before = scenes.snapshot()
    job = visual_keys.write(bpy.context.scene, armature, "LAYER")
    for fraction in job:
        if fraction > 0.5:
            break
    job.close()
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.slow
@pytest.mark.parametrize("switch", [ik_fk, hand_held])
def test_on_a_generated_human(switch) -> None:
    armature = kept.human()
    switch(armature)
    check_same(armature, "NEW", 1e-4, range(15, 40))
