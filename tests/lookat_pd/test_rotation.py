"""The laws of rotations, and Blender's own mathutils as the other engine where there is one."""

from types import ModuleType

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

CLOSE = 1e-12
SINGLE = 2e-6  # mathutils computes in single precision

coordinates = st.floats(-10.0, 10.0, allow_subnormal=False)
angles = st.floats(-20.0, 20.0, allow_subnormal=False)
orders = st.sampled_from(rotation.EULER_ORDERS)
poles = st.sampled_from([-0.5 * np.pi, 0.5 * np.pi])


def arrays(*elements: st.SearchStrategy[float]) -> st.SearchStrategy[Array]:
    return st.tuples(*elements).map(np.array)


vectors = arrays(coordinates, coordinates, coordinates)
directions = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3).map(rotation.normalize)
half_turns = directions.map(lambda axis: np.append(0.0, axis))
quaternions = st.one_of(
    arrays(coordinates, coordinates, coordinates, coordinates)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(rotation.normalize),
    half_turns,
    st.sampled_from([*np.eye(4), *-np.eye(4)]),
)
eulers = arrays(angles, angles, angles)


@pytest.fixture(scope="module")
def mathutils() -> ModuleType:
    pytest.importorskip("bpy", reason="mathutils comes with Blender")
    return pytest.importorskip("mathutils")


def assert_same_rotation(a: Array, b: Array, within: float = 1e-9) -> None:
    """Equal as rotations: q and -q are the same one. The angle between them is in radians."""
    assert np.max(rotation.distance(a, b), initial=0.0) <= within


def random_quaternions(*shape: int, seed: int = 1) -> Array:
    return rotation.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))


def smooth_path(seed: int, frames: int = 400) -> Array:
    """Rotations (frames, 4) of a path that winds through many turns in small steps."""
    t = np.linspace(0.0, 1.0, frames)[:, None]
    rng = np.random.default_rng(seed)
    waves = sum(rng.normal(size=3) * np.sin(2.0 * np.pi * n * t + rng.uniform(0.0, 6.0, 3)) for n in range(1, 4))
    return rotation.multiply(rotation.exp(waves), rotation.exp(rng.normal(size=3) * 10.0 * t))


# The group


@given(quaternions, quaternions, quaternions)
def test_product_is_associative_with_identity_and_inverse(a: Array, b: Array, c: Array) -> None:
    left = rotation.multiply(rotation.multiply(a, b), c)
    assert_allclose(left, rotation.multiply(a, rotation.multiply(b, c)), atol=CLOSE)
    assert_allclose(rotation.multiply(a, rotation.IDENTITY), a, atol=CLOSE)
    assert_allclose(rotation.multiply(a, rotation.inverse(a)), rotation.IDENTITY, atol=CLOSE)


@given(quaternions, quaternions, vectors)
def test_product_rotates_by_the_second_then_by_the_first(a: Array, b: Array, v: Array) -> None:
    assert_allclose(rotation.rotate(rotation.multiply(a, b), v), rotation.rotate(a, rotation.rotate(b, v)), atol=1e-11)


@given(quaternions, vectors, vectors)
def test_rotation_keeps_lengths_angles_and_handedness(q: Array, v: Array, w: Array) -> None:
    rv, rw = rotation.rotate(q, v), rotation.rotate(q, w)
    assert_allclose(rv @ rw, v @ w, atol=1e-10)
    assert_allclose(np.cross(rv, rw), rotation.rotate(q, np.cross(v, w)), atol=1e-10)


def test_everything_broadcasts_over_leading_axes() -> None:
    a, b = random_quaternions(5, 1, seed=1), random_quaternions(3, seed=2)
    product = rotation.multiply(a, b)
    assert product.shape == (5, 3, 4)
    for frame in range(5):
        for bone in range(3):
            assert_allclose(product[frame, bone], rotation.multiply(a[frame, 0], b[bone]), atol=CLOSE)
    assert rotation.rotate(a, np.ones(3)).shape == (5, 1, 3)
    assert rotation.identity(2, 3).shape == (2, 3, 4)


def test_empty_arrays_stay_empty() -> None:
    none = np.zeros((0, 4))
    for function in (rotation.log, rotation.to_matrix, rotation.to_euler, rotation.align_hemisphere, rotation.inverse):
        assert len(function(none)) == 0
    assert len(rotation.continuous_euler(np.zeros((0, 3)))) == 0
    assert rotation.from_matrix(np.zeros((0, 3, 3))).shape == (0, 4)


