"""Limited torques: what holds for the accelerations that are nearest to the required ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd.dynamics.engine import Engine
from lookat_pd.dynamics.muscles import Muscles
from lookat_pd.rotation import Array

from . import trees

trees.mujoco()
N = 8
ALL, NONE = np.ones(N, dtype=bool), np.zeros(N, dtype=bool)


def weakened(
    seed: int, limit: Array, *, passive: Array = NONE, free: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """For the joints of a random tree: missing accelerations and torques (n, 3), the mass matrix, required torques."""
    random, freedom = np.random.default_rng(seed), np.ones((N, 3), dtype=bool) if free is None else free
    engine = Engine(trees.body(N, seed, spread=0.5), np.array([0.0, 0.0, -9.81]))
    muscles = Muscles(engine, limit, ~passive, passive, freedom)
    engine.q[:], engine.w[:] = trees.pose(N, seed)[engine.order], random.normal(size=3 * N)
    engine.place()
    wanted = random.normal(scale=20.0, size=3 * N) * freedom.ravel()
    mass = engine.mass_matrix()
    loose = np.repeat(passive, 3)
    if np.any(loose):
        wanted[loose] -= np.linalg.solve(mass[np.ix_(loose, loose)], engine.inverse(wanted)[loose])
    needed = engine.inverse(wanted)
    for _ in range(5):
        # As in a motion, each begins from what was found before.
        accelerations, torques, _ = muscles.weakened(wanted, needed, None)
    return (wanted - accelerations).reshape(N, 3), torques.reshape(N, 3), mass, needed


def lengths(vectors: Array) -> Array:
    return np.linalg.norm(vectors, axis=-1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("limit", [0.0, 0.3, 3.0, 30.0])
def test_a_weak_joint_pushes_with_all_it_has_toward_what_is_missing(seed: int, limit: float) -> None:
    missing, torques, mass, needed = weakened(seed, np.full((N, 1), limit))
    applied = needed - mass @ missing.ravel()
    assert_allclose(applied.reshape(N, 3), torques, atol=0.011 * limit + 1e-6)
    assert lengths(torques).max() <= limit * (1.0 + 1e-9)
    weak = lengths(missing) > 1e-3
    assert np.any(weak) or limit > 3.0
    along = np.sum(torques * missing, axis=1)
    assert_allclose(along[weak], limit * lengths(missing)[weak], rtol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_no_torques_within_the_limits_are_nearer(seed: int) -> None:
    """In kinetic energy, of the accelerations that are missing."""
    limit = 3.0
    missing, torques, mass, needed = weakened(seed, np.full((N, 1), limit))

    def energy(torques: Array) -> float:
        left = needed - torques.ravel()
        return float(0.5 * left @ np.linalg.solve(mass, left))

    others = np.random.default_rng(seed).normal(size=(200, N, 3))
    others = torques + others * 10.0 ** np.random.default_rng(seed).uniform(-3.0, 1.0, size=(200, 1, 1))
    others *= np.minimum(1.0, limit / lengths(others))[..., None]
    assert np.any(missing)
    assert min(energy(other) for other in others) >= energy(torques) * (1.0 - 1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_limits_of_axes_bind_each_alone(seed: int) -> None:
    limit = np.random.default_rng(seed).uniform(0.5, 5.0, size=(N, 3))
    missing, torques, mass, needed = weakened(seed, limit)
    assert_allclose((needed - mass @ missing.ravel()).reshape(N, 3), torques, atol=0.06)
    assert np.all(np.abs(torques) <= limit * (1.0 + 1e-9))
    weak = np.abs(missing) > 1e-3
    assert np.any(weak) and not np.all(weak)
    assert_allclose(torques[weak], (np.sign(missing) * limit)[weak], rtol=0.02)


@pytest.mark.parametrize("wide", [False, True])
def test_the_bearings_of_hinges_hold_and_loose_joints_do_not(wide: bool) -> None:
    free, loose = np.ones((N, 3), dtype=bool), np.arange(N) == N - 1
    free[::2, 1:] = False
    missing, torques, mass, needed = weakened(1, np.full((N, 3 if wide else 1), 1.0), passive=loose, free=free)
    assert_allclose((needed - mass @ missing.ravel()).reshape(N, 3), torques, atol=0.02)
    assert np.abs(missing[~free]).max() < 1e-6
    assert np.abs(torques[~free]).max() > 1.0 >= np.abs(torques[~loose][free[~loose]]).max() * (1.0 - 1e-9)
    assert np.abs(torques[loose]).max() < 1e-6
