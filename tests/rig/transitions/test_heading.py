"""A destination continues in the direction of the source, whatever the hips do in the one frame at the cut."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from extension import load

from .motions import character, poses, tidy, use, walk

actions = load("rig.animation.actions")
join = load("rig.transitions.join")
Blend = load("rig.transitions.splice").Blend
sequence = load("rig.transitions.sequence")

UP = np.array([0.0, 0.0, 1.0])
FRAMES = 49
ONWARDS = 1.0 + (0.4 * 0.2 * 24 - 1) / (FRAMES - 1)
"""By how much a turn over all frames goes on in a blend of 0.2 s, of which its speed persists for 0.4."""


def in_place(armature, name, *, twist=0.0, turn=0.0, sway=0.0, head=None):
    """A clip whose hips are twisted, turn evenly, and sway once a second; head: its angle, None where it follows."""
    use(armature, None)
    action, slot = actions.new_action(name, armature)
    use(armature, action, slot)
    for frame in range(1, FRAMES + 1, 2):
        own = twist + turn * (frame - 1) / (FRAMES - 1) + sway * np.sin(2 * np.pi * (frame - 1) / 24)
        for bone, angle in (("hips", own), ("head", 0.0 if head is None else head - own)):
            up = armature.data.bones[bone].matrix_local.to_3x3().inverted() @ Vector(UP)
            armature.pose.bones[bone].rotation_quaternion = Quaternion(up, angle)
            armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
        armature.pose.bones["hips"].location = (0.01 * np.sin(0.3 * frame), 0, 0)
        armature.pose.bones["hips"].keyframe_insert("location", frame=frame)
    tidy(action, slot)
    return action


def turned(armature, source, destination, out=30, into=5):
    """Angle [rad] by which the destination is turned."""
    bpy.context.scene.render.fps = 24
    result = join.join(armature, join.ClipRef(source, out), join.ClipRef(destination, into), Blend(0.2), root="HEADING")
    return angle_between(armature, destination, into + 12, result.action, out + 12)


def angle_between(armature, action, frame, result, at):
    """Angle [rad] about up by which the hips are turned in the result."""
    row = armature.pose.bones.keys().index("hips")
    alone, out = poses(armature, action, [frame])[0, row], poses(armature, result, [at])[0, row]
    matrix = (out @ np.linalg.inv(alone))[:3, :3]
    return float(np.arctan2(matrix[1, 0], matrix[0, 0]))


@pytest.mark.parametrize("into", [1, 7, 13, 30])
def test_a_twisted_stance_does_not_turn_a_run_in_place(into) -> None:
    armature = character()
    idle = in_place(armature, "Idle", twist=1.2, sway=0.05, head=0.1)
    run = in_place(armature, "Run", sway=0.3)
    assert turned(armature, idle, run, into=into) == pytest.approx(0.0, abs=1e-6)
    assert turned(armature, run, idle, out=into + 4) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("angle", [-2.0, -0.8, 0.8, 2.0])
def test_a_turn_in_place_goes_on_in_the_new_direction(angle) -> None:
    armature = character()
    turning = in_place(armature, "Turn", turn=angle)
    idle = in_place(armature, "Idle", sway=0.05)
    assert turned(armature, turning, idle, out=FRAMES) == pytest.approx(angle * ONWARDS, abs=5e-3)


def test_a_turn_slows_down_and_does_not_stop_at_once() -> None:
    armature = character()
    turning, idle = in_place(armature, "Turn", turn=2.0), in_place(armature, "Idle")
    result = join.join(armature, join.ClipRef(turning, 40), join.ClipRef(idle, 5), Blend(0.5), root="HEADING")
    row = armature.pose.bones.keys().index("hips")
    found = poses(armature, result.action, range(34, 56))[:, row, :3, :3]
    steps = [float(np.arctan2(m[1, 0], m[0, 0])) for m in found[1:] @ np.swapaxes(found[:-1], 1, 2)]
    speed = 2.0 / (FRAMES - 1)
    np.testing.assert_allclose(steps[:5], speed, rtol=0.02)
    assert np.abs(np.diff(steps)).max() < 0.3 * speed and abs(steps[-1]) < 1e-3
    assert min(steps) > -0.02 * speed


def test_clips_in_place_that_face_elsewhere_keep_their_difference() -> None:
    """Captured motion does not know where forward is."""
    armature = character()
    one, other = (in_place(armature, f"Capture {angle}", twist=angle, sway=0.1) for angle in (2.5, 1.5))
    assert turned(armature, one, other, out=FRAMES, into=1) == pytest.approx(1.0, abs=0.05)


def test_a_run_that_goes_elsewhere_than_its_hips_face_at_the_cut() -> None:
    armature = character()
    run = walk(armature, "Run", seed=1, heading=0.5, speed=(0.0, -0.1, 0.0), size=1.5)
    stroll = walk(armature, "Stroll", seed=2, speed=(0.0, -0.04, 0.0), size=1.5)
    for out, into in ((20, 5), (25, 9), (30, 12)):
        assert turned(armature, run, stroll, out, into) == pytest.approx(0.5, abs=1e-3)


def test_a_walk_sideways_goes_on_sideways() -> None:
    armature = character()
    stroll = walk(armature, "Stroll", seed=2, size=0.1)
    aside = walk(armature, "Sideways", seed=2, speed=(0.04, 0.0, 0.0), size=0.1)
    assert abs(turned(armature, stroll, aside)) < 0.1


def test_a_chain_keeps_the_direction_that_the_clips_before_have_given_it() -> None:
    armature = character()
    turning = in_place(armature, "Turn", turn=1.0)
    run, idle = in_place(armature, "Run", sway=0.3), in_place(armature, "Idle", twist=1.2, head=0.0)
    steps = [
        sequence.ClipStep(join.ClipRef(item, 1), at, Blend(0.2))
        for item, at in ((turning, 1), (run, 50), (idle, 80), (run, 110))
    ]
    result = join.chain(armature, steps, root="HEADING")
    angles = [angle_between(armature, step.clip.action, 25, result.action, step.at + 24) for step in steps[1:]]
    np.testing.assert_allclose(angles, ONWARDS, atol=5e-3)
