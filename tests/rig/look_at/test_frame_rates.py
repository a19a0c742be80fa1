"""The same shot at any frame rate gives the same offsets, also where the animation has corners between the frames."""

import bpy
import numpy as np
import pytest

from comparison import largest_degrees
from extension import load

from .. import scenes

bake = load("rig.look_at.look_at_bake")
look_at = load("rig.look_at.resolve")
sample = load("rig.sampling.sampler")
rotation = load("lookat_pd.rotation")
bake_options = load("rig.animation.bake_options")
suspend = load("rig.sampling.suspend")
targets = load("rig.sampling.targets")

SECONDS, SWITCH = 3.0, 0.5
EVERY = 1.0 / 13.0  # seconds from corner to corner: rarely on a frame of 24


def offsets(fps: int) -> np.ndarray:
    """Offsets (F, b, 4) of a character whose neck and chest jerk along straight lines from key to key."""
    scene = bpy.context.scene
    scene.render.fps = fps
    hero = scenes.figure(f"Hero {fps}")
    rng = np.random.default_rng(3)
    for name in ("neck", "chest"):
        bone = hero.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for n in range(int(SECONDS / EVERY) + 1):
            bone.rotation_euler = rng.uniform(-0.25, 0.25, 3)
            bone.keyframe_insert("rotation_euler", frame=1 + n * EVERY * fps)
    data = hero.animation_data
    for curve in load("rig.animation.actions").channelbag(data.action, data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    hero.pose.bones["head"].lookat_pd.settle_time = 0.25
    schedule = ((1 + SWITCH * fps, 0),)
    ready = look_at.resolve(hero, "head", [targets.Target(point=(1.5, -2.0, 1.9))], schedule)
    job = bake.bake(scene, [ready], bake_options.BakeOptions(1, 1 + int(SECONDS * fps)))
    return scenes.finish(job)[0].solution.offsets


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_corners_between_frames_do_not_matter(fps) -> None:
    here, fine = offsets(fps), offsets(120)[:: 120 // fps]
    assert largest_degrees(here, fine) < 0.1


def test_a_circle_at_one_frame_a_second_shows_progress_and_can_be_stopped() -> None:
    """There are 119 moments between two frames of each of two characters who look at each other."""
    scene, rng = bpy.context.scene, np.random.default_rng(3)
    scene.render.fps, scene.frame_end = 1, 7
    hero, villain = scenes.figure("Hero"), scenes.figure("Villain")
    villain.location.x = 1.2
    with suspend.suspend_live():
        for armature, other in ((hero, villain), (villain, hero)):
            scenes.aim(armature, other).subtarget = "head"
            for frame in range(1, 8):
                chest = armature.pose.bones["chest"]
                chest.keyframe_insert(scenes.set_rotation(chest, rng.uniform(-0.3, 0.3, 3)), frame=frame)
        wanted = [look_at.resolve(armature, "head") for armature in (hero, villain)]
        before = scenes.snapshot()
        job, fractions = bake.bake(scene, wanted, bake_options.BakeOptions(1, 7)), []
        for fraction in job:
            fractions.append(fraction)
            if fraction > 0.6:
                job.close()
        sample.park_all()
        assert not scenes.differences(before, scenes.snapshot())
    assert len(fractions) > 500
    assert np.all(np.diff(fractions) >= -1e-9) and np.diff(fractions).max() < 0.05
    assert max(np.unique(fractions, return_counts=True)[1]) < 20
