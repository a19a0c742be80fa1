"""The demo's arms: poses are hit, loads show, reaches arrive from three sides, and Optimal costs least."""

import bpy
import numpy as np
import pytest

from extension import load

arms = load("assets.demo.arms")
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")


@pytest.mark.thorough
def test_arms_swing_and_reach() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    demo = arms.build_scene(bpy.context.scene)
    swings = {(swing.seconds, swing.load): swing for swing in demo.swings}
    assert {seconds for seconds, _ in swings} == set(arms.SWINGS) and len(swings) == 6
    assert not any(swing.missed for swing in (*demo.swings, *demo.poses))
    for seconds in arms.SWINGS:
        count = int(swings[seconds, 0.0].keys[-1])
        bare, light, heavy = (swings[seconds, load].path[:count] for load in arms.LOADS)
        away = [float(np.linalg.norm(path - bare, axis=1).max()) for path in (light, heavy)]
        assert 0.02 < away[0] < away[1]
        assert max(np.linalg.norm(path[-1] - bare[-1]) for path in (light, heavy)) < 1e-5
    passing, stopping = (swing.path[: int(swing.keys[-1])] for swing in demo.poses)
    at = 24 * np.arange(7)
    assert np.abs(passing[at] - stopping[at]).max() < 1e-5 and np.abs(passing[at] - passing[at[::-1]]).max() < 1e-5
    steps = [np.linalg.norm(np.diff(path, axis=0), axis=1) for path in (passing, stopping)]
    assert steps[0][20:120].min() < 0.2 * steps[0].max() and steps[0].max() < steps[1].max()
    starts = [reach.path[0] for reach in demo.reaches]
    assert min(np.linalg.norm(a - b) for a in starts for b in starts if a is not b) > 0.3
    for reach in demo.reaches:
        straight, smoothed, best = (reach.costs[name] for name in ("straight path", "smoothing", "optimal"))
        assert best <= smoothed <= straight and best < 0.8 * straight
        assert np.linalg.norm(reach.path[-1]) < 1e-3
    lifting = demo.lifting
    assert lifting.missed < 1e-3 and lifting.costs[1] <= lifting.costs[0]
    for frame in (25, 44, 80):
        bpy.context.scene.frame_set(frame)
        seen = lifting.arm.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for sign, name in ((1.0, "hand.L"), (-1.0, "hand.R")):
            bone = seen.pose.bones[name]
            middle = np.array(seen.matrix_world @ (0.5 * (bone.head + bone.tail)))
            away = middle - np.array(lifting.box.matrix_world.translation)
            assert np.abs(away - (sign * 0.22, 0.0, 0.0)).max() < 2e-3
    assert demo.report()["reaches"][0]["costs"] == demo.reaches[0].costs