@given(quaternions, quaternions)
def test_product_and_rotation_equal_mathutils(mathutils: ModuleType, a: Array, b: Array) -> None:
    qa, qb = mathutils.Quaternion(a), mathutils.Quaternion(b)
    assert_allclose(rotation.multiply(a, b), qa @ qb, atol=SINGLE)
    assert_allclose(rotation.rotate(a, [0.3, -0.4, 1.2]), qa @ mathutils.Vector((0.3, -0.4, 1.2)), atol=SINGLE)


# Exponential and logarithm


@given(quaternions)
def test_exponential_undoes_logarithm(q: Array) -> None:
    v = rotation.log(q)
    assert np.linalg.norm(v) <= np.pi + CLOSE
    assert_allclose(rotation.angle(q), np.linalg.norm(v), atol=CLOSE)
    assert_same_rotation(rotation.exp(v), q)


@given(directions, st.floats(-14.0, np.log10(np.pi)))
def test_logarithm_undoes_exponential_at_every_scale(axis: Array, exponent: float) -> None:
    v = axis * min(10.0**exponent, np.pi - 1e-9)
    assert_allclose(rotation.log(rotation.exp(v)), v, rtol=1e-7, atol=0.0 if exponent < -3 else 1e-9)


@given(directions, angles)
def test_axis_and_angle_describe_the_rotation(axis: Array, angle: float) -> None:
    q = rotation.from_axis_angle(3.0 * axis, angle)
    assert_same_rotation(q, rotation.exp(axis * angle))
    assert_allclose(rotation.rotate(q, axis), axis, atol=CLOSE)


@given(quaternions, quaternions, st.floats(0.0, 1.0))
def test_slerp_divides_the_angle(a: Array, b: Array, t: float) -> None:
    whole = rotation.distance(a, b)
    part = rotation.distance(a, rotation.slerp(a, b, t))
    assert_allclose(part, t * whole, atol=1e-9)
    assert_same_rotation(rotation.slerp(a, b, 1.0), b)


# Shortest arc


@given(directions, directions)
def test_shortest_arc_turns_one_onto_the_other_without_twist(a: Array, b: Array) -> None:
    assume(np.linalg.norm(a + b) > 1e-4)
    q = rotation.shortest_arc(5.0 * a, 0.2 * b)
    assert_allclose(rotation.rotate(q, a), b, atol=1e-10)
    assert_allclose(rotation.angle(q), np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b), atol=1e-9)
    assert_allclose([q[1:] @ a, q[1:] @ b], 0.0, atol=1e-9)


@given(directions)
def test_shortest_arc_between_equal_directions_is_none(a: Array) -> None:
    assert_allclose(rotation.shortest_arc(a, 2.0 * a), rotation.IDENTITY, atol=CLOSE)


@given(directions)
def test_shortest_arc_between_opposite_directions_is_half_a_turn_about_a_fixed_axis(a: Array) -> None:
    q = rotation.shortest_arc(a, -a)
    assert_allclose(rotation.rotate(q, a), -a, atol=CLOSE)
    assert_allclose(np.linalg.norm(q), 1.0)
    assert_allclose(q, rotation.shortest_arc(a, -a))


@given(directions, directions)
def test_shortest_arc_between_opposite_directions_turns_about_up(a: Array, up: Array) -> None:
    assume(np.linalg.norm(np.cross(a, up)) > 1e-3)
    q = rotation.shortest_arc(a, -a, up)
    square = rotation.normalize(up - (up @ a) * a)
    assert_allclose(np.abs(q[1:] @ square), 1.0, atol=1e-9)
    assert_allclose(rotation.rotate(q, a), -a, atol=CLOSE)


@given(directions)
def test_shortest_arc_does_without_an_up_that_is_parallel(a: Array) -> None:
    for up in (a, -2.0 * a, np.zeros(3)):
        assert_allclose(rotation.rotate(rotation.shortest_arc(a, -a, up), a), -a, atol=1e-9)


@given(directions, directions, st.floats(-12.0, -2.0))
def test_shortest_arc_near_the_opposite_still_arrives(a: Array, other: Array, exponent: float) -> None:
    assume(np.linalg.norm(np.cross(a, other)) > 1e-2)
    b = rotation.normalize(-a + 10.0**exponent * rotation.normalize(np.cross(a, other)))
    q = rotation.shortest_arc(a, b)
    assert_allclose(rotation.rotate(q, a), b, atol=2e-5)
    assert_allclose(np.linalg.norm(q), 1.0)


