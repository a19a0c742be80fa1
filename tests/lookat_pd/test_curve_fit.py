"""A fitted curve is near all samples, meets those that it must, and has few knots."""

import numpy as np
import pytest

from extension import load

curve_fit = load("lookat_pd.curve_fit")

ALLOWED = 1e-3


def near(samples):
    return lambda fitted: np.abs(fitted - samples).max(axis=1) / ALLOWED


def motion(seed: int, count: int = 300) -> np.ndarray:
    """Slow waves with noise, a corner, a jump and a stretch that stands."""
    random = np.random.default_rng(seed)
    times = np.arange(count)
    waves = [random.normal() * np.sin(2.0 * np.pi * times / period + random.uniform(0, 6)) for period in (170, 90, 41)]
    samples = np.stack((sum(waves), np.abs(times - 0.37 * count) / count, 1e-4 * random.normal(size=count)), axis=1)
    samples[count // 2 :, 0] += random.normal()
    samples[-count // 5 :] = samples[-count // 5]
    return samples


@pytest.mark.parametrize("seed", range(6))
def test_no_sample_is_further_away_than_allowed(seed) -> None:
    samples = motion(seed)
    held = np.zeros(len(samples), dtype=bool)
    held[[40, 41, 200]] = True
    curve = curve_fit.fit(np.arange(len(samples)), samples, near(samples), held)
    assert near(samples)(curve.at_samples()).max() <= 1.0
    assert {0, 40, 41, 200, len(samples) - 1} <= set(curve.knots)
    exact = np.isin(curve.knots, [0, 40, 41, 200, len(samples) - 1])
    np.testing.assert_array_equal(curve.values[exact], samples[curve.knots[exact]])
    assert len(curve.knots) < len(samples) / 3


@pytest.mark.parametrize("count", range(1, 8))
def test_few_samples(count) -> None:
    samples = np.random.default_rng(count).normal(size=(count, 2))
    curve = curve_fit.fit(np.arange(count), samples, near(samples))
    if count > 1:
        assert near(samples)(curve.at_samples()).max() <= 1.0
    np.testing.assert_allclose(curve.values[[0, -1]], samples[[0, -1]])


def test_a_cubic_has_no_knots_inside_and_is_met_exactly() -> None:
    times = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, 60))
    samples = np.stack((1e-5 * times**3 - 0.01 * times, 0.1 * times), axis=1)
    curve = curve_fit.fit(times, samples, near(samples))
    assert list(curve.knots) == [0, 59]
    np.testing.assert_allclose(curve.at_samples(), samples, atol=1e-6)


def test_knots_are_not_much_more_than_the_best_even_ones() -> None:
    times = np.arange(500)
    samples = np.stack([np.sin(2.0 * np.pi * times / 40), 0.5 * np.cos(2.0 * np.pi * times / 52)], axis=1)
    curve = curve_fit.fit(times, samples, near(samples))
    even = []
    for length in range(2, 60):
        knots = np.unique(np.append(np.arange(0, 500, length), 499))
        held = np.isin(times, knots)
        fitted = curve_fit._fitted(times.astype(float), samples, knots, held & np.isin(times, [0, 499]))
        if near(samples)(fitted.at_samples()).max() <= 1.0:
            even.append(len(knots))
    assert len(curve.knots) <= 1.3 * min(even)


def test_the_same_samples_give_the_same_curve() -> None:
    samples = motion(1)
    first, second = (curve_fit.fit(np.arange(300), samples, near(samples)) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes() and first.slopes.tobytes() == second.slopes.tobytes()


def cycle(frames: int = 41) -> np.ndarray:
    phase = np.linspace(0.0, 2.0 * np.pi, frames)
    samples = np.stack((np.sin(phase + 0.7), np.sin(2.0 * phase) + 0.3 * np.cos(3.0 * phase)), axis=1)
    samples[-1] = samples[0]
    return samples


def test_a_motion_that_repeats_has_one_slope_where_its_ends_meet() -> None:
    samples = cycle()
    assert curve_fit.is_closed(samples)
    times, allowed = np.arange(len(samples)) / 30.0, 0.02
    fitted = curve_fit.fit(times, samples, lambda there: np.abs(there - samples).max(axis=1) / allowed, closed=True)
    assert np.array_equal(fitted.slopes[0], fitted.slopes[-1]) and np.array_equal(fitted.values[0], fitted.values[-1])
    assert np.abs(fitted.at_samples() - samples).max() <= allowed
    assert len(fitted.knots) < len(samples) / 2


def test_what_ends_elsewhere_or_at_another_speed_does_not_repeat() -> None:
    samples = cycle()
    assert not curve_fit.is_closed(samples[:-1])
    bounce = np.abs(np.linspace(-1.0, 1.0, 41))[:, None]
    assert not curve_fit.is_closed(bounce)
