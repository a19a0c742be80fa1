"""Limbs that show their mass: joints break from the root to the tip, and what arrives settles."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import Body, interpolate, key_velocities, law, succession
from lookat_pd.dynamics.succession import Succession
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

from . import trees

SEEDS = st.integers(0, 10_000)
DURATIONS = st.floats(0.15, 3.0)
TENSIONS = st.floats(1.0, 15.0)
DOWN = np.array([0.0, -9.81, 0.0])
STILL = np.zeros(3)
USUAL = 5.0 * np.exp(-4.0)
"""What the panel's default tension of 4 leaves."""
engine = pytest.mark.skipif(not dynamics.engine.available(), reason="needs the physics engine")


def arm(hand: float = 0.5) -> Body:
    return trees.rods([0.3, 0.27, 0.18], [2.0, 1.2, hand])


def heavier(body: Body, factor: float) -> Body:
    return dataclasses.replace(
        body, masses=factor * np.asarray(body.masses), inertias=factor * np.asarray(body.inertias)
    )


def keys_of(n: int, seed: int, count: int = 4) -> Array:
    """Poses of which neighbors are less than half a turn apart."""
    turns = np.random.default_rng(seed).uniform(-0.8, 0.8, (count, n, 3))
    return rotation.exp(turns)


def motion_of(
    body: Body,
    keys: Array,
    times: Array,
    *,
    tension: float = 4.0,
    keeps: float = 1.0,
    gravity: Array = STILL,
    settle: float = 1.0,
    kinds: Any = None,
) -> Succession:
    residual = np.full(len(body), (1.0 + tension) * np.exp(-tension))
    velocities, kept = key_velocities(keys, times, kinds), np.full(keys.shape[:2], keeps)
    return succession.through(body, keys, times, residual, velocities, kept, gravity, settle)


def moved(body: Body, keys: Array, duration: float, **given: Any) -> Array:
    """When each joint is fastest (n,) [s] on its way from one of two keys to the other."""
    motion = motion_of(body, keys, np.array([0.0, duration]), **given)
    times = np.linspace(0.0, duration, 4001)
    speeds = np.linalg.norm(motion.at(times, np.zeros(len(times), dtype=int))[1], axis=-1)
    return times[np.argmax(speeds, axis=0)]


@pytest.mark.thorough
@given(st.integers(2, 7), SEEDS, DURATIONS, TENSIONS, st.floats(0.0, 1.0), st.floats(0.0, 20.0))
def test_joints_are_fastest_one_after_the_other_from_the_root_to_the_tip(
    n: int, seed: int, duration: float, tension: float, keeps: float, weight: float
) -> None:
    body = trees.body(n, seed, chain=True)
    peaks = moved(
        body, keys_of(n, seed, 2), duration, tension=tension, keeps=keeps, gravity=np.array([0.0, 0.0, -weight])
    )
    assert np.all(np.diff(peaks) >= 0.0)
    assert peaks[-1] > peaks[0]


@pytest.mark.thorough
@given(SEEDS, st.floats(0.7, 1.0))
def test_a_wrist_is_behind_its_elbow_as_in_a_throw(seed: int, duration: float) -> None:
    _, elbow, wrist = moved(arm(0.45), keys_of(3, seed, 2), duration, gravity=DOWN)
    assert 0.025 < wrist - elbow < 0.075


@pytest.mark.thorough
@given(SEEDS, DURATIONS, st.floats(1.05, 100.0))
def test_a_heavier_body_is_later_in_all_joints(seed: int, duration: float, factor: float) -> None:
    body, keys = trees.body(4, seed), keys_of(4, seed, 2)
    motion, other = (
        motion_of(some, keys, np.array([0.0, duration]), settle=0.0) for some in (body, heavier(body, factor))
    )
    times = np.linspace(0.0, duration, 50)[1:-1]
    left, more = (rotation.distance(some.poses(times), keys[1]) for some in (motion, other))
    assert np.all(more > left)


