"""A look-at on a cyclic action is baked as a cycle: it ends as it begins, and moves as it does in any later cycle."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .body import bodies

bake, bake_options = load("rig.look_at.look_at_bake"), load("rig.animation.bake_options")
look_at = load("rig.look_at.resolve")
drain = load("lookat_pd.progress").drain

PERIOD = 24


def cycling(armature: bpy.types.Object, *, modifiers: bool = False) -> bpy.types.Action:
    """A cycle of PERIOD frames in which bones sway, with speed at the seam."""
    action, slot = scenes.actions.new_action("Cycle", armature)
    armature.animation_data_create()
    armature.animation_data.action, armature.animation_data.action_slot = action, slot
    random = np.random.default_rng(4)
    for name in scenes.CHAIN:
        bone, sizes, phases = armature.pose.bones[name], random.uniform(0.05, 0.15, 3), random.uniform(0, 6, 3)
        bone.rotation_mode = "XYZ"
        for frame in range(1, PERIOD + 2):
            angle = 2.0 * np.pi * (frame - 1) / PERIOD
            bone.rotation_euler = sizes * np.sin(angle + phases)
            bone.keyframe_insert("rotation_euler", frame=frame)
    if modifiers:
        for curve in scenes.actions.curves(action, slot):
            curve.modifiers.new("CYCLES")
    return action


def baked(armature: bpy.types.Object, last: int = PERIOD + 1, cyclic: bool | None = None):
    wanted = [look_at.resolve(armature, bone) for bone in look_at.bones_with_look_at(armature)]
    return drain(bake.bake(bpy.context.scene, wanted, bake_options.BakeOptions(1, last, cyclic=cyclic)))


def gap(armature: bpy.types.Object, last: int = PERIOD + 1) -> float:
    """Largest angle [deg] of any bone between the first frame and the last."""
    poses = scenes.poses(armature, (1, last))
    return bodies.differences(poses[:1], poses[1:])[1]


@pytest.mark.parametrize("stabilize", [0.0, 0.9])
@pytest.mark.parametrize("whole", [False, True])
def test_a_baked_cycle_has_no_seam(stabilize, whole) -> None:
    armature = bodies.person(moving=False) if whole else scenes.figure()
    cycling(armature)
    settings = (bodies.look if whole else scenes.aim)(armature, scenes.ball((1.6, -2.0, 1.9)), settle_time=0.6)
    settings.stabilize, settings.eyes.micro = stabilize, 0.0
    own = gap(armature) if settings.mute else 0.0
    (result,) = baked(armature)
    assert len(result.frames) == len(result.solution.offsets) == PERIOD + 1
    assert gap(armature) <= own + 0.01


@pytest.mark.parametrize("seed", range(3))
def test_what_is_random_repeats_with_the_cycle(seed) -> None:
    """Microsaccades, drift and breath are there, and the same at both ends."""
    bpy.context.scene.render.fps = 8
    armature = bodies.person(moving=False)
    cycling(armature)
    settings = bodies.look(armature, scenes.ball((1.0, -2.5, 1.8)), settle_time=0.6)
    settings.eyes.micro, settings.eyes.drift, settings.eyes.seed = 0.03, 0.02, seed
    settings.body.use_breathing = True
    (result,) = baked(armature)
    eyes = result.response.gaze.offsets
    assert np.abs(np.diff(eyes, axis=0)).max() > 1e-4
    assert gap(armature) <= 0.01


def test_it_moves_as_it_does_in_a_later_cycle() -> None:
    armature = scenes.figure()
    action = cycling(armature, modifiers=True)
    settings = scenes.aim(armature, scenes.ball((1.6, -2.0, 1.9)), settle_time=0.6, stabilize=0.0)
    (result,) = baked(armature)
    once = result.solution.offsets
    settings.mute = False
    armature.animation_data.action, armature.animation_data.action_slot = action, action.slots[0]
    (later,) = baked(armature, 8 * PERIOD + 1)
    assert np.abs(later.solution.offsets[-PERIOD - 1 :] - once).max() < 1e-4


def test_what_does_not_repeat_is_not_made_to() -> None:
    """A target that moves, a look-at that is switched, an action that stands at its ends, part of a cycle; but it can
    be asked for."""
    ways = []
    for change in ("target", "keys", "part", "asked"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature, target = scenes.figure(), scenes.ball((1.6, -2.0, 1.9))
        cycling(armature)
        scenes.aim(armature, target, settle_time=0.6, stabilize=0.0)
        if change == "target":
            scenes.keyed(target, "location", [(1, (1.6, -2.0, 1.9)), (PERIOD + 1, (1.7, -2.0, 1.9))])
        if change == "keys":
            scenes.settings_keyed(armature, "head", "use", [(1, True), (12, False)])
        (result,) = baked(armature, PERIOD if change == "part" else PERIOD + 1, True if change == "asked" else None)
        ways.append(result.solution.settled[0])
    assert ways[:2] == [True, True] and not ways[3]


def test_a_look_that_comes_and_goes_does_so_in_every_cycle() -> None:
    armature = scenes.figure()
    cycling(armature)
    scenes.aim(armature, scenes.ball((1.6, -2.0, 1.9)), settle_time=0.6)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (6, True), (18, False)])
    baked(armature, cyclic=True)
    assert gap(armature) <= 0.01
