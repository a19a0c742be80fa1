"""Motion between poses with the least change of torque: keys are hit, passed and cheaper than any other motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import connect, effort, interpolate, key_velocities, reach
from lookat_pd.dynamics.exact import Interpolation
from lookat_pd.dynamics.pose_to_pose import WholeBody
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

from . import trees

BODY = trees.rods([0.3, 0.27, 0.1], [2.0, 1.5, 0.5])
PULL, EVEN = (0.0, 0.0, -9.81), np.ones(3)


def poses(count: int, seed: int = 0, size: float = 0.4) -> Array:
    return rotation.exp(np.random.default_rng(seed).normal(scale=size, size=(count, 3, 3)))


def cost(found: Array, dt: float, gravity: tuple = PULL, damping: float = 0.0) -> float:
    arm = WholeBody(BODY, found[0], 0, np.zeros(3), np.array(gravity), np.full(3, damping), np.ones(3))
    return effort.cost(arm, found, dt)


def speeds(found: Interpolation) -> Array:
    """(F - 1, n) [rad/s] between frames."""
    return rotation.distance(found.rotations[:-1], found.rotations[1:]) / (found.times[1] - found.times[0])


@pytest.mark.parametrize("count", [2, 3, pytest.param(9, marks=pytest.mark.slow)])
def test_keys_are_hit_and_the_cost_is_below_that_of_other_motions_through_them(count: int) -> None:
    keys, times, dt = poses(count, count), 0.5 * np.arange(count), 1.0 / 48.0
    found = connect(BODY, keys, times, dt, gravity=PULL, strength=EVEN)
    assert found.missed.max() < 1e-9
    assert_allclose(rotation.distance(found.rotations[::24], keys), 0.0, atol=1e-9)
    other = interpolate(BODY, keys, times, dt, residual=0.09, velocities=key_velocities(keys, times))
    assert cost(found.rotations, dt) < cost(other.rotations, dt)
    assert np.isfinite(found.torques).all() and found.torques.shape == (*found.rotations.shape[:-1], 3)


def test_between_the_poses_of_a_reach_it_is_that_reach() -> None:
    start = rotation.exp([[0.0, 0.0, -0.4], [0.0, 0.0, 1.2], [0.0, 0.0, 0.3]])
    hand = (2, (0.0, 0.1, 0.0))
    there = reach(BODY, start, (0.3, 0.3, 0.0), 0.6, 1.0 / 60.0, effector=hand, gravity=(0.0, 0.0, 0.0))
    found = connect(BODY, [start, there.rotations[-1]], [0.0, 0.6], 1.0 / 60.0, strength=EVEN)
    turned, places = BODY.forward(found.rotations)
    path = places[:, 2] + rotation.rotate(turned[:, 2], hand[1])
    assert_allclose(path, there.path, atol=0.01 * np.linalg.norm(there.path[-1] - there.path[0]))
    assert cost(found.rotations, 1.0 / 60.0, (0.0, 0.0, 0.0)) < 1.01 * there.cost


def test_there_and_back_are_the_same_where_nothing_rubs() -> None:
    turns = np.zeros((3, 3, 3))
    turns[..., 0] = [[0.2, 0.5, 0.1], [0.7, 1.0, 0.3], [1.2, 0.4, 0.6]]
    keys, times = rotation.exp(turns), np.array([0.0, 0.5, 1.25])
    there = connect(BODY, keys, times, 1.0 / 24.0, gravity=PULL)
    back = connect(BODY, keys[::-1], 1.25 - times[::-1], 1.0 / 24.0, gravity=PULL)
    same = rotation.distance(back.rotations[::-1], there.rotations).max()
    assert same < 0.01
    rubbed = connect(BODY, keys, times, 1.0 / 24.0, gravity=PULL, damping=1.0)
    other = connect(BODY, keys[::-1], 1.25 - times[::-1], 1.0 / 24.0, gravity=PULL, damping=1.0)
    assert rotation.distance(other.rotations[::-1], rubbed.rotations).max() > max(0.02, 4.0 * same)


def test_poses_on_the_way_are_passed_and_stops_are_kept() -> None:
    turns = np.zeros((5, 3, 3))
    turns[:, 0, 2], turns[:, 1, 2] = 0.4 * np.arange(5), 0.2 * np.arange(5)
    times = np.array([0.0, 1.0, 1.5, 2.0, 3.0])
    passed = connect(BODY, rotation.exp(turns), times, 1.0 / 48.0)
    inner = speeds(passed)[36:-36, 0]
    assert inner.min() > 0.4 and inner.max() < 1.2
    kinds = np.full((5, 3), "auto")
    kinds[2, 0], kinds[3] = "stop", "stop"
    stopped = connect(BODY, rotation.exp(turns), times, 1.0 / 48.0, kinds=kinds)
    assert stopped.missed.max() < 1e-9
    around = np.maximum(speeds(stopped)[:-1], speeds(stopped)[1:])
    assert around[71, 0] < 0.1 and around[71, 1] > 0.15
    assert around[95].max() < 0.1


@pytest.mark.slow
def test_a_long_sequence_in_parts_moves_smoothly() -> None:
    """Its steps change no more at the seams than elsewhere."""
    keys = poses(24, 3, 0.25)
    found = connect(BODY, keys, 0.25 * np.arange(24), 1.0 / 48.0)
    moved = rotation.log(rotation.multiply(rotation.inverse(found.rotations[:-1]), found.rotations[1:]))
    change = np.linalg.norm(np.diff(moved, axis=0), axis=-1).max(axis=1)
    at_keys = change[np.arange(12, len(change), 12) - 1]
    assert at_keys.max() < 1.5 * change.max()
    assert found.missed.max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_light_joints_with_friction_do_not_whip(seed: int) -> None:
    """A hand that weighs little would spare the shoulder some torque by turning quickly."""
    keys, times = poses(5, seed), 0.3 * np.arange(5)
    found = connect(BODY, keys, times, 0.02, gravity=PULL, damping=0.3)
    law = interpolate(BODY, keys, times, 0.02, residual=0.09, velocities=key_velocities(keys, times))
    assert np.all(speeds(found).max(axis=0) < 2.5 * speeds(law).max(axis=0))


@pytest.mark.slow
def test_limits_hold_between_keys() -> None:
    limits = ik.Limits(minimum=np.full((3, 3), -0.3), maximum=np.full((3, 3), 0.3))
    keys = limits.clamp(poses(4, 5))
    found = connect(BODY, keys, 0.5 * np.arange(4), 1.0 / 24.0, gravity=PULL, limits=limits)
    assert limits.excess(found.rotations).max() < 1e-6
    assert found.missed.max() < 1e-9


def test_poses_that_hold_are_held() -> None:
    keys = poses(2, 7)[[0, 0, 1]]
    found = connect(BODY, keys, [0.0, 0.5, 1.0], 1.0 / 24.0, gravity=PULL)
    assert_allclose(rotation.distance(found.rotations[:13], keys[0]), 0.0, atol=1e-9)
    assert_allclose(found.rotations[[0, -1]], keys[[0, 2]], atol=1e-9)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"key_times": [0.0, 0.51, 1.0]}, "snap them to frames"),
        ({"key_times": [0.0, 0.0, 1.0]}, "in order of time"),
        ({"keys": poses(1)}, "at least two keys"),
        ({"passes": 0}, "passes"),
        ({"strength": [1.0, 0.0, 1.0]}, "strength of joint"),
        ({"damping": -1.0}, "damping"),
        ({"kinds": ["auto", "go", "auto"]}, "Kinds of keys"),
        ({"dt": 0.0}, "between frames"),
    ],
)
def test_what_cannot_be_connected_is_refused(wrong: dict, says: str) -> None:
    given = {"keys": poses(3), "key_times": [0.0, 0.5, 1.0], "dt": 0.1, **wrong}
    if len(given["keys"]) == 1:
        given["key_times"] = [0.0]
    with pytest.raises(InvalidArgument, match=says):
        dynamics.connect(BODY, **given)
