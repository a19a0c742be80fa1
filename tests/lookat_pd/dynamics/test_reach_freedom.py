"""Reaches with few and many degrees of freedom: one hinge, two hinges, and seven as in an arm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import ik, rotation
from lookat_pd.dynamics import Reach, reach
from lookat_pd.dynamics.arm import Arm
from lookat_pd.dynamics.reach_axes import joint_axes
from lookat_pd.rotation import Array

from . import trees

trees.mujoco()

FREE, ABOUT_X = (False, False, False), (False, True, True)
ARMS = {
    "one hinge": ([0.35], [2.0], [ABOUT_X]),
    "two hinges": ([0.3, 0.3], [2.0, 1.5], [ABOUT_X, ABOUT_X]),
    "seven degrees of freedom": ([0.3, 0.27, 0.1], [2.0, 1.5, 0.5], [FREE, ABOUT_X, FREE]),
}


def arm(name: str, start: list[float], turns: list[float]) -> tuple[Array, Array, ik.Limits]:
    """Poses (2, n, 4) at the start and with the hand at the goal, that goal (3,), and the locks. Angles: about X; those
    of free joints also about the other axes."""
    lengths, _, locks = ARMS[name]
    spread = np.where(np.array(locks), 0.0, [1.0, 0.4, -0.6])
    poses = np.stack([rotation.exp(np.array(angles[: len(lengths)])[:, None] * spread) for angles in (start, turns)])
    body = trees.rods(*ARMS[name][:2])
    turned, places = body.forward(poses[1])
    goal = places[-1] + rotation.rotate(turned[-1], [0.0, lengths[-1], 0.0])
    return poses, goal, ik.Limits(locks=locks)


def found(name: str, start: list[float], turns: list[float], method: str) -> tuple[Reach, Array, ik.Limits]:
    poses, goal, limits = arm(name, start, turns)
    lengths, masses, _ = ARMS[name]
    hand = (len(lengths) - 1, (0.0, lengths[-1], 0.0))
    given = {"effector": hand, "method": method, "limits": limits, "damping": 0.3, "passes": 12}
    return reach(trees.rods(lengths, masses), poses[0], goal, 0.8, 1.0 / 30.0, **given), goal, limits


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
@settings(max_examples=4)
@given(st.lists(st.floats(-0.8, 0.8), min_size=3, max_size=3), st.lists(st.floats(0.3, 0.9), min_size=3, max_size=3))
def test_the_optimum_costs_no_more_than_smoothing_and_that_no_more_than_minimum_jerk(
    name: str, start: list[float], turns: list[float]
) -> None:
    start = [start[0], 0.9 + 0.5 * start[1], start[2]]
    ends = [angle + turn for angle, turn in zip(start, turns, strict=True)]
    smooth, goal, _ = found(name, start, ends, "smoothing")
    optimal, _, limits = found(name, start, ends, "optimal")
    assert optimal.cost <= 1.001 * smooth.cost
    assert smooth.cost <= smooth.costs[0]
    assert optimal.cost <= 1.001 * smooth.costs[0]
    for one in (smooth, optimal):
        assert_allclose(one.path[-1], goal, atol=2e-5)
        kept = limits.clamp(one.rotations, np.broadcast_to(one.rotations[:1], one.rotations.shape))
        assert rotation.distance(kept, one.rotations).max() < 1e-6


@pytest.mark.parametrize("name", ARMS)
def test_the_cost_decreases_over_the_passes_of_the_optimum(name: str) -> None:
    optimal, _, _ = found(name, [0.2, 1.0, 0.1], [0.9, 1.6, 0.5], "optimal")
    passes = optimal.costs[1:]
    assert np.all(np.diff(passes) <= 1e-9 * passes[0])
    assert optimal.cost == optimal.costs.min()


def there_and_back(locks: list, spread: list[Array], seed: int) -> tuple[Reach, Reach]:
    """A reach of the arm, or of its first bones, and the one back from its last pose, without friction. spread: (n, 3),
    of the angles at both ends of the way there; elbows are bent."""
    lengths, masses, _ = ARMS["seven degrees of freedom"]
    n, random = len(locks), np.random.default_rng(seed)
    body, hand = trees.rods(lengths[:n], masses[:n]), (n - 1, (0.0, lengths[n - 1], 0.0))
    turns = random.normal(0.0, 1.0, (2, n, 3)) * spread
    turns[:, 1, 0] = random.uniform(0.3, 1.5, 2)
    start, end = rotation.exp(turns)
    turned, places = body.forward(end)
    goal = places[-1] + rotation.rotate(turned[-1], hand[1])
    given = {"effector": hand, "limits": ik.Limits(locks=locks)}
    there = reach(body, start, goal, 1.0, 1.0 / 24.0, **given)
    return there, reach(body, there.rotations[-1], there.path[0], 1.0, 1.0 / 24.0, **given)


@pytest.mark.slow
def test_the_way_back_is_that_there_where_the_place_of_the_hand_gives_the_pose() -> None:
    """In space, under gravity. Some of the searches end in other minima."""
    apart, ratios = [], []
    for seed in range(8):
        there, back = there_and_back([(False, True, False), ABOUT_X], [[0.5, 0.0, 0.5], [0.0] * 3], seed)
        way = np.linalg.norm(there.path[-1] - there.path[0])
        apart.append(np.abs(back.path[::-1] - there.path).max() / way)
        assert rotation.distance(back.rotations[-1], there.rotations[0]).max() < 1e-2
        ratios.append(back.cost / there.cost)
    assert np.median(apart) < 0.01
    assert_allclose(np.median(ratios), 1.0, atol=0.01)


SEVEN = [FREE, ABOUT_X, FREE]


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "least"), [(8, 7), pytest.param(40, 38, marks=pytest.mark.slow)])
def test_the_way_back_of_an_arm_with_seven_axes_costs_no_more_than_that_there(seeds: int, least: int) -> None:
    """The motion there in reverse leads to the same place at the same cost. Some searches end in other minima."""
    ratios = []
    for seed in range(seeds):
        there, back = there_and_back(SEVEN, [[0.7] * 3, [0.0] * 3, [0.4] * 3], seed)
        assert np.linalg.norm(back.path[-1] - there.path[0]) < 1e-4
        ratios.append(back.cost / there.cost)
    assert np.sum(np.array(ratios) <= 1.02) >= least


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_rotations_that_an_arm_with_a_hinge_may_use_are_the_same_ones_there_and_back(seed: int) -> None:
    """Joints by joints: the great sphere of the unit quaternions about the first pose is that about the last one."""
    random = np.random.default_rng(seed)
    lengths, masses, _ = ARMS["seven degrees of freedom"]
    poses = rotation.exp(random.normal(0.0, 0.6, (2, 3, 3)))
    poses[:, 1] = rotation.exp(random.uniform(0.3, 1.5, 2)[:, None] * [1.0, 0.0, 0.0])
    normals = []
    for begin, end in (poses, poses[::-1]):
        settled = np.zeros(3), np.zeros(3), np.ones(3), ik.Limits(locks=SEVEN)
        moving = Arm(trees.rods(lengths, masses), begin, 2, np.array([0.0, lengths[2], 0.0]), *settled)
        turn = rotation.log(rotation.multiply(rotation.inverse(begin), end))
        axes = joint_axes(moving, np.linspace(0.0, 1.0, 9)[:, None, None] * turn).reshape(-1, 3, 3)
        assert len(axes) == 5
        both = np.cross(axes[0, 0], axes[1, 0])
        # The normal (4,) of the sphere, as seen from the parent.
        normals.append(rotation.multiply(begin[0], np.concatenate(([0.0], both))))
    assert_allclose(abs(normals[0] @ normals[1]), 1.0, atol=1e-9)
