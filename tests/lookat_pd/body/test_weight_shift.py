"""Hips that balance a turning head."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.body.weight_shift import WeightShift, head_pitch, weight_shift
from lookat_pd.gaze.solver import Event, Tuning, solve

from ..gaze.test_solver import at, body, make_chain

LEFT, BACK = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def settled(side: float, pitch: float, shift: WeightShift) -> np.ndarray:
    turn, up = (np.full(240, np.radians(angle)) for angle in (side, pitch))
    axes = (np.broadcast_to(axis, (240, 3)) for axis in (LEFT, BACK))
    return weight_shift(shift, turn, *axes, 1 / 24, up)[-1]


@pytest.mark.parametrize("pitch", [-60.0, -20.0, 30.0, 60.0])
def test_hips_go_forward_below_a_head_that_looks_up(pitch: float) -> None:
    found = settled(0.0, pitch, WeightShift(0.05, 0.02, 0.6, pitch=0.04))
    assert_allclose(found, -0.04 * np.sin(np.radians(pitch)) * BACK, atol=1e-6)


def test_both_add_up_and_pitch_is_nothing_by_itself() -> None:
    both = WeightShift(0.05, 0.02, 0.6, pitch=0.04)
    assert_allclose(settled(40, 20, both), settled(40, 0, both) + settled(0, 20, both), atol=1e-9)
    assert np.array_equal(settled(40, 20, WeightShift(0.05, 0.02, 0.6)), settled(40, 0, WeightShift(0.05, 0.02, 0.6)))


def test_the_pitch_of_a_chain_is_that_of_its_head() -> None:
    t = np.arange(200) / 24.0
    chain = make_chain()
    found = solve(chain, Tuning(), *body(t, sway=0.0), np.tile(at(0, 30), (1, 200, 1)), 1 / 24)
    assert_allclose(np.degrees(head_pitch(chain, found.offsets)[-1]), 30.0, atol=1.5)


@pytest.mark.thorough
@pytest.mark.parametrize("side", [-1, 1])
def test_the_torso_turns_further_in_large_turns_alone(side: int) -> None:
    """The neck twists less, the aim is the same, and the torso's part grows smoothly."""
    t = np.arange(240) / 24.0
    torso, error = [], []
    for yaw in range(0, 120, 5):
        parts = []
        for more in (0.0, 0.5):
            chain = make_chain(torso_more=more)
            target = np.tile(at(side * yaw), (1, 240, 1))
            found = solve(chain, Tuning(), *body(t, sway=0.0), target, 1 / 24, (Event(-1.0, 0),))
            parts.append(np.degrees(side * rotation.dot(rotation.log(found.offsets[-1]), chain.up)[2:].sum()))
            error.append(np.degrees(found.error[-1]) if found.reachable[-1] else 0.0)
        torso.append(parts)
    plain, more = np.array(torso).T
    assert_allclose(plain[:5], more[:5], atol=1e-9)
    assert more[19] > plain[19] + 7.0
    assert np.diff(more).min() > 0.0 and np.diff(more).max() < 6.0
    assert max(error) < 0.05
