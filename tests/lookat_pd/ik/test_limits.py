"""The laws of joint limits, the angles judged by the matrices that Blender's own solver reads them from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import Limits
from lookat_pd.ik.published import least_squares
from lookat_pd.rotation import Array

INSIDE = 1e-6
FREE = np.inf

methods = pytest.mark.parametrize("method", ik.METHODS)
any_method = st.sampled_from(list(ik.METHODS))
seeds = st.integers(0, 2**32 - 1)
orders = st.sampled_from(rotation.EULER_ORDERS)


def blenders_angles(rotations: Array) -> Array:
    """ComputeTwist and SphericalRangeParameters of Blender's IK_Math.h, swing as angles of the sign of the axis."""
    m = rotation.to_matrix(rotations)
    trace = np.trace(m, axis1=-2, axis2=-1)
    twist = 2.0 * np.arctan2(m[..., 0, 2] - m[..., 2, 0], trace + 1.0)
    scale = 1.0 / np.sqrt(2.0 * (1.0 + m[..., 1, 1]))
    swing = 2.0 * np.arcsin(np.clip([m[..., 2, 1] * scale, -m[..., 0, 1] * scale], -1.0, 1.0))
    return np.stack((swing[0], (twist + np.pi) % (2.0 * np.pi) - np.pi, swing[1]), axis=-1)


def off_range(angles: Array, minimum: Array, maximum: Array) -> Array:
    """How far angles lie outside, whole turns aside."""
    turns = np.stack([angles + turn for turn in (-2.0 * np.pi, 0.0, 2.0 * np.pi)])
    return np.min(np.maximum(np.maximum(minimum - turns, turns - maximum), 0.0), axis=0)


def ranges(random: np.random.Generator, joints: int) -> tuple[Array, Array]:
    """As Blender stores them: the minimum is never above zero, the maximum never below; some are not used."""
    minimum, maximum = random.uniform(-2.5, 0.0, (joints, 3)), random.uniform(0.0, 2.5, (joints, 3))
    minimum[random.uniform(size=minimum.shape) < 0.1] = 0.0
    unused = random.uniform(size=minimum.shape) < 0.3
    return np.where(unused, -FREE, minimum), np.where(unused, FREE, maximum)


def random_limits(seed: int, joints: int) -> tuple[Limits, np.random.Generator]:
    random = np.random.default_rng(seed)
    minimum, maximum = ranges(random, joints)
    locks = random.uniform(size=(joints, 3)) < 0.25
    return Limits(locks=locks, minimum=minimum, maximum=maximum), random


# The clamp


@given(seeds)
def test_angles_are_those_of_blender(seed: int) -> None:
    q = rotation.normalize(np.random.default_rng(seed).normal(size=(6, 4)))
    limits = Limits(locks=np.zeros((6, 3)))
    assert_allclose(limits.angles(q), blenders_angles(q), atol=1e-6)


@given(seeds)
@settings(deadline=None)
def test_the_clamp_ends_inside_and_leaves_what_is_inside(seed: int) -> None:
    limits, random = random_limits(seed, 6)
    q = rotation.normalize(random.normal(size=(20, 6, 4)))
    clamped = limits.clamp(q)
    angles = blenders_angles(clamped)
    free = ~np.asarray(limits.locks)
    assert np.max(np.where(free, off_range(angles, limits.minimum, limits.maximum), 0.0)) < INSIDE
    again = limits.clamp(clamped)
    assert np.max(rotation.distance(clamped, again)) < INSIDE
    assert np.max(limits.excess(clamped)) < INSIDE


