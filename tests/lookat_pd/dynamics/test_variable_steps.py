"""Formulas for steps of different lengths are exact for the polynomials of their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd.dynamics.variable_steps import derivatives, graded, steps


@pytest.mark.parametrize("order", [3, 4, 5])
@given(st.integers(0, 1000))
def test_formulas_are_exact_for_polynomials_of_their_order(order: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    fractions = np.concatenate(([0.0], np.cumsum(random.uniform(0.5, 1.5, 9))))
    plan = steps(fractions / fractions[-1], random.normal(), random.uniform(0.1, 3.0), order=order)
    times = plan.times
    for number, (first, weights, slope, end) in enumerate(plan.formulas, 1):
        # With the acceleration at the start, the first step is of second order.
        known = min(order, number + 1)
        velocity = np.polynomial.Polynomial(random.normal(size=known + 1))
        extrapolated = np.polynomial.Polynomial(random.normal(size=known))
        for function, row in ((extrapolated, 0), (velocity, 1), (extrapolated, 2)):
            rows = np.concatenate(([function.deriv()(times[0])], function(times)))[first : number + 1]
            if row == 0:
                expected = function(times[number])
            elif row == 1:
                expected = function(times[number]) - slope * function.deriv()(times[number])
            else:
                path = function.integ()
                expected = path(times[number]) - path(times[number - 1]) - end * function(times[number])
            assert_allclose(weights[row] @ rows, expected, atol=1e-9 * np.abs(rows).max())


def test_steps_start_short_grow_and_fill_the_interval() -> None:
    ends = graded(9.0, 0.2, 0.5, 0.01, relaxed=3.0)
    lengths = 9.0 * np.diff(ends)
    assert ends[0] == 0.0
    assert ends[-1] == 1.0
    assert lengths[0] < 0.06
    assert np.all(np.diff(lengths) > -1e-12)
    assert lengths[-1] <= 0.5 + 1e-12
    even = 9.0 * np.diff(graded(9.0, 0.2, 0.5, 0.01, relaxed=np.inf))
    assert_allclose(even[3:], even[-1])


@given(st.integers(1, 12), st.integers(0, 1000))
def test_derivatives_of_polynomials_are_exact(count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.5, 1.5, count))
    curve = np.polynomial.Polynomial(random.normal(size=min(count, 5)))
    found = derivatives(np.stack((curve(times), -curve(times)), axis=1), times)
    assert_allclose(found[:, 0], curve.deriv()(times), atol=1e-7 * (1.0 + np.abs(curve(times)).max()))
    assert_allclose(found[:, 1], -found[:, 0])


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 1000))
def test_pieces_are_derived_each_alone(counts: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [(np.cumsum(random.uniform(0.5, 1.5, count)), random.normal(size=(count, 2))) for count in counts]
    times, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    alone = np.concatenate([derivatives(each, t) for t, each in parts])
    assert_allclose(derivatives(values, times, np.cumsum(counts) - 1), alone, atol=1e-12 * (1.0 + np.abs(alone).max()))
