"""The laws of one step of the controller: Runge-Kutta, plain loops and eigenvalues are the judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd.errors import InvalidArgument
from lookat_pd.pd import integrators, second_order
from lookat_pd.rotation import Array

ratios = st.one_of(st.floats(0.0, 3.0), st.sampled_from([0.0, 0.5**0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 3.0]))
settle_times = st.floats(0.1, 3.0)
values = st.floats(-3.0, 3.0)


def runge_kutta(state: Array, goal, length: float, settle_time: float, zeta: float, feed_forward: float) -> Array:
    """The controller's differential equation over `length` seconds; goal(t) gives value and slope."""
    omega = 2.0 * np.pi / settle_time

    def change(t: float, s: Array) -> Array:
        g, slope = goal(t)
        return np.array([s[1], omega**2 * (g - s[0]) + 2.0 * zeta * omega * (feed_forward * slope - s[1])])

    steps = int(np.ceil(length * omega * 60.0)) + 20
    h, t = length / steps, 0.0
    for _ in range(steps):
        a = change(t, state)
        b = change(t + 0.5 * h, state + 0.5 * h * a)
        c = change(t + 0.5 * h, state + 0.5 * h * b)
        d = change(t + h, state + h * c)
        state, t = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d), t + h
    return state


@pytest.mark.thorough
@given(ratios, settle_times, st.floats(0.0, 1.0), st.lists(values, min_size=4, max_size=4), values, values)
def test_the_exact_step_solves_the_equation_for_cubic_goals(zeta, settle_time, feed_forward, cubic, x, v):
    length = 0.1
    goal = np.polynomial.Polynomial(cubic)
    step = integrators.make_step(length, settle_time, zeta, degree=3, feed_forward=feed_forward)
    wanted = runge_kutta(
        np.array([x, v]), lambda t: (goal(t), goal.deriv()(t)), length, settle_time, zeta, feed_forward
    )
    assert_allclose(step(np.array([x, v]), np.array(cubic)), wanted, rtol=1e-6, atol=1e-6)


@given(ratios, settle_times, values, values)
def test_two_half_steps_of_free_motion_are_one_whole_step(zeta, settle_time, x, v):
    omega = 2.0 * np.pi / settle_time
    half, whole = (second_order.free_decay(h, omega, zeta) for h in (0.2, 0.4))
    assert_allclose(half @ half @ (x, v), whole @ (x, v), rtol=1e-9, atol=1e-9)


def test_an_overdamped_step_of_any_length_is_finite():
    assert np.all(np.isfinite(second_order.free_decay(1e6, 60.0, 50.0)))


@pytest.mark.parametrize("integrator", ["stable", "euler"])
@given(zeta=st.floats(0.05, 3.0), settle_time=settle_times)
def test_the_step_limit_is_where_the_largest_eigenvalue_leaves_the_unit_circle(integrator, zeta, settle_time):
    limit = integrators.step_limit(settle_time, zeta, integrator)
    radius = [
        np.abs(np.linalg.eigvals(integrators.make_step(h, settle_time, zeta, integrator).transition)).max()
        for h in (0.999 * limit, 1.001 * limit)
    ]
    assert radius[0] < 1.0 < radius[1]


def test_the_step_limits_are_the_published_formulas():
    for zeta, settle_time in ((0.0, 1.0), (0.7, 0.3), (1.0, 0.6), (2.0, 2.0)):
        omega = 2.0 * np.pi / settle_time
        euler = integrators.step_limit(settle_time, zeta, "euler")
        assert euler * omega == pytest.approx(2.0 * ((zeta**2 + 1.0) ** 0.5 - zeta))
        stable = integrators.step_limit(settle_time, zeta, "stable")
        assert stable * omega == pytest.approx(2.0 / 3.0 * (zeta + (zeta**2 + 3.0) ** 0.5))
        assert integrators.step_limit(settle_time, zeta, "exact") == np.inf


@pytest.mark.parametrize("zeta", [0.2, 0.4, 0.5**0.5, 0.9])
def test_the_largest_response_of_an_underdamped_controller_has_a_closed_form(zeta):
    overshoot = np.exp(-np.pi * zeta / np.sqrt(1.0 - zeta**2))
    assert second_order.largest_response(zeta) == pytest.approx((1.0 + overshoot) / (1.0 - overshoot), rel=1e-3)


@given(st.floats(1.0, 3.0))
def test_a_damped_controller_never_leaves_the_range_of_its_goals(zeta):
    assert second_order.largest_response(zeta) == 1.0


@pytest.mark.parametrize("length", [1.0 / 24.0, 0.1, 1.0])
def test_substeps_are_no_longer_than_allowed(length):
    for longest in (1.0 / 240.0, 0.013, 0.1, 5.0):
        assert length / second_order.substeps(length, longest) <= longest * (1.0 + 1e-8)
        assert length / second_order.stable_substeps(length, longest) < longest


def test_bad_tuning_is_named():
    for settle_time in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidArgument, match="settle time"):
            second_order.check_tuning(settle_time, 1.0)
    for ratio in (-0.1, np.nan):
        with pytest.raises(InvalidArgument, match="damping ratio"):
            second_order.check_tuning(1.0, ratio)
    with pytest.raises(InvalidArgument, match="verlet"):
        integrators.check_integrator("verlet")
