"""Laws of a gaze that holds while the body moves: the body's own motion is canceled, that of the target is followed."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike

from comparison import largest_angle
from lookat_pd import gaze, rotation
from lookat_pd.gaze import own_motion
from lookat_pd.gaze.realtime import RealtimeLookAt
from lookat_pd.gaze.solver import Chain, Event, Solution, Tuning, solve
from lookat_pd.rotation import Array

RATE, EYES, HEAD = 120, 1.6, 0.6
SETTLE = Tuning().settle_time
RATES = (24, 30, 60)


def chain(bones: int = 5, stabilize: float = 1.0, **changes) -> Chain:
    values = {
        "shares": np.array([0.45, 0.2, *[0.35 / max(bones - 2, 1)] * bones][:bones]),
        "settle_factors": np.linspace(1.0, 2.2, bones),
        "yaw_limits": np.radians([75.0, 40.0, *[25.0] * bones][:bones]),
        "pitch_up_limits": np.radians([60.0, 30.0, *[15.0] * bones][:bones]),
        "pitch_down_limits": np.radians([60.0, 30.0, *[15.0] * bones][:bones]),
        "compensates_lag": np.arange(bones) < 2,
        "forward": np.tile([0.0, -1.0, 0.0], (bones, 1)),
        "up": np.tile([0.0, 0.0, 1.0], (bones, 1)),
        "near": 0.1,
    }
    return Chain(**(values | changes), stabilize=stabilize)


def dancer(t: Array, bones: int = 5, seed: int = 0, size: float = 0.25) -> tuple[Array, Array]:
    """A spine that sways in all axes, up to 0.9 Hz: orientations and positions, head first."""
    rng = np.random.default_rng(seed)
    turn, place = rotation.identity(len(t)), np.tile([0.0, 0.0, 1.0], (len(t), 1))
    place = place + 0.05 * np.sin(5.0 * t)[:, None] * rng.normal(size=3)
    rotations, positions = np.empty((len(t), bones, 4)), np.empty((len(t), bones, 3))
    for bone in reversed(range(bones)):
        wave = sum(rng.normal(size=3) * np.sin(2.0 * np.pi * f * t[:, None] + rng.uniform(0, 6, 3)) for f in (0.4, 0.9))
        turn = rotation.multiply(turn, rotation.exp(size / bones * wave))
        rotations[:, bone], positions[:, bone] = turn, place
        place = place + rotation.rotate(turn, np.array([0.0, 0.0, HEAD / max(bones - 1, 1)]))
    return rotations, positions


def at(yaw: ArrayLike, pitch: ArrayLike = 0.0, distance: float = 3.0) -> Array:
    """Points at yaw to the left and pitch up [rad] of a head that stands at EYES and faces -Y."""
    yaw, pitch = np.broadcast_arrays(np.asarray(yaw, float), np.asarray(pitch, float))
    way = np.stack((np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)), axis=-1)
    return distance * way + (0.0, 0.0, EYES)


def times(seconds: float, rate: float = RATE) -> Array:
    return np.arange(round(seconds * rate) + 1) / rate


def still(t: Array, yaw: float = 0.5, pitch: float = 0.1) -> Array:
    return np.tile(at(yaw, pitch), (1, len(t), 1))


def aim(solution: Solution) -> Array:
    return rotation.rotate(solution.wanted[:, 0], np.array([0.0, -1.0, 0.0]))


def kinks(solution: Solution, rate: float) -> Array:
    """How much the angular velocity of each bone changes [rad/s] from one step to the next."""
    q = solution.offsets
    v = rotation.log(rotation.multiply(rotation.inverse(q[:-1]), q[1:])) * rate
    return np.linalg.norm(np.diff(v, axis=0), axis=-1).max(axis=-1)


# A target that stands still


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 7), st.sampled_from(["geodesic", "component"]), st.floats(-0.5, 0.5))
def test_a_still_target_is_looked_at_exactly_whatever_the_body_does(seed, bones, method, yaw):
    t = times(8.0)
    size = 0.25 if bones > 2 else 0.1
    targets = still(t, yaw if bones > 2 else 0.3 * yaw)
    tuning = Tuning(method=method, damping_ratio=0.7 + seed / 1000)
    solution = solve(chain(bones), tuning, *dancer(t, bones, seed, size), targets, 1 / RATE, [Event(0.4, 0)])
    assert solution.error[-240:].max() < 1e-6


def test_a_body_that_spins_takes_the_gaze_along_no_more_than_one_that_sways():
    """Clips have bodies that turn at 620° per second."""
    t, most = times(3.0), np.radians(620.0)
    turn = 0.5 * np.sin(most / 0.5 * t)
    bodies = rotation.about([0.0, 0.0, 1.0], turn)[:, None], np.tile([0.0, 0.0, EYES], (len(t), 1, 1))
    solution = solve(chain(1), Tuning(), *bodies, still(t, 0.2), 1 / RATE, [Event(-1.0, 0)])
    assert solution.error.max() < 1e-6


def test_the_tilt_of_the_head_and_a_level_head_do_not_disturb_it():
    t = times(8.0)
    for level, tilt in ((0.0, 0.2), (1.0, 0.0), (0.5, 0.2)):
        samples = gaze.prepare(Tuning(), *dancer(t), still(t), 1 / RATE).standing((0.0, 0.0, 1.0))
        samples = samples.tilted(np.where(t < 1.0, 0.0, tilt))
        solution = gaze.solve_samples(chain(level=level), Tuning(), samples, [Event(0.4, 0)])
        assert solution.error[-240:].max() < 1e-6


def test_the_share_blends_from_the_published_form():
    t = times(8.0)
    found = {}
    for share in (0.0, 0.25, 0.5, 0.8, 1.0):
        found[share] = solve(chain(stabilize=share), Tuning(), *dancer(t), still(t), 1 / RATE, [Event(0.0, 0)])
    errors = {share: np.sqrt(np.mean(solution.error[240:] ** 2)) for share, solution in found.items()}
    assert errors[0.0] > np.radians(3.0)
    for share, error in errors.items():
        assert_allclose(error, (1.0 - share) * errors[0.0], rtol=0.1, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.0])
def test_an_event_before_the_first_frame_starts_on_the_target(share):
    t = times(1.0)
    solution = solve(chain(stabilize=share), Tuning(), *dancer(t), still(t), 1 / RATE)
    assert solution.error[0] < 1e-6


def test_without_it_the_solve_is_the_published_one():
    """Whatever is known of the world."""
    t = times(3.0, 24)
    worlds = np.tile(np.eye(4), (len(t), 1, 1))
    worlds[:, 0, 3] = t
    bodies = dancer(t)
    plain = solve(chain(stabilize=0.0), Tuning(), *bodies, still(t), 1 / 24)
    targets = still(t)
    samples = gaze.prepare(Tuning(), *bodies, targets, 1 / 24)
    assert np.array_equal(gaze.solve_samples(chain(stabilize=0.0), Tuning(), samples).offsets, plain.offsets)


def test_on_a_body_at_rest_it_changes_nothing():
    """Wherever the target goes: what is filtered is all there is."""
    t = times(4.0)
    bodies = tuple(np.repeat(a[:1], len(t), axis=0) for a in dancer(t))
    for path in (at(0.8 * np.sin(2.0 * t), 0.3 * np.sin(3.0 * t)), at(2.0 * t), at(0.2, 1.7 * np.sin(t))):
        events = [Event(0.3, 0), Event(2.5, None)]
        published = solve(chain(1, 0.0), Tuning(), bodies[0][:, :1], bodies[1][:, :1], path[None], 1 / RATE, events)
        holding = solve(chain(1), Tuning(), bodies[0][:, :1], bodies[1][:, :1], path[None], 1 / RATE, events)
        assert largest_angle(published.offsets, holding.offsets) < 1e-3


# A target that moves


@pytest.mark.parametrize("damping", [0.5**0.5, 1.0, 1.5])
@pytest.mark.parametrize("feed_forward", [0.0, 0.5])
def test_a_moving_target_is_followed_as_the_settle_time_says(damping, feed_forward):
    speed, t = np.radians(12.0), times(8.0)
    tuning = Tuning(damping_ratio=damping, feed_forward=feed_forward)
    lag = (1.0 - feed_forward) * damping * SETTLE / np.pi * speed
    path = at(speed * (t - 4.0))[None]
    for size in (0.0, 0.2):
        bodies = dancer(t, size=size)
        bodies[1][:, :, 0:2] = 0.0
        solution = solve(chain(), tuning, *bodies, path, 1 / RATE, [Event(-1.0, 0)])
        behind = solution.error[360:840]
        assert_allclose(behind.mean(), lag, rtol=0.03)
        assert_allclose(behind, lag, atol=np.radians(0.02 if size == 0.0 else 0.35))


def moving_room(t: Array) -> Array:
    """A space that runs and turns in the world."""
    worlds = np.zeros((len(t), 4, 4))
    worlds[:, :3, :3] = rotation.to_matrix(rotation.about([0.0, 0.0, 1.0], 0.5 * np.sin(1.2 * t)))
    worlds[:, 0, 3], worlds[:, 1, 3], worlds[:, 3, 3] = 0.8 * t, -0.5 * np.sin(t), 1.0
    return worlds


def into(worlds: Array, points: Array) -> Array:
    back = np.linalg.inv(worlds)
    return (back[:, :3, :3] @ points[..., None])[..., 0] + back[:, :3, 3]


@pytest.mark.parametrize("rate", [24, 120])
def test_who_is_carried_through_the_world_sees_a_still_target_and_one_that_is_carried_along(rate):
    t = times(6.0, rate)
    worlds, bodies = moving_room(t), dancer(t)
    in_world = into(worlds, np.tile([3.0, -6.0, 1.5], (len(t), 1)))
    for targets in (in_world[None], still(t)):
        samples = gaze.prepare(Tuning(), *bodies, targets, 1 / rate, worlds=worlds)
        solution = gaze.solve_samples(chain(), Tuning(), samples, [Event(0.0, 0)])
        looks = solution.reachable & (t > 3.0)
        assert looks.sum() > 1.5 * rate
        assert solution.error[looks].max() < 1e-4


def runner(t: Array) -> tuple[tuple[Array, Array], Array]:
    """A dancer whose bones run along X, and how far."""
    rotations, positions = dancer(t, size=0.1)
    way = 3.0 * t
    positions = positions + way[:, None, None] * np.array([1.0, 0.0, 0.0])
    return (rotations, positions), way


def test_a_runner_looks_at_what_stands_beside_the_way_and_at_what_runs_along():
    t = times(6.0)
    bodies, way = runner(t)
    beside = np.tile([9.0, -8.0, 1.5], (len(t), 1))
    along = np.array([0.0, -3.0, 1.5]) + way[:, None] * np.array([1.0, 0.0, 0.0])
    for path, most in ((beside, 1e-5), (along, np.radians(0.7))):
        solution = solve(chain(), Tuning(), *bodies, path[None], 1 / RATE, [Event(0.0, 0)])
        looks = solution.reachable & (t > 2.5) & (t < 5.0)
        assert looks.sum() > RATE
        assert solution.error[looks].max() < most


def test_what_a_target_does_changes_what_is_known_of_it_long_before_by_no_bit():
    t = times(20.0)
    (turns, places), way = runner(t)
    path = np.array([0.0, -3.0, 1.5]) + way[:, None] * np.array([1.0, 0.0, 0.0])
    other = path + np.where(t > 15.0, np.sin(t - 15.0), 0.0)[:, None]
    one, another = (own_motion.own_motion(p[None], (turns[:, -1], places[:, -1]), 1 / RATE) for p in (path, other))
    assert one is not None and another is not None
    assert np.array_equal(one[:, t[1:] < 9.0], another[:, t[1:] < 9.0]) and not np.array_equal(one, another)


def test_who_runs_along_for_a_while_is_let_go_smoothly():
    """A target that stops while the runner goes on: no kink where it changes from carried to still."""
    t = times(6.0, 480)
    bodies, way = runner(t)
    along = np.array([0.0, -6.0, 1.5]) + np.minimum(way, 9.0)[:, None] * np.array([1.0, 0.0, 0.0])
    solution = solve(chain(), Tuning(), *bodies, along[None], 1 / 480, [Event(0.0, 0)])
    assert kinks(solution, 480)[480:].max() < 0.2


# Smooth, and the same however time is cut

EVENTS = [Event(0.3, 0), Event(1.1, 1), Event(1.7, None), Event(2.6, 0), Event(2.8, 1)]


def switching(rate: float, events=EVENTS, tuning: Tuning | None = None, seconds: float = 4.0, **changes) -> Solution:
    t = times(seconds, rate)
    targets = np.stack((at(0.6 * np.sin(2.0 * t), 0.1), np.broadcast_to(at(-0.5, 0.2), (len(t), 3))))
    return solve(chain(**changes), tuning or Tuning(), *dancer(t), targets, 1 / rate, events)


@pytest.mark.thorough
@pytest.mark.parametrize("tuning", [Tuning(), Tuning(method="component"), Tuning(max_speed=1.0)])
def test_on_switch_and_off_keep_the_velocity(tuning):
    """Halving the step halves every change of the velocity, as it does for the published form."""
    coarse, fine = (kinks(switching(rate, tuning=tuning), rate).max() for rate in (480, 1920))
    assert fine < 0.4 * coarse


def test_it_ends_at_exactly_nothing():
    solution = switching(24, [Event(0.3, 0), Event(1.0, None)], seconds=5.0)
    assert np.all(solution.offsets[:7] == rotation.IDENTITY)
    assert np.all(solution.offsets[-24:] == rotation.IDENTITY)


def test_all_frame_rates_give_the_same_motion():
    films = [switching(rate).offsets[:: rate // 6] for rate in RATES]
    for film in films[1:]:
        # The animation itself is a curve through other frames.
        assert largest_angle(film, films[0]) < np.radians(0.6)
    finer = [switching(rate).offsets[:: rate // 60] for rate in (60, 120)]
    assert largest_angle(*finer) < np.radians(0.02)


def test_a_part_of_the_timeline_is_the_whole_from_there():
    """After an off that is over, what came before makes no difference."""
    events = [Event(0.3, 0), Event(1.0, None), Event(6.0, 1)]
    whole = switching(60, events, seconds=9.0)
    alone = switching(60, events[-1:], seconds=9.0)
    assert largest_angle(whole.offsets[360:], alone.offsets[360:]) < 1e-12


@pytest.mark.thorough
def test_a_speed_limit_holds_for_what_is_canceled_too():
    for method in ("geodesic", "component"):
        solution = switching(960, tuning=Tuning(max_speed=0.8, method=method))
        q = solution.offsets
        speed = rotation.angle(rotation.multiply(rotation.inverse(q[:-1]), q[1:])) * 960
        assert speed.max() < 0.8 * 1.02


def test_limits_hold():
    for seed in range(5):
        t = times(6.0, 60)
        limits = chain()
        path = at(np.linspace(-4.0, 4.0, len(t)), 0.5 * np.sin(t))
        solution = solve(limits, Tuning(), *dancer(t, seed=seed, size=0.6), path[None], 1 / 60, [Event(0.1, 0)])
        turned = rotation.rotate(solution.offsets, limits.forward)
        assert np.all(np.abs(np.arctan2(turned[..., 0], -turned[..., 1])) < limits.yaw_limits + 1e-6)
        assert np.all(np.abs(np.arcsin(np.clip(turned[..., 2], -1, 1))) < limits.pitch_up_limits + 1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("tuning", [Tuning(), Tuning(method="component"), Tuning(max_speed=1.5)])
def test_steps_in_real_time_are_the_solve(tuning):
    t = times(1.5)
    bodies, path = dancer(t), at(0.5 * np.sin(1.5 * t), 0.1)
    solved = solve(chain(), tuning, *bodies, path[None], 1 / RATE, [Event(0.0, 0)])
    stepper, steps = RealtimeLookAt(chain(), tuning), []
    for k in range(len(t)):
        steps.append(stepper.step(bodies[0][k], bodies[1][k], path[k], 1 / RATE if k else 0.0))
    assert largest_angle(np.array(steps), solved.offsets) < np.radians(0.5)
    assert stepper.step(bodies[0][-1], bodies[1][-1], None, 0.0).shape == (5, 4)


@pytest.mark.thorough
def test_a_changed_setting_does_not_make_it_leap_in_real_time():
    t = times(3.0)
    bodies, path = dancer(t), still(t)[0]
    stepper, steps = RealtimeLookAt(chain(), Tuning()), []
    for k in range(len(t)):
        if k == 200:
            stepper.retune(dataclasses.replace(stepper.chain, stabilize=0.3), Tuning())
        steps.append(stepper.step(bodies[0][k], bodies[1][k], path[k], 1 / RATE if k else 0.0))
    q = np.array(steps)
    turns = rotation.angle(rotation.multiply(rotation.inverse(q[:-1]), q[1:])).max(axis=-1)
    assert turns[199] < 1.5 * turns[190:198].max() + 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_a_head_that_reaches_its_limits_while_the_body_moves_does_so_smoothly(seed) -> None:
    """The speed of neck and head does not jump where they come to their limits, or leave them."""
    jumps = []
    for rate in (120, 240, 480):
        t = times(4.0, rate)
        targets = np.stack((np.broadcast_to(at(1.7, 0.3), (len(t), 3)), np.broadcast_to(at(-1.5), (len(t), 3))))
        events = (Event(-1.0, None), Event(0.4, 0), Event(2.0, 1))
        found = solve(chain(stabilize=0.9), Tuning(), *dancer(t, seed=seed), targets, 1.0 / rate, events)
        turns = rotation.log(found.offsets[:, :2])
        jumps.append(rate * np.abs(np.diff(turns, 2, axis=0)).max())
    assert jumps[1] < 0.65 * jumps[0] and jumps[2] < 0.65 * jumps[1], "a jump of the speed would stay"
