"""Limbs that are swung out become straight gradually."""

import numpy as np
import pytest

from lookat_pd.transitions import straightening

FRAMES = 16
FREE = np.r_[np.zeros(2, bool), np.ones(FRAMES - 4, bool), np.zeros(2, bool)]
LEAST = np.full(FRAMES, straightening.LEAST)
random = np.random.default_rng(3)


def snapping() -> np.ndarray:
    """Bends [rad] of a knee that snaps straight and back."""
    bends = np.zeros(FRAMES)
    bends[:2] = np.radians((42.0, 26.0))
    bends[-4:] = np.radians((25.0, 30.6, 32.7, 33.3))
    return bends


def test_it_goes_on_with_its_velocity_and_comes_with_it() -> None:
    bends = snapping()
    eased = straightening.eased(bends, LEAST, FREE)
    assert np.array_equal(eased[~FREE], bends[~FREE])
    assert np.all(eased[FREE] >= LEAST[FREE])
    assert np.abs(np.diff(eased, 2)).max() < 0.5 * np.abs(np.diff(np.maximum(bends, LEAST), 2)).max()


def test_nothing_within_the_bounds_accelerates_less() -> None:
    bends = snapping()
    eased = straightening.eased(bends, LEAST, FREE)

    def cost(values: np.ndarray) -> float:
        return float(np.sum(np.diff(values, 2) ** 2))

    for _ in range(200):
        other = np.where(FREE, np.maximum(eased + random.normal(0.0, 0.02, FRAMES), LEAST), bends)
        assert cost(other) >= cost(eased) - 1e-9


@pytest.mark.parametrize(("upper", "lower"), [(1.0, 1.0), (0.4, 0.5), (2.0, 0.7)])
def test_bends_and_distances(upper: float, lower: float) -> None:
    bends = np.linspace(0.05, 2.5, 30)
    distances = straightening.distance_of(bends, upper, lower)
    assert straightening.bend_of(distances, upper, lower) == pytest.approx(bends)
    assert straightening.bend_of(np.array([upper + lower, 3.0 * (upper + lower)]), upper, lower) == pytest.approx(0.0)


def test_what_the_clips_do_themselves_is_allowed() -> None:
    """A leg that is straight before the cut, or in the destination, is no straighter because of the blend."""
    destination = np.radians([40.0, 30.0, 4.0, 0.0, 20.0])
    least = straightening.least_bends(np.radians(1.0), destination)
    assert np.all(least <= destination + 1e-12) and np.all(least <= straightening.LEAST + 1e-12)
    assert least[0] < np.radians(4.0)
