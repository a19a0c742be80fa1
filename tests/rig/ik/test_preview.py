"""The panel's picture of how the solver converges."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .test_chain_bake import hero

ik_preview = load("rig.ik.preview")
ik_settings = load("rig.ik.settings")


@pytest.mark.parametrize("method", [item[0] for item in ik_settings.METHOD_ITEMS])
def test_the_error_falls_and_ends_where_the_bake_does(method) -> None:
    armature, settings = hero(), bpy.context.scene.lookat_pd_ik
    scenes.goto(1)
    assert ik_preview.convergence(bpy.context.scene, armature, "palm.L") is None
    settings.target, settings.method, settings.iterations = scenes.ball((0.5, -0.25, 1.5)), method, 50
    bpy.context.view_layer.update()
    found = ik_preview.convergence(bpy.context.scene, armature, "palm.L")
    errors = found.solve()
    assert found.in_reach and errors[0] > 0.1 and errors[-1] < 1e-4 and 2 <= len(errors) <= 51
    heights = ik_preview.heights(errors)
    assert heights.max() <= 1.0 and heights.min() >= 0.0 and heights[0] > heights[-1]
    assert ik_preview.convergence(bpy.context.scene, armature, "palm.L").key == found.key
    settings.target.location.x += 0.1
    bpy.context.view_layer.update()
    assert ik_preview.convergence(bpy.context.scene, armature, "palm.L").key != found.key


def test_out_of_reach_and_where_there_is_no_chain() -> None:
    armature, settings = hero(), bpy.context.scene.lookat_pd_ik
    settings.target = scenes.ball((9.0, 0.0, 0.0))
    bpy.context.view_layer.update()
    assert not ik_preview.convergence(bpy.context.scene, armature, "palm.L").in_reach
    assert ik_preview.convergence(bpy.context.scene, armature, "root") is None


def test_heights() -> None:
    assert np.allclose(ik_preview.heights(np.array([1.0, 1e-3, 1e-6, 0.0, 5.0])), [1.0, 0.5, 0.0, 0.0, 1.0])
