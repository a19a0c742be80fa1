"""Breathing: its rate, that it is smooth and repeatable, and where it begins and ends."""

import numpy as np
import pytest

from lookat_pd import errors, rotation
from lookat_pd.body import breathing

DT = 1.0 / 60.0


def test_there_are_as_many_breaths_as_the_rate_says() -> None:
    times = np.arange(0.0, 300.0, DT)
    filled = breathing.breath(breathing.Breathing(0.1, rate=15.0), times)
    peaks = np.flatnonzero((filled[1:-1] > filled[:-2]) & (filled[1:-1] >= filled[2:]))
    assert 73 <= len(peaks) <= 77
    assert filled.min() >= -1e-9 and 0.9 < filled.max() < 1.1
    # Breathing in is quicker than breathing out.
    assert 0.38 < np.mean(np.diff(filled) > 0.0) < 0.46


def test_a_breath_is_smooth() -> None:
    filled = breathing.breath(breathing.Breathing(0.1), np.arange(0.0, 60.0, 1e-3))
    assert np.abs(np.diff(filled)).max() < 2e-3
    assert np.abs(np.diff(filled, 2)).max() < 1e-5


def test_a_breath_depends_on_time_and_seed_only() -> None:
    times = np.arange(0.0, 20.0, DT)
    one, other = breathing.Breathing(0.1, seed=1), breathing.Breathing(0.1, seed=2)
    assert np.array_equal(breathing.breath(one, times)[300:400], breathing.breath(one, times[300:400]))
    assert np.abs(breathing.breath(one, times) - breathing.breath(other, times)).max() > 0.3


def test_it_begins_and_ends_within_a_second() -> None:
    is_on = np.zeros(600, dtype=bool)
    is_on[120:300] = True
    amount = breathing.active(is_on, DT)
    assert np.all(amount[:120] == 0.0) and np.all(amount[359:] == 0.0)
    assert np.all(amount[179:300] == 1.0)
    assert np.abs(np.diff(amount)).max() < 0.03
    assert np.all(breathing.active(np.ones(10, dtype=bool), DT) == 1.0)


def test_shoulders_rise_on_both_sides() -> None:
    inner, outer = np.zeros((1, 2, 3)), np.array([[[0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]]])
    turned = rotation.rotate(breathing.raised(np.array([0.1]), inner, outer, np.array([0.0, 0.0, 1.0])), outer)
    assert np.allclose(turned[..., 2], 0.2 * np.sin(0.1))
    upright = breathing.raised(np.array([0.1]), inner, inner + np.array([0.0, 0.0, 0.2]), np.array([0.0, 0.0, 1.0]))
    assert np.all(upright == (1.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("values", [{"angle": -1.0}, {"angle": np.nan}, {"angle": 0.1, "rate": 0.0}])
def test_bad_numbers(values: dict[str, float]) -> None:
    with pytest.raises(errors.InvalidArgument):
        breathing.Breathing(**values)
