"""What bones weigh: sums, sizes, the human table, meshes, and what is refused."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from .. import scenes

masses = load("rig.dynamics.masses")
meshes = load("rig.dynamics.meshes")
errors = load("lookat_pd.errors")

LEGS = (
    ("shin.L", "thigh.L", (0.1, -0.02, 0.5), (0.1, 0, 0.1)),
    ("shin.R", "thigh.R", (-0.1, -0.02, 0.5), (-0.1, 0, 0.1)),
)
HUMAN = (*(row for row in scenes.FIGURE if not row[0].startswith("foot")), *LEGS)


def of(armature: bpy.types.Object, **measured: Any) -> Any:
    return masses.of(bpy.context.scene, armature, **measured)


def weight(found: Any, bone: str) -> float:
    return float(found.properties.mass[found.bones.index(bone)])


def by_volume(armature: bpy.types.Object) -> bpy.types.Object:
    armature.lookat_pd_body.spread = "VOLUME"
    return armature


def box(size: tuple[float, float, float], at: tuple[float, float, float], name: str = "Box") -> bpy.types.Object:
    """A closed box in the scene."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=at)
    item = bpy.context.object
    item.name, item.scale = name, size
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=True)
    return item


def skin(item: bpy.types.Object, armature: bpy.types.Object, bone: str) -> bpy.types.Object:
    """Let a bone move a mesh."""
    item.vertex_groups.new(name=bone).add(range(len(item.data.vertices)), 1.0, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = armature
    return item


def test_masses_add_up_to_the_total() -> None:
    armature = scenes.figure(rows=HUMAN)
    armature.lookat_pd_body.total_mass = 55.0
    assert of(armature).total == pytest.approx(55.0)
    by_volume(armature)
    assert of(armature).total == pytest.approx(55.0)


@pytest.mark.parametrize("spread", ["VOLUME", "HUMAN"])
def test_mass_grows_with_the_cube_of_the_size(spread: str) -> None:
    armature = scenes.figure(rows=HUMAN)
    armature.lookat_pd_body.spread, armature.lookat_pd_body.scale = spread, "SCENE"
    small = of(armature).total
    armature.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert of(armature).total == pytest.approx(8.0 * small, rel=1e-5)
    armature.scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert of(armature).total == pytest.approx(1e-6 * small, rel=1e-5)


@pytest.mark.parametrize("size", [0.01, 0.0254, 100.0])
def test_a_human_in_other_units_weighs_as_much_as_a_human(size: float) -> None:
    """Centimetres or inches taken for metres: an arm would weigh tons."""
    armature = scenes.figure(rows=HUMAN)
    plain = of(armature).total
    armature.scale = (size, size, size)
    bpy.context.view_layer.update()
    assert of(armature).total == pytest.approx(70.0 if size != 1.0 else plain, rel=1e-3)
    assert masses.warning(armature, of(armature)) is None
    armature.lookat_pd_body.scale = "SCENE"
    found = of(armature)
    assert found.total == pytest.approx(plain * size**3, rel=1e-4)
    assert (masses.warning(armature, found) is not None) == (size > 1.0)


@pytest.mark.parametrize("size", [0.4, 1.0, 3.0])
def test_children_and_giants_keep_their_size(size: float) -> None:
    armature = scenes.figure(rows=HUMAN)
    plain = of(armature).total
    armature.scale = (size, size, size)
    bpy.context.view_layer.update()
    assert of(armature).total == pytest.approx(plain * size**3, rel=1e-4)


def test_a_bone_too_heavy_for_a_human_is_named_however_the_mass_is_distributed() -> None:
    armature = by_volume(scenes.figure(rows=HUMAN))
    armature.lookat_pd_body.radius, armature.lookat_pd_body.total_mass = 0.5, 280.0
    found = of(armature)
    assert found.heaviest[1] > 60.0 and "thigh" in str(masses.warning(armature, found))
    beast = by_volume(scenes.figure("Beast", [("body", None, (0, 0, 1), (0, 1, 1))]))
    beast.lookat_pd_body.total_mass = 280.0
    assert masses.warning(beast, of(beast)) is None


def test_masses_that_are_probably_a_mistake_are_named() -> None:
    armature = scenes.figure(rows=HUMAN)
    assert masses.warning(armature, of(armature)) is None
    armature.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert "weighs" in str(masses.warning(armature, of(armature)))
    armature.lookat_pd_body.total_mass = 900.0
    bone, _ = of(armature).heaviest
    assert f"'{bone}'" in str(masses.warning(armature, of(armature)))
    armature.lookat_pd_body.total_mass = 70.0
    assert masses.warning(armature, of(armature)) is None


def test_a_human_is_known_and_has_the_parts_of_one() -> None:
    armature = scenes.figure(rows=HUMAN)
    found = of(armature)
    assert found.human
    assert 55.0 < found.total < 85.0, "a figure of 1.8 m"
    # de Leva: the mean of 14.16 and 14.78 %, and of 2.71 and 2.55 %.
    assert weight(found, "thigh.L") / weight(found, "upper_arm.L") == pytest.approx(14.47 / 2.63, rel=1e-5)
    assert weight(found, "head") > weight(found, "upper_arm.R") == pytest.approx(weight(found, "upper_arm.L"))


@pytest.mark.parametrize("way", [(0.1, 0.0, 0.0), (0.0, 0.0, 0.03), (10.0, 0.0, 0.0)])
def test_bones_that_all_point_along_one_axis_weigh_what_is_between_their_joints(way: tuple[float, ...]) -> None:
    """As importers leave joints of files without bones."""
    feet = [(f"foot.{side}", f"shin.{side}", (x, 0, 0.1), (x, -0.15, 0)) for side, x in (("L", 0.1), ("R", -0.1))]
    plain = of(scenes.figure("Plain", (*HUMAN, *feet)))
    rows = [(name, parent, head, tuple(np.add(head, way))) for name, parent, head, _ in (*HUMAN, *feet)]
    armature = scenes.figure(rows=rows)
    found = of(armature)
    assert found.human and 40.0 < found.total < 90.0
    bone = armature.data.bones["thigh.L"]
    center = bone.matrix_local @ Vector(found.properties.center[found.bones.index("thigh.L")])
    np.testing.assert_allclose(center, (0.1, -0.01, 0.75), atol=1e-4)
    share, expected = (weight(item, "thigh.L") / item.total for item in (found, plain))
    assert share == pytest.approx(expected, rel=1e-4)
    moments = [
        np.linalg.eigvalsh(item.properties.inertia[item.bones.index("thigh.L")]) / weight(item, "thigh.L")
        for item in (found, plain)
    ]
    np.testing.assert_allclose(*moments, rtol=1e-4)


@pytest.mark.parametrize("length", [0.001, 0.03])
def test_last_bones_have_mass_and_size_where_tails_say_nothing(length: float) -> None:
    """Dots, as files in another unit leave them, and short bones of one length."""
    rows = [(name, parent, head, tuple(np.add(head, (0, 0, length)))) for name, parent, head, _ in HUMAN]
    found = of(scenes.figure(rows=rows))
    assert found.human and weight(found, "head") > 0.3 * weight(found, "neck")
    for name in ("head", "hand.L", "shin.R"):
        moments = np.linalg.eigvalsh(found.properties.inertia[found.bones.index(name)])
        # Of a ball, whose radius is a hundredth of the body's height.
        assert moments.max() > 0.4 * weight(found, name) * 0.018**2, name


def test_on_all_fours_it_is_no_human() -> None:
    rows = [
        (name, parent, *((x, z, 1.0 - y) for x, y, z in ends))
        if name in ("hips", "spine", "chest", "neck", "head")
        else (name, parent, *ends)
        for name, parent, *ends in HUMAN
    ]
    rows = [row for row in rows if not row[0].startswith(("upper_arm", "hand"))]
    for side, x in (("L", 0.15), ("R", -0.15)):
        rows.append((f"upper_arm.{side}", "chest", (x, 1.4, 1.0), (x, 1.4, 0.5)))
    assert not of(scenes.figure(rows=rows)).human


def test_what_is_no_human_is_refused_its_table() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    armature.lookat_pd_body.spread = "HUMAN"
    with pytest.raises(errors.RigError, match="by volume"):
        of(armature)


def test_a_bone_has_the_mass_or_density_given_to_it() -> None:
    armature = by_volume(scenes.figure())
    before = of(armature)
    armature.pose.bones["hand.L"].lookat_pd_body.mass = 7.0
    armature.pose.bones["hand.R"].lookat_pd_body.density = 3.0
    after = of(armature)
    assert weight(after, "hand.L") == pytest.approx(7.0)
    assert weight(after, "hand.R") == pytest.approx(3.0 * weight(before, "hand.R"), rel=1e-5)
    assert weight(after, "head") == pytest.approx(weight(before, "head"))


def test_a_bone_that_deforms_nothing_may_be_given_a_mass() -> None:
    armature = by_volume(scenes.figure())
    armature.data.bones["hand.L"].use_deform = False
    assert "hand.L" not in of(armature).bones
    armature.pose.bones["hand.L"].lookat_pd_body.mass = 2.0
    assert weight(of(armature), "hand.L") == pytest.approx(2.0)


def test_the_root_on_the_ground_weighs_nothing() -> None:
    assert "root" not in of(by_volume(scenes.figure())).bones


def test_an_armature_without_size_is_refused() -> None:
    armature = scenes.figure()
    armature.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    with pytest.raises(errors.RigError, match="scale above 0"):
        of(armature)


# Meshes


def test_a_box_weighs_what_its_water_does() -> None:
    armature = by_volume(scenes.figure())
    skin(box((0.1, 0.2, 0.3), (0.5, 0.0, 1.45)), armature, "hand.L")
    found = of(armature, measured=scenes.finish(meshes.measure(bpy.context.scene, armature)))
    assert found.bones == ("hand.L",)
    assert found.total == pytest.approx(6.0, rel=1e-4)
    # The hand begins at 0.45 and lies along X of the world: its own Y.
    assert np.allclose(found.properties.center[0], (0.0, 0.05, 0.0), atol=1e-5)
    moments = np.sort(np.linalg.eigvalsh(found.properties.inertia[0]))
    assert np.allclose(moments, np.sort(6.0 / 12.0 * np.array([0.13, 0.10, 0.05])), rtol=1e-4)


def test_a_mesh_cut_open_along_its_seams_weighs_the_same() -> None:
    armature = by_volume(scenes.figure())
    item = box((0.1, 0.2, 0.3), (0.5, 0.0, 1.45))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.edge_split(type="EDGE")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(item.data.vertices) == 24
    skin(item, armature, "hand.L")
    measured = scenes.finish(meshes.measure(bpy.context.scene, armature))
    assert float(measured["hand.L"].mass) == pytest.approx(6.0, rel=1e-4)


def test_a_mesh_that_hangs_on_a_bone_is_the_bones() -> None:
    armature = by_volume(scenes.figure())
    item = box((0.1, 0.1, 0.1), (0.5, 0.0, 1.45))
    bpy.context.view_layer.update()
    place = item.matrix_world.copy()
    scenes.child(item, armature, "hand.L")
    item.matrix_world = place
    bpy.context.view_layer.update()
    measured = scenes.finish(meshes.measure(bpy.context.scene, armature))
    assert set(measured) == {"hand.L"}
    assert float(measured["hand.L"].mass) == pytest.approx(1.0, rel=1e-4)


def test_cloth_counts_as_a_capsule() -> None:
    armature = by_volume(scenes.figure())
    bpy.ops.mesh.primitive_plane_add(size=0.2, location=(0.5, 0.0, 1.45))
    skin(bpy.context.object, armature, "hand.L")
    found = of(armature, measured=scenes.finish(meshes.measure(bpy.context.scene, armature)))
    assert found.bones == ("hand.L",)
    assert weight(found, "hand.L") == pytest.approx(weight(of(armature), "hand.L"), rel=1e-5)


def test_what_was_measured_is_measured_again_once_it_changes() -> None:
    armature = by_volume(scenes.figure())
    item = skin(box((0.1, 0.2, 0.3), (0.5, 0.0, 1.45)), armature, "hand.L")
    first = scenes.finish(meshes.measure(bpy.context.scene, armature))
    again = scenes.finish(meshes.measure(bpy.context.scene, armature))
    assert again["hand.L"].mass == first["hand.L"].mass
    item.vertex_groups[0].name = "hand.R"
    assert set(scenes.finish(meshes.measure(bpy.context.scene, armature))) == {"hand.R"}
    item.data.vertices[0].co.x += 0.05
    second = scenes.finish(meshes.measure(bpy.context.scene, armature))
    assert float(second["hand.R"].mass) != pytest.approx(6.0, rel=1e-3)


def test_an_armature_without_meshes_has_nothing_to_measure() -> None:
    armature = scenes.figure()
    with pytest.raises(errors.RigError, match="use capsules"):
        of(armature, measured=scenes.finish(meshes.measure(bpy.context.scene, armature)))
