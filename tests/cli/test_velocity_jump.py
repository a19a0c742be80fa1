"""The jump of velocity that a transition leaves, told apart from what the motion does by itself."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes

velocity_jump = load("cli.verbs.inertialize.velocity_jump")
CUT, RATE = 20, 30


def turning(jump: float) -> bpy.types.Object:
    """A head that swings fast and whose velocity jumps at the cut by so much [deg/s]."""
    bpy.context.scene.render.fps = RATE
    armature = scenes.figure()
    bone = armature.pose.bones["head"]
    for frame in range(1, 41):
        own = 40.0 * np.sin(2.0 * np.pi * (frame - CUT + 8) / 32.0)
        angle = own + jump / RATE * max(frame - CUT + 1, 0)
        bone.keyframe_insert(scenes.set_rotation(bone, np.radians((angle, 0.0, 0.0))), frame=frame)
    return armature


@pytest.mark.parametrize("jump", [0.0, 20.0, 90.0])
def test_only_what_is_left_of_the_jump(jump: float) -> None:
    armature = turning(jump)
    places = [velocity_jump.across(CUT)]
    changes = velocity_jump.velocity_jumps(bpy.context.scene, armature, places)
    left = velocity_jump.velocity_jumps(bpy.context.scene, armature, places, only_left=True)
    # The swing itself changes its velocity by 46 deg/s in a frame.
    assert jump or changes[0] > 30.0
    assert left[0] == pytest.approx(jump, abs=3.0)
