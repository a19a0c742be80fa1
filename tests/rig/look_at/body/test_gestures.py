"""Keyed gestures of the head and shifts of weight: what moves, what stays, live, baked, at any rate and off."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies
from .test_glances import BALL, FRAMES, LAST, OFF, ON, aims, keyed, looking, poses

rotation = load("lookat_pd.rotation")
setting_keys = load("rig.look_at.directing.setting_keys")


@pytest.fixture(autouse=True)
def short(empty_file) -> None:
    bpy.context.scene.frame_end = LAST


def place(seen: np.ndarray, armature: bpy.types.Object, bone: str) -> np.ndarray:
    return seen[:, bodies.bones(armature, bone)[0], :3, 3]


@pytest.mark.thorough
@pytest.mark.parametrize(("setting", "axis"), [("gesture_yaw", 0), ("gesture_pitch", 1)])
@pytest.mark.parametrize("settle_time", [0.4, 0.9])
def test_the_head_turns_by_the_angle_and_the_eyes_stay_on_the_target(setting, axis, settle_time) -> None:
    armature, _ = looking(settle_time=settle_time)
    before = poses(armature)
    keyed(armature, setting, np.radians(6.0))
    after = poses(armature)
    turned = (aims(armature, after, "head") - aims(armature, before, "head"))[:, axis]
    assert abs(turned[OFF - 4] - 6.0) < 1.0
    assert np.abs(turned[: ON - 1]).max() < 0.05 and abs(turned[-1]) < 0.5
    assert np.abs(aims(armature, after, "eye.L") - aims(armature, before, "eye.L")).max() < 0.7
    # It has arrived as soon as slow heads and quick ones do.
    assert abs(turned[ON + 10] - 6.0) < 1.5


def test_without_eyes_and_spine_the_head_gestures() -> None:
    armature = scenes.figure("Hero", (("root", None, (0, 0, 0), (0, 0, 1)), ("head", "root", (0, 0, 1.5), (0, 0, 1.8))))
    scenes.aim(armature, scenes.ball(BALL))
    before = poses(armature)
    keyed(armature, "gesture_yaw", np.radians(-5.0))
    turned = aims(armature, poses(armature), "head") - aims(armature, before, "head")
    assert abs(turned[OFF - 3, 0] + 5.0) < 0.5


def gesturing(armature: bpy.types.Object) -> None:
    keyed(armature, "gesture_yaw", np.radians(5.0))
    keyed(armature, "gesture_pitch", np.radians(-4.0), OFF - 7)
    keyed(armature, "stance", 0.8, OFF - 3)


@pytest.mark.parametrize("moving", [False, True])
def test_live_baked_and_scrubbed_alike_on_an_animation(moving) -> None:
    armature = bodies.person(moving=moving)
    found = bodies.look(armature, scenes.ball(BALL))
    gesturing(armature)
    forth = poses(armature)
    assert np.abs(forth - poses(armature, reversed(FRAMES))[::-1]).max() < 1e-6
    scenes.run_bake(armature, first=1, last=LAST)
    assert found.mute
    assert np.abs(poses(armature) - forth).max() < 1e-5


def test_what_is_off_or_has_no_influence_adds_nothing() -> None:
    armature, found = looking()
    gesturing(armature)
    frames = range(ON, OFF, 4)
    for name, value in (("use", False), ("influence", 0.0)):
        setattr(found, name, value)
        assert np.abs(poses(armature, frames) - scenes.animated(armature, frames)).max() < 1e-6, name
        setattr(found, name, 1)


def test_the_hips_go_to_the_leg_that_carries_the_weight_and_the_feet_stay() -> None:
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "stance", 0.5, LAST)
    after = poses(armature)
    sideways = (place(after, armature, "hips") - place(before, armature, "hips"))[:, 0]
    # The left of who faces -Y is +X. Half of what a head turned by 90° moves them: 5 % of the leg.
    assert 0.015 < sideways[-2] < 0.03
    assert np.abs(sideways[: ON - 1]).max() < 1e-6
    for foot in bodies.FEET:
        assert np.abs(place(after, armature, foot) - place(before, armature, foot)).max() < 1e-3
    keyed(armature, "stance", -0.5, LAST)
    other = (place(poses(armature), armature, "hips") - place(before, armature, "hips"))[:, 0]
    assert np.abs(other + sideways).max() < 3e-3
    head = aims(armature, after, "eye.L")[ON:] - aims(armature, before, "eye.L")[ON:]
    assert np.abs(head).max() < 2.0


def test_the_velocity_of_head_and_hips_does_not_jump() -> None:
    """At 5 times the rate the steps of velocity are far smaller."""
    steps = []
    for fps in (24, 120):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene, every = bpy.context.scene, fps // 24
        scene.render.fps, scene.frame_end = fps, LAST * every
        armature = bodies.person(moving=False)
        bodies.look(armature, scenes.ball(BALL))
        for setting, amount in (("gesture_yaw", 0.1), ("gesture_pitch", -0.08), ("stance", 0.8)):
            keys = [(1.0, 0.0), (1.0 + 23 * every, amount), (1.0 + 40 * every, 0.0)]
            setting_keys.generate(armature, "head", setting, keys, (1, LAST * every), 1, [1])
        seen = scenes.poses(armature, range(1, LAST * every + 1))
        turns = rotation.from_matrix(seen[:, bodies.bones(armature, "head")[0], :3, :3])
        rates = rotation.log(rotation.multiply(turns[1:], rotation.inverse(turns[:-1]))) * fps
        hips = np.diff(place(seen, armature, "hips"), axis=0) * fps
        steps.append([np.abs(np.diff(values, axis=0)).max() for values in (rates, hips)])
    assert np.all(np.array(steps[1]) < 0.35 * np.array(steps[0]))
