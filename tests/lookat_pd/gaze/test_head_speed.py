"""Laws of the speed of the head in large turns: below the limit nothing changes, above it the head takes its time."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from comparison import largest_angle
from lookat_pd import rotation
from lookat_pd.gaze.realtime import RealtimeLookAt
from lookat_pd.gaze.solver import Event, Solution, Tuning, prepare, run_timeline, solve, solve_shifted
from lookat_pd.rotation import Array

from .test_stabilizing import at, chain, times

LIMIT = np.radians(550.0)
SLACK = 1.06
"""Each bone is driven by its own settle time, the limit is that of one for all."""


def human(limit: float = LIMIT, bones: int = 5, **changes):
    yaw = np.radians([52.0, 25.0, *[22.0] * bones][:bones])
    return dataclasses.replace(chain(bones, 0.0, yaw_limits=yaw, **changes), head_speed=limit)


def standing(t: Array, bones: int = 5) -> tuple[Array, Array]:
    heights = np.linspace(1.6, 1.0, bones)
    return rotation.identity(len(t), bones), np.tile([[0.0, 0.0, z] for z in heights], (len(t), 1, 1))


DEFAULT = Tuning()
SEEN = (Event(-1.0, 0),)


def looking(links, t: Array, targets: Array, events=SEEN, tuning: Tuning = DEFAULT) -> Solution:
    return solve(links, tuning, *standing(t, len(links)), targets, t[1] - t[0], events)


def switching(t: Array, one: float, other: float, pitch: float = 0.0) -> Array:
    return np.stack([np.tile(at(angle, pitch), (len(t), 1)) for angle in (one, other)])


def speeds(solution: Solution, t: Array) -> Array:
    return rotation.distance(solution.wanted[:-1, 0], solution.wanted[1:, 0]) / np.diff(t)


def neck(solution: Solution) -> Array:
    """Angles between the head and what carries the neck."""
    return rotation.distance(solution.wanted[:, 0], solution.wanted[:, 2])


SWITCH = (Event(-1.0, 0), Event(0.5, 1))


@pytest.mark.parametrize("turn", [0.1, 0.8, 1.2])
def test_turns_below_the_limit_are_as_without_one(turn: float) -> None:
    t = times(2.0)
    targets = switching(t, 0.5 * turn, -0.5 * turn)
    assert_array_equal(looking(human(), t, targets, SWITCH).offsets, looking(human(0.0), t, targets, SWITCH).offsets)


@settings(max_examples=30)
@given(
    st.floats(-2.4, 2.4),
    st.floats(-2.4, 2.4),
    st.floats(0.15, 1.0),
    st.floats(0.6, 1.5),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([1, 2, 5]),
)
def test_no_switch_is_faster_than_the_limit(
    one: float, other: float, settle: float, damping: float, share: float, bones: int
) -> None:
    t = times(3.0)
    tuning = Tuning(settle_time=settle, damping_ratio=damping)
    found = looking(human(share * LIMIT, bones), t, switching(t, one, other), SWITCH, tuning)
    # Overshoots of neck and torso come at other times than that of the head.
    assert speeds(found, t).max() < (SLACK if damping >= 1.0 else 1.15) * share * LIMIT


@pytest.mark.parametrize("settle", [0.2, 0.6])
@pytest.mark.parametrize("turn", [1.0, 2.0, 2.4])
def test_a_release_and_a_return_are_no_faster(settle: float, turn: float) -> None:
    t = times(4.0)
    events = (Event(-1.0, 0), Event(0.5, None), Event(2.503, 0), Event(2.7, None))
    found = looking(human(), t, switching(t, turn, 0.0)[:1], events, Tuning(settle_time=settle))
    assert speeds(found, t).max() < SLACK * LIMIT
    assert_array_equal(found.offsets[-1], rotation.identity(5))


@pytest.mark.parametrize("rate", [24, 60, 240])
@pytest.mark.parametrize("turn", [0.6, 2.2])
def test_the_motion_is_smooth_and_that_of_every_frame_rate(rate: int, turn: float) -> None:
    t, fine = times(3.0, rate), times(3.0, 480)
    found = looking(human(), t, switching(t, turn, -turn), SWITCH)
    exact = looking(human(), fine, switching(fine, turn, -turn), SWITCH)
    assert largest_angle(found.wanted[:, 0], exact.wanted[:: 480 // rate, 0]) < np.radians(0.2)
    # Velocity has no jump: what it changes by within a step falls with the step.
    turns = rotation.log(rotation.multiply(rotation.inverse(exact.wanted[:-1, 0]), exact.wanted[1:, 0])) * 480
    assert np.linalg.norm(np.diff(turns, axis=0), axis=-1).max() < 0.35


@pytest.mark.thorough
def test_nothing_depends_on_being_just_above_the_limit() -> None:
    t, step = times(2.0), 1e-4
    turns = np.arange(1.5, 2.7, 0.03)
    for turn in turns:
        one, two = (looking(human(), t, switching(t, 0.5 * x, -0.5 * x), SWITCH) for x in (turn, turn + step))
        assert largest_angle(one.wanted[:, 0], two.wanted[:, 0]) < 20.0 * step


@pytest.mark.thorough
@pytest.mark.parametrize("around", [90.0, 180.0, 270.0, 360.0, -180.0])
@pytest.mark.parametrize("settle", [0.3, 0.6])
def test_a_target_that_circles_whips_no_head(around: float, settle: float) -> None:
    t = times(8.0)
    targets = at(np.radians(around) * np.maximum(t - 1.0, 0.0), distance=1.0)[None]
    found = looking(human(), t, targets, tuning=Tuning(settle_time=settle))
    assert speeds(found, t).max() < np.radians(600.0)
    assert neck(found).max() < np.radians(80.0)
    free = looking(human(0.0), t, targets, tuning=Tuning(settle_time=settle))
    assert speeds(free, t).max() > np.radians(600.0), "the law says something"


def test_a_target_that_passes_fast_is_followed_at_the_limit() -> None:
    t = times(3.0)
    yaw = 2.2 * np.tanh((t - 1.0) / 0.05)
    found = looking(human(), t, at(yaw)[None], tuning=Tuning(settle_time=0.15))
    assert speeds(found, t).max() < SLACK * LIMIT
    assert found.error[-1] < np.radians(1.0)


def test_the_first_frame_is_settled_and_the_end_is_on_the_target() -> None:
    t = times(4.0)
    found = looking(human(), t, switching(t, 2.2, -2.2), SWITCH)
    assert found.settled[0] and found.settled[-1] and not found.settled[round(0.8 * 120)]
    assert found.error[0] < 1e-3 and found.error[-1] < 1e-3


def test_a_displaced_head_is_solved_again_at_the_same_speed() -> None:
    t = times(3.0)
    targets, shift = switching(t, 2.2, -2.2), np.tile([0.0, 0.03, 0.0], (len(t), 1))
    samples = prepare(DEFAULT, *standing(t), targets, t[1])
    timeline = run_timeline(human(), DEFAULT, samples, SWITCH)
    again = solve_shifted(timeline, samples, shift)
    assert speeds(again, t).max() < SLACK * LIMIT
    assert again.error[-1] < 1e-3


@pytest.mark.thorough
def test_in_real_time_it_is_the_same() -> None:
    t = times(3.0, 60)
    targets = switching(t, 2.2, -2.2)
    events = (Event(-1.0, None), Event(0.0, 0), Event(1.5, None), Event(1.7, 1))
    whole = looking(human(), t, targets, events)
    live = RealtimeLookAt(human(), DEFAULT)
    poses = standing(t)
    shown = []
    for k, now in enumerate(t):
        goal = targets[0, k] if now < 1.5 - 1e-9 else None if now < 1.7 - 1e-9 else targets[1, k]
        offsets = live.step(poses[0][k], poses[1][k], goal, t[1] if k else 0.0)
        shown.append(offsets.copy())
    turns = np.array(shown)
    total = rotation.multiply(turns[:, 4], turns[:, 3])
    for bone in (2, 1, 0):
        total = rotation.multiply(total, turns[:, bone])
    speed = rotation.distance(total[:-1], total[1:]) * 60.0
    assert speed.max() < 1.15 * LIMIT
    assert_allclose(speed.max(), speeds(whole, t).max(), rtol=0.15)


def test_changed_settings_do_not_let_go_of_the_limit() -> None:
    t = times(2.0, 60)
    poses, targets = standing(t), switching(t, 2.2, -2.2)
    live, last, fastest = RealtimeLookAt(human(), DEFAULT), None, 0.0
    live.start(looking(human(), t, targets[:1]).offsets[0])
    for k in range(len(t)):
        offsets = live.step(poses[0][k], poses[1][k], targets[1, k], t[1] if k else 0.0)
        if k % 5 == 0:
            live.retune(human(near=0.1 + 1e-3 * k), DEFAULT)
        head = np.sum(rotation.log(offsets), axis=0)
        fastest = max(fastest, 0.0 if last is None else float(np.linalg.norm(head - last)) * 60.0)
        last = head
    assert fastest < 1.15 * LIMIT


def test_what_is_behind_is_out_of_reach_however_long_the_head_takes() -> None:
    """Where the body turns round within a frame: what the head has left to later counts, too."""
    t = times(2.0)
    turned = t > 0.5
    rotations, positions = standing(t)
    around = rotation.exp(np.outer(np.where(turned, -2.3, 0.0), (0.0, 0.0, 1.0)))
    rotations = rotation.multiply(around[:, None], rotations)
    found = solve(human(), DEFAULT, rotations, positions, at(np.full(len(t), 0.6))[None], t[1], SEEN)
    assert found.reachable[~turned].all() and not found.reachable[turned].any()
