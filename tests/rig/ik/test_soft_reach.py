"""Soft reach on rigs: bakes, drags and contacts of limbs that come to the end of their reach."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .test_chain_bake import at, hero, misses, run
from .test_drag import place, session

ik_chain, solving = load("rig.detection.joint_chain"), load("rig.ik.chain_solve")
methods, rotation = load("lookat_pd.ik.methods"), load("lookat_pd.rotation")
saved_settings, ik_settings = load("rig.ik.saved_settings"), load("rig.ik.settings")
body_settings, control_drag = load("rig.ik.body_settings"), load("rig.ik.control_drag")
LAST = 120


def out_and_back() -> bpy.types.Object:
    """A ball in front of the left hand that goes out of its reach and comes back."""
    ball = scenes.ball()
    scenes.keyed(ball, "location", [(1, (0.35, -0.2, 1.4)), (LAST // 2, (0.75, -0.5, 1.5)), (LAST, (0.35, -0.2, 1.4))])
    return ball


def bends(armature: bpy.types.Object, frames: range) -> np.ndarray:
    """The bends [rad] of the left elbow."""
    found = []
    for frame in frames:
        scenes.goto(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        parts = [np.array(bones[name].vector) for name in ("arm.L", "forearm.L")]
        found.append(np.arccos(np.clip(parts[0] @ parts[1] / np.prod(np.linalg.norm(parts, axis=-1)), -1.0, 1.0)))
    return np.array(found)


def baked(softness: float | None, **more: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """The result of a bake, the bends of the elbow, and how far the hand is from the ball."""
    armature, ball = hero(), out_and_back()
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    result = run(chain, at(ball), last=LAST, **({} if softness is None else {"soft_reach": softness}), **more)
    frames = range(1, LAST + 1)
    return result, bends(armature, frames), misses(armature, "palm.L", scenes.place_of(ball), frames)


def test_a_bake_reaches_softly_and_says_what_it_leaves() -> None:
    hard, bend, away = baked(0.0)
    assert not hard.in_reach.all() and not hard.softened.any() and hard.soft_frames == 0
    # The animation moves at first.
    snap = np.abs(np.diff(bend))[30:].max()
    soft, bend, away = baked(None)
    assert np.array_equal(soft.in_reach, hard.in_reach)
    assert np.abs(np.diff(bend))[30:].max() < 0.6 * snap
    # What is measured is what is told, and that is the distance to the target itself.
    np.testing.assert_allclose(soft.error, away, atol=1e-5)
    assert soft.largest_error < 1e-4
    assert 0 < soft.soft_frames < soft.in_reach.sum() and soft.largest_softened < 0.01
    np.testing.assert_allclose(away[soft.in_reach].max(), soft.largest_softened, atol=1e-4)


def test_a_drag_is_where_a_bake_is_and_tells_its_distance() -> None:
    armature = hero()
    scenes.goto(1)
    drag = session(armature)
    point = np.array((0.9, -0.6, 1.5))
    drag.move(point)
    np.testing.assert_allclose(np.linalg.norm(place(armature) - point), drag.error, atol=1e-5)
    near = drag.place + 0.999 * (np.array(place(armature)) - drag.place)
    drag.move(near)
    assert 1e-4 < drag.error < 0.02 * drag.reachable_distance
    np.testing.assert_allclose(np.linalg.norm(place(armature) - near), drag.error, atol=1e-5)
    drag.restore()


def test_files_of_earlier_versions_reach_as_they_did(tmp_path) -> None:
    """What was set stays, and new files have the new value."""
    body_settings.add(hero(), ["palm.L"])
    expected = {"old": (0, None, 0.0), "set": (0, 0.1, 0.1), "new": (saved_settings.VERSION, None, 0.03)}

    def both() -> tuple[Any, Any]:
        return bpy.context.scene.lookat_pd_ik, bpy.data.objects["Hero"].lookat_pd_ik_body

    bpy.app.handlers.save_pre.remove(saved_settings._stamp)
    try:
        for name, (version, value, _) in expected.items():
            for settings in both():
                settings.property_unset("soft_reach")
                settings.version = version
                if value is not None:
                    settings.soft_reach = value
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{name}.blend"))
    finally:
        bpy.app.handlers.save_pre.append(saved_settings._stamp)
    for name, (*_, value) in expected.items():
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / f"{name}.blend"))
        for settings in both():
            assert settings.soft_reach == pytest.approx(value), name
            assert settings.version == saved_settings.VERSION


def test_what_a_script_makes_now_is_not_of_an_earlier_version(tmp_path) -> None:
    body_settings.add(hero(), ["palm.L"])
    bpy.context.scene.lookat_pd_ik.iterations = 50
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    for settings in (bpy.context.scene.lookat_pd_ik, bpy.data.objects["Hero"].lookat_pd_ik_body):
        assert settings.soft_reach == pytest.approx(0.03)


def largest_turn(method: str) -> float:
    """The largest rotation [rad] of a joint of the arm from a frame to the next in a bake, without its first frames, in
    which the animation moves."""
    armature, ball = hero(), out_and_back()
    chain = ik_chain.resolve(armature, "palm.L", length=3, at_tip=False)
    run(chain, at(ball), last=LAST, method=method)
    turns = []
    for frame in range(30, LAST + 1):
        scenes.goto(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        turns.append([tuple(bones[name].matrix_basis.to_quaternion()) for name in chain.joints])
    found = np.array(turns)
    return float(rotation.distance(found[1:], found[:-1]).max())


@pytest.mark.thorough
@pytest.mark.parametrize("method", sorted({*methods.METHODS} - {methods.default().id, "jacobian_euler"}))
def test_no_method_turns_a_joint_much_faster_than_the_path_needs(method: str) -> None:
    """The default needs at most as much, see the law of the solvers. Angles about fixed axes have poses in which two
    axes are one: there the Jacobian of Euler angles leaps."""
    assert largest_turn(method.upper()) <= 1.5 * largest_turn(methods.default().identifier)
