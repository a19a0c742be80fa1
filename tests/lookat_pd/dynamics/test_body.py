"""Equations of motion: the laws that they obey, and the physics engine's answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.dynamics import Body, RootMotion
from lookat_pd.errors import InvalidArgument

from . import trees

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(2, 70)


@settings(max_examples=25)
@given(SIZES, SEEDS, st.booleans())
def test_mass_matrix_and_inverse_dynamics_are_those_of_mujoco(n: int, seed: int, chain: bool) -> None:
    engine, body = trees.mujoco(), trees.body(n, seed, chain=chain)
    model, order = trees.model(body), trees.order(body)
    data, random = engine.MjData(model), np.random.default_rng(seed)
    model.opt.gravity = gravity = random.normal(size=3) * 5.0
    q, w, dw = trees.pose(n, seed), random.normal(size=(n, 3)), random.normal(size=(n, 3))
    ours, theirs = np.empty_like(order), order
    ours[theirs] = np.arange(n)
    data.qpos, data.qvel, data.qacc = q[ours].ravel(), w[ours].ravel(), dw[ours].ravel()
    engine.mj_inverse(model, data)
    torques = data.qfrc_inverse.reshape(n, 3)[theirs]
    assert_allclose(body.inverse(q, w, dw, gravity), torques, rtol=0.0, atol=1e-9 * np.abs(torques).max())
    full = np.zeros((3 * n, 3 * n))
    engine.mj_fullM(model, data, full)
    rows = (3 * theirs[:, None] + np.arange(3)).ravel()
    expected = full[np.ix_(rows, rows)]
    assert_allclose(body.mass_matrix(q), expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())
    # Light bones at the end of heavy ones have small elements, which are as exact as the large ones.
    own = np.arange(3 * n)
    assert_allclose(body.mass_matrix(q)[own, own], expected[own, own], rtol=1e-9)


@given(st.integers(1, 12), SEEDS)
def test_mass_matrix_is_what_accelerations_from_rest_need(n: int, seed: int) -> None:
    body, q = trees.body(n, seed), trees.pose(n, seed, 4)
    dw = np.random.default_rng(seed).normal(size=(4, n, 3))
    needed = body.inverse(q, np.zeros((n, 3)), dw).reshape(4, -1)
    found = (body.mass_matrix(q) @ dw.reshape(4, -1, 1))[..., 0]
    assert_allclose(found, needed, atol=1e-10 * np.abs(needed).max())


@given(st.integers(1, 12), SEEDS)
def test_mass_matrix_is_symmetric_and_positive(n: int, seed: int) -> None:
    matrix = trees.body(n, seed).mass_matrix(trees.pose(n, seed))
    assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix)[0] > 0.0


@given(st.integers(1, 8), SEEDS)
def test_the_torques_power_is_what_the_energy_gains(n: int, seed: int) -> None:
    body, random = trees.body(n, seed, spread=0.3), np.random.default_rng(seed)
    q, w, dw, h = trees.pose(n, seed), random.normal(size=(n, 3)), random.normal(size=(n, 3)), 1e-4

    def energy(t: float) -> float:
        there = rotation.multiply(q, rotation.exp(w * t + 0.5 * dw * t * t))
        # To second order in t: what turns a constant acceleration in the bone's own frame is of third.
        speed = (w + dw * t).ravel()
        return 0.5 * float(speed @ body.mass_matrix(there) @ speed)

    power = np.sum(body.inverse(q, w, dw) * w)
    assert_allclose((energy(h) - energy(-h)) / (2.0 * h), power, rtol=1e-5, atol=1e-6 * energy(0.0))


@given(st.integers(1, 12), SEEDS)
def test_gravity_is_a_root_that_is_driven_upwards(n: int, seed: int) -> None:
    body, random = trees.body(n, seed), np.random.default_rng(seed)
    q, (w, dw), up = trees.pose(n, seed), random.normal(size=(2, n, 3)), random.normal(size=3)
    lifted = body.inverse(q, w, dw, root=RootMotion(acceleration=up))
    assert_allclose(lifted, body.inverse(q, w, dw, -up), atol=1e-11 * np.abs(lifted).max())


@given(st.integers(2, 12), SEEDS)
def test_a_root_that_moves_is_a_joint_more(n: int, seed: int) -> None:
    """A body whose first joint is taken for the moving root needs the same torques in all other joints."""
    whole, random = trees.body(n, seed, chain=True), np.random.default_rng(seed)
    offsets = np.asarray(whole.offsets).copy()
    offsets[0] = 0.0
    whole = Body(whole.parents, offsets, whole.masses, whole.centers, whole.inertias)
    rest = Body(
        np.asarray(whole.parents)[1:] - 1,
        offsets[1:],
        np.asarray(whole.masses)[1:],
        np.asarray(whole.centers)[1:],
        np.asarray(whole.inertias)[1:],
    )
    q, (w, dw) = trees.pose(n, seed, 5), random.normal(size=(2, 5, n, 3))
    root = RootMotion(
        rotation=q[:, 0], turn=rotation.rotate(q[:, 0], w[:, 0]), turn_acceleration=rotation.rotate(q[:, 0], dw[:, 0])
    )
    expected = whole.inverse(q, w, dw)[:, 1:]
    found = rest.inverse(q[:, 1:], w[:, 1:], dw[:, 1:], root=root)
    assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def test_a_rod_held_level_weighs_on_its_joint() -> None:
    body = trees.rods([0.6], [2.0])
    level = rotation.exp([[0.0, 0.0, -0.5 * np.pi]])
    torque = body.inverse(level, np.zeros((1, 3)), np.zeros((1, 3)), (0.0, -9.81, 0.0))
    assert_allclose(torque, [[0.0, 0.0, 2.0 * 9.81 * 0.3]], atol=1e-12)


def test_batches_are_single_poses_side_by_side() -> None:
    body, random = trees.body(7, 1), np.random.default_rng(1)
    q, (w, dw) = trees.pose(7, 1, 2, 3), random.normal(size=(2, 2, 3, 7, 3))
    together, matrices = body.inverse(q, w, dw, (0.0, 0.0, -9.81)), body.mass_matrix(q)
    assert together.shape == (2, 3, 7, 3)
    assert matrices.shape == (2, 3, 21, 21)
    for at in np.ndindex(2, 3):
        assert_allclose(body.inverse(q[at], w[at], dw[at], (0.0, 0.0, -9.81)), together[at], atol=1e-10)
        assert_allclose(body.mass_matrix(q[at]), matrices[at], atol=1e-12)


GOOD = {
    "parents": [-1, 0],
    "offsets": np.zeros((2, 3)),
    "masses": [1.0, 2.0],
    "centers": np.zeros((2, 3)),
    "inertias": np.stack([np.eye(3)] * 2),
}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"masses": [1.0, 0.0]}, "mass of joint 'hand'.*at least 1e-09 kg"),
        ({"masses": [-1.0, 1.0]}, "mass of joint 'arm'"),
        ({"masses": [1.0, np.nan]}, "masses of joint 'hand'"),
        ({"masses": [1.0]}, "masses of shape"),
        ({"inertias": np.stack([np.eye(3), np.diag([1.0, 1.0, 0.0])])}, "inertia of joint 'hand'.*thickness"),
        ({"inertias": np.stack([np.eye(3), -np.eye(3)])}, "inertia of joint 'hand'"),
        ({"inertias": np.stack([np.eye(3), np.eye(3) + np.eye(3, k=1)])}, "symmetric"),
        ({"offsets": np.full((2, 3), np.inf)}, "offsets of joint 'arm'"),
        ({"centers": np.zeros((3, 3))}, "centers of shape"),
        ({"parents": [1, -1]}, "list parents first"),
        ({"parents": [0, 0]}, "list parents first"),
        ({"parents": [-1, 5]}, "list parents first"),
        ({"parents": [-1.5, 0.0]}, "whole numbers"),
        ({"parents": []}, "at least one joint"),
        ({"names": ["one"]}, "names, not"),
    ],
)
def test_what_is_no_body_is_refused(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        Body(**{**GOOD, "names": ["arm", "hand"], **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("q", "w", "says"),
    [
        (np.zeros((2, 4)), np.zeros((2, 3)), "unit quaternions"),
        (np.full((2, 4), np.nan), np.zeros((2, 3)), "finite"),
        (rotation.identity(3), np.zeros((2, 3)), "shape of the pose"),
        (rotation.identity(2), np.zeros((1, 3)), "shape of the velocities"),
        (rotation.identity(4, 2), np.zeros((3, 2, 3)), "same leading axes"),
    ],
)
def test_a_pose_of_something_else_is_refused(q: np.ndarray, w: np.ndarray, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        Body(**GOOD).inverse(q, w, np.zeros((2, 3)))  # type: ignore[arg-type]
