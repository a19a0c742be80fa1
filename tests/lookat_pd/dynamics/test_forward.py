"""Forward dynamics: what the laws of mechanics keep is kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import engine
from lookat_pd.errors import EngineMissing, InvalidArgument
from lookat_pd.rotation import Array

from . import trees

trees.mujoco()


def energies(body: dynamics.Body, motion: dynamics.Trajectory) -> Array:
    speeds = motion.velocities.reshape(len(motion.times), -1, 1)
    return 0.5 * (np.swapaxes(speeds, 1, 2) @ body.mass_matrix(motion.rotations) @ speeds)[:, 0, 0]


def momenta(body: dynamics.Body, motion: dynamics.Trajectory) -> Array:
    """Angular momentum about the one root joint, in the world: what the root joint's share of M w is."""
    speeds = motion.velocities.reshape(len(motion.times), -1, 1)
    own = (body.mass_matrix(motion.rotations) @ speeds)[:, :3, 0]
    return rotation.rotate(motion.rotations[:, 0], own)


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (2, 1), (3, 2), pytest.param(8, 3, marks=pytest.mark.slow)])
def test_energy_and_angular_momentum_stay_for_ten_seconds(n: int, seed: int) -> None:
    body, random = trees.body(n, seed, chain=True, spread=0.3), np.random.default_rng(seed)
    motion = dynamics.simulate(
        body, trees.pose(n, seed), 10.0, 0.1, velocity=random.normal(scale=2.0, size=(n, 3)), gravity=(0.0, 0.0, 0.0)
    )
    energy, momentum = energies(body, motion), momenta(body, motion)
    assert_allclose(energy, energy[0], rtol=1e-3)
    assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-3 * np.linalg.norm(momentum[0]))


def test_a_pendulum_swings_with_the_period_of_the_textbook() -> None:
    body = trees.rods([0.6], [2.0])
    inertia = body.mass_matrix(rotation.identity(1))[0, 0]
    period = 2.0 * np.pi * np.sqrt(inertia / (2.0 * 9.81 * 0.3))
    small = rotation.exp([[0.01, 0.0, 0.0]])
    motion = dynamics.simulate(body, small, period, period / 4.0, gravity=(0.0, 9.81, 0.0))
    angles = rotation.log(motion.rotations)[:, 0, 0]
    assert_allclose(angles, [0.01, 0.0, -0.01, 0.0, 0.01], atol=1e-6)


def test_torques_of_inverse_dynamics_hold_a_body_still() -> None:
    body, q = trees.body(5, 4), trees.pose(5, 4)
    gravity = (1.0, -2.0, -9.81)
    torques = body.inverse(q, np.zeros((5, 3)), np.zeros((5, 3)), gravity)
    motion = dynamics.simulate(body, q, 0.2, 0.1, torques=torques, gravity=gravity)
    assert_allclose(rotation.distance(q, motion.rotations), 0.0, atol=1e-9)


def test_friction_takes_energy() -> None:
    body = trees.body(4, 5, chain=True, spread=0.3)
    motion = dynamics.simulate(
        body, trees.pose(4, 5), 2.0, 0.1, velocity=np.ones((4, 3)), gravity=(0.0, 0.0, 0.0), damping=0.05
    )
    assert np.all(np.diff(energies(body, motion)) < 0.0)


def test_a_body_stays_within_its_limits() -> None:
    body = trees.rods([0.4, 0.4], [1.0, 1.0])
    limits = ik.Limits(minimum=np.full((2, 3), -0.5), maximum=np.full((2, 3), 0.5))
    level = rotation.exp([[0.0, 0.0, 0.4], [0.0, 0.0, -0.4]])
    motion = dynamics.simulate(body, level, 2.0, 0.02, gravity=(9.81, 0.0, 0.0), limits=limits)
    assert limits.excess(motion.rotations).max() < 1e-6
    # It hangs at its stops, and rests there.
    assert np.abs(motion.velocities[-1]).max() < 0.05
    assert rotation.angle(motion.rotations[-1]).min() > 0.45


@pytest.mark.thorough
@pytest.mark.parametrize(("seed", "damping"), [(0, 0.0), (3, 0.0), (4, 0.1)])
def test_energy_never_rises_at_a_stop(seed: int, damping: float) -> None:
    body, gravity = trees.body(4, seed, spread=0.3), np.array([0.0, 0.0, -9.81])
    limits = ik.Limits(minimum=np.full((4, 3), -0.6), maximum=np.full((4, 3), 0.6))
    start = rotation.exp(np.random.default_rng(seed).uniform(-0.3, 0.3, (4, 3)))
    motion = dynamics.simulate(body, start, 1.0, 1.0 / 120.0, gravity=gravity, limits=limits, damping=damping)
    orientations, places = body.forward(motion.rotations)
    centers = places + rotation.rotate(orientations, np.asarray(body.centers))
    energy = energies(body, motion) - np.einsum("n,fni,i->f", np.asarray(body.masses), centers, gravity)
    assert limits.excess(motion.rotations).max() < 1e-9
    assert np.diff(energy).max() < 1e-3 * np.ptp(energy)


def test_without_the_engine_the_reason_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_module", lambda: ModuleNotFoundError("mujoco"))
    assert not engine.available()
    body = trees.body(2, 0)
    with pytest.raises(EngineMissing, match="not installed"):
        dynamics.simulate(body, rotation.identity(2), 1.0, 0.1)
    # What needs no engine works.
    keys = trees.pose(2, 0, 2)
    assert dynamics.interpolate(body, keys, [0.0, 1.0], 0.1).rotations.shape == (11, 2, 4)


def test_what_cannot_be_simulated_is_refused() -> None:
    body = trees.body(2, 0)
    with pytest.raises(InvalidArgument, match="duration"):
        dynamics.simulate(body, rotation.identity(2), 0.0, 0.1)
    with pytest.raises(InvalidArgument, match="Torques"):
        dynamics.simulate(body, rotation.identity(2), 1.0, 0.1, torques=np.zeros((3, 2, 3)))


def test_what_diverges_is_reported_and_leaves_no_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself the engine writes its warnings to a file in the current folder, and goes on from the first pose."""
    monkeypatch.chdir(tmp_path)
    body = trees.body(3, 1, chain=True)
    with pytest.raises(InvalidArgument, match="cannot be computed"):
        dynamics.simulate(body, trees.pose(3, 1), 0.02, 0.01, torques=np.full((3, 3), 1e25))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mass", [1e-16, 1e-9])
def test_bodies_too_light_for_the_engine_are_refused(mass: float) -> None:
    def weak() -> None:
        body = dynamics.Body([-1], np.zeros((1, 3)), [mass], np.zeros((1, 3)), mass * 1e-8 * np.eye(3)[None])
        dynamics.interpolate(body, trees.pose(1, 0, 2), [0.0, 0.1], 0.05, damping=1.0)

    with pytest.raises(InvalidArgument, match="mass"):
        weak()