@given(seeds)
@settings(deadline=None)
def test_swing_stays_inside_the_ellipse_through_its_limits(seed: int) -> None:
    random = np.random.default_rng(seed)
    minimum, maximum = -random.uniform(0.1, 2.5, (1, 3)), random.uniform(0.1, 2.5, (1, 3))
    q = Limits(minimum=minimum, maximum=maximum).clamp(rotation.normalize(random.normal(size=(50, 1, 4))))
    angles = blenders_angles(q)[..., [0, 2]]
    radius = np.where(angles < 0.0, minimum[:, [0, 2]], maximum[:, [0, 2]])
    size = np.sum((np.sin(0.5 * angles) / np.sin(0.5 * radius)) ** 2, axis=-1)
    assert np.max(size) < 1.0 + 1e-9
    assert np.max(size) > 1.0 - 1e-9


def test_a_twist_beyond_half_a_turn_goes_to_the_nearer_end() -> None:
    limits = Limits(minimum=np.radians([[0.0, -10.0, 0.0]]), maximum=np.radians([[0.0, 170.0, 0.0]]))
    q = rotation.from_axis_angle([0.0, 1.0, 0.0], np.radians([175.0, -20.0]))[:, None]
    assert_allclose(
        np.degrees(limits.clamp(q)),
        np.degrees(rotation.exp([[[0, np.radians(170), 0]], [[0, -np.radians(10), 0]]])),
        atol=1e-9,
    )


@given(seeds)
@settings(deadline=None)
def test_locked_angles_keep_those_of_the_start(seed: int) -> None:
    random = np.random.default_rng(seed)
    locks = random.uniform(size=(4, 3)) < 0.5
    limits = Limits(locks=locks)
    start = rotation.exp(random.normal(scale=0.5, size=(10, 4, 3)))
    q = limits.clamp(rotation.normalize(random.normal(size=(10, 4, 4))), start)
    assert_allclose(np.where(locks, blenders_angles(q) - blenders_angles(start), 0.0), 0.0, atol=INSIDE)


@given(seeds, orders)
@settings(deadline=None)
def test_euler_ranges_are_kept_in_their_order(seed: int, order: str) -> None:
    random = np.random.default_rng(seed)
    minimum = random.uniform(-3.0, 1.0, (5, 3))
    maximum = minimum + random.uniform(0.0, 2.0, (5, 3))
    # The middle angle of what is read back lies between right angles.
    middle = "XYZ".index(order[1])
    minimum[:, middle], maximum[:, middle] = -random.uniform(0.0, 1.5, 5), random.uniform(0.0, 1.5, 5)
    limits = Limits(euler_minimum=minimum, euler_maximum=maximum, euler_order=order)
    q = limits.clamp(rotation.normalize(random.normal(size=(20, 5, 4))))
    assert np.max(off_range(rotation.to_euler(q, order), minimum, maximum)) < INSIDE
    angles = random.uniform(minimum, maximum, (20, 5, 3))
    inside = rotation.from_euler(angles, order)
    # Blender reads others as their second set of angles, whose sum is smaller.
    read = np.abs(angles).sum(axis=-1) < 1.5 * np.pi - 1e-6
    moved = rotation.multiply(rotation.inverse(inside), limits.clamp(inside))
    assert read.any() and np.max(rotation.angle(moved)[read]) < INSIDE


@given(seeds)
@settings(deadline=None)
def test_angles_count_from_the_rest(seed: int) -> None:
    limits, random = random_limits(seed, 3)
    rest = rotation.normalize(random.normal(size=(3, 4)))
    turned = Limits(locks=limits.locks, minimum=limits.minimum, maximum=limits.maximum, rest=rest)
    q, start = rotation.normalize(random.normal(size=(2, 8, 3, 4)))
    here = rotation.multiply(rest, limits.clamp(q, start))
    there = turned.clamp(rotation.multiply(rest, q), rotation.multiply(rest, start))
    assert np.max(rotation.distance(here, there)) < INSIDE


# The solvers


