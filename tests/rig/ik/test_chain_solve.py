"""Evening out over time: means that never need more room than the frames do."""

import tracemalloc

import numpy as np
import pytest

from extension import load

chain_solve = load("rig.ik.chain_solve")


@pytest.mark.parametrize("width", [0.3, 4.0, 60.0, 500.0])
def test_evened_is_the_weighted_mean_with_the_ends_going_on(width) -> None:
    turns = np.random.default_rng(1).normal(size=(40, 2, 4))
    half = int(np.ceil(1.5 * width))
    offsets = np.arange(-half, half + 1)
    weights = np.exp(-0.5 * (offsets / (0.5 * width)) ** 2)
    rows = np.clip(np.arange(40)[:, None] + offsets, 0, 39)
    wanted = np.einsum("k,fkbc->fbc", weights / weights.sum(), turns[rows])
    np.testing.assert_allclose(chain_solve._evened(turns, width), wanted, atol=1e-12)


def test_the_widest_smoothing_needs_little_room() -> None:
    """It once took 23.8 GB."""
    turns = np.random.default_rng(2).normal(size=(250, 3, 4))
    tracemalloc.start()
    try:
        found = chain_solve._evened(turns, 2.4e7)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert np.ptp(found, axis=0).max() < 0.05
