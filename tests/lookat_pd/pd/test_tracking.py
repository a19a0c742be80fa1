"""The laws of the PD controller over time, judged by Runge-Kutta, plain loops of the definitions and closed forms."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comparison import largest_degrees
from lookat_pd import pd, rotation
from lookat_pd.errors import InvalidArgument, StabilityWarning
from lookat_pd.pd import tracking
from lookat_pd.rotation import Array

RATES = (24, 30, 60, 120)
INTEGRATORS = ("exact", "stable", "euler")


def sine(rate: float, seconds: float = 2.0) -> Array:
    t = np.arange(round(seconds * rate) + 1) / rate
    return np.sin(2.0 * np.pi * 0.7 * t) + (t > 1.0)


def runge_kutta(goals: Array, dt: float, settle_time: float, zeta: float, feed_forward: float, x: float, v: float):
    """Positions and velocities at the samples of a piecewise linear goal, in 200 steps an interval."""
    omega, state, result = 2.0 * np.pi / settle_time, np.array([x, v]), [(x, v)]
    for g0, g1 in pairwise(goals):
        slope, h = (g1 - g0) / dt, dt / 200

        def change(t: float, s: Array, g0=g0, slope=slope) -> Array:
            force = omega**2 * (g0 + slope * t - s[0]) + 2.0 * zeta * omega * (feed_forward * slope - s[1])
            return np.array([s[1], force])

        for n in range(200):
            a = change(n * h, state)
            b = change((n + 0.5) * h, state + 0.5 * h * a)
            c = change((n + 0.5) * h, state + 0.5 * h * b)
            d = change((n + 1) * h, state + h * c)
            state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        result.append(tuple(state))
    return np.array(result).T


def engine(goals: Array, dt: float, settle_time: float, zeta: float, integrator: str, substeps: int, max_speed=None):
    """The published definitions of the naive and the Stable PD controller, one number at a time."""
    k_p, k_d, h = (2.0 * np.pi / settle_time) ** 2, 4.0 * np.pi * zeta / settle_time, dt / substeps
    x, v, result = float(goals[0]), 0.0, [(float(goals[0]), 0.0)]
    for g0, g1 in pairwise(goals):
        for n in range(substeps):
            g = g0 + (g1 - g0) * n / substeps
            if integrator == "euler":
                force = k_p * (g - x) - k_d * v
            else:
                force = (k_p * (g - x - h * v) - k_d * v) / (1.0 + h * k_d)
            v += h * force
            if max_speed is not None:
                v = min(max(v, -max_speed), max_speed)
            x += h * v
        result.append((x, v))
    return np.array(result).T


@pytest.mark.thorough
@pytest.mark.parametrize("zeta", [0.0, 0.3, 0.5**0.5, 1.0, 1.0 + 1e-7, 1.7, 3.0])
@pytest.mark.parametrize("feed_forward", [0.0, 0.4, 1.0])
def test_exact_solves_the_equation_for_piecewise_linear_goals(zeta, feed_forward):
    goals = np.random.default_rng(3).normal(size=12)
    x, v = pd.track(goals, 0.07, 0.6, zeta, x0=0.3, v0=-2.0, feed_forward=feed_forward)
    wanted = runge_kutta(goals, 0.07, 0.6, zeta, feed_forward, 0.3, -2.0)
    assert_allclose((x, v), wanted, atol=1e-8)


@pytest.mark.parametrize("integrator", ["stable", "euler"])
@pytest.mark.parametrize("zeta", [0.2, 0.5**0.5, 1.0])
@pytest.mark.parametrize(("max_step", "substeps"), [(None, 1), (1.0 / 24.0, 1), (0.02, 3), (1.0 / 240.0, 10)])
def test_engine_integrators_equal_a_plain_loop_of_their_definition(integrator, zeta, max_step, substeps):
    goals = sine(24)
    x, v = pd.track(goals, 1.0 / 24.0, 0.8, zeta, integrator=integrator, max_step=max_step)
    assert_allclose((x, v), engine(goals, 1.0 / 24.0, 0.8, zeta, integrator, substeps), atol=1e-9)


@pytest.mark.parametrize("integrator", ["stable", "euler"])
def test_engine_integrators_clamp_the_speed_after_the_velocity_update(integrator):
    goals = sine(24)
    x, v = pd.track(goals, 1.0 / 24.0, 0.8, integrator=integrator, max_speed=1.5)
    assert_allclose((x, v), engine(goals, 1.0 / 24.0, 0.8, 1.0, integrator, 1, 1.5), atol=1e-9)


@pytest.mark.parametrize("integrator", ["stable", "euler"])
@pytest.mark.parametrize("zeta", [0.3, 1.0, 2.0])
def test_the_step_limit_divides_decay_from_divergence(integrator, zeta):
    limit = pd.step_limit(0.6, zeta, integrator)
    below, above = (engine(np.append(1.0, np.zeros(3000)), f * limit, 0.6, zeta, integrator, 1) for f in (0.99, 1.01))
    assert np.abs(below[0, -1]) < 1e-3
    assert np.abs(above[0, -1]) > 1e3


@pytest.mark.parametrize("integrator", ["stable", "euler"])
def test_too_long_a_step_is_divided_with_a_warning_and_stays_stable(integrator):
    goals = np.append(0.0, np.ones(40))
    dt = 3.5 * pd.step_limit(0.3, 1.0, integrator)
    with pytest.warns(StabilityWarning, match=integrator):
        x, v = pd.track(goals, dt, 0.3, integrator=integrator)
    assert_allclose((x, v), engine(goals, dt, 0.3, 1.0, integrator, 4), atol=1e-9)
    assert abs(x[-1] - 1.0) < 1e-3


def test_a_stable_step_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for integrator in INTEGRATORS:
            pd.track(sine(24), 1.0 / 24.0, 0.6, integrator=integrator)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_speed_limit_is_never_exceeded(integrator):
    x, v = pd.track(5.0 * sine(24), 1.0 / 24.0, 0.4, 0.5, integrator=integrator, max_speed=2.0, v0=9.0)
    assert np.abs(v[1:]).max() <= 2.0
    assert np.abs(np.diff(x)).max() <= 2.0 / 24.0 + 1e-9


@pytest.mark.parametrize("max_speed", [None, 1.2])
def test_exact_gives_the_same_motion_at_all_frame_rates(max_speed):
    corners = np.array([0.0, 1.0, -1.0, 2.0, 2.0])

    def follow(rate: int) -> Array:
        goals = np.interp(np.arange(2 * rate + 1) / rate, 0.5 * np.arange(5), corners)
        return pd.track(goals, 1.0 / rate, 0.6, 0.5**0.5, max_speed=max_speed)[0][:: rate // 6]

    for rate in RATES:
        assert_allclose(follow(rate), follow(120), atol=1e-9 if max_speed is None else 1e-3)


def test_a_critically_damped_step_has_left_at_the_settle_time_what_theory_says():
    x, _ = pd.track(np.ones(101), 0.006, 0.6, x0=0.0)
    assert 1.0 - x[-1] == pytest.approx((1.0 + 2.0 * np.pi) * np.exp(-2.0 * np.pi), rel=1e-9)


def test_feed_forward_takes_its_share_of_the_lag_away():
    goals = 2.0 * np.arange(400) / 24.0
    for share in (0.0, 0.5, 1.0):
        x, v = pd.track(goals, 1.0 / 24.0, 0.6, 0.8, feed_forward=share)
        lag = 2.0 * 0.8 / (2.0 * np.pi / 0.6) * 2.0
        assert goals[-1] - x[-1] == pytest.approx((1.0 - share) * lag, abs=1e-9)
        assert v[-1] == pytest.approx(2.0)


def test_the_motion_starts_at_the_first_goal_and_at_rest():
    x, v = pd.track(np.array([3.0, 4.0, 5.0]), 0.1, 0.6)
    assert (x[0], v[0]) == (3.0, 0.0)
    x, v = pd.track(np.array([3.0, 4.0, 5.0]), 0.1, 0.6, x0=1.0, v0=2.0)
    assert (x[0], v[0]) == (1.0, 2.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("max_speed", [None, 1.0])
def test_every_element_is_followed_as_if_alone(integrator, max_speed):
    goals = np.random.default_rng(0).normal(size=(20, 2, 3))
    times, ratios = np.array([[0.8], [1.6]]), np.array([0.7, 1.0, 1.2])
    options = {"integrator": integrator, "max_speed": max_speed, "max_step": 0.02}
    x, v = pd.track(goals, 0.04, times, ratios, **options)
    assert x.shape == v.shape == goals.shape
    for i, j in np.ndindex(2, 3):
        alone = pd.track(goals[:, i, j], 0.04, times[i, 0], ratios[j], **options)
        assert_allclose((x[:, i, j], v[:, i, j]), alone, atol=1e-12)


def test_one_sample_is_the_start():
    x, v = pd.track(np.ones((1, 3)), 0.1, 0.6, x0=2.0)
    assert_allclose(x, np.full((1, 3), 2.0))
    assert_allclose(v, np.zeros((1, 3)))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"settle_time": 0.0}, "settle time"),
        ({"settle_time": -1.0}, "settle time"),
        ({"settle_time": np.nan}, "settle time"),
        ({"settle_time": np.array([1.0, 0.0])}, "settle time"),
        ({"damping_ratio": -0.1}, "damping ratio"),
        ({"dt": 0.0}, "time step"),
        ({"dt": -0.1}, "time step"),
        ({"dt": np.nan}, "time step"),
        ({"integrator": "verlet"}, "verlet"),
        ({"target": np.empty((0, 2))}, "target"),
        ({"target": np.float64(1.0)}, "target"),
        ({"target": np.array([[0.0, np.nan]])}, "target"),
        ({"x0": np.inf}, "x0"),
        ({"v0": np.nan}, "v0"),
        ({"max_speed": 0.0}, "speed limit"),
        ({"max_step": -1.0}, "longest step"),
        ({"feed_forward": 1.5}, "feed-forward"),
        ({"feed_forward": np.nan}, "feed-forward"),
    ],
)
def test_a_bad_argument_is_named(changed, named):
    arguments = {"target": np.zeros((3, 2)), "dt": 0.1, "settle_time": 0.6, "damping_ratio": 1.0} | changed
    with pytest.raises(InvalidArgument, match=named):
        pd.track(**arguments)


# Rotations

axes = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array).filter(lambda v: np.linalg.norm(v) > 0.1)


def turn(axis: Array, degrees: float) -> Array:
    return rotation.from_axis_angle(axis, np.radians(degrees))


def step_to(goal: Array, **options) -> Array:
    return pd.track_quaternion(np.tile(goal, (60, 1)), 1.0 / 60.0, 0.6, q0=rotation.IDENTITY, **options)


def wander(rate: int, seed: int = 0) -> Array:
    """Rotations that wander about all three axes for two seconds, on a great circle each sixth of a second."""
    rng = np.random.default_rng(seed)
    t = np.arange(13)[:, None] / 6
    corners = rotation.exp(
        sum(rng.normal(size=3) * np.sin(2.0 * np.pi * f * t + rng.uniform(0, 6)) for f in (0.3, 0.8))
    )
    k, part = np.divmod(np.arange(2 * rate), rate // 6)
    return np.concatenate((rotation.slerp(corners[k], corners[k + 1], part / (rate // 6)), corners[-1:]))


@given(axes, st.floats(1.0, 179.0))
def test_a_geodesic_step_follows_the_scalar_controller_on_the_great_circle(axis, degrees):
    path = rotation.log(step_to(turn(axis, degrees)))
    angle, _ = pd.track(np.full(60, np.radians(degrees)), 1.0 / 60.0, 0.6, x0=0.0)
    assert_allclose(path, angle[:, None] * rotation.normalize(axis), atol=1e-6)


@pytest.mark.parametrize(("degrees", "deviation"), [(60, 0.3), (90, 0.9), (170, 6.8)])
def test_components_leave_the_geodesic_motion_by_the_published_amounts(degrees, deviation):
    goal = turn(np.array([0.3, 1.0, -0.2]), degrees)
    assert largest_degrees(step_to(goal), step_to(goal, method="component")) == pytest.approx(deviation, abs=0.15)


@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_the_sign_of_quaternions_does_not_matter(method):
    goals = wander(24)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(len(goals), 1))
    plain, signed = (pd.track_quaternion(g, 1.0 / 24.0, 0.6, method=method) for g in (goals, signs * goals))
    assert largest_degrees(plain, signed) < 1e-6


@pytest.mark.parametrize("method", ["geodesic", "component"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_rotations_keep_their_speed_and_angle_limits(method, integrator):
    options = {"method": method, "integrator": integrator}
    goals = wander(24, seed=4)
    result = pd.track_quaternion(goals, 1.0 / 24.0, 0.4, 0.5, max_angle=0.7, max_speed=1.5, **options)
    assert rotation.angle(result).max() <= 0.7 + 1e-9
    assert np.radians(largest_degrees(result[:-1], result[1:])) <= 1.5 / 24.0 * 1.001


@pytest.mark.parametrize("method", ["geodesic", "component"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_opposite_goal_is_reached_or_waited_for_but_never_breaks(method, integrator):
    result = step_to(turn(np.array([0.0, 0.0, 1.0]), 180.0), method=method, integrator=integrator)
    assert np.all(np.isfinite(result))
    assert_allclose(np.linalg.norm(result, axis=-1), 1.0, atol=1e-9)
    assert largest_degrees(result[-1], turn(np.array([0.0, 0.0, 1.0]), 180.0)) < 2.0


@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_rotations_agree_between_frame_rates(method):
    goal = turn(np.array([1.0, 2.0, 0.5]), 120.0)
    steps = [
        pd.track_quaternion(np.tile(goal, (r + 1, 1)), 1.0 / r, 0.6, q0=rotation.IDENTITY, method=method)[:: r // 6]
        for r in RATES
    ]
    wanders = [pd.track_quaternion(wander(r), 1.0 / r, 0.6, method=method)[:: r // 6] for r in RATES]
    for moved, wandered in zip(steps, wanders, strict=True):
        assert largest_degrees(moved, steps[-1]) < 0.01
        assert largest_degrees(wandered, wanders[-1]) < 0.1


@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_batches_of_rotations_are_followed_one_by_one(method):
    goals = np.stack([wander(24, seed) for seed in range(4)], axis=1).reshape(-1, 2, 2, 4)
    together = pd.track_quaternion(goals, 1.0 / 24.0, 0.6, method=method)
    assert together.shape == goals.shape
    for i, j in np.ndindex(2, 2):
        assert (
            largest_degrees(together[:, i, j], pd.track_quaternion(goals[:, i, j], 1.0 / 24.0, 0.6, method=method))
            < 1e-6
        )


@pytest.mark.parametrize("integrator", ["exact", "stable", "euler"])
@pytest.mark.parametrize("max_speed", [None, 2.0])
def test_one_rotation_is_followed_as_among_several(integrator, max_speed):
    rng = np.random.default_rng(7)
    wandering = rotation.exp(np.cumsum(rng.normal(0.0, 0.4, (80, 3)), axis=0))
    wild = rotation.normalize(rng.normal(size=(80, 4)))
    options = {"integrator": integrator, "max_speed": max_speed, "feed_forward": 0.3}
    # One that rests is a goal too.
    several = np.stack((wandering, wild, np.tile(wild[0], (80, 1))), axis=1)
    together = tracking.quaternion_states(several, 1.0 / 24.0, 0.4, 0.8, **options)
    for n in range(3):
        alone = tracking.quaternion_states(several[:, n], 1.0 / 24.0, 0.4, 0.8, **options)
        for one, among in zip(alone, together, strict=True):
            assert_allclose(one, among[:, n], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_an_angular_velocity_at_the_start_is_kept(method):
    w = np.array([0.4, -1.0, 0.3])
    goals = np.tile(rotation.IDENTITY, (3, 1))
    result = pd.track_quaternion(goals, 1e-4, 0.6, w0=w, method=method)
    assert_allclose(rotation.log(result[1]) / 1e-4, w, rtol=0.01)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"target": np.zeros((3, 3))}, "shape"),
        ({"target": np.zeros((3, 4))}, "length 0"),
        ({"target": np.full((3, 4), np.nan)}, "target"),
        ({"target": np.empty((0, 4))}, "shape"),
        ({"settle_time": 0.0}, "settle time"),
        ({"dt": 0.0}, "time step"),
        ({"method": "spline"}, "spline"),
        ({"integrator": "verlet"}, "verlet"),
        ({"max_angle": -1.0}, "angle"),
        ({"max_speed": 0.0}, "speed limit"),
        ({"q0": np.full(4, np.nan)}, "q0"),
        ({"w0": np.full(3, np.inf)}, "w0"),
    ],
)
def test_a_bad_argument_for_rotations_is_named(changed, named):
    arguments = {"target": np.tile(rotation.IDENTITY, (3, 1)), "dt": 0.1, "settle_time": 0.6} | changed
    with pytest.raises(InvalidArgument, match=named):
        pd.track_quaternion(**arguments)
