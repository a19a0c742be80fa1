"""What loose bones hang on, between its samples."""

import numpy as np
import pytest

from lookat_pd import rotation
from lookat_pd.dynamics import law
from lookat_pd.dynamics.guide import Guide, StepGrid

TIMES = np.array([0.0, 0.5, 0.8])


def guided(seed: int) -> tuple[law.Motion, Guide]:
    """A joint through keys, and the guide through its samples 1/240 s apart, as a rotation and as its first axis."""
    keys = rotation.exp(np.random.default_rng(seed).normal(scale=0.6, size=(3, 1, 3)))
    motion = law.through(keys, TIMES, np.array([0.001]))
    grid = StepGrid(TIMES[:2], np.full(2, 1.0 / 240.0), np.array([120, 72]))
    interval, times = grid.samples()
    poses = motion.poses(times, interval)
    return motion, Guide.through(grid, rotation.rotate(poses, [1.0, 0.0, 0.0]), poses)


@pytest.mark.parametrize("seed", range(3))
def test_places_and_rotations_are_those_of_the_motion(seed: int) -> None:
    motion, guide = guided(seed)
    times = np.linspace(0.0, 0.8, 777)
    interval = (times > 0.5).astype(int)
    poses, spins, _ = motion.at(times, interval)
    coordinates, speeds = guide.at(interval, times)
    assert rotation.distance(coordinates[:, 3:], poses[:, 0]).max() < 1e-6
    assert np.abs(speeds[:, 3:] - spins[:, 0]).max() < 1e-3
    assert np.abs(coordinates[:, :3] - rotation.rotate(poses[:, 0], [1.0, 0.0, 0.0])).max() < 1e-6
    moved = rotation.rotate(poses[:, 0], rotation.cross(spins[:, 0], np.array([[1.0, 0.0, 0.0]])))
    assert np.abs(speeds[:, :3] - moved).max() < 1e-3


def test_a_key_belongs_to_the_interval_that_is_asked_for() -> None:
    motion, guide = guided(0)
    key, both = np.full(2, 0.5), np.array([0, 1])
    coordinates, speeds = guide.at(both, key)
    assert rotation.distance(coordinates[:, 3:], motion.poses(key, both)[:, 0]).max() < 1e-9
    assert np.abs(speeds[0] - speeds[1]).max() < 1e-3


def test_steps_follow_each_other() -> None:
    grid = StepGrid(np.array([0.0, 1.0]), np.array([0.5, 0.25]), np.array([2, 4])).divided(2)
    interval, begins = grid.begun()
    assert np.array_equal(interval, [0] * 4 + [1] * 8)
    assert np.allclose(np.diff(begins), grid.lengths[interval[:-1]])
    assert len(grid.samples()[1]) == 5 + 9
