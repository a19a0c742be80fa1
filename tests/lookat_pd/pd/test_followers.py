"""The laws of followed timelines: pieces join smoothly and a release ends at exactly nothing."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd.errors import InvalidArgument
from lookat_pd.pd import integrators
from lookat_pd.pd.followers import Follower, Tuning, cubic_coefficients
from lookat_pd.pd.second_order import Step, stable_substeps
from lookat_pd.rotation import IDENTITY, Array

RATE = 960
SECONDS = 3.0
TUNINGS = [
    Tuning(),
    Tuning(damping_ratio=0.5),
    Tuning(damping_ratio=2.0),
    Tuning(method="component"),
    Tuning(max_speed=1.0),
    Tuning(integrator="stable"),
    Tuning(integrator="euler"),
]


def start(tuning: Tuning, angle: float = 0.5, speed: float = 1.0) -> Array:
    state = np.zeros((2, tuning.width, 2))
    state[:, -1] = angle / tuning.radians, speed / tuning.radians
    return state


def released(tuning: Tuning, rate: int = RATE, **options) -> Array:
    follower = Follower(tuning, np.array([0.6, 0.9]), 1.0 / rate)
    states, _ = follower.release(round(SECONDS * rate) + 1, 0.0, SECONDS, start(tuning, **options))
    return states


@pytest.mark.parametrize("tuning", TUNINGS, ids=str)
def test_a_release_ends_at_exactly_nothing_and_stays_there(tuning):
    states = released(tuning)
    assert np.any(states[len(states) // 3])
    assert np.all(states[-RATE // 4 :] == 0.0)
    assert np.all(tuning.decode(states[-1, :, :, 0]) == IDENTITY)


@pytest.mark.parametrize("tuning", TUNINGS, ids=str)
def test_the_velocity_of_a_release_is_the_slope_of_its_path_and_has_no_jump(tuning):
    states = released(tuning)[1:]
    x, v = tuning.radians * states[..., 0], tuning.radians * states[..., 1]
    within = 0.02 if tuning.integrator == "exact" else 0.06
    assert_allclose(0.5 * (v[1:] + v[:-1]), np.diff(x, axis=0) * RATE, atol=within)
    calm = np.abs(x).max(axis=(1, 2)) < tuning.release_angle
    # A fade of 0.5 degrees in 0.2 s asks for no more than 6 x / t^2 and what the controller does meanwhile.
    assert np.abs(np.diff(v, axis=0)[calm[1:]]).max() * RATE < 8.0 * tuning.release_angle / tuning.release_time**2


@pytest.mark.parametrize("tuning", TUNINGS[:5], ids=str)
def test_a_release_is_the_same_at_all_frame_rates(tuning):
    finest = released(tuning, 120)
    for rate in (24, 30, 60):
        difference = released(tuning, rate)[:: rate // 6] - finest[::20]
        assert np.degrees(np.abs(difference[..., 0]).max()) * tuning.radians < 0.02


def test_turned_on_during_the_fade_the_motion_goes_on_from_there():
    tuning = Tuning()
    follower = Follower(tuning, np.array([0.6]), 1.0 / RATE)
    state = np.zeros((1, 3, 2))
    state[0, 0] = 0.5 * tuning.release_angle, 0.0
    _, last = follower.release(97, 0.0, 0.1, state)
    assert 0.0 < last[0, 0, 0] < state[0, 0, 0]
    states, _ = follower.run(np.full((10, 1, 3), 0.3), 0.0, 9.0 / RATE, last)
    assert_allclose(states[0], last)
    assert np.abs(np.diff(states[:, 0, 0, 1])).max() * RATE < (2.0 * np.pi / 0.6) ** 2 * 0.31


def test_a_speed_limit_holds_during_the_fade_too():
    tuning = Tuning(max_speed=0.02, release_angle=np.radians(5.0))
    speed = np.linalg.norm(released(tuning, angle=0.1, speed=0.0)[..., 1], axis=-1)
    assert speed.max() <= 0.02 * (1.0 + 1e-9)


def test_what_is_at_rest_needs_no_release():
    follower = Follower(Tuning(), np.array([0.6]), 0.1)
    states, last = follower.release(5, 0.0, 0.4, follower.rest)
    assert not np.any(states)
    assert not np.any(last)


@pytest.mark.parametrize("tuning", TUNINGS[:5], ids=str)
def test_a_piece_cut_in_two_anywhere_is_the_same_motion(tuning, subtests):
    dt = 0.1
    follower = Follower(tuning, np.array([0.6, 1.1]), dt)
    t = dt * np.arange(11)[:, None, None]
    # Quadratic goals: sampled slopes are exact, so that both halves see the same curve.
    goals = (0.3 * t - 0.2 * t**2) * np.ones((2, tuning.width))
    whole, end = follower.run(goals, 0.0, 1.0, start(tuning))
    within = 1e-7 if not tuning.max_speed else 2e-3
    for cut in (0.31, 0.5, 0.5001, 0.9999):
        with subtests.test(cut=cut):
            first = int(cut / dt + 1e-9)
            head, state = follower.run(goals[: first + 2], 0.0, cut, start(tuning))
            tail, last = follower.run(goals[first:], cut - first * dt, 1.0 - first * dt, state)
            assert_allclose(head[: first + 1], whole[: first + 1], atol=within)
            assert_allclose(tail[1:], whole[first + 1 :], atol=within)
            assert_allclose(last, end, atol=within)


@cache
def step_of(tuning: Tuning, settle_times: tuple[float, ...], length: float) -> Step:
    limit = min(integrators.step_limit(s, tuning.damping_ratio, tuning.integrator) for s in settle_times)
    return integrators.make_step(
        length,
        np.array(settle_times)[:, None],
        tuning.damping_ratio,
        tuning.integrator,
        degree=3,
        feed_forward=tuning.feed_forward,
        count=stable_substeps(length, limit) if np.isfinite(limit) else 1,
    )


def by_steps(tuning: Tuning, settle_times: Array, dt: float, goals: Array, start: float, end: float, state: Array):
    """What `run` returns, one interval after the other."""
    states = [state]
    for k, cubic in enumerate(cubic_coefficients(goals, dt)):
        begin, until = max(start, k * dt), min(end, (k + 1) * dt)
        # With time from the start of the interval to time from where the step begins.
        late = np.polynomial.Polynomial([begin - k * dt, 1.0])
        moved = sum(cubic[..., n, None] * np.append((late**n).coef, np.zeros(3 - n)) for n in range(4))
        for length in (until - begin, (k + 1) * dt - begin):
            # Equal steps differ by rounding.
            step = step_of(tuning, tuple(settle_times), round(length, 14))
            states.append(step(states[k], moved))
        last = states.pop(-2)
    return np.stack(states), last


@pytest.mark.thorough
@pytest.mark.parametrize("integrator", ["exact", "stable", "euler"])
def test_a_run_is_the_same_as_one_step_after_the_other(integrator, subtests):
    dt, settle_times = 0.1, np.array([0.6, 1.1])
    for feed_forward, width, count in product((0.0, 0.7), (1, 3), (2, 3, 5, 25, 26, 27, 40, 150)):
        tuning = Tuning(integrator=integrator, feed_forward=feed_forward)
        rng = np.random.default_rng(count)
        # So slow that all of their motion is anticipated.
        goals, state = 0.03 * rng.normal(size=(count, 2, width)), rng.normal(size=(2, width, 2))
        for start, spare in ((0.0, 0.0), (0.04, 0.03), (0.04, 0.0), (0.0, 0.03)):
            with subtests.test(feed_forward=feed_forward, width=width, count=count, start=start, spare=spare):
                end = (count - 1) * dt - spare
                states, last = Follower(tuning, settle_times, dt).run(goals, start, end, state)
                wanted, wanted_last = by_steps(tuning, settle_times, dt, goals, start, end, state)
                assert_allclose(states, wanted, rtol=1e-12, atol=1e-12)
                assert_allclose(last, wanted_last, rtol=1e-12, atol=1e-12)


def test_cubic_pieces_meet_in_value_and_slope_and_are_exact_for_parabolas():
    t = 0.1 * np.arange(9)
    c0, c1, c2, c3 = cubic_coefficients(2.0 - t + 3.0 * t**2, 0.1).T
    assert_allclose(c1, 6.0 * t[:-1] - 1.0)
    assert_allclose(c2, 3.0)
    assert_allclose(c3, 0.0, atol=1e-9)
    c0, c1, c2, c3 = cubic_coefficients(np.random.default_rng(0).normal(size=9), 0.1).T
    assert_allclose((c0 + 0.1 * c1 + 0.01 * c2 + 0.001 * c3)[:-1], c0[1:])
    assert_allclose((c1 + 0.2 * c2 + 0.03 * c3)[:-1], c1[1:])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settle_time": 0.0}, "settle time"),
        ({"settle_time": np.nan}, "settle time"),
        ({"damping_ratio": -1.0}, "damping ratio"),
        ({"integrator": "verlet"}, "verlet"),
        ({"method": "spline"}, "spline"),
        ({"max_speed": -1.0}, "speed limit"),
        ({"max_speed": np.nan}, "speed limit"),
        ({"feed_forward": 2.0}, "feed-forward"),
        ({"release_angle": 0.0}, "[Rr]elease"),
        ({"release_time": -1.0}, "[Rr]elease"),
    ],
)
def test_a_bad_tuning_is_named(changed, named):
    with pytest.raises(InvalidArgument, match=named):
        Tuning(**changed)
