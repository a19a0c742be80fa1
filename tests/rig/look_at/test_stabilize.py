"""A gaze that holds while the character sways, runs or rides, live, baked and in files of earlier versions."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .body import bodies

live, saved_settings = load("rig.layers.live"), load("rig.look_at.saved_settings")
aim_errors = load("rig.look_at.aim_errors")
look_at_kind = load("rig.look_at.live.look_at_kind")

EVERY = range(1, scenes.LAST + 1)


def dancing() -> bpy.types.Object:
    """A character that sways all the time."""
    armature = scenes.figure()
    scenes.animate(armature, range(1, scenes.LAST + 1, 5), size=0.12)
    action = armature.animation_data.action
    for n, name in enumerate(("chest", "hips")):
        bone = armature.pose.bones[name]
        random = np.random.default_rng(n)
        for frame in range(1, scenes.LAST + 6, 6):
            bone.keyframe_insert(scenes.set_rotation(bone, random.uniform(-0.2, 0.2, 3).tolist()), frame=frame)
    assert armature.animation_data.action == action
    return armature


def errors(armature: bpy.types.Object, target: bpy.types.Object, frames=EVERY) -> np.ndarray:
    return np.array([scenes.error(armature, scenes.place_of(target), (frame,)) for frame in frames])


def test_a_dancer_keeps_looking_live_and_baked() -> None:
    armature, target = dancing(), scenes.ball()
    settings = scenes.aim(armature, target, settle_time=0.6)
    held = errors(armature, target)
    assert np.median(held) < 1.5 and np.percentile(held, 90) < 4.0
    settings.stabilize = 0.0
    published = errors(armature, target)
    assert np.median(published) > 5.0 * np.median(held)
    settings.stabilize = 1.0
    assert errors(armature, target).max() < 0.02
    scenes.run_bake(armature)
    assert errors(armature, target).max() < 0.02


@pytest.mark.parametrize("carried", [False, True])
def test_a_character_on_a_moving_object_sees_what_stands_and_what_rides_along(carried) -> None:
    armature, target = dancing(), scenes.ball((1.5, -4.0, 1.7))
    scenes.keyed(armature, "location", [(1, (-1.0, 0.0, 0.0)), (scenes.LAST, (1.5, 0.5, 0.0))])
    scenes.keyed(armature, "rotation_euler", [(1, (0.0, 0.0, -0.3)), (scenes.LAST, (0.0, 0.0, 0.5))])
    if carried:
        scenes.child(target, armature)
    scenes.aim(armature, target, settle_time=0.6, stabilize=1.0)
    assert errors(armature, target, EVERY[24:]).max() < 0.1


def test_files_of_earlier_versions_look_as_they_did(tmp_path) -> None:
    """Whether their look-at was added or made by a script; a value that was set stays."""
    armature, target = scenes.figure(), scenes.ball()
    settings = scenes.aim(armature, target)
    expected = {"added": (1, True, None, 0.0), "first": (0, True, None, 0.0), "script": (0, False, None, 0.0)}
    expected |= {"set": (1, True, 0.4, 0.4), "before": (4, True, None, 0.9)}
    expected["new"] = saved_settings.VERSION, True, None, 0.95
    bpy.app.handlers.save_pre.remove(saved_settings._stamp)
    try:
        for name, (version, exists, value, _) in expected.items():
            settings.property_unset("stabilize")
            settings.version, settings.exists = version, exists
            if value is not None:
                settings.stabilize = value
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{name}.blend"))
    finally:
        bpy.app.handlers.save_pre.append(saved_settings._stamp)
    for name, (*_, stabilize) in expected.items():
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / f"{name}.blend"))
        settings = bpy.data.objects["Hero"].pose.bones["head"].lookat_pd
        assert settings.stabilize == pytest.approx(stabilize), name
        assert settings.version == saved_settings.VERSION


def test_what_a_script_makes_now_is_not_of_an_earlier_version(tmp_path) -> None:
    armature = scenes.figure()
    armature.pose.bones["head"].lookat_pd.target = scenes.ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    assert bpy.data.objects["Hero"].pose.bones["head"].lookat_pd.stabilize == pytest.approx(0.95)


def test_the_figures_are_those_of_all_frames_that_look() -> None:
    armature, target = dancing(), scenes.ball()
    scenes.aim(armature, target, settle_time=0.6)
    scenes.settings_keyed(armature, "head", "use", [(1, True), (40, False)])
    live.finish(bpy.context.scene)
    line = live.solve_of(bpy.context.scene, armature, "head", look_at_kind.NAME).figures
    seen = errors(armature, target, range(1, 40))
    assert line.values["frame"] == 1 + int(seen.argmax())
    assert line.values["largest"] == pytest.approx(seen.max(), abs=0.01)
    assert line.values["most"] == pytest.approx(np.percentile(seen, 90), abs=0.01)


def test_frames_that_look_nowhere_or_beside_the_target_count_in_no_figure() -> None:
    error = np.radians([1.0, 2.0, 4.0, np.nan, 50.0])
    looks, reachable = np.array([True, True, True, True, False]), np.array([True, True, False, True, True])
    found = aim_errors.over(error, looks, reachable, np.arange(11, 16))
    assert (found.frames, found.in_reach, found.frame) == (3, 2, 13)
    assert np.degrees((found.median, found.largest)) == pytest.approx((2.0, 4.0))


def test_with_eyes_the_gaze_is_on_a_still_target_at_every_frame() -> None:
    armature = bodies.person()
    target = scenes.ball((0.8, -3.0, 1.5))
    settings = scenes.aim(armature, target, settle_time=0.6)
    settings.eyes.use = True
    (result,) = scenes.run_bake(armature)
    assert result.response.gaze is not None
    assert np.degrees(np.nanmax(result.response.gaze.error)) < 0.5
