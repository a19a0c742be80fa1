"""Elbows and knees bend as far as those of people, whatever moves them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import Body, interpolate, key_velocities
from lookat_pd.dynamics.bend_ranges import BendRanges
from lookat_pd.rotation import Array

from . import trees

HIGH = np.radians(150.0)
ALONG = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.27, 0.0]])
OWN = np.array([[0.0, 0.3, 0.0], [0.0, 0.27, 0.0], [0.0, 0.09, 0.0]])
USUAL = 5.0 * np.exp(-4.0)
engine = pytest.mark.skipif(not dynamics.engine.available(), reason="needs the physics engine")


def posture() -> ik.Posture:
    """An arm of which the second joint is a hinge about Z."""
    hinges = np.zeros((3, 3))
    hinges[1, 2] = 1.0
    return ik.Posture(np.zeros(3), hinges, [-np.pi, 0.0, -np.pi], [np.pi, HIGH, np.pi])


def poses(*bends: float) -> Array:
    turns = np.zeros((len(bends), 3, 3))
    turns[:, 1, 2] = bends
    turns[:, 0, 0] = np.linspace(0.0, 1.2, len(bends))
    return rotation.exp(turns)


def ranges(keys: Array) -> BendRanges:
    found = BendRanges.of(posture(), ALONG, OWN, keys)
    assert found is not None
    return found


def bends(motion: Array) -> Array:
    return posture().bend(ALONG, OWN, motion)[..., 1]


@given(st.floats(0.0, 2.6), st.floats(0.0, 2.6), st.floats(-3.0, 3.0))
def test_bends_stay_within_their_range_and_keys_are_kept(first: float, last: float, tried: float) -> None:
    keys = poses(first, last)
    own = ranges(keys)
    assert rotation.distance(own.soften(keys), keys).max() < 1e-9
    for found in (own.soften(poses(tried)), own.clamp(poses(tried))):
        assert -1e-8 <= bends(found)[0] <= HIGH + 1e-8
    between = poses(0.5 * (first + last))
    assert rotation.distance(own.soften(between), between).max() < 1e-9


def test_bends_come_to_their_end_without_a_jump_of_speed() -> None:
    own, tried = ranges(poses(0.5, 2.0)), np.linspace(0.5, 3.0, 2000)
    found = bends(own.soften(poses(*tried)))
    assert np.all(np.diff(found) >= 0.0)
    assert np.abs(np.diff(found, n=2)).max() < 1e-4


def test_keys_beyond_the_range_extend_it() -> None:
    keys = poses(-0.4, 1.0)
    assert ranges(keys).low[1] == pytest.approx(-0.4)
    assert rotation.distance(ranges(keys).soften(keys), keys).max() < 1e-9


def test_a_body_without_hinges_has_no_ranges() -> None:
    free = ik.Posture(np.zeros(3), np.zeros((3, 3)), np.full(3, -np.pi), np.full(3, np.pi))
    assert BendRanges.of(free, ALONG, OWN, poses(0.0, 1.0)) is None


def arm(hand: float) -> Body:
    return trees.rods([0.3, 0.27, 0.18], [2.0, 1.2, hand])


@pytest.mark.thorough
@engine
@pytest.mark.parametrize("load", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("mass", [False, True])
def test_a_load_in_the_hand_neither_folds_an_elbow_nor_opens_it_beyond_straight(load: float, mass: bool) -> None:
    turns = np.zeros((4, 3, 3))
    turns[:, 0, 2], turns[:, 1, 2] = [0.0, 1.8, -0.2, 1.6], [0.1, 0.3, 0.1, 2.4]
    keys, times = rotation.exp(turns), np.array([0.0, 0.4, 0.8, 1.2])
    given = {
        "residual": USUAL,
        "velocities": key_velocities(keys, times),
        "settle": 0.5,
        "inertia": "reference",
        "reference": arm(0.5),
        "keeps": np.ones((4, 3)) if mass else None,
    }
    free = interpolate(arm(0.5 + load), keys, times, 1.0 / 60.0, **given)
    bound = interpolate(arm(0.5 + load), keys, times, 1.0 / 60.0, bends=ranges(keys), **given)
    seen = bends(bound.rotations)
    assert seen.min() > -1e-6 and seen.max() < HIGH + 1e-6
    if load > 4.0:
        assert bends(free.rotations).min() < -0.02
    at = np.rint(times * 60.0).astype(int)
    assert rotation.distance(bound.rotations[at], keys).max() < 1e-5


def test_an_elbow_that_is_straight_at_a_key_does_not_swing_past_it() -> None:
    keys, times = poses(1.5, 0.0, 0.0), np.array([0.0, 0.4, 1.4])
    given = {"residual": USUAL, "velocities": key_velocities(keys, times), "keeps": np.ones((3, 3))}
    free = interpolate(arm(0.5), keys, times, 1.0 / 60.0, **given)
    bound = interpolate(arm(0.5), keys, times, 1.0 / 60.0, bends=ranges(keys), **given)
    assert bends(free.rotations).min() < -0.005
    seen = bends(bound.rotations)
    assert seen.min() > -1e-6
    # It comes to a stop, and is not stopped.
    resting = interpolate(arm(0.5), keys, times, 1.0 / 60.0, **given | {"keeps": np.zeros((3, 3))})
    assert np.abs(np.diff(seen, n=2)).max() < 1.01 * np.abs(np.diff(bends(resting.rotations), n=2)).max()
