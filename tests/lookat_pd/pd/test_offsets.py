"""The laws of following a goal in place and orientation, judged by closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparison import largest_degrees
from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.pd import offsets, track
from lookat_pd.pd.offsets import Controller
from lookat_pd.rotation import Array

RATE, FRAMES, SWITCHED = 24, 97, 12
TIMES = np.arange(FRAMES) / RATE
STEP = np.array([2.0, -1.0, 0.5])
ON = np.arange(FRAMES) >= SWITCHED


def walk() -> Array:
    return np.stack((0.4 * np.sin(TIMES), TIMES**2 / 8.0, 1.0 + 0.1 * np.cos(3.0 * TIMES)), axis=-1)


def turns() -> Array:
    return rotation.exp(np.stack((0.3 * np.sin(TIMES), 0.2 * TIMES, np.cos(2.0 * TIMES) - 1.0), axis=-1))


def closed_form(settle_time: float, zeta: float) -> Array:
    """Share (F,) of a step at SWITCHED that is covered."""
    t, omega = np.maximum(TIMES - TIMES[SWITCHED], 0.0), 2.0 * np.pi / settle_time
    if zeta == 1.0:
        return 1.0 - np.exp(-omega * t) * (1.0 + omega * t)
    turning = omega * np.sqrt(1.0 - zeta**2)
    return 1.0 - np.exp(-zeta * omega * t) * (np.cos(turning * t) + zeta * omega / turning * np.sin(turning * t))


@pytest.mark.parametrize("zeta", [1.0, 0.5**0.5, 0.3])
def test_a_step_of_the_goal_gives_the_step_response(zeta):
    animated = walk()
    found = offsets.position_offsets(animated, animated + STEP, ON, 1.0 / RATE, Controller(0.8, zeta))
    assert_allclose(found, closed_form(0.8, zeta)[:, None] * STEP, atol=1e-9)


@pytest.mark.parametrize("zeta", [1.0, 0.5**0.5, 0.3])
def test_a_turn_of_the_goal_gives_the_step_response(zeta):
    animated, turn = turns(), np.array([0.3, 1.2, -0.4])
    goals = rotation.multiply(animated, rotation.exp(turn))
    found = offsets.rotation_offsets(animated, goals, ON, 1.0 / RATE, Controller(0.8, zeta))
    assert_allclose(rotation.log(found), closed_form(0.8, zeta)[:, None] * turn, atol=1e-9)


@pytest.mark.parametrize("zeta", [0.2, 0.5, 0.5**0.5])
def test_the_overshoot_is_that_of_the_damping_ratio(zeta):
    fine = np.arange(4000) / 1000.0
    still = np.zeros((len(fine), 3))
    found = offsets.position_offsets(still, still + STEP, fine > 0.0, 0.001, Controller(0.8, zeta))
    overshoot = found[:, 0].max() / STEP[0] - 1.0
    assert overshoot == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1.0 - zeta**2)), abs=1e-5)


@pytest.mark.parametrize("integrator", ["exact", "stable", "euler"])
def test_nothing_is_faster_than_the_limit(integrator):
    controller = Controller(0.5, 0.5, integrator, max_speed=1.5, max_turn=2.0)
    still, unturned = np.zeros((FRAMES, 3)), rotation.identity(FRAMES)
    moved = offsets.position_offsets(still, still + 10.0 * STEP, ON, 1.0 / RATE, controller)
    speeds = np.linalg.norm(np.diff(moved, axis=0), axis=1) * RATE
    assert speeds.max() <= 1.5 + 1e-9
    assert speeds.max() > 1.49
    goals = rotation.multiply(unturned, rotation.exp(np.array([0.0, 0.0, 3.0])))
    turned = offsets.rotation_offsets(unturned, goals, ON, 1.0 / RATE, controller)
    rates = rotation.distance(turned[1:], turned[:-1]) * RATE
    assert 1.99 < rates.max() <= 2.0 + 1e-9


def test_without_a_goal_it_lags_behind_its_own_motion():
    """A steady motion is followed 2 zeta / omega times its velocity behind, less what is anticipated."""
    velocity, omega = np.array([1.0, 0.5, 0.0]), 2.0 * np.pi / 0.4
    for share in (0.0, 0.5, 1.0):
        controller = Controller(0.4, 0.8, feed_forward=share)
        found = offsets.position_offsets(TIMES[:, None] * velocity, None, ON | True, 1.0 / RATE, controller)
        assert_allclose(found[-1], -(1.0 - share) * 2.0 * 0.8 / omega * velocity, atol=1e-6)
        spin = np.array([0.0, 0.0, 0.7])
        animated = rotation.exp(TIMES[:, None] * spin)
        turned = offsets.rotation_offsets(animated, None, ON | True, 1.0 / RATE, controller)
        assert_allclose(rotation.log(turned[-1]), -(1.0 - share) * 2.0 * 0.8 / omega * spin, atol=1e-6)


def test_its_own_motion_is_followed_by_the_controller():
    animated = walk()
    found = offsets.position_offsets(animated, None, ON | True, 1.0 / RATE, Controller(0.5, 0.6))
    start = (animated[1] - animated[0]) * RATE
    wanted, _ = track(animated, 1.0 / RATE, 0.5, 0.6, v0=start)
    assert_allclose(animated + found, wanted, atol=1e-12)


@pytest.mark.parametrize("goal", [True, False])
def test_switching_is_smooth_and_ends_at_the_animation(goal):
    """Position and velocity are continuous where it goes on and off; long after it is off nothing is added."""
    dt, times = 1.0 / 480.0, np.arange(2880) / 480.0
    on = (times > 1.0) & (times < 2.5)
    animated = np.stack((np.sin(2.0 * times), times, 0.0 * times), axis=-1)
    turned = rotation.exp(0.5 * animated)
    goals = animated + STEP if goal else None
    turns_to = rotation.multiply(turned, rotation.exp(np.array([0.0, 1.0, 0.3]))) if goal else None
    moved = offsets.position_offsets(animated, goals, on, dt, Controller(0.6))
    offset = rotation.log(offsets.rotation_offsets(turned, turns_to, on, dt, Controller(0.6)))
    for motion in (moved, offset):
        bends = np.abs(np.diff(motion, n=2, axis=0)).max()
        assert bends < 350.0 * np.abs(motion).max() * dt**2
        assert np.abs(motion).max() > 0.02
        assert np.abs(motion[-1]).max() < 1e-9


def test_one_motion_at_all_frame_rates():
    def found(rate: int) -> Array:
        times = np.arange(4 * rate + 1) / rate
        still = np.zeros((len(times), 3))
        return offsets.position_offsets(still, still + STEP, times >= 1.0, 1.0 / rate, Controller(0.7, 0.5))

    assert_allclose(found(120)[::5], found(24), atol=1e-12)


def test_aiming_points_the_axis_at_the_point_and_keeps_upright():
    rng = np.random.default_rng(5)
    positions, points = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    for forward, up in (((0, 0, -1), (0, 1, 0)), ((0, -1, 0), (0, 0, 1)), ((1, 0, 0), (0, 0, 1))):
        found = offsets.aim(positions, points, (forward, up), rotation.identity(50))
        to = rotation.normalize(points - positions)
        assert_allclose(rotation.rotate(found, np.array(forward, float)), to, atol=1e-9)
        across = np.cross(np.array(up, float), np.array(forward, float))
        assert_allclose(rotation.rotate(found, across)[:, 2], 0.0, atol=1e-9)
        assert np.all(rotation.rotate(found, np.array(up, float))[:, 2] > 0.0)


def test_aiming_straight_up_or_at_nothing_is_finite():
    positions = np.zeros((3, 3))
    points = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    found = offsets.aim(positions, points, ((0, 0, -1), (0, 1, 0)), rotation.identity(3))
    assert_allclose(rotation.rotate(found[[0, 2]], np.array([0.0, 0.0, -1.0])), points[[0, 2]], atol=1e-9)
    assert largest_degrees(found[1], rotation.identity(1)[0]) == 0.0


def test_bad_motions_are_refused():
    still = np.zeros((4, 3))
    with pytest.raises(InvalidArgument, match="as many"):
        offsets.position_offsets(still, still[:2], np.ones(4, bool), 0.1, Controller())
    with pytest.raises(InvalidArgument, match="not finite"):
        offsets.position_offsets(still, still * np.nan, np.ones(4, bool), 0.1, Controller())
    with pytest.raises(InvalidArgument, match="shape"):
        offsets.rotation_offsets(still, None, np.ones(4, bool), 0.1, Controller())
    with pytest.raises(InvalidArgument, match="settle time"):
        offsets.position_offsets(still, None, np.ones(4, bool), 0.1, Controller(0.0))