@pytest.mark.thorough
@given(any_method, seeds)
@settings(max_examples=40, deadline=None)
def test_every_solver_ends_inside(method: str, seed: int) -> None:
    limits, random = random_limits(seed, 5)
    start = limits.clamp(rotation.exp(random.normal(size=(6, 5, 3))), rotation.identity(6, 5))
    targets = random.normal(scale=2.0, size=(6, 3))
    found = ik.solve(np.tile([0.0, 1.0, 0.0], (5, 1)), start, targets, method=method, limits=limits, iterations=8)
    angles, locks = blenders_angles(found.rotations), np.asarray(limits.locks)
    assert np.max(np.where(locks, 0.0, off_range(angles, limits.minimum, limits.maximum))) < INSIDE
    assert_allclose(np.where(locks, angles - blenders_angles(start), 0.0), 0.0, atol=INSIDE)
    before = ik.solve(np.tile([0.0, 1.0, 0.0], (5, 1)), start, targets, method=method, limits=limits, iterations=0)
    assert np.all(found.error <= before.error + 1e-9)


@pytest.mark.thorough
@given(any_method, seeds, orders)
@settings(max_examples=15, deadline=None)
def test_every_solver_keeps_both_kinds_of_limits(method: str, seed: int, order: str) -> None:
    random = np.random.default_rng(seed)
    minimum, maximum = ranges(random, 4)
    low, high = -random.uniform(0.1, 1.4, (4, 3)), random.uniform(0.1, 1.4, (4, 3))
    limits = Limits(minimum=minimum, maximum=maximum, euler_minimum=low, euler_maximum=high, euler_order=order)
    targets = random.normal(scale=2.0, size=(5, 3))
    found = ik.solve(
        np.tile([0.0, 1.0, 0.0], (4, 1)), rotation.identity(4), targets, method=method, limits=limits, iterations=5
    )
    assert np.max(off_range(blenders_angles(found.rotations), minimum, maximum)) < INSIDE
    assert np.max(off_range(rotation.to_euler(found.rotations, order), low, high)) < INSIDE


@methods
def test_a_start_outside_is_brought_inside(method: str) -> None:
    limits = Limits(minimum=np.full((3, 3), -0.2), maximum=np.full((3, 3), 0.2))
    start = rotation.exp(np.full((3, 3), 1.0))
    found = ik.solve(np.eye(3), start, [0.0, 2.0, 0.0], method=method, limits=limits, iterations=0)
    assert np.max(off_range(blenders_angles(found.rotations), limits.minimum, limits.maximum)) < INSIDE


@pytest.mark.thorough
@methods
def test_a_finger_of_hinges_reaches_what_it_can(method: str) -> None:
    locks, minimum, maximum = np.zeros((3, 3), dtype=bool), np.full((3, 3), -FREE), np.full((3, 3), FREE)
    locks[1:, 1:], minimum[1:, 0], maximum[1:, 0] = True, 0.0, 1.9
    random = np.random.default_rng(1)
    targets = rotation.normalize(random.normal(size=(50, 3))) * random.uniform(1.2, 2.8, (50, 1))
    finger = Limits(locks=locks, minimum=minimum, maximum=maximum)
    found = ik.solve(
        np.tile([0.0, 1.0, 0.0], (3, 1)), rotation.identity(3), targets, method=method, limits=finger, iterations=200
    )
    assert np.mean(found.error < 1e-3) >= 0.8


@pytest.mark.thorough
@methods
def test_targets_that_limits_allow_are_reached(method: str) -> None:
    random = np.random.default_rng(2)
    limits = Limits(minimum=np.full((8, 3), -0.8), maximum=np.full((8, 3), 0.8))
    bones = np.tile([0.0, 1.0, 0.0], (8, 1))
    frame, place = rotation.identity(200), np.zeros((200, 3))
    for q in np.moveaxis(limits.clamp(rotation.exp(random.normal(scale=0.6, size=(200, 8, 3)))), 1, 0):
        frame = rotation.multiply(frame, q)
        place = place + rotation.rotate(frame, [0.0, 1.0, 0.0])
    found = ik.solve(bones, rotation.identity(8), place, method=method, limits=limits, iterations=200)
    assert np.mean(found.error < 1e-3) >= 0.95
    assert len(bones) == len(limits)


