"""Legs whose feet are IK controls: over a cut the feet swing on, and no knee snaps straight."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..feet import walking
from .motions import use

actions, join, splice = load("rig.animation.actions"), load("rig.transitions.join"), load("rig.transitions.splice")
rotation = load("lookat_pd.rotation")

LAST, CUT, ENTER, FPS = 41, 20, 5, 24


def clip(armature: bpy.types.Object, name: str, kick: float):
    """A clip in which the left foot kicks to and fro, keyed at each frame."""
    use(armature, None)
    action, slot = actions.new_action(name, armature)
    use(armature, action, slot)
    for frame in range(1, LAST + 1):
        t = 2.0 * np.pi * (frame - CUT + 2) / 18.0
        bones = armature.pose.bones
        bones["hips"].location = np.array(bones["hips"].bone.matrix_local.to_3x3()).T @ (0.0, 0.0, -0.05)
        foot = bones["foot_ctrl.L"]
        way = (0.0, kick * np.sin(t), 0.1 * kick)
        foot.location = np.array(foot.bone.matrix_local.to_3x3()).T @ way
        for name_of in ("hips", "foot_ctrl.L", "foot_ctrl.R"):
            bones[name_of].keyframe_insert("location", frame=frame)
    return action


def knees(armature: bpy.types.Object, action: bpy.types.Action, frames: range) -> np.ndarray:
    """How far [deg] the left knee is bent at each frame."""
    use(armature, action)
    seen = scenes.poses(armature, frames, ("thigh.L", "shin.L", "foot.L"))[:, :, :3, 3]
    return np.degrees(rotation.angle_between(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 1]))


def steps(bends: np.ndarray) -> float:
    """The largest step [deg/s] of the speed."""
    return float(np.abs(np.diff(bends, 2)).max()) * FPS


@pytest.fixture
def clips():
    armature = walking.in_ik(roll=False)
    bpy.context.scene.render.fps = FPS
    return armature, clip(armature, "Kick", 0.4), clip(armature, "Stand", 0.0)


def made(clips, method: str, seconds: float = 0.5, **options):
    armature, a, b = clips
    use(armature, a)
    return join.join(armature, join.ClipRef(a, CUT), join.ClipRef(b, ENTER), splice.Blend(seconds, method), **options)


@pytest.mark.parametrize("lock_feet", [None, False])
def test_no_knee_snaps_straight(clips, lock_feet) -> None:
    armature, a, b = clips
    own = max(steps(knees(armature, one, range(1, LAST + 1))) for one in (a, b))
    bends = knees(armature, made(clips, "SWING", lock_feet=lock_feet).action, range(CUT - 5, CUT + 16))
    assert steps(bends) <= 1.2 * own
    assert bends.min() > 5.0


def test_the_foot_swings_on_and_arrives(clips) -> None:
    """The source before the cut and the destination after the blend are as animated."""
    armature, a, b = clips
    whole = made(clips, "SWING", lock_feet=False)
    after = range(CUT + 13, whole.last + 1)
    there = knees(armature, b, range(after[0] - CUT + ENTER, after[-1] + 1 - CUT + ENTER))
    assert np.abs(knees(armature, whole.action, after) - there).max() < 1e-3
    assert np.abs(knees(armature, whole.action, range(1, CUT)) - knees(armature, a, range(1, CUT))).max() < 1e-3
    use(armature, whole.action)
    ankles = scenes.poses(armature, [CUT - 2, CUT - 1, CUT], ["foot.L"])[:, 0, :3, 3]
    before, now = np.linalg.norm(np.diff(ankles, axis=0), axis=-1)
    assert now > 0.5 * before


def test_the_published_form_is_as_it_was(clips, monkeypatch) -> None:
    armature, *_ = clips
    own = knees(armature, made(clips, "INERTIAL", lock_feet=False).action, range(1, CUT + 16))
    monkeypatch.setattr(load("rig.transitions.limb_swing"), "_find", lambda _: pytest.fail("nothing swings"))
    same = knees(armature, made(clips, "INERTIAL", lock_feet=False).action, range(1, CUT + 16))
    assert np.array_equal(own, same)


def test_far_from_a_snap_the_blend_is_as_it_was(clips, monkeypatch) -> None:
    armature, *_ = clips
    frames = range(CUT - 3, CUT + 35)
    eased = knees(armature, made(clips, "SWING", 1.4, lock_feet=False).action, frames)
    monkeypatch.setattr(load("rig.transitions.limb_swing"), "_find", lambda _: [])
    plain = knees(armature, made(clips, "SWING", 1.4, lock_feet=False).action, frames)
    last = np.flatnonzero(plain < 8.0)[-1]
    assert np.abs(eased - plain)[last + 7 :].max() < 1e-3 < np.abs(eased - plain)[last]
    assert steps(eased) < 0.5 * steps(plain)
