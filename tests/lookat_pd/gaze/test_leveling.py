"""A head that is level although the body is not, and stays continuous where level means nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comparison import largest_degrees
from lookat_pd import rotation
from lookat_pd.gaze.leveling import roll_to_level
from lookat_pd.gaze.realtime import RealtimeLookAt
from lookat_pd.gaze.solver import Event, Solution, Tuning, solve

from .test_solver import ON, Path, body, hold, make_chain

UP = np.array([0.0, 0.0, 1.0])
LEVEL = make_chain(level=1.0)


def leaning(roll: float, pitch: float, t: np.ndarray, sway: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The body of the other tests, turned as a whole about the hips: rolled to its side, and leaning forward [deg]."""
    rotations, positions = body(t, sway=sway)
    lean = rotation.exp(np.radians([pitch, 0.0, 0.0]))
    turn = rotation.multiply(rotation.exp(np.radians([0.0, roll, 0.0])), lean)
    hips = positions[:, -1:]
    return rotation.multiply(turn, rotations), hips + rotation.rotate(turn, positions - hips)


def run(chain, path: Path, pose, seconds: float = 6.0, upright=UP, tuning: Tuning | None = None) -> Solution:
    t = np.arange(int(seconds * 24) + 1) / 24.0
    return solve(chain, tuning or Tuning(), *pose(t), path(t)[None], 1 / 24, ON, upright=upright)


def rolls(chain, found: Solution, upright=UP) -> np.ndarray:
    """The angle [deg] of the head's right axis from level."""
    right = rotation.rotate(found.wanted[:, 0], chain.right[0])
    return np.degrees(np.arcsin(np.clip(right @ upright, -1.0, 1.0)))


@settings(max_examples=40)
@given(
    st.floats(-90, 90),
    st.floats(-80, 80),
    st.floats(-50, 50),
    st.floats(-25, 25),
    st.sampled_from(("geodesic", "component")),
)
def test_the_settled_head_is_level(roll, pitch, yaw, up, method) -> None:
    found = run(LEVEL, hold(yaw, up), lambda t: leaning(roll, pitch, t), tuning=Tuning(method=method))
    aim = rotation.rotate(found.wanted[-1, 0], LEVEL.forward[0])
    if abs(aim @ UP) < np.cos(np.radians(16.0)):
        assert abs(rolls(LEVEL, found)[-1]) < 0.5
    if found.reachable[-1]:
        assert np.degrees(found.error[-1]) < 0.05


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tuning",
    [
        Tuning(),
        Tuning(damping_ratio=0.5),
        Tuning(method="component"),
        Tuning(max_speed=6.0),
        Tuning(feed_forward=1.0),
        Tuning(integrator="stable"),
    ],
)
def test_a_body_in_motion_is_level_once_the_head_has_arrived(tuning) -> None:
    """The head does not lag behind a body that rolls, whatever the settings."""
    found, plain = (
        run(replace(LEVEL, level=n), hold(35, 10), lambda t: leaning(40, 30, t, sway=0.15), 8.0, tuning=tuning)
        for n in (1.0, 0.0)
    )
    assert np.abs(rolls(LEVEL, plain)[96:]).max() > 15.0
    assert np.abs(rolls(LEVEL, found)[96:]).max() < 0.5


def test_level_is_in_proportion_and_nothing_at_zero() -> None:
    pose = lambda t: leaning(40, 20, t)  # noqa: E731
    plain, none = (run(replace(LEVEL, level=0.0), hold(40), pose, upright=up) for up in (None, UP))
    assert np.array_equal(plain.offsets, none.offsets)
    found = [abs(rolls(LEVEL, run(replace(LEVEL, level=n), hold(40), pose))[-1]) for n in (0.0, 0.5, 1.0)]
    assert found[0] > 20.0
    assert_allclose(found[1], 0.5 * found[0], atol=0.15 * found[0])
    assert found[2] < 0.1


def test_another_up() -> None:
    side = rotation.normalize(np.array([0.5, 0.2, 0.8]))
    found = run(LEVEL, hold(20), lambda t: leaning(0, 0, t), upright=side)
    assert abs(rolls(LEVEL, found, side)[-1]) < 0.1


def test_an_upright_head_is_left_alone() -> None:
    found, plain = (run(replace(LEVEL, level=n), hold(40), lambda t: leaning(0, 0, t)) for n in (1.0, 0.0))
    assert largest_degrees(found.offsets, plain.offsets) < 0.01


@pytest.mark.parametrize("aside", [0.0, 1e-4, 0.02, 0.3])
@pytest.mark.parametrize("rate", [24, 60])
def test_a_gaze_over_the_top_is_continuous(aside: float, rate: int) -> None:
    """The target passes overhead of somebody who lies on his back: the head never snaps."""
    t = np.arange(6 * rate + 1) / rate
    pose = leaning(0, -80, t)
    head = pose[1][:, 0]
    angle = np.radians(np.clip(60.0 * (t - 1.0), 0.0, 180.0))
    way = np.stack((np.full_like(t, aside), -np.cos(angle), np.sin(angle)), axis=-1)
    found = solve(LEVEL, Tuning(), *pose, (head + 3.0 * way)[None], 1 / rate, upright=UP)
    steps = np.degrees(rotation.distance(found.wanted[1:, 0], found.wanted[:-1, 0])) * rate
    change = np.abs(np.diff(steps)) * rate
    assert steps.max() < 600.0
    assert change.max() < 6000.0, "degrees per second squared: a jump of speed would be the rate times that"


