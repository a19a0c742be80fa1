"""What the viewport and the panel show of masses."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

display = load("rig.dynamics.display")
masses = load("rig.dynamics.masses")
meshes = load("rig.dynamics.meshes")


def middle(lines) -> np.ndarray:
    """The point between the ends of an ellipsoid's rings."""
    points = lines.reshape(-1, 3)
    return 0.5 * (points.min(axis=0) + points.max(axis=0))


def shown(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    bpy.context.view_layer.update()
    return display.ellipsoids(bpy.context.scene, armature)


def test_each_bone_with_mass_has_an_ellipsoid_about_its_center() -> None:
    armature = scenes.figure()
    armature.location, armature.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    found = shown(armature)
    weights = masses.of(bpy.context.scene, armature)
    assert set(found) == set(weights.bones)
    for bone, lines in found.items():
        pose = armature.pose.bones[bone]
        center = armature.matrix_world @ ((pose.head + pose.tail) / 2.0)
        assert np.allclose(middle(lines), center, atol=1e-4), bone


def test_a_heavier_bone_has_the_same_shape_and_one_of_no_mass_none() -> None:
    armature = scenes.figure()
    before = shown(armature)
    armature.pose.bones["head"].lookat_pd_body.mass = 50.0
    after = shown(armature)
    assert np.allclose(np.ptp(after["head"].reshape(-1, 3), axis=0), np.ptp(before["head"].reshape(-1, 3), axis=0))
    armature.data.bones["head"].use_deform = False
    armature.pose.bones["head"].lookat_pd_body.mass = 0.0
    assert "head" not in shown(armature)


def test_ellipsoids_go_with_the_pose() -> None:
    armature = scenes.figure()
    before = shown(armature)
    armature.pose.bones["upper_arm.L"].location = (0.0, 0.5, 0.0)
    after = shown(armature)
    assert np.allclose(middle(after["hand.L"]) - middle(before["hand.L"]), (0.5, 0.0, 0.0), atol=1e-4)
    assert np.allclose(middle(after["head"]), middle(before["head"]), atol=1e-6)


def test_why_nothing_is_shown() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:4])
    armature.lookat_pd_body.spread = "HUMAN"
    assert shown(armature) == {}
    found, why = display.summary(bpy.context.scene, armature)
    assert found is None and "by volume" in why


def test_measured_meshes_are_shown_once_they_are_measured() -> None:
    armature = scenes.figure()
    armature.lookat_pd_body.shape, armature.lookat_pd_body.spread = "MESHES", "VOLUME"
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.5, 0.0, 1.45))
    box = bpy.context.object
    box.vertex_groups.new(name="hand.L").add(range(8), 1.0, "REPLACE")
    box.modifiers.new("Armature", "ARMATURE").object = armature
    assert display.summary(bpy.context.scene, armature)[0].total < 0.9, "capsules until then"
    scenes.finish(meshes.measure(bpy.context.scene, armature))
    assert set(shown(armature)) == {"hand.L"}
    assert display.summary(bpy.context.scene, armature)[0].total == pytest.approx(1.0, rel=1e-5)
