"""Which bone is under the mouse: the one that is drawn there, whatever is selected."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from extension import load

from .. import scenes
from .test_chain_bake import hero

drawn_bones, shown_bones = load("rig.ik.drawn_bones"), load("rig.sampling.shown_bones")
SIZE = 800.0, 600.0


def view(angle: float = 0.0, *, perspective: bool = False, wall: np.ndarray | None = None) -> "drawn_bones.View":
    """From the front, turned about the vertical axis, centred at 1.2 m."""
    turn = Matrix.Rotation(-angle, 4, "Z") @ Matrix.Translation((0.0, 0.0, -1.2))
    # x to the right, z up, and y away from the eye, which is 5 m away.
    axes = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, 1.0, 0, 5.0], [0, 0, 0, 1.0]]) @ np.array(turn)
    aspect = SIZE[0] / SIZE[1]
    if perspective:
        project = np.array([[3.0 / aspect, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 1.02, -0.2], [0, 0, 1.0, 0]])
    else:
        project = np.array([[0.8 / aspect, 0, 0, 0], [0, 0.8, 0, 0], [0, 0, 0.2, -1.0], [0, 0, 0, 1.0]])
    return drawn_bones.View(project @ axes, SIZE, wall)


def found(armature: bpy.types.Object) -> "drawn_bones.DrawnBones":
    return drawn_bones.DrawnBones(armature, bpy.context.evaluated_depsgraph_get())


def middle(armature: bpy.types.Object, bone: str) -> np.ndarray:
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    item = seen.pose.bones[bone]
    return np.array(seen.matrix_world @ (0.5 * (item.head + item.tail)))


@pytest.mark.parametrize("perspective", [False, True])
@pytest.mark.parametrize("angle", [0.0, 0.5, 2.5])
def test_the_middle_of_each_bone_is_that_bone_whatever_is_selected(angle: float, perspective: bool) -> None:
    armature = hero()
    armature.matrix_world = Matrix.Translation((0.1, 0.2, 0.0)) @ Matrix.Rotation(0.3, 4, "Z") @ Matrix.Scale(0.9, 4)
    scenes.goto(5)
    seen_from = view(angle, perspective=perspective)
    drawn = found(armature)
    for name in ("palm.L", "forearm.L", "arm.L", "head"):
        scenes.select(armature, name)
        armature.data.bones.active = armature.data.bones[name]
        at, depth = seen_from.seen(middle(armature, name)[None])
        assert np.isfinite(depth[0]) and drawn.under(seen_from, tuple(at[0])) == name
        assert drawn.under(seen_from, (at[0, 0], at[0, 1] + 400.0)) == ""
    joint = armature.matrix_world @ armature.pose.bones["palm.L"].head
    assert drawn.under(seen_from, tuple(seen_from.seen(np.array([joint]))[0][0])) == "palm.L"


def test_shapes_are_taken_where_their_edges_are_drawn() -> None:
    """The circle of a hand around the wrist, not the bone of the forearm that it crosses farther away."""
    armature = hero()
    scenes.goto(1)
    mesh = bpy.data.meshes.new("Circle")
    corners = [(np.cos(t), 0.0, np.sin(t)) for t in np.linspace(0.0, 2.0 * np.pi, 33)[:-1]]
    mesh.from_pydata(corners, [(n, (n + 1) % 32) for n in range(32)], [])
    circle = bpy.data.objects.new("Circle", mesh)
    bone = armature.pose.bones["palm.L"]
    bone.custom_shape, bone.use_custom_shape_bone_size = circle, False
    bone.custom_shape_scale_xyz, bone.custom_shape_translation = (0.08, 0.08, 0.08), (0.0, 0.02, 0.0)
    bpy.context.view_layer.update()
    drawn, seen_from = found(armature), view(0.6)
    lines = drawn.lines_of("palm.L")
    assert lines.shape == (32, 2, 3)
    center = np.array(armature.matrix_world @ bone.matrix @ Matrix.Translation((0.0, 0.02, 0.0)).translation)
    np.testing.assert_allclose(np.linalg.norm(lines - center, axis=-1), 0.08, atol=1e-5)
    at = seen_from.seen(lines.mean(axis=1))[0]
    assert [drawn.under(seen_from, tuple(place)) for place in at].count("palm.L") >= 28


def test_what_is_hidden_or_behind_a_wall_is_not_taken() -> None:
    armature = hero()
    scenes.goto(1)
    seen_from, place = view(), middle(armature, "forearm.L")
    at = tuple(seen_from.seen(place[None])[0][0])
    before = place + np.array([0.0, -0.5, 0.0])
    assert found(armature).under(view(wall=before), at) == ""
    assert found(armature).under(view(wall=place + np.array([0.0, 0.5, 0.0])), at) == "forearm.L"
    owner = shown_bones.owner_of_hide(armature.pose.bones["forearm.L"])
    owner.hide = True
    assert found(armature).under(seen_from, at) != "forearm.L"
    assert not len(found(armature).lines_of("forearm.L"))


def test_what_is_in_front_is_taken_whatever_the_scale_of_the_rig() -> None:
    """In perspective, with the clip planes of Blender's viewport."""
    near, far, aspect, taken = 0.01, 1000.0, SIZE[0] / SIZE[1], []
    deep = (far + near) / (far - near), -2.0 * far * near / (far - near)
    project = np.array([[3.0 / aspect, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, *deep], [0, 0, 1.0, 0]])
    armature = hero()
    for scale in (1.0, 100.0, 0.01):
        armature.matrix_world = Matrix.Scale(scale, 4)
        scenes.goto(5)
        turn = Matrix.Rotation(1.3, 4, "Z") @ Matrix.Translation((0.0, 0.0, -1.2 * scale))
        axes = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, 1.0, 0, 5.0 * scale], [0, 0, 0, 1.0]]) @ np.array(turn)
        seen_from, drawn = drawn_bones.View(project @ axes, SIZE), found(armature)
        places = [(x, y) for x in range(250, 550, 10) for y in range(50, 600, 5)]
        taken.append([drawn.under(seen_from, place) for place in places])
    assert len(set(taken[0])) > 10
    assert taken[1:] == taken[:1] * 2