def test_shortest_arc_of_no_direction_is_none() -> None:
    assert_allclose(rotation.shortest_arc([0, 0, 0], [0, 1, 0]), rotation.IDENTITY)


def test_shortest_arc_treats_each_row_by_itself() -> None:
    a = np.tile([1.0, 0.0, 0.0], (3, 1))
    b = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert_allclose(rotation.rotate(rotation.shortest_arc(a, b), a), b, atol=CLOSE)


# Swing and twist


@given(quaternions, directions)
def test_swing_and_twist_make_the_whole(q: Array, axis: Array) -> None:
    swing, twist = rotation.swing_twist(q, axis)
    assert_allclose(rotation.multiply(swing, twist), q, atol=1e-12)
    assert_allclose([np.linalg.norm(swing), np.linalg.norm(twist)], 1.0)
    assert_allclose(rotation.rotate(twist, axis), axis, atol=1e-9)
    assert_allclose(swing[1:] @ axis, 0.0, atol=1e-9)


@given(directions, angles)
def test_turn_about_the_axis_is_all_twist(axis: Array, angle: float) -> None:
    swing, _ = rotation.swing_twist(rotation.from_axis_angle(axis, angle), axis)
    assert_same_rotation(swing, rotation.IDENTITY)


@given(directions, directions)
def test_half_a_turn_square_to_the_axis_is_all_swing(axis: Array, other: Array) -> None:
    assume(np.linalg.norm(np.cross(axis, other)) > 1e-2)
    q = np.append(0.0, rotation.normalize(np.cross(axis, other)))
    swing, twist = rotation.swing_twist(q, axis)
    assert np.all(np.isfinite(twist))
    assert_same_rotation(rotation.multiply(swing, twist), q)


# Signs along time


@pytest.mark.parametrize("shape", [(200,), (200, 3), (1, 2), (2,)])
def test_neighbours_never_oppose_and_rotations_stay(shape: tuple[int, ...]) -> None:
    q = random_quaternions(*shape, seed=3)
    aligned = rotation.align_hemisphere(q)
    assert np.all(np.sum(aligned[1:] * aligned[:-1], axis=-1) >= 0.0)
    assert_allclose(np.abs(np.sum(aligned * q, axis=-1)), 1.0)
    assert_allclose(aligned[0], q[0])


# Matrices


@given(quaternions)
def test_matrix_is_a_rotation_and_leads_back(q: Array) -> None:
    m = rotation.to_matrix(q)
    assert_allclose(m @ m.T, np.eye(3), atol=CLOSE)
    assert_allclose(np.linalg.det(m), 1.0)
    assert_allclose(m @ [1.0, 2.0, 3.0], rotation.rotate(q, [1.0, 2.0, 3.0]), atol=1e-11)
    back = rotation.from_matrix(m)
    assert back[0] >= 0.0
    assert_same_rotation(back, q)


@given(quaternions)
def test_matrices_equal_mathutils(mathutils: ModuleType, q: Array) -> None:
    theirs = mathutils.Quaternion(q).to_matrix()
    assert_allclose(rotation.to_matrix(q), np.array(theirs), atol=SINGLE)
    assert_same_rotation(rotation.from_matrix(np.array(theirs)), np.array(theirs.to_quaternion()), within=1e-5)


@given(quaternions, arrays(*[st.floats(1e-3, 1e3)] * 3))
def test_scale_is_taken_out(q: Array, scale: Array) -> None:
    assert_same_rotation(rotation.from_matrix(rotation.to_matrix(q) * scale), q)


@given(arrays(*[coordinates] * 9).map(lambda m: m.reshape(3, 3)))
def test_shear_leaves_the_bone_along_its_own_axis(m: Array) -> None:
    lengths = np.linalg.norm(m, axis=0)
    assume(np.all(lengths > 1e-2))
    assume(abs(np.linalg.det(m / lengths)) > 1e-3)
    m = m * np.sign(np.linalg.det(m))
    x, y, z = rotation.to_matrix(rotation.from_matrix(m)).T
    assert_allclose(y, m[:, 1] / lengths[1], atol=1e-8)
    assert x @ m[:, 0] > 0.0
    assert_allclose(z @ m[:, 0] / lengths[0], 0.0, atol=1e-8)
    assert z @ m[:, 2] > 0.0


@given(quaternions, arrays(*[st.floats(0.1, 10.0)] * 3))
def test_mirror_is_read_as_the_rotation_of_its_negative(q: Array, scale: Array) -> None:
    assert_same_rotation(rotation.from_matrix(-rotation.to_matrix(q) * scale), q)