@pytest.mark.thorough
@given(st.lists(st.floats(0.0, 20.0), min_size=2, max_size=2, unique=True), DURATIONS)
def test_the_more_a_hand_carries_the_later_the_arm(loads: list[float], duration: float) -> None:
    less, more = sorted(loads)
    if more - less < 0.01:
        return
    keys, times = keys_of(3, 5, 2), np.linspace(0.0, duration, 40)[1:-1]
    light, loaded = (
        rotation.distance(motion_of(arm(0.5 + load), keys, np.array([0.0, duration]), settle=0.0).poses(times), keys[1])
        for load in (less, more)
    )
    assert np.all(loaded > light)


@pytest.mark.thorough
@given(st.integers(1, 5), st.integers(2, 6), SEEDS, TENSIONS, st.floats(0.0, 1.0))
def test_keys_are_hit_and_two_derivatives_run_on_over_them(
    n: int, count: int, seed: int, tension: float, keeps: float
) -> None:
    body, keys = trees.body(n, seed), keys_of(n, seed, count)
    times = np.cumsum(np.random.default_rng(seed).uniform(0.1, 1.0, count))
    motion = motion_of(body, keys, times, tension=tension, keeps=keeps, gravity=DOWN)
    for key in range(1, count):
        q, w, dw = motion.at(times[key : key + 1], np.array([key - 1]))
        after, next_w, next_dw = motion.at(times[key : key + 1], np.array([key]))
        assert rotation.distance(q, keys[key]).max() < 1e-7
        assert rotation.distance(after, keys[key]).max() < 1e-7
        assert_allclose(w, next_w, atol=1e-9)
        assert_allclose(dw, next_dw, atol=1e-7 * max(1.0, np.abs(dw).max()))


@given(SEEDS, TENSIONS)
def test_velocities_and_accelerations_are_those_of_the_poses(seed: int, tension: float) -> None:
    body, keys, times = trees.body(3, seed), keys_of(3, seed), np.array([0.0, 0.4, 0.7, 1.5])
    motion, h = motion_of(body, keys, times, tension=tension, gravity=DOWN), 1e-4
    at = np.array([0.13, 0.5, 0.61, 1.0, 1.6, 2.3])
    q, w, dw = motion.at(at)
    ahead, behind = (rotation.log(rotation.multiply(rotation.inverse(q), motion.poses(at + s))) for s in (h, -h))
    assert_allclose((ahead - behind) / (2.0 * h), w, atol=1e-4)
    assert_allclose(
        (motion.at(at + h)[1] - motion.at(at - h)[1]) / (2.0 * h), dw, atol=2e-3 * max(1.0, np.abs(dw).max())
    )


@given(SEEDS, st.floats(0.2, 1.0))
def test_a_hold_settles_and_does_not_stop_dead(seed: int, duration: float) -> None:
    keys = keys_of(3, seed, 2)[[0, 1, 1]]
    times = np.array([0.0, duration, duration + 2.0])
    motion = motion_of(arm(), keys, times, gravity=DOWN)
    reached = motion.at(times[1:2])[1][0]
    way = rotation.distance(keys[0], keys[1])
    assert np.all(np.linalg.norm(reached, axis=-1) > 0.01 * way / duration)
    held = rotation.distance(motion.poses(duration + np.linspace(0.0, 2.0, 200)), keys[1])
    assert np.all(held.max(axis=0) < 0.25 * way)
    assert np.all(held.max(axis=0) > 1e-4 * way)
    assert np.all(held[-20:] < 0.02 * way)


@given(SEEDS, DURATIONS)
def test_extremes_and_published_stops_are_at_rest(seed: int, duration: float) -> None:
    keys, times = keys_of(3, seed, 3), np.array([0.0, duration, 2.0 * duration])
    motion = motion_of(arm(), keys, times, keeps=0.0, kinds=["stop"] * 3)
    assert_allclose(motion.at(times)[1], 0.0, atol=1e-12)


