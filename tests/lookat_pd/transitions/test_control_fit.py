"""Amounts of controls from what they do: exact for linear controls, by preference where several could, learned else."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd.rotation import Array
from lookat_pd.transitions.control_fit import ControlFit

FRAMES, NUMBERS, AMOUNTS = 4, 9, 3
LONGEST = 0.4


def responses(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(NUMBERS, AMOUNTS))


def wanted_amounts(largest: float, seed: int = 1) -> Array:
    amounts = np.random.default_rng(seed).uniform(-1.0, 1.0, (FRAMES, AMOUNTS))
    return largest * amounts / np.abs(amounts).max(axis=1, keepdims=True)


def fit_of(jacobian: Array, weights: Array | None = None) -> ControlFit:
    return ControlFit(jacobian, np.ones(jacobian.shape[-1]) if weights is None else weights, LONGEST, FRAMES)


def test_linear_controls_are_found_exactly() -> None:
    """One step is as good as the regularization, the next ones leave nothing."""
    jacobian, wanted = responses(), wanted_amounts(0.3)
    fit, found = fit_of(jacobian), np.zeros((FRAMES, AMOUNTS))
    for most in (1e-5, 1e-10, 1e-12):
        found += fit.step((wanted - found) @ jacobian.T)
        assert_allclose(found, wanted, atol=most)


def test_what_no_control_can_do_is_left_over() -> None:
    """The amounts are those of least squares, and what remains is at right angles to all that the controls do."""
    jacobian = responses()
    residual = 0.1 * np.random.default_rng(2).normal(size=(FRAMES, NUMBERS))
    amounts = fit_of(jacobian).step(residual)
    assert_allclose(amounts, np.linalg.lstsq(jacobian, residual.T, rcond=None)[0].T, atol=1e-5)
    assert_allclose((residual - amounts @ jacobian.T) @ jacobian, 0.0, atol=1e-5)


def test_controls_without_an_effect_keep_their_amounts() -> None:
    residual = np.ones((FRAMES, NUMBERS))
    assert_array_equal(fit_of(np.zeros((NUMBERS, AMOUNTS))).step(residual), np.zeros((FRAMES, AMOUNTS)))
    assert fit_of(np.zeros((NUMBERS, 0))).step(residual).shape == (FRAMES, 0)


def test_of_controls_that_do_the_same_the_preferred_ones_change_most() -> None:
    """By the squares of their weights, which is least in the norm of amounts by weight; weight 0 keeps an amount."""
    jacobian = np.repeat(responses()[:, :1], 3, axis=1)
    amounts = fit_of(jacobian, np.array([1.0, 0.3, 0.0])).step(0.2 * jacobian[:, 0] * np.ones((FRAMES, 1)))
    assert_allclose(amounts.sum(axis=1), 0.2, atol=1e-6)
    assert_allclose(amounts[:, 1], 0.09 * amounts[:, 0], rtol=1e-6)
    assert_array_equal(amounts[:, 2], 0.0)


def test_steps_are_limited_and_shorter_where_they_made_it_worse() -> None:
    jacobian, better = responses(), np.array([True, False, True, False])
    residual = wanted_amounts(5.0) @ jacobian.T
    fit = fit_of(jacobian)
    assert_allclose(np.abs(fit.step(residual)).max(axis=1), LONGEST)
    fit.judge(better)
    lengths = np.abs(fit.step(residual)).max(axis=1)
    assert_allclose(lengths[better], LONGEST)
    assert (lengths[~better] < 0.5 * LONGEST).all()
    for _ in range(3):
        fit.judge(np.ones(FRAMES, dtype=bool))
    assert_allclose(np.abs(fit.step(residual)).max(axis=1), LONGEST)


def test_a_wrong_response_is_learned() -> None:
    """After a step, the same step is expected to do what it has done, and only in the frames where it has."""
    right, wrong = responses(), responses(3)
    fit, step = fit_of(wrong), wanted_amounts(0.3)
    step[0] = 0.0
    fit.learn(step, step @ right.T)
    again = fit.step(step @ right.T)
    assert_allclose(again, step, atol=1e-5)
    residual = wanted_amounts(0.2, seed=4) @ wrong.T
    assert_array_equal(fit.step(residual)[0], fit_of(wrong).step(residual)[0])


def test_curved_controls_converge() -> None:
    """Each number of the pose is a sine of the amounts: measured once at rest, corrected by what the steps do."""
    jacobian, wanted = responses(), wanted_amounts(0.5)
    fit, found = fit_of(jacobian), np.zeros((FRAMES, AMOUNTS))

    def pose(amounts: Array) -> Array:
        return np.sin(amounts @ jacobian.T)

    for _ in range(40):
        step, before = fit.step(pose(wanted) - pose(found)), pose(found)
        fit.learn(step, pose(found + step) - before)
        found = found + step
    assert_allclose(found, wanted, atol=1e-9)
