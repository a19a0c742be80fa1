"""Smooth curves through samples: polynomials of fifth degree are themselves, however long the curve."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from lookat_pd.dynamics.splines import SmoothCurve


@pytest.mark.parametrize("count", [1, 2, 3, 24, 700])
def test_a_curve_through_a_polynomial_of_fifth_degree_is_that_polynomial(count: int) -> None:
    wanted, h = Polynomial([0.3, -1.0, 2.0, 0.5, -1.5, 0.4]), 2.0 / count
    ends, t = np.array([0.0, 2.0]), np.linspace(0.0, 2.0, 4 * count + 1)
    samples = wanted(np.linspace(0.0, 2.0, count + 1))
    found = SmoothCurve.through(h, samples, wanted.deriv()(ends), wanted.deriv(2)(ends)).at(t)
    for order, values in enumerate(found):
        assert_allclose(values, wanted.deriv(order)(t) if order else wanted(t), atol=1e-7)


@pytest.mark.parametrize("count", [30, 300])
def test_the_third_derivative_is_continuous_through_any_samples(count: int) -> None:
    """Also where long curves are solved in several parts."""
    samples = np.random.default_rng(1).normal(size=(count + 1, 2))
    curve = SmoothCurve.through(1.0, samples, np.zeros((2, 2)), np.zeros((2, 2)))
    step = 1e-5
    for sample in range(1, count):
        bends = curve.at(sample + step * np.array([-1.0, -1e-9, 1e-9, 1.0]))[2]
        assert_allclose(bends[1] - bends[0], bends[3] - bends[2], atol=1e-2 * step * 1e3)
        assert_allclose(bends[1], bends[2], atol=1e-5)


def test_a_curve_passes_its_samples_and_has_the_given_ends() -> None:
    samples = np.random.default_rng(2).normal(size=(9, 3))
    ends = np.random.default_rng(3).normal(size=(2, 2, 3))
    values, slopes, bends = SmoothCurve.through(0.5, samples, *ends).at(0.5 * np.arange(9.0))
    assert_allclose(values, samples, atol=1e-12)
    assert_allclose(slopes[[0, -1]], ends[0], atol=1e-9)
    assert_allclose(bends[[0, -1]], ends[1], atol=1e-9)


@pytest.mark.parametrize("parts", [1, 3, 8])
def test_a_smooth_curve_in_equal_parts_is_that_at_their_times(parts: int) -> None:
    values = np.random.default_rng(parts).normal(size=(7, 2, 3))
    curve = SmoothCurve.through(0.1, values, np.ones((2, 2, 3)), np.zeros((2, 2, 3)))
    for found, wanted in zip(curve.divided(parts), curve.at(0.1 / parts * np.arange(6.0 * parts + 1.0)), strict=True):
        assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())
