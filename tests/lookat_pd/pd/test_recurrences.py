"""The laws of recurrences: a loop over the steps is the judge, whatever way they are run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd.pd import recurrences
from lookat_pd.rotation import Array

COUNTS = (0, 1, 2, 7, 23, 24, 31, 32, 33, 64, 65, 200)


def systems(seed: int) -> tuple[np.random.Generator, Array, Array]:
    """Transitions (3, 2, 2) and starts (3, 2, 2) of three systems with two values each."""
    rng = np.random.default_rng(seed)
    return rng, 0.4 * rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2, 2))


def looped(transition: Array, inputs: Array, start: Array) -> Array:
    states = [start]
    for values_in in inputs:
        states.append(np.einsum("bij,bwj->bwi", transition, states[-1]) + values_in)
    return np.stack(states)


@pytest.mark.parametrize("count", COUNTS)
def test_the_recurrence_equals_a_loop(count):
    rng, transition, start = systems(1)
    inputs = rng.normal(size=(count, 3, 2, 2))
    states = recurrences.recurrence(transition[:, None], inputs, start)
    assert_allclose(states, looped(transition, inputs, start), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_filtered_signal_equals_a_loop_over_its_windows(count, length):
    rng, transition, start = systems(2)
    taps, signal = rng.normal(size=(3, 2, length)), rng.normal(size=(3, 2, count + length - 1))
    windows = [np.einsum("bil,bwl->bwi", taps, signal[..., k : k + length]) for k in range(count)]
    inputs = np.reshape(windows, (count, 3, 2, 2))
    states = recurrences.filtered(transition, taps, signal, start)
    assert_allclose(states, looped(transition, inputs, start), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", COUNTS)
def test_undriven_motion_equals_a_loop_without_inputs(count):
    _, transition, start = systems(3)
    states = recurrences.undriven(transition, count, start)
    assert_allclose(states, looped(transition, np.zeros((count, 3, 2, 2)), start), rtol=1e-12, atol=1e-12)
