"""Keyed glances, closed eyes and nods: what moves, what stays, live, baked and scrubbed."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies
from .test_blink import face, values

setting_keys = load("rig.look_at.directing.setting_keys")
glances = load("lookat_pd.gaze.glances")

LAST = 72
FRAMES = range(1, LAST + 1)
ON, OFF = 24, 48
BALL = (0.1, -1.5, 1.7)


@pytest.fixture(autouse=True)
def short(empty_file) -> None:
    bpy.context.scene.frame_end = LAST


def looking(**settings):
    armature = bodies.person(moving=False)
    found = bodies.look(armature, scenes.ball(BALL), **settings)
    found.eyes.use_lids = False
    return armature, found


def keyed(armature: bpy.types.Object, setting: str, amount: float, off: int = OFF) -> None:
    keys = [(1.0, 0.0), (float(ON), amount), (float(off), 0.0)]
    setting_keys.generate(armature, "head", setting, keys, (1, LAST), 1, [1])


def poses(armature: bpy.types.Object, frames=FRAMES) -> np.ndarray:
    return scenes.poses(armature, frames)


def aims(armature: bpy.types.Object, seen: np.ndarray, bone: str) -> np.ndarray:
    """Yaw to the left and pitch up [deg] of a bone that faces the front at rest, (F, 2)."""
    row = bodies.bones(armature, bone)[0]
    rest = np.array(armature.data.bones[bone].matrix_local)[:3, :3]
    ahead = (seen[:, row, :3, :3] @ rest.T) @ np.array([0.0, -1.0, 0.0])
    return np.degrees(np.stack([np.arctan2(ahead[:, 0], -ahead[:, 1]), np.arcsin(ahead[:, 2])], axis=-1))


def test_a_small_glance_is_of_the_eyes_alone() -> None:
    """Nothing else moves by the least: the head keeps looking at the target."""
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "glance_yaw", np.radians(10.0))
    after = poses(armature)
    eyes = bodies.bones(armature, *bodies.EYES)
    others = [n for n in range(after.shape[1]) if n not in eyes]
    assert np.abs(after[:, others] - before[:, others]).max() < 1e-6
    turned = aims(armature, after, "eye.L") - aims(armature, before, "eye.L")
    middle = slice(ON + 5, OFF - 2)
    assert np.abs(turned[middle] - (10.0, 0.0)).max() < 1.0
    assert np.abs(turned[: ON - 2]).max() < 1e-3 and np.abs(turned[OFF + 8 :]).max() < 1e-3


def test_the_head_takes_part_in_a_large_glance() -> None:
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "glance_pitch", np.radians(25.0))
    after = poses(armature)
    head = (aims(armature, after, "head") - aims(armature, before, "head"))[OFF - 4, 1]
    eye = (aims(armature, after, "eye.L") - aims(armature, before, "eye.L"))[OFF - 4, 1]
    assert 3.0 < head < 7.0
    assert 22.0 < eye < 28.0


def test_without_eyes_the_head_glances() -> None:
    armature = scenes.figure("Hero")
    scenes.aim(armature, scenes.ball(BALL))
    before = poses(armature)
    keyed(armature, "glance_yaw", np.radians(-10.0))
    turned = aims(armature, poses(armature), "head") - aims(armature, before, "head")
    assert -12.0 < turned[OFF - 3, 0] < -7.0
    assert abs(turned[-1, 0]) < 1.0


def test_a_frame_is_the_same_however_it_is_reached() -> None:
    armature, _ = looking()
    keyed(armature, "glance_yaw", np.radians(20.0))
    keyed(armature, "nod", np.radians(6.0))
    forth = poses(armature)
    back = poses(armature, reversed(FRAMES))[::-1]
    assert np.abs(forth - back).max() < 1e-6


def test_a_bake_shows_what_was_live() -> None:
    armature, found = looking()
    keyed(armature, "glance_yaw", np.radians(20.0))
    keyed(armature, "nod", np.radians(6.0))
    live = poses(armature)
    scenes.run_bake(armature, first=1, last=LAST)
    assert found.mute
    assert np.abs(poses(armature) - live).max() < 1e-5


def test_eyes_closed_by_keys() -> None:
    armature, _ = looking()
    keys = face(armature, "Blink")
    keyed(armature, "eyes_closed", 1.0, ON + 2)
    closing = values(keys, "Blink", range(ON - 3, ON + 12))
    assert np.all(closing[:3] == 0.0) and closing[-1] == 0.0
    assert closing.max() > 0.95
    assert np.argmax(closing) <= 6


def test_a_nod_goes_down_and_comes_back() -> None:
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "nod", np.radians(6.0), ON + round(2 * 24 * glances.CYCLE))
    pitch = (aims(armature, poses(armature), "head") - aims(armature, before, "head"))[:, 1]
    assert -9.0 < pitch.min() < -3.0
    assert np.abs(pitch[: ON - 1]).max() < 0.05 and abs(pitch[-1]) < 0.3
    # Two nods, the second one smaller.
    lows = [n for n in range(1, len(pitch) - 1) if pitch[n] < min(pitch[n - 1], pitch[n + 1]) and pitch[n] < -1.0]
    assert len(lows) == 2


def test_eyes_stay_on_the_target_while_the_head_nods() -> None:
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "nod", np.radians(6.0))
    moved = aims(armature, poses(armature), "eye.L") - aims(armature, before, "eye.L")
    assert np.abs(moved).max() < 0.7


def leans(armature: bpy.types.Object, seen: np.ndarray) -> np.ndarray:
    """Angle [deg] by which the left side of the head is below its right side, (F,)."""
    row = bodies.bones(armature, "head")[0]
    rest = np.array(armature.data.bones["head"].matrix_local)[:3, :3]
    return np.degrees(-np.arcsin(((seen[:, row, :3, :3] @ rest.T) @ np.array([1.0, 0.0, 0.0]))[:, 2]))


def test_a_tilt_leans_the_head_to_its_left_and_keeps_the_eyes_on_the_target() -> None:
    armature, _ = looking()
    before = poses(armature)
    keyed(armature, "tilt", np.radians(8.0))
    after = poses(armature)
    lean = leans(armature, after) - leans(armature, before)
    assert np.abs(lean[: ON - 2]).max() < 1e-3 and abs(lean[OFF - 3] - 8.0) < 1.0 and abs(lean[-1]) < 0.5
    place = after[OFF - 3, bodies.bones(armature, "eye.L")[0], :3, 3]
    way = np.array(BALL) - place
    ball = np.degrees([np.arctan2(way[0], -way[1]), np.arctan2(way[2], np.hypot(way[0], way[1]))])
    assert np.abs(aims(armature, after, "eye.L")[OFF - 3] - ball).max() < 0.3
    live = poses(armature)
    scenes.run_bake(armature, first=1, last=LAST)
    assert np.abs(poses(armature) - live).max() < 1e-5
