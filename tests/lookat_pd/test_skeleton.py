"""The skeleton's laws, and Blender's own evaluated pose as the other engine where there is one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.skeleton import Skeleton


def random_skeleton(bones: int = 8, seed: int = 1) -> Skeleton:
    """A tree of bones in all directions, several roots among them."""
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(-1, bone)) if bone else -1 for bone in range(bones)]
    heads, rotations = rng.normal(size=(bones, 3)), rotation.normalize(rng.normal(size=(bones, 4)))
    tails = heads + rotation.rotate(rotations, [0.0, 0.5, 0.0])
    return Skeleton([f"bone {n}" for n in range(bones)], np.array(parents), rotations, heads, tails)


def random_pose(*shape: int, seed: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rotation.normalize(rng.normal(size=(*shape, 4))), rng.normal(size=(*shape, 3))


def assert_same_rotations(a: Array, b: Array, within: float) -> None:
    assert np.max(rotation.distance(a, b)) <= within


def test_no_pose_is_the_rest_pose() -> None:
    skeleton = random_skeleton()
    orientations, heads = skeleton.forward(rotation.identity(len(skeleton)))
    assert_same_rotations(orientations, skeleton.rotations, 1e-9)
    assert_allclose(heads, skeleton.heads, atol=1e-12)


def test_frames_are_independent() -> None:
    skeleton = random_skeleton()
    basis, translation = random_pose(2, 3, len(skeleton))
    orientations, heads = skeleton.forward(basis, translation)
    assert heads.shape == (2, 3, len(skeleton), 3)
    for frame in np.ndindex(2, 3):
        alone = skeleton.forward(basis[frame], translation[frame])
        assert_allclose(orientations[frame], alone[0])
        assert_allclose(heads[frame], alone[1])


def test_turning_a_bone_moves_what_hangs_on_it_and_nothing_else() -> None:
    skeleton = random_skeleton(12)
    for bone in range(len(skeleton)):
        basis = rotation.identity(len(skeleton))
        basis[bone] = rotation.from_axis_angle([1.0, 2.0, 3.0], 0.7)
        orientations, heads = skeleton.forward(basis)
        moved = rotation.distance(skeleton.rotations, orientations) > 1e-6
        expected = [other == bone or bone in skeleton.ancestors(other) for other in range(len(skeleton))]
        assert list(moved) == expected
        # Distances within the part that moved, and its distance to the joint, stay as they are at rest.
        part = np.flatnonzero(expected)
        assert_allclose(
            np.linalg.norm(heads[part] - heads[bone], axis=-1),
            np.linalg.norm(skeleton.heads[part] - skeleton.heads[bone], axis=-1),
        )
        assert_allclose(heads[bone], skeleton.heads[bone], atol=1e-12)


def test_turning_a_root_turns_everything_rigidly() -> None:
    skeleton = random_skeleton()
    root = int(np.flatnonzero(skeleton.parents < 0)[0])
    below = [bone for bone in range(len(skeleton)) if root in skeleton.ancestors(bone)]
    turn = rotation.from_axis_angle([0.0, 0.0, 1.0], 1.1)  # in armature space
    rest = skeleton.rotations[root]
    basis = rotation.identity(len(skeleton))
    basis[root] = rotation.multiply(rotation.inverse(rest), rotation.multiply(turn, rest))
    _, heads = skeleton.forward(basis)
    pivot = skeleton.heads[root]
    assert_allclose(heads[below], pivot + rotation.rotate(turn, skeleton.heads[below] - pivot), atol=1e-12)


def test_family() -> None:
    skeleton = random_skeleton(10)
    for bone in range(len(skeleton)):
        line = skeleton.ancestors(bone)
        assert all(earlier > later for earlier, later in zip([bone, *line], line, strict=False))
        assert all(
            child in range(len(skeleton)) and bone in skeleton.ancestors(child) for child in skeleton.children[bone]
        )
    assert sum(map(len, skeleton.children)) == np.count_nonzero(skeleton.parents >= 0)
    assert skeleton.index("bone 3") == 3


def test_impossible_skeletons_are_refused() -> None:
    one, two = np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((2, 3))
    with pytest.raises(InvalidArgument, match="must be unique"):
        Skeleton(["a", "a"], np.array([-1, 0]), np.repeat(one, 2, axis=0), two, two)
    with pytest.raises(InvalidArgument, match=r"'a'.*parent"):
        Skeleton(["a", "b"], np.array([1, -1]), np.repeat(one, 2, axis=0), two, two)
    with pytest.raises(InvalidArgument, match=r"'a'.*parent"):
        Skeleton(["a", "b"], np.array([0, -1]), np.repeat(one, 2, axis=0), two, two)
    with pytest.raises(InvalidArgument, match="tails"):
        Skeleton(["a", "b"], np.array([-1, 0]), np.repeat(one, 2, axis=0), two, np.zeros((3, 3)))
    with pytest.raises(InvalidArgument, match="'c'"):
        random_skeleton().index("c")


def test_skeleton_without_bones() -> None:
    nothing = Skeleton([], np.zeros(0), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)))
    orientations, heads = nothing.forward(np.zeros((5, 0, 4)))
    assert orientations.shape == (5, 0, 4)
    assert heads.shape == (5, 0, 3)


@pytest.mark.blender
@pytest.mark.parametrize("seed", range(5))
def test_forward_kinematics_equals_blender(seed: int) -> None:
    import bpy

    wanted = random_skeleton(12, seed)
    rng = np.random.default_rng(seed)
    data = bpy.data.armatures.new("Random")
    armature = bpy.data.objects.new("Random", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, name in enumerate(wanted.names):
        edit = data.edit_bones.new(name)
        edit.head, edit.tail, edit.roll = wanted.heads[bone], wanted.tails[bone], rng.uniform(-3.0, 3.0)
        if wanted.parents[bone] >= 0:
            edit.parent = data.edit_bones[wanted.names[wanted.parents[bone]]]
    bpy.ops.object.mode_set(mode="OBJECT")

    basis, translation = random_pose(len(wanted), seed=seed)
    for bone, name in enumerate(wanted.names):
        pose = armature.pose.bones[name]
        pose.rotation_mode = "QUATERNION"
        pose.rotation_quaternion, pose.location = basis[bone], translation[bone]
    bpy.context.view_layer.update()

    bones = [data.bones[name] for name in wanted.names]
    rest = rotation.from_matrix([bone.matrix_local.to_3x3() for bone in bones])
    skeleton = Skeleton(
        wanted.names,
        wanted.parents,
        rest,
        np.array([bone.head_local for bone in bones]),
        np.array([bone.tail_local for bone in bones]),
    )
    orientations, heads = skeleton.forward(basis, translation)
    # Blender poses in single precision, and every bone of a chain adds its own rounding.
    matrices = np.array([armature.pose.bones[name].matrix for name in wanted.names])
    assert_same_rotations(orientations, rotation.from_matrix(matrices[:, :3, :3]), 3e-5)
    assert_allclose(heads, matrices[:, :3, 3], atol=3e-5)
