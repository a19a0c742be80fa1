"""Scenes that tests share: what each of them opens is what was made, and its own."""

import bpy
import numpy as np

import kept

from . import scenes

made: list[dict] = []


def make() -> None:
    """A character that has a bit of everything which rigs have."""
    armature = scenes.swaying().armature
    bone = armature.pose.bones["hand.L"]
    bone["grip"] = 0.5
    copied = bone.constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.influence = armature, "hand.R", 0.3
    bone.custom_shape = scenes.ball(name="Widget")
    driver = copied.driver_add("influence").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = armature, 'pose.bones["hand.L"]["grip"]'
    driver.expression = variable.name
    track = armature.animation_data.nla_tracks.new()
    track.strips.new("Sway", 80, armature.animation_data.action)
    track.mute = True
    bpy.context.scene.frame_set(10)
    made.append(scenes.snapshot())


def test_what_is_opened_is_what_was_made_and_made_once() -> None:
    for _ in range(2):
        kept.scene(make)
        found = scenes.differences(made[0], scenes.snapshot())
        assert not [place for place in found if "/session_uid: " not in place]
        # What one test does to it, no other sees.
        bpy.data.objects["Hero"].location.x = 7.0
    assert len(made) == 1


def test_it_moves_as_it_did() -> None:
    kept.scene(make)
    opened = scenes.poses(bpy.data.objects["Hero"], (1, 10, 33))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make()
    assert np.array_equal(scenes.poses(bpy.data.objects["Hero"], (1, 10, 33)), opened)


def test_arguments_make_another_scene() -> None:
    for name in ("Anna", "Bo", "Anna"):
        kept.scene(scenes.figure, name)
        assert bpy.data.objects.keys() == [name]