@pytest.mark.thorough
@given(st.floats(0.2, 2.0), st.floats(0.3, 1.5))
def test_an_arm_that_falls_arrives_late_and_one_that_is_lifted_early(duration: float, turn: float) -> None:
    level = rotation.exp([[0.0, 0.0, 0.5 * np.pi], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    lowered = level.copy()
    lowered[0] = rotation.exp([0.0, 0.0, 0.5 * np.pi + turn])
    falls = moved(arm(), np.stack((level, lowered)), duration, gravity=DOWN)[0]
    rises = moved(arm(), np.stack((lowered, level)), duration, gravity=DOWN)[0]
    floats = moved(arm(), np.stack((level, lowered)), duration)[0]
    assert rises < floats < falls


def test_a_little_weight_does_little() -> None:
    keys, times = keys_of(3, 3, 2), np.array([0.0, 0.8])
    at = np.linspace(0.0, 1.5, 50)
    none = motion_of(arm(), keys, times).poses(at)
    apart = [
        rotation.distance(motion_of(arm(), keys, times, gravity=size * DOWN).poses(at), none).max()
        for size in (1e-2, 1e-4, 1e-6)
    ]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-5


@given(SEEDS, st.floats(0.2, 1.0), TENSIONS)
def test_poses_at_equal_distances_give_a_constant_speed(seed: int, span: float, tension: float) -> None:
    turn = np.random.default_rng(seed).uniform(-0.3, 0.3, (3, 3))
    keys = rotation.exp(np.arange(6)[:, None, None] * turn)
    motion = motion_of(arm(), keys, span * np.arange(6.0), tension=tension)
    speeds = motion.at(span * np.linspace(1.0, 4.0, 100))[1]
    assert_allclose(speeds, np.broadcast_to(turn / span, speeds.shape), atol=1e-9)


@pytest.mark.thorough
@given(SEEDS)
def test_the_motion_is_that_of_any_frame_rate(seed: int) -> None:
    keys, times = keys_of(3, seed), np.array([0.0, 0.5, 1.0, 1.75])
    given = {
        "residual": USUAL,
        "velocities": key_velocities(keys, times),
        "keeps": np.ones((4, 3)),
        "gravity": DOWN,
        "settle": 0.5,
    }
    slow, fast = (interpolate(arm(), keys, times, 1.0 / rate, **given).rotations for rate in (24.0, 72.0))
    assert rotation.distance(slow, fast[::3][: len(slow)]).max() < 1e-9


def test_tension_takes_the_lag_away() -> None:
    keys, at = keys_of(3, 8, 2), np.linspace(0.0, 0.6, 20)[1:-1]
    left = [
        rotation.distance(motion_of(arm(), keys, np.array([0.0, 0.6]), tension=tension).poses(at), keys[1])
        for tension in (3.0, 4.0, 8.0, 15.0)
    ]
    assert all(np.all(slack > tense) for slack, tense in itertools.pairwise(left))


@pytest.mark.thorough
@given(SEEDS, st.floats(0.2, 1.0), st.floats(0.0, 0.3))
def test_nothing_goes_beyond_the_limits_of_joints_and_no_engine_is_needed(seed: int, span: float, room: float) -> None:
    keys, times = keys_of(3, seed)[[0, 1, 1, 2]], span * np.arange(4.0)
    turns = rotation.log(keys)
    limits = ik.Limits(minimum=turns.min(axis=0) - room, maximum=turns.max(axis=0) + room)
    given = {"residual": USUAL, "velocities": key_velocities(keys, times), "keeps": np.ones((4, 3)), "settle": 1.0}
    allowed = limits.clamp(keys)
    motion = succession.within(
        [limits], arm(), allowed, times, np.full(3, USUAL), given["velocities"], given["keeps"], DOWN, 1.0
    )
    after = motion.poses(np.linspace(times[-1], times[-1] + 1.0, 100))
    assert limits.excess(after).max() < 1e-4
    free = succession.within(
        [], arm(), allowed, times, np.full(3, USUAL), given["velocities"], given["keeps"], DOWN, 1.0
    )
    unbound = free.poses(np.linspace(times[-1], times[-1] + 1.0, 100))
    if limits.excess(unbound).max() < 1e-5 and limits.excess(free.poses(np.linspace(0.0, times[-1], 300))).max() < 1e-5:
        assert rotation.distance(unbound, after).max() < 1e-12


@engine
@pytest.mark.parametrize("hindrance", [{"damping": 0.2}, {"inertia": "reference"}, {"torque_limit": 60.0}])
def test_what_disturbs_the_body_disturbs_this_motion(hindrance: dict[str, Any]) -> None:
    keys, times = keys_of(3, 4), np.array([0.0, 0.6, 1.2, 1.8])
    given = {"residual": USUAL, "velocities": key_velocities(keys, times), "keeps": np.ones((4, 3)), "settle": 0.5}
    free = interpolate(arm(), keys, times, 1.0 / 60.0, **given)
    found = interpolate(arm(), keys, times, 1.0 / 60.0, **given, **hindrance)
    assert found.missed.max() < 1e-5
    if "torque_limit" not in hindrance:
        assert rotation.distance(found.rotations, free.rotations).max() > 0.01


@engine
def test_a_little_friction_changes_little() -> None:
    keys, times = keys_of(3, 4), np.array([0.0, 0.6, 1.2, 1.8])
    given = {"residual": USUAL, "velocities": key_velocities(keys, times), "keeps": np.ones((4, 3)), "settle": 0.5}
    free = interpolate(arm(), keys, times, 1.0 / 60.0, **given)
    found = interpolate(arm(), keys, times, 1.0 / 60.0, damping=1e-8, **given)
    assert rotation.distance(found.rotations, free.rotations).max() < 1e-5


def test_a_swing_goes_as_far_past_the_last_key_as_is_asked() -> None:
    keys, times, time = keys_of(1, 2, 2), np.array([0.0, 0.8]), 3.0
    body = trees.rods([0.3], [2.0])
    kept = np.zeros((2, 1))
    motion = succession.through(
        body, keys, times, np.array([USUAL]), np.zeros((2, 1, 3)), kept, STILL, time, swing_past=0.2
    )
    past = rotation.distance(motion.poses(0.8 + np.linspace(0.0, time, 2000)), keys[1]).max()
    assert_allclose(past / rotation.distance(keys[0], keys[1])[0], 0.2, rtol=0.05)


def test_the_settle_time_is_enough_to_go_as_far_as_without_an_end() -> None:
    keys, times, residual = keys_of(3, 6, 2), np.array([0.0, 0.5]), np.full(3, USUAL)
    time = succession.settle_time(arm(), keys[1], residual)
    at = 0.5 + np.linspace(0.0, time, 200)
    short, long = (
        rotation.distance(motion_of(arm(), keys, times, settle=settle).poses(at), keys[1]) for settle in (time, 20.0)
    )
    assert np.all(short.max(axis=0) > 0.75 * long.max(axis=0))
    assert short[-1].max() < 1e-7
    assert 0.2 < time < 2.0


def test_speeds_to_keep_are_one_for_each_key_and_joint() -> None:
    with pytest.raises(InvalidArgument, match="kept speeds"):
        interpolate(arm(), keys_of(3, 1, 2), [0.0, 1.0], 0.1, keeps=np.ones(3))


def test_the_law_is_as_published_by_default() -> None:
    keys, times = keys_of(3, 1), np.array([0.0, 0.5, 1.0, 1.5])
    found = interpolate(arm(), keys, times, 0.1, residual=USUAL)
    expected = law.through(keys, times, np.full(3, USUAL)).poses(found.times)
    assert rotation.distance(found.rotations, expected).max() < 1e-9
