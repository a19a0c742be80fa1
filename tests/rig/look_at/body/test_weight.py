"""Hips and torso of a whole person with the settings of a new look-at, and of one from an older file."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies

handlers, saved_settings = load("rig.layers.live"), load("rig.look_at.saved_settings")

EYE = 1.62
FRAMES = (1, scenes.LAST)


def person(yaw: float, pitch: float, *, body: bool = True):
    """A person who stands still and looks at these angles [deg] from the start."""
    armature = bodies.person(moving=False)
    bpy.context.scene.frame_end = scenes.LAST
    side, up = np.radians((yaw, pitch))
    target = scenes.ball((4 * np.sin(side) * np.cos(up), -4 * np.cos(side) * np.cos(up), EYE + 4 * np.sin(up)))
    settings = (bodies.look if body else scenes.aim)(armature, target)
    return armature, settings


def moved(armature: bpy.types.Object, bone: str) -> tuple[np.ndarray, np.ndarray]:
    """Displacement (3,) [m] and rotation matrix (3, 3) that the look-at gives a bone at the last frame."""
    n = bodies.bones(armature, bone)[0]
    before, after = scenes.animated(armature, FRAMES)[-1, n], scenes.poses(armature, FRAMES)[-1, n]
    return after[:3, 3] - before[:3, 3], after[:3, :3] @ before[:3, :3].T


def yaw_of(turn: np.ndarray) -> float:
    ahead = turn @ (0.0, -1.0, 0.0)
    return float(np.degrees(np.arctan2(ahead[0], -ahead[1])))


@pytest.mark.thorough
@pytest.mark.parametrize(("pitch", "least"), [(35.0, 0.01), (-25.0, 0.006)])
def test_looking_up_moves_the_hips_forward_and_looking_down_back(pitch: float, least: float) -> None:
    armature, _ = person(0, pitch)
    ahead = -moved(armature, "hips")[0][1]
    assert np.sign(pitch) * ahead > least
    feet = [np.linalg.norm(moved(armature, foot)[0]) for foot in bodies.FEET]
    assert max(feet) < 1e-3
    assert scenes.error(armature, lambda _: bpy.data.objects["Ball"].location) < 0.5


def test_hips_are_back_when_the_look_is_over() -> None:
    armature, _ = person(10, 35)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (5, True), (15, False)])
    frames = (1, 140)
    bpy.context.scene.frame_end = 140
    assert np.abs(scenes.poses(armature, frames) - scenes.animated(armature, frames)).max() < 1e-6
    assert np.abs(scenes.poses(armature, (15,)) - scenes.animated(armature, (15,))).max() > 0.005


def test_a_bake_has_it_too() -> None:
    armature, _ = person(0, 35)
    scenes.animate(armature, bones=("upper_arm.L",), size=0.01)
    shown = scenes.poses(armature, FRAMES)
    scenes.run_bake(armature)
    assert np.abs(scenes.poses(armature, FRAMES) - shown).max() < 1e-5


def test_the_chest_turns_far_enough_at_95_degrees() -> None:
    """A neck twists by less than 60 degrees, as people do."""
    armature, settings = person(95, 0, body=False)
    head, chest = (yaw_of(moved(armature, bone)[1]) for bone in ("head", "chest"))
    assert head == pytest.approx(95.0, abs=1.5)
    assert 38.0 < chest < 55.0
    settings.body.torso_more = 0.0
    assert yaw_of(moved(armature, "chest")[1]) < 35.0


@pytest.mark.parametrize("yaw", [20.0, 45.0, 70.0])
def test_eyes_do_not_stay_aside_by_default(yaw: float) -> None:
    """Once the head has arrived, the eyes look ahead: a side-eye is what Head Share asks for."""
    armature, _ = person(yaw, 0)
    head, eye = (yaw_of(moved(armature, bone)[1]) for bone in ("head", "eye.L"))
    assert abs(eye - head) < 3.0


def test_an_older_file_moves_as_before(tmp_path) -> None:
    armature, settings = person(95, 30)
    settings.body.weight_pitch = settings.body.torso_more = 0.0
    settings.aim_from, settings.head_roll = "BONE", np.pi
    before = scenes.poses(armature, FRAMES)
    for name in ("weight_pitch", "torso_more"):
        settings.body.property_unset(name)
    armature.update_tag(refresh={"OBJECT"})
    bpy.context.view_layer.update()
    changed = scenes.poses(armature, FRAMES)
    assert np.abs(changed - before).max() > 0.01
    path = str(tmp_path / "new.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    settings.version = 0
    old = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=old)
    for file, expected in ((path, changed), (old, before)):
        bpy.ops.wm.open_mainfile(filepath=file)
        armature = bpy.data.objects["Person"]
        assert np.abs(scenes.poses(armature, FRAMES) - expected).max() < 1e-5
        assert armature.pose.bones["head"].lookat_pd.version == saved_settings.VERSION
