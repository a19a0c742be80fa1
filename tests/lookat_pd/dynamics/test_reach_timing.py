"""When in a reach the hand is fastest."""

from typing import Any

import numpy as np
import pytest

from lookat_pd import dynamics, rotation
from lookat_pd.dynamics import Reach, reach_timing
from lookat_pd.rotation import Array

from . import trees

PEAKS = (0.4, 0.5)
DURATION, DT = 0.8, 1.0 / 120.0
TIP = (2, (0.0, 0.09, 0.0))


def made(seed: int, peaks: tuple[float, float] | None, damping: float = 0.3, **given: Any) -> Reach:
    random = np.random.default_rng(seed)
    turns = [[random.uniform(-0.5, 0.5), 0.0, np.pi + random.uniform(-0.6, 0.2)], [0.0, 0.0, 0.9], [0.0, 0.0, 0.1]]
    goal = rotation.normalize(random.normal(size=3)) * random.uniform(0.3, 0.55)
    return dynamics.reach(
        trees.rods([0.3, 0.27, 0.18], [2.0, 1.2, 0.45]),
        rotation.exp(turns),
        goal,
        DURATION,
        DT,
        effector=TIP,
        gravity=(0.0, -9.81, 0.0),
        damping=damping,
        peaks=peaks,
        **given,
    )


def peak(path: Array) -> float:
    speeds = np.linalg.norm(np.diff(path, axis=0), axis=-1)
    return reach_timing.peak_of(speeds[:, None])


@pytest.mark.slow
def test_hands_are_fastest_when_those_of_people_are() -> None:
    apart, before = [], []
    for seed in range(8):
        published, timed = made(seed, None, 0.0), made(seed, PEAKS, 0.0)
        before.append(max(PEAKS[0] - peak(published.path), peak(published.path) - PEAKS[1], 0.0))
        apart.append(max(PEAKS[0] - peak(timed.path), peak(timed.path) - PEAKS[1], 0.0))
        assert apart[-1] <= before[-1] + 0.02
        assert timed.cost <= published.costs[0] * (1.0 + 1e-9)
        assert np.linalg.norm(timed.path[-1] - published.path[-1]) < 1e-9
    assert np.median(apart) < 0.02
    assert sum(off > 0.02 for off in apart) < sum(off > 0.02 for off in before)


@pytest.mark.thorough
def test_hands_with_friction_in_their_joints_are_all_fastest_when_those_of_people_are() -> None:
    found = [peak(made(seed, PEAKS).path) for seed in range(8)]
    assert PEAKS[0] - 0.01 < min(found) and max(found) < PEAKS[1] + 0.01


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 3])
def test_the_path_stays_the_same_line(seed: int) -> None:
    published, timed = (made(seed, peaks, 0.0) for peaks in (None, PEAKS))
    away = np.linalg.norm(timed.path[:, None] - published.path[None], axis=-1).min(axis=1)
    steps = np.linalg.norm(np.diff(published.path, axis=0), axis=-1).max()
    assert away.max() < steps


def test_what_is_in_time_is_not_touched() -> None:
    published = made(1, None)
    middle = peak(published.path)
    timed = made(1, (middle - 0.05, middle + 0.05))
    assert rotation.distance(published.rotations, timed.rotations).max() < 1e-12


def test_a_hand_arrives_at_the_speed_of_its_goal_whenever_it_is_fastest() -> None:
    speed = np.array([0.15, 0.05, -0.1])
    for seed in (2, 3):
        published = made(seed, None, goal_velocity=speed)
        early = peak(published.path) - 0.08
        timed = made(seed, (early, early + 0.02), goal_velocity=speed)
        assert abs(peak(timed.path) - early) < abs(peak(published.path) - early) - 0.03
        assert timed.cost < 1.5 * published.cost
        assert np.allclose((timed.path[-1] - timed.path[-2]) / DT, speed, atol=0.02)
