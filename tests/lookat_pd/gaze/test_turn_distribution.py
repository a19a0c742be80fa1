"""The laws of sharing a turn and of limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.gaze.turn_distribution import TurnDistribution, TurnLimits, soft_limit, turn_axes, turn_vectors
from lookat_pd.rotation import Array

UP, RIGHT = np.array([0.0, 1.0, 0.0]), np.array([-1.0, 0.0, 0.0])
angles = st.floats(-3.0, 3.0)
limits = st.floats(0.05, 3.0)
edges = st.floats(0.001, 0.5)
chains = st.lists(st.tuples(st.floats(0.01, 1.0), limits), min_size=1, max_size=8).map(lambda rows: np.array(rows).T)


def turned(yaw, pitch) -> Array:
    """A yaw about UP after a pitch about RIGHT."""
    return rotation.multiply(rotation.from_axis_angle(UP, yaw), rotation.from_axis_angle(RIGHT, pitch))


def limited(q: Array, yaw=1.0, up=0.7, down=0.5, goal=1.0) -> Array:
    one = np.ones(1)
    return TurnLimits(yaw * one, up * one, down * one, goal, UP[None], RIGHT[None]).apply(q[..., None, :])[..., 0, :]


def yaw_and_pitch(q: Array) -> tuple[Array, Array]:
    """Where the rotated forward axis (+Z) points."""
    aim = rotation.rotate(q, np.array([0.0, 0.0, 1.0]))
    return np.arctan2(aim[..., 0], aim[..., 2]), np.arcsin(np.clip(aim[..., 1], -1.0, 1.0))


@given(limits, edges)
def test_the_soft_limit_rises_with_a_continuous_slope_from_all_to_nothing(limit, edge):
    angle = np.linspace(0.0, limit + 2.0 * edge, 5001)
    value = soft_limit(angle, limit, edge)
    slope = np.diff(value) / np.diff(angle)
    assert value.max() <= limit + 1e-12
    assert np.all((slope >= -1e-9) & (slope <= 1.0 + 1e-9))
    assert np.abs(np.diff(slope)).max() < 2.0 * (angle[1] - angle[0]) / (2.0 * min(edge, limit)) + 1e-9
    free = angle <= limit - edge
    assert_allclose(value[free], angle[free])
    assert value[-1] == pytest.approx(limit)


def test_a_soft_limit_has_the_shape_of_angle_and_limit_together():
    assert_allclose(soft_limit(0.2, np.array([0.5, 0.6, 0.1]), 0.0), [0.2, 0.2, 0.1])
    assert_allclose(soft_limit(0.2, np.array([0.5, 0.6]), 0.1), [0.2, 0.2])


def test_a_soft_limit_without_an_edge_is_a_clamp():
    assert_allclose(soft_limit([0.0, 0.4, 0.6, 2.0], 0.5, 0.0), [0.0, 0.4, 0.5, 0.5])
    assert soft_limit(1.0, 0.0, 0.1) == 0.0


@given(chains, edges, st.floats(0.0, 10.0))
def test_the_shares_of_a_turn_sum_to_it_or_to_the_reach(chain, edge, turn):
    shares, most = chain
    sharing = TurnDistribution.of(shares, most, edge)
    parts = sharing.divide(np.array(turn))
    assert parts.sum() == pytest.approx(min(turn, sharing.largest_turn), abs=0.01 * edge * len(shares) + 1e-9)
    assert np.all((parts >= 0.0) & (parts <= most + 1e-12))
    assert sharing.largest_turn == pytest.approx(most.sum())


@given(chains, edges)
def test_a_small_turn_is_divided_in_proportion_to_the_shares(chain, edge):
    shares, most = chain
    turn = 0.99 * shares.sum() * np.min((most - np.minimum(edge, most)) / shares)
    assert_allclose(
        TurnDistribution.of(shares, most, edge).divide(np.array(turn)), turn * shares / shares.sum(), atol=1e-9
    )


@given(chains, edges)
def test_a_larger_turn_never_turns_a_bone_less(chain, edge):
    sharing = TurnDistribution.of(*chain, edge)
    parts = sharing.divide(np.linspace(0.0, 1.2 * sharing.largest_turn, 500))
    assert np.all(np.diff(parts, axis=0) >= -1e-12)


@given(chains, edges, st.integers(0, 8), st.lists(st.floats(0.0, 20.0), min_size=1))
def test_the_first_bones_turn_alike_whoever_else_is_asked_for(chain, edge, count, turn):
    sharing = TurnDistribution.of(*chain, edge)
    assert np.array_equal(sharing.divide(np.array(turn), count), sharing.divide(np.array(turn))[:, :count])


@given(st.lists(st.tuples(angles, angles), min_size=1))
def test_turn_vectors_are_the_logarithm_of_a_yaw_after_a_pitch(turns):
    yaw, pitch = np.array(turns).T
    got = turn_vectors(yaw[:, None], pitch[:, None], turn_axes(UP[None], RIGHT[None]))[:, 0]
    # As quaternions: a half turn has two rotation vectors.
    difference = rotation.multiply(rotation.inverse(rotation.exp(got)), turned(yaw, pitch))
    assert_allclose(rotation.angle(difference), 0.0, atol=1e-12)
    assert np.linalg.norm(got, axis=-1).max() <= np.pi + 1e-12


@given(st.lists(st.tuples(angles, st.floats(-1.5, 1.5)), min_size=2, max_size=6))
def test_bones_are_limited_each_by_itself(turns):
    yaw, pitch = np.array(turns).T
    q, most = turned(yaw, pitch), np.linspace(0.3, 1.5, len(turns))
    up, right = np.tile(UP, (len(turns), 1)), np.tile(RIGHT, (len(turns), 1))
    together = TurnLimits(most, most, most, 0.9, up, right).apply(q[None])[0]
    assert_allclose(together, [limited(*of, 0.9) for of in zip(q, most, most, most, strict=True)], atol=1e-14)


@given(st.floats(-0.99, 0.99), st.floats(-0.49, 0.69))
def test_a_turn_within_the_limits_is_left_alone(yaw, pitch):
    q = turned(yaw, pitch)
    assert np.all(limited(q) == q)


@given(angles, st.floats(-1.5, 1.5))
def test_a_turn_beyond_the_limits_is_brought_to_them(yaw, pitch):
    got = yaw_and_pitch(limited(turned(yaw, pitch)))
    assert_allclose(got, (np.clip(yaw, -1.0, 1.0), np.clip(pitch, -0.5, 0.7)), atol=1e-9)


@given(angles, st.floats(-1.5, 1.5), st.floats(0.5, 1.0))
def test_room_for_overshoot_is_never_left(yaw, pitch, goal):
    got = yaw_and_pitch(limited(turned(yaw, pitch), goal=goal))
    assert abs(got[0]) <= 1.0 + 1e-9
    assert -0.5 - 1e-9 <= got[1] <= 0.7 + 1e-9


def test_what_overshoots_bends_over_with_a_continuous_slope():
    yaw = np.linspace(0.0, 3.0, 3001)
    got, _ = yaw_and_pitch(limited(turned(yaw, np.full(yaw.shape, 0.2)), goal=0.8))
    slope = np.diff(got) / np.diff(yaw)
    assert np.abs(np.diff(slope)).max() < 0.01
    assert np.all(slope > -1e-9)


def test_no_turn_stays_no_turn_exactly():
    assert np.all(limited(rotation.identity(5)) == rotation.IDENTITY)