def test_flat_matrices_give_a_unit_quaternion() -> None:
    flat = np.array([np.zeros((3, 3)), np.diag([1.0, 1.0, 0.0]), np.diag([0.0, 1.0, 1.0]), np.ones((3, 3))])
    with np.errstate(all="raise"):
        assert_allclose(np.linalg.norm(rotation.from_matrix(flat), axis=-1), 1.0)


# Euler angles


@given(eulers, orders)
def test_euler_angles_equal_mathutils(mathutils: ModuleType, e: Array, order: str) -> None:
    theirs = np.array(mathutils.Euler(e, order).to_quaternion())
    assert_same_rotation(rotation.from_euler(e, order), theirs, within=1e-5)


@given(quaternions, orders)
def test_euler_angles_lead_back(q: Array, order: str) -> None:
    e = rotation.to_euler(q, order)
    assert abs(e["XYZ".index(order[1])]) <= 0.5 * np.pi + CLOSE
    assert_same_rotation(rotation.from_euler(e, order), q, within=1e-6)


@given(angles, angles, poles, st.floats(-1e-6, 1e-6), orders)
def test_gimbal_lock_keeps_the_rotation(first: float, third: float, pole: float, off: float, order: str) -> None:
    i, j, k = ("XYZ".index(letter) for letter in order)
    e = np.zeros(3)
    e[[i, j, k]] = first, pole + off, third
    q = rotation.from_euler(e, order)
    assert_same_rotation(rotation.from_euler(rotation.to_euler(q, order), order), q, within=1e-6)


@given(angles, angles, poles, orders)
def test_gimbal_lock_gives_the_third_angle_up(first: float, third: float, pole: float, order: str) -> None:
    i, j, k = ("XYZ".index(letter) for letter in order)
    e = np.zeros(3)
    e[[i, j, k]] = first, pole, third
    found = rotation.to_euler(rotation.from_euler(e, order), order)
    assert found[k] == 0.0
    assert_allclose(found[j], pole, atol=1e-6)


def test_unknown_order_is_refused() -> None:
    for call in (rotation.to_euler, rotation.from_euler):
        with pytest.raises(InvalidArgument, match="XYX"):
            call(np.zeros(4)[:3] if call is rotation.from_euler else rotation.IDENTITY, "XYX")


# Continuous Euler angles


@given(st.integers(0, 1000), orders)
def test_continuous_angles_are_the_same_rotations(seed: int, order: str) -> None:
    path = smooth_path(seed)
    e = rotation.continuous_euler(rotation.to_euler(path, order), order)
    assert_same_rotation(rotation.from_euler(e, order), path, within=1e-6)


@given(st.integers(0, 1000), orders)
def test_curves_that_run_through_poles_and_many_turns_are_found_again(seed: int, order: str) -> None:
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, 500)[:, None]
    curves = rng.uniform(-3.0, 3.0, 3) + rng.uniform(-40.0, 40.0, 3) * t + rng.normal(size=3) * np.sin(9.0 * t)
    middle = curves[:, "XYZ".index(order[1])]
    # Right at a pole the angles are free; a hair beside it they are not.
    assume(np.min(np.abs(np.cos(middle))) > 1e-5)
    found = rotation.continuous_euler(rotation.to_euler(rotation.from_euler(curves, order), order), order, curves[0])
    assert_allclose(found, curves, atol=1e-6)


@pytest.mark.parametrize("order", rotation.EULER_ORDERS)
@pytest.mark.parametrize("pole", [-0.5 * np.pi, 0.5 * np.pi])
def test_frames_exactly_on_a_pole_do_not_jump(order: str, pole: float) -> None:
    i, j, k = ("XYZ".index(letter) for letter in order)
    t = np.linspace(-1.0, 1.0, 41)
    curves = np.zeros((len(t), 3))
    curves[:, i], curves[:, j], curves[:, k] = 0.8 + 0.1 * t, pole + 0.5 * t, -1.1 + 0.2 * t
    path = rotation.from_euler(curves, order)
    found = rotation.continuous_euler(rotation.to_euler(path, order), order, curves[0])
    assert_same_rotation(rotation.from_euler(found, order), path, within=1e-6)
    assert np.max(np.abs(np.diff(found, axis=0))) < 0.05


