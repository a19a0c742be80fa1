"""The derivatives of inverse dynamics: those of its differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.dynamics.derivatives import differentiated
from lookat_pd.rotation import Array

from . import trees

STEP = 1e-6


@settings(max_examples=15)
@given(st.integers(1, 6), st.integers(0, 1000), st.sampled_from(["by_pose", "by_velocity", "by_acceleration"]))
def test_derivatives_are_those_of_the_torques(n: int, seed: int, name: str) -> None:
    body, random = trees.body(n, seed, spread=0.3), np.random.default_rng(seed)
    joints, samples = np.array(body.chain(n - 1)), 3
    w, dw = random.normal(size=(2, samples, len(joints), 3))
    gravity, poses = random.normal(size=3), trees.pose(n, seed, samples)

    def torques(change: Array) -> Array:
        pose, speed, rise = poses.copy(), np.zeros((samples, n, 3)), np.zeros((samples, n, 3))
        speed[:, joints], rise[:, joints] = w, dw
        if name == "by_pose":
            pose[:, joints] = rotation.multiply(pose[:, joints], rotation.exp(change))
        else:
            (speed if name == "by_velocity" else rise)[:, joints] += change
        return body.inverse(pose, speed, rise, gravity).reshape(samples, -1)

    found = differentiated(body, joints, poses, w, dw, gravity)
    assert_allclose(found.torques.reshape(samples, -1), torques(np.zeros(3)), atol=1e-9)
    columns = STEP * np.eye(3 * len(joints)).reshape(-1, len(joints), 3)
    slopes = [(torques(column) - torques(-column)) / (2.0 * STEP) for column in columns]
    expected = np.stack(slopes, axis=-1)
    assert_allclose(getattr(found, name), expected, atol=1e-6 * max(1.0, float(np.abs(expected).max())))


def test_the_derivative_by_acceleration_is_the_mass_matrix() -> None:
    body, poses = trees.body(5, 2), trees.pose(5, 2, 2)
    still = np.zeros((2, 5, 3))
    found = differentiated(body, np.arange(5), poses, still, still, np.zeros(3))
    assert_allclose(found.by_acceleration, body.mass_matrix(poses), atol=1e-9)