@methods
def test_locked_about_all_axes_nothing_moves(method: str) -> None:
    start = rotation.exp(np.full((3, 3), 0.3))
    limits = Limits(locks=np.ones((3, 3)))
    found = ik.solve(np.eye(3), start, [0.0, 0.0, 2.0], method=method, limits=limits)
    assert_allclose(found.rotations, start, atol=1e-9)
    assert_array_equal(found.iterations, 0)


@methods
def test_a_stiff_joint_leaves_the_turning_to_the_others(method: str) -> None:
    bones, target = np.tile([0.0, 1.0, 0.0], (4, 1)), np.array([1.5, 2.5, 0.5])
    start = rotation.exp(np.tile([0.05, 0.0, 0.02], (4, 1)))

    def turned(stiffness: float) -> float:
        limits = Limits(stiffness=np.array([[stiffness] * 3] + [[0.0] * 3] * 3))
        found = ik.solve(bones, start, target, method=method, limits=limits, iterations=300)
        assert found.error < 1e-3
        return float(rotation.distance(start, found.rotations)[0])

    assert turned(0.9) < 0.7 * turned(0.0)


# What cannot be worked with


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"minimum": [[0.0] * 3, [0.0, 0.0, 0.5]], "maximum": [[0.0] * 3, [0.0, 0.0, 0.4]]}, "joint 1 about Z"),
        ({"euler_minimum": [[1.0, 0.0, 0.0]], "euler_maximum": [[0.0, 0.0, 0.0]]}, "joint 0 about X"),
        ({"minimum": [[2.0, 0.0, 0.0]], "maximum": [[1.0, 0.0, 0.0]], "names": ["knee"]}, "joint 'knee' about X"),
        ({"minimum": [[np.nan, 0.0, 0.0]]}, "minimum of joint 0"),
        ({"minimum": np.zeros((2, 3)), "maximum": np.zeros((3, 3))}, "maximum"),
        ({"locks": np.zeros((2, 3)), "euler_order": "XXY"}, "XXY"),
        ({"locks": np.zeros((2, 3)), "euler_order": ["XYZ"]}, "Euler order"),
        ({}, "no arrays"),
    ],
)
def test_limits_that_contradict_are_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Limits(**arguments)
    assert says in str(caught.value)
    assert str(caught.value).endswith(".")


# Least squares with locked angles


def test_rotations_about_the_free_axes_keep_the_locked_angles() -> None:
    for locks in [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1]]:
        random = np.random.default_rng(41)
        pose = rotation.exp(random.normal(scale=0.7, size=(20, 1, 3)))
        limits = Limits(locks=[locks])
        axes = least_squares.free_axes(limits.joints, pose)
        assert_allclose(np.swapaxes(axes, -1, -2) @ axes, np.broadcast_to(np.eye(3), axes.shape), atol=1e-12)
        for axis in np.flatnonzero(np.logical_not(locks)):
            turned = rotation.multiply(pose, rotation.exp(1e-5 * axes[..., axis]))
            moved = (limits.angles(turned) - limits.angles(pose))[..., np.array(locks, dtype=bool)]
            assert np.max(np.abs(moved)) < 1e-9


@pytest.mark.parametrize("method", ["jacobian_quaternion", "nearest_pose", "ccd"])
def test_an_arm_whose_forearm_does_not_twist_reaches_everywhere(method: str) -> None:
    random = np.random.default_rng(42)
    arm = np.array([[0.0, 0.30, 0.0], [0.0, 0.27, 0.0], [0.0, 0.08, 0.0]])
    start = rotation.exp(random.normal(scale=0.3, size=(300, 3, 3)))
    targets = rotation.normalize(random.normal(size=(300, 3))) * random.uniform(0.05, 0.64, (300, 1))
    limits = Limits(locks=[[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    found = ik.solve(arm, start, targets, method=method, limits=limits)
    assert np.max(found.error) < 1e-3
    assert_allclose(limits.angles(found.rotations)[:, 1, 1], limits.angles(start)[:, 1, 1], atol=INSIDE)