@pytest.mark.parametrize("free_frames", [0, 5])
def test_curves_that_begin_on_a_pole_do_not_jump_when_they_leave_it(free_frames: int) -> None:
    curves = np.tile([0.7, 0.5 * np.pi, -0.4], (10 + free_frames, 1))
    curves[10:, 1] -= 0.01 * np.arange(1, free_frames + 1)
    path = rotation.from_euler(curves)
    found = rotation.continuous_euler(rotation.to_euler(path))
    assert_same_rotation(rotation.from_euler(found), path, within=1e-6)
    assert np.max(np.abs(np.diff(found, axis=0))) < 0.05


def test_one_frame_alone_stays_as_it_is() -> None:
    assert_allclose(rotation.continuous_euler([[0.1, 0.2, 0.3]]), [[0.1, 0.2, 0.3]])
    assert rotation.continuous_euler(np.zeros((1, 4, 3))).shape == (1, 4, 3)


@given(st.integers(0, 1000), orders, arrays(*[st.floats(-30.0, 30.0)] * 3))
def test_continuous_angles_begin_near_the_start(seed: int, order: str, start: Array) -> None:
    e = rotation.to_euler(smooth_path(seed, 5), order)
    found = rotation.continuous_euler(e, order, start)
    turns = np.abs(found[0] - start)
    assert np.all(turns <= np.pi + 1e-9)
    assert_same_rotation(rotation.from_euler(found, order), rotation.from_euler(e, order), within=1e-6)


def test_continuous_angles_of_several_bones_are_independent() -> None:
    e = np.stack([rotation.to_euler(smooth_path(seed)) for seed in range(3)], axis=1)
    together = rotation.continuous_euler(e)
    for bone in range(3):
        assert_allclose(together[:, bone], rotation.continuous_euler(e[:, bone]))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7])
def test_vectors_of_any_width_have_products_and_lengths(width: int) -> None:
    a, b = np.random.default_rng(width).normal(size=(2, 5, width))
    assert_allclose(rotation.dot(a, b), np.sum(a * b, axis=-1), atol=1e-12)
    assert_allclose(np.linalg.norm(rotation.normalize(a), axis=-1), 1.0, atol=1e-12)


def test_turned_and_evenly_scaled_axes_are_neither_uneven_nor_sheared() -> None:
    random = np.random.default_rng(0)
    m = rotation.to_matrix(rotation.normalize(random.normal(size=(20, 4)))) * random.uniform(0.01, 100.0, (20, 1, 1))
    assert not rotation.is_uneven(m).any() and not rotation.is_sheared(m).any()
    assert rotation.is_uneven(m * [1.0, 1.0, 1.001]).all() and not rotation.is_sheared(m * [1.0, 1.0, 1.001]).any()
    below = np.diag([1.0, 2.0, 1.0]) @ m
    assert rotation.is_sheared(below).all(), "as below a bone that is scaled unevenly"
    assert not rotation.is_sheared(m * [-1.0, 1.0, 1.0]).any()


@pytest.mark.parametrize("base", [False, True])
@given(st.integers(1, 12), st.integers(0, 1000))
def test_rotations_follow_those_of_their_ancestors(base: bool, n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    parents = [int(random.integers(-1, joint)) if joint else -1 for joint in range(n)]
    steps, start = (rotation.normalize(random.normal(size=(*shape, 3, 4))) for shape in ((n, 2), (2,)))
    expected = np.empty_like(steps)
    for joint, parent in enumerate(parents):
        above = expected[parent] if parent >= 0 else start if base else rotation.IDENTITY
        expected[joint] = rotation.multiply(above, steps[joint])
    assert_allclose(rotation.accumulate_tree(parents, steps, start if base else None), expected, atol=CLOSE)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_rotations_follow_each_other(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    start, steps = (rotation.normalize(random.normal(size=shape)) for shape in ((3, 4), (3, n, 4)))
    expected = [start]
    for joint in range(n):
        expected.append(rotation.multiply(expected[-1], steps[:, joint]))
    assert_allclose(rotation.accumulate(start, steps), np.stack(expected, axis=1), atol=CLOSE)


def test_few_are_multiplied_and_rotated_as_many_are_to_the_last_bit() -> None:
    random = np.random.default_rng(5)
    for shape in ((3,), (1, 22), (4, 7)):
        a, b = map(np.asfortranarray, random.normal(size=(2, *shape, 4)))
        # Zeros have signs.
        a[0] = -0.0
        many = [np.tile(x, (500, *[1] * len(shape))) for x in (a, b, b[..., 1:])]
        for few, of_many in (
            (rotation.multiply(a, b), rotation.multiply(*many[:2])),
            (rotation.rotate(a, b[..., 1:]), rotation.rotate(many[0], many[2])),
        ):
            assert few.tobytes() == of_many[: len(few)].tobytes()