@given(st.floats(-180, 180))
def test_the_roll_is_continuous_in_all_directions(side: float) -> None:
    """All around the poles and upside down, the roll changes little with the head."""
    angle = np.radians(np.linspace(0.0, 360.0, 3601))
    head = rotation.multiply(
        rotation.exp(np.radians(side) * np.array([0.0, 0.0, 1.0])), rotation.exp(angle[:, None] * [0.0, 0.6, 0.8])
    )
    roll = roll_to_level(head, np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.broadcast_to(UP, (3601, 3)))
    assert np.abs(np.diff(roll)).max() < np.radians(5.0)


@pytest.mark.thorough
def test_in_real_time_it_is_the_same() -> None:
    t = np.arange(121) / 24.0
    rotations, positions = leaning(40, 30, t)
    target = hold(30)(t)
    stepper = RealtimeLookAt(LEVEL, Tuning())
    for k in range(len(t)):
        offsets = stepper.step(rotations[k], positions[k], target[k], 1 / 24, upright=UP)
    found = solve(LEVEL, Tuning(), rotations, positions, target[None], 1 / 24, upright=UP)
    assert largest_degrees(offsets, found.offsets[-1]) < 0.05


CAPPED = make_chain(most_roll=np.radians(15.0))


def added(chain, found: Solution, pose: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The roll [deg] about the aim that the look adds to that of the animation, and where that says something."""
    both = []
    for heads in (found.wanted[:, 0], pose[0][:, 0]):
        ahead, right = (rotation.rotate(heads, axis) for axis in (chain.forward[0], chain.right[0]))
        level = np.cross(ahead, UP)
        size = np.linalg.norm(level, axis=-1, keepdims=True)
        level = level / np.maximum(size, 1e-9)
        roll = np.arctan2(np.sum(right * np.cross(level, ahead), axis=-1), np.sum(right * level, axis=-1))
        both.append((roll, (size[:, 0] > np.sin(np.radians(16.0))) & (np.abs(roll) < np.radians(95.0))))
    (turned, clear), (animated, known) = both
    apart = np.degrees(np.angle(np.exp(1j * (turned - animated))))
    return apart, clear & known & (np.abs(apart) < 95.0)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.floats(-70, 70), st.floats(-80, 80), st.floats(-60, 60), st.floats(-25, 25), st.floats(0.0, 0.12))
def test_a_look_aside_on_a_leaning_body_rolls_the_head_no_further_than_its_limit(roll, pitch, yaw, up, height) -> None:
    chain = replace(CAPPED, eye_height=height, near=2.0 * height)
    t = np.arange(145) / 24.0
    found = run(chain, hold(yaw, up), lambda t: leaning(roll, pitch, t))
    apart, clear = added(chain, found, leaning(roll, pitch, t))
    if clear[-1]:
        assert abs(apart[-1]) < 15.1
    if found.reachable[-1]:
        assert np.degrees(found.error[-1]) < 0.05


@pytest.mark.thorough
@given(st.floats(-60, 60), st.floats(-25, 25))
def test_on_an_upright_body_the_limit_changes_nothing(yaw, up) -> None:
    chains = (make_chain(most_roll=most, stabilize=0.9) for most in (np.radians(15.0), np.pi))
    found, free = (run(chain, hold(yaw, up), lambda t: leaning(0, 0, t), 1.0) for chain in chains)
    assert np.array_equal(found.offsets, free.offsets)


@pytest.mark.parametrize("stabilize", [0.0, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_the_limited_roll_sets_in_and_ends_smoothly_at_any_rate(seed, stabilize) -> None:
    """Position and velocity are continuous while the look goes on, off and elsewhere on a body that sways."""
    events = [Event(-1.0, None), Event(0.5, 0), Event(2.0, 1), Event(3.0, None)]
    steps = []
    for rate in (120, 240, 480):
        t = np.arange(4 * rate + 1) / rate
        pose = leaning(30.0 * (-1) ** seed, 55.0, t, sway=0.1 + 0.05 * seed)
        targets = np.stack((hold(60, 5)(t), hold(-50, 0)(t)))
        chain = replace(CAPPED, stabilize=stabilize)
        found = solve(chain, Tuning(), *pose, targets, 1 / rate, events, upright=UP)
        turns = rotation.log(found.offsets[:, 0])
        steps.append(rate * np.abs(np.diff(turns, 2, axis=0)).max())
    # A jump would grow with the rate, and one of the velocity would stay.
    assert steps[1] < 0.6 * steps[0] and steps[2] < 0.6 * steps[1]


def test_what_lies_and_what_hangs_keeps_its_roll() -> None:
    """A head that lies on its side is not rolled upright, and none that hangs."""
    for roll in (85.0, 178.0):
        t = np.arange(145) / 24.0
        found = run(CAPPED, hold(0, 0), lambda t, roll=roll: leaning(roll, 0.0, t))
        right = rotation.rotate(found.wanted[-1, 0], CAPPED.right[0])
        own = rotation.rotate(leaning(roll, 0.0, t)[0][-1, 0], CAPPED.right[0])
        assert np.degrees(rotation.angle_between(right, own)) < 40.0
