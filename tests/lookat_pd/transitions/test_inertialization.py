"""The laws of inertialization, judged by the published steps one number at a time, closed forms and invariances."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.transitions import inertialization, spring

DT = 1.0 / 30.0
KINDS = ("rotation", "vector")
CALM = (inertialization.transition, inertialization.dead_blend)
"""Blends that begin without much acceleration, as a spring does not."""
BLENDS = (*CALM, inertialization.swing_transition, spring.transition)
numbers = st.floats(-1e3, 1e3).map(lambda number: round(number, 6))
times = st.floats(1e-3, 1e2)


def published(x0: float, v0: float, t1: float, t: float) -> float:
    """Bollo's five steps as they stand in the talk."""
    sign = -1.0 if x0 < 0.0 else 1.0
    x0, v0 = sign * x0, min(sign * v0, 0.0)
    if v0 < 0.0:
        t1 = min(t1, -5.0 * x0 / v0)
    if t >= t1:
        return 0.0
    a0 = max(0.0, (-8.0 * v0 * t1 - 20.0 * x0) / t1**2)
    a = -(a0 * t1**2 + 6.0 * v0 * t1 + 12.0 * x0) / (2.0 * t1**5)
    b = (3.0 * a0 * t1**2 + 16.0 * v0 * t1 + 30.0 * x0) / (2.0 * t1**4)
    c = -(3.0 * a0 * t1**2 + 12.0 * v0 * t1 + 20.0 * x0) / (2.0 * t1**3)
    return sign * (a * t**5 + b * t**4 + c * t**3 + 0.5 * a0 * t**2 + v0 * t + x0)


def sampled(x0: float, v0: float, duration: float, count: int = 400) -> Array:
    return inertialization.decay(x0, v0, duration, np.linspace(0.0, 1.2 * duration, count))


def difference(a: Array, b: Array, kind: str = "rotation") -> Array:
    if kind == "vector":
        return np.linalg.norm(a - b, axis=-1)
    return rotation.distance(a, b)


def moving(seed: int, frames: int, bones: int = 5, dt: float = DT, size: float = 1.0) -> Array:
    """Rotations (frames, bones, 4) that sway about several axes, smoothly and at any frame rate alike."""
    random = np.random.default_rng(seed)
    t = dt * np.arange(frames)[:, None, None]
    phase, pace = random.uniform(0.0, 6.0, (bones, 3)), random.uniform(1.0, 4.0, (bones, 3))
    rest = rotation.exp(random.uniform(-1.0, 1.0, (bones, 3)))
    return rotation.multiply(rotation.exp(0.3 * size * np.sin(pace * t + phase)), rest)


def travelling(seed: int, frames: int, bones: int = 5) -> Array:
    """Vectors (frames, bones, 3) that sway."""
    return moving(seed, frames, bones)[..., 1:] * 3.0


def clip(kind: str, seed: int, frames: int) -> Array:
    return moving(seed, frames) if kind == "rotation" else travelling(seed, frames)


def turning(axis: Array, speed: Array, start: Array, t: Array) -> Array:
    """Rotations (F, B, 4) with constant angular velocity about axes (B, 3)."""
    return rotation.multiply(rotation.exp(t[:, None, None] * speed[:, None] * axis), start)


# The scalar offset.


@given(x0=numbers, v0=numbers, duration=times, part=st.floats(0.0, 1.5))
def test_decay_equals_the_published_steps(x0, v0, duration, part):
    here = inertialization.decay(x0, v0, duration, part * duration)
    assert_allclose(here, published(x0, v0, duration, part * duration), atol=1e-12 * max(abs(x0), 1.0))


@given(x0=numbers, v0=numbers, duration=times)
def test_decay_starts_at_its_offset_shrinks_all_the_way_and_never_crosses_zero(x0, v0, duration):
    values = sampled(x0, v0, duration)
    assert values[0] == x0
    assert np.all(values * x0 >= 0.0)
    assert np.all(np.diff(np.abs(values)) <= 1e-12 * abs(x0))
    assert_array_equal(values[np.linspace(0.0, 1.2 * duration, 400) >= duration], 0.0)


@given(x0=st.floats(0.01, 100.0), v0=st.floats(-1e3, 0.0), duration=times, sign=st.sampled_from((-1.0, 1.0)))
def test_inward_velocity_goes_on(x0, v0, duration, sign):
    end = min(duration, 5.0 * x0 / max(-v0, 1e-300))
    h = 1e-6 * end
    slope = (inertialization.decay(sign * x0, sign * v0, duration, h) - sign * x0) / h
    assert_allclose(slope, sign * v0, atol=2e-5 * x0 / end)


@given(x0=st.floats(0.01, 100.0), v0=st.floats(0.0, 1e3), duration=times, sign=st.sampled_from((-1.0, 1.0)))
def test_outward_velocity_is_dropped(x0, v0, duration, sign):
    assert_array_equal(sampled(sign * x0, sign * v0, duration), sampled(sign * x0, 0.0, duration))


@given(x0=st.floats(0.01, 100.0), v0=numbers, duration=times)
def test_value_velocity_and_acceleration_are_zero_at_the_end(x0, v0, duration):
    end = min(duration, 5.0 * x0 / -v0) if v0 < 0.0 else duration
    left = np.array([1e-2, 1e-3])
    values = inertialization.decay(x0, v0, duration, end * (1.0 - left))
    # With nothing up to the second derivative, what is left falls with the third power of the time left.
    assert np.all(values <= 20.0 * x0 * left**3)


@pytest.mark.parametrize(("x0", "v0", "duration"), [(1.0, -6.0, 0.5), (1.0, -40.0, 0.5), (-2.0, 9.9, 3.0)])
def test_velocity_that_would_overshoot_shortens_the_blend(x0, v0, duration):
    end = min(duration, -5.0 * x0 / v0)
    assert inertialization.decay(x0, v0, duration, end) == 0.0
    assert inertialization.decay(x0, v0, duration, 0.9 * end) != 0.0


def test_without_velocity_it_is_the_minimum_jerk_curve():
    s = np.linspace(0.0, 1.0, 50)
    wanted = 3.0 * (1.0 - 10.0 * s**3 + 15.0 * s**4 - 6.0 * s**5)
    assert_allclose(inertialization.decay(3.0, 0.0, 0.4, 0.4 * s), wanted, atol=1e-14)


def test_a_start_at_rest_does_not_jump_in_acceleration():
    h = 1e-4
    a, b, c = inertialization.decay(1.0, 0.0, 0.5, np.array([0.0, h, 2.0 * h]))
    assert abs(a - 2.0 * b + c) / h**2 < 0.2 * 10.0 / np.sqrt(3.0) / 0.5**2


def test_extremes_stay_finite_and_within_the_offset(subtests):
    t = np.array([-1.0, 0.0, 1e-320, 1e-9, 0.1, 1.0, 1e300])
    offsets, speeds = (-1e9, -1.0, -1e-300, 0.0, 5e-324, 1.0, 1e9), (-1e300, -1e9, -1.0, 0.0, 1.0, 1e300)
    for x0, v0, duration in product(offsets, speeds, (0.0, 1e-300, 1e-9, 0.3, 1e9, 1e300)):
        with subtests.test(x0=x0, v0=v0, duration=duration):
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                values = inertialization.decay(x0, v0, duration, t)
            assert np.all(np.isfinite(values))
            assert np.all(np.abs(values) <= abs(x0))
            assert_array_equal(values[:2], x0)
            assert values[-1] == 0.0


@pytest.mark.parametrize("v0", [-5.0, 0.0, 5.0])
def test_no_offset_stays_none_and_no_time_ends_at_once(v0):
    assert_array_equal(sampled(0.0, v0, 0.5), 0.0)
    assert_array_equal(inertialization.decay(2.0, v0, 0.0, [-1.0, 0.0, 1e-12, 1.0]), [2.0, 2.0, 0.0, 0.0])


def test_decay_broadcasts_over_any_shape():
    random = np.random.default_rng(1)
    x0, v0, duration = random.normal(size=(3, 1, 4)), random.normal(size=(2, 1)), random.uniform(0.0, 1.0, 4)
    t = np.linspace(0.0, 1.0, 7).reshape(7, 1, 1, 1)
    here = inertialization.decay(x0, v0, duration, t)
    assert here.shape == (7, 3, 2, 4)
    for index in np.ndindex(here.shape):
        f, a, b, c = index
        wanted = published(x0[a, 0, c], v0[b, 0], duration[c], t[f, 0, 0, 0])
        assert_allclose(here[index], wanted, atol=1e-12)
    assert inertialization.decay(np.empty((0, 3)), 0.0, 1.0, 0.5).shape == (0, 3)
    assert inertialization.decay(1.0, 0.0, 1.0, 0.5).shape == ()


@pytest.mark.parametrize("wrong", [(np.nan, 0, 1, 0), (0, np.inf, 1, 0), (0, 0, -1e-9, 0), (0, 0, np.nan, 0)])
def test_decay_refuses_what_is_no_number_and_negative_time(wrong):
    with pytest.raises(InvalidArgument):
        inertialization.decay(*wrong)


# Transitions of poses.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", BLENDS)
def test_after_the_blend_the_target_is_met_to_the_last_bit(blend, kind, subtests):
    previous, target = clip(kind, 1, 12)[-2:], clip(kind, 2, 40)
    frames = np.arange(1, 41)[:, None] * np.ones(5)
    durations = (0.0, 1e-9, 0.1, 0.3, 0.31, np.array([0.0, 0.1, 0.2, 0.3, 0.55]))
    for duration, fps in product(durations, (24.0, 30.0, 59.94)):
        with subtests.test(duration=duration, fps=fps):
            here = blend(previous, target, 1.0 / fps, duration, kind=kind)
            # A blend of a whole number of frames is over with the last of them, whatever rounding made of their times.
            over = frames >= np.round(fps * np.asarray(duration), 9)
            assert np.any(over)
            assert_array_equal(here[over], target[over])
            begun = difference(here, target, kind)[frames == 1.0]
            assert np.all(begun <= difference(previous[1], target[0], kind) + 0.3)


@pytest.mark.parametrize("fps", [23.976, 24.0, 25.0, 29.97, 30.0, 60.0])
@pytest.mark.parametrize("blend", BLENDS)
def test_after_the_blend_zero_is_zero(blend, fps):
    for frames in range(1, 30):
        here = blend(np.ones((2, 1, 3)), np.zeros((30, 1, 3)), 1.0 / fps, frames / fps, kind="vector")
        assert np.all(here[frames - 1 :] == 0.0) and np.all(here[: frames - 1] > 0.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", CALM)
def test_at_the_cut_nothing_pops(blend, kind):
    """The step into the first frame is what source and target move in a frame, and what the blend begins with."""
    for seed in range(20):
        source, target = clip(kind, seed, 12), clip(kind, seed + 100, 40)
        here = blend(source[-2:], target, DT, 0.5, kind=kind)
        own = difference(source[-1], source[-2], kind) + 2.0 * difference(target[1], target[0], kind)
        begins = 0.02 * difference(source[-1], target[0], kind)
        assert np.all(difference(here[0], source[-1], kind) <= own + begins)


@pytest.mark.parametrize("kind", KINDS)
def test_inward_velocity_is_continuous(kind):
    """A source that approaches the target along the difference plays on with its velocity, a moving target or not."""
    fine = 1e-4
    t = fine * np.arange(2)
    axis = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    speed, drift = np.array([-2.0, -0.5]), 0.7
    if kind == "rotation":
        previous = turning(axis, speed + drift, rotation.exp(axis * 0.8), t)
        target = turning(axis, np.array([drift, drift]), rotation.identity(2), fine * np.arange(2, 9))
    else:
        previous = (0.8 + t[:, None, None] * (speed + drift)[:, None]) * axis
        target = fine * np.arange(2, 9)[:, None, None] * drift * axis
    here = inertialization.transition(previous, target, fine, 0.3, kind=kind)
    after, before = difference(here[0], previous[1], kind) / fine, difference(previous[1], previous[0], kind) / fine
    assert_allclose(after, before, rtol=1e-2)


def test_first_step_keeps_the_velocity_on_screen_whatever_the_target_does():
    """The target's own velocity is in the velocity of the difference, so it does not add to the first step."""
    axis = np.array([[0.0, 0.0, 1.0]])
    t = DT * np.arange(-1, 2)
    for speed in (-3.0, -1.0, -0.2):
        for drift in (-1.0, 0.0, 2.0):
            previous = turning(axis, np.array([speed + drift]), rotation.exp(axis), t[:2])
            target = turning(axis, np.array([drift]), rotation.identity(1), DT * np.arange(1, 30))
            here = inertialization.transition(previous, target, DT, 0.8)
            step = rotation.log(rotation.multiply(here[0], rotation.inverse(previous[1])))
            assert_allclose(step, (speed + drift) * DT * axis, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_outward_velocity_is_dropped_by_inertialization_and_kept_by_dead_blending(kind):
    axis, away = np.array([[0.0, 0.6, 0.8]]), np.array([[0.5]])
    start = away + np.array([0.0, 3.0 * DT])[:, None, None]
    previous = rotation.exp(start * axis) if kind == "rotation" else start * axis
    rest = rotation.identity(60, 1) if kind == "rotation" else np.zeros((60, 1, 3))
    shown = start[1, 0, 0]
    quintic = difference(inertialization.transition(previous, rest, DT, 0.4, kind=kind), rest, kind)
    dead = difference(inertialization.dead_blend(previous, rest, DT, 0.4, kind=kind), rest, kind)
    assert np.all(np.diff(quintic[:, 0]) <= 1e-12) and quintic[0, 0] <= shown
    assert dead[0, 0] > shown


FINE, LENGTH = 1e-3, 0.4


def leaving(seed: int, kind: str, *, towards: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The last two poses of an output that leaves a target at rest in any direction or goes straight towards it, the
    target, and its velocity."""
    x0, v0 = np.random.default_rng(seed).normal(size=(2, 3)) * ((0.6,), (4.0,))
    v0 = -3.0 * x0 / np.linalg.norm(x0) if towards else v0
    if kind == "vector":
        return np.stack((x0 - FINE * v0, x0))[:, None], np.zeros((600, 1, 3)), v0
    before = rotation.multiply(rotation.exp(-FINE * v0), rotation.exp(x0))
    return np.stack((before, rotation.exp(x0)))[:, None], rotation.identity(600, 1), v0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_with_swing_velocity_is_continuous_in_all_directions(seed, kind):
    previous, rest, v0 = leaving(seed, kind, towards=False)
    here = np.concatenate((previous, inertialization.swing_transition(previous, rest, FINE, LENGTH, kind=kind)))
    turns = here if kind == "vector" else rotation.log(here)
    steps = (
        here[1:] - here[:-1]
        if kind == "vector"
        else rotation.log(rotation.multiply(here[1:], rotation.inverse(here[:-1])))
    )
    jumps = np.linalg.norm(np.diff(steps[:, 0], axis=0), axis=-1) / FINE
    assert jumps[:2].max() < 0.02 * np.linalg.norm(v0) and jumps[390:].max() < 0.03
    # How far the swing goes: 0.19 of where the velocity would lead.
    assert np.linalg.norm(turns, axis=-1).max() <= np.linalg.norm(turns[1]) + 0.19 * LENGTH * np.linalg.norm(v0) * 1.2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_straight_towards_the_target_swing_is_inertialization(seed, kind):
    previous, rest, _ = leaving(seed, kind, towards=True)
    blends = inertialization.swing_transition, inertialization.transition
    both = [blend(previous, rest, FINE, LENGTH, kind=kind) for blend in blends]
    assert difference(*both, kind).max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", BLENDS)
def test_each_bone_keeps_its_own_time(blend, kind):
    previous, target = clip(kind, 3, 2), clip(kind, 4, 30)
    durations = np.array([0.0, 0.1, 0.25, 0.5, 2.0])
    together = blend(previous, target, DT, durations, kind=kind)
    for bone, duration in enumerate(durations):
        alone = blend(previous[:, bone], target[:, bone], DT, duration, kind=kind)
        assert_array_equal(together[:, bone], alone)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,)])
def test_bones_may_be_any_array(blend, kind, shape):
    poses = clip(kind, 5, 14)
    chosen = poses[:, np.arange(int(np.prod(shape))) % 5].reshape(14, *shape, -1 if shape != (0,) else poses.shape[-1])
    here = blend(chosen[:2], chosen[4:], DT, np.full(shape, 0.2), kind=kind)
    assert here.shape == chosen[4:].shape


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [1, 2, 4, 8])
@pytest.mark.parametrize("blend", CALM)
def test_a_transition_may_interrupt_a_transition(blend, kind, cut):
    """Fed its own last two frames, it neither pops in value nor adds speed beyond a plain step of the motions."""
    first, second, third = (clip(kind, seed, 40) for seed in (6, 7, 8))
    running = np.concatenate((first[-2:], blend(first[-2:], second, DT, 0.4, kind=kind)))
    shown = running[: 2 + cut]
    here = np.concatenate((shown, blend(shown[-2:], third, DT, 0.4, kind=kind)))
    steps = difference(here[1:], here[:-1], kind)
    moved = difference(second[1:], second[:-1], kind).max() + 2.0 * difference(third[1:], third[:-1], kind).max()
    # The steepest step of a minimum-jerk motion over the largest difference, once for each blend.
    far = max(difference(first[-1], second[0], kind).max(), difference(shown[-1], third[0], kind).max()) + moved
    assert steps.max() <= moved + 2.0 * 1.875 * far * DT / 0.4
    assert steps[1 + cut].max() <= steps[cut].max() + moved + 0.02 * far


def test_interrupting_with_the_same_target_while_at_rest_changes_nothing_to_come():
    """A still difference, interrupted before the blend has begun to move it, decays as if nothing had happened."""
    previous = rotation.exp(np.array([[[0.5, 0.0, 0.0]]] * 2))
    target = rotation.identity(40, 1)
    once = inertialization.transition(previous, target, DT, 0.5)
    again = inertialization.transition(np.stack((previous[1], previous[1])), target, DT, 0.5)
    assert_array_equal(once, again)


@pytest.mark.thorough
@pytest.mark.parametrize("blend", BLENDS)
@given(signs=st.lists(st.sampled_from((-1.0, 1.0)), min_size=60, max_size=60))
def test_signs_of_quaternions_do_not_matter(blend, signs):
    flip = np.array(signs).reshape(12, 5, 1)
    previous, target = moving(9, 2), moving(10, 10)
    # Half a turn, and nearly, among them.
    target[:, 0] = rotation.multiply(rotation.exp([np.pi, 0.0, 0.0]), previous[1, 0])
    target[:, 1] = rotation.multiply(rotation.exp([0.0, np.pi - 1e-9, 0.0]), previous[1, 1])
    previous[0, 0] = previous[1, 0]
    previous[1, 2], previous[:, 3], target[:, 2:4] = rotation.IDENTITY, rotation.IDENTITY, [0.0, 0.0, 0.6, 0.8]
    here = blend(previous, target, DT, 0.2)
    other = blend(flip[:2] * previous, flip[2:] * target, DT, 0.2)
    # Twice the angle, since |dot| near 1 says little.
    assert_allclose(difference(here, other), 0.0, atol=1e-6)


@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [-0.6, 0.0, 0.8]])
def test_half_a_turn_goes_one_way_without_a_pop(axis, subtests):
    axis = np.array([axis])
    for over, speed in product((-1e-3, -1e-9, 0.0, 1e-9, 1e-3), (-2.0, -1e-3, 0.0, 1e-3, 2.0)):
        with subtests.test(over=over, speed=speed):
            previous = rotation.exp((np.pi + over + speed * DT * np.array([-1.0, 0.0]))[:, None, None] * axis)
            blended = inertialization.transition(previous, rotation.identity(40, 1), DT, 0.5)
            here = np.concatenate((previous, blended))
            steps = difference(here[1:], here[:-1])
            assert steps[1:].max() <= 1.9 * np.pi * DT / 0.5 + 2.0 * abs(speed) * DT
            assert np.sum(steps[1:]) == pytest.approx(np.pi, abs=0.01)


def test_half_a_turn_goes_on_the_way_it_turns():
    axis = np.array([[0.0, 0.0, 1.0]])
    for speed in (-2.0, 2.0):
        angles = np.pi + speed * DT * np.array([-1.0, 0.0])
        previous = rotation.exp(angles[:, None, None] * axis)
        here = inertialization.transition(previous, rotation.identity(30, 1), DT, 0.6)
        step = rotation.log(rotation.multiply(here[0], rotation.inverse(previous[1])))
        assert_allclose(step, speed * DT * axis, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", BLENDS)
def test_where_nothing_differs_nothing_changes(blend, kind):
    still = np.repeat(clip(kind, 11, 1), 20, axis=0)
    assert_allclose(blend(still[:2], still, DT, 0.3, kind=kind), still, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_motion_cut_into_itself_plays_on(kind):
    """Where the velocity does not change there is nothing to decay."""
    if kind == "rotation":
        speed = np.random.default_rng(3).uniform(-3.0, 3.0, 5)
        whole = turning(rotation.normalize(travelling(12, 1)[0]), speed, moving(12, 1)[0], DT * np.arange(20))
    else:
        whole = travelling(12, 1) + DT * np.arange(20)[:, None, None] * travelling(13, 1)
    here = inertialization.transition(whole[8:10], whole[10:], DT, 0.2, kind=kind)
    assert_allclose(difference(here, whole[10:], kind), 0.0, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blend", BLENDS)
def test_targets_of_one_frame_and_of_none(blend, kind):
    previous, target = clip(kind, 14, 2), clip(kind, 15, 1)
    here = blend(previous, target, DT, 0.5, kind=kind)
    assert here.shape == target.shape
    # As a pose that holds still would go.
    held = blend(previous, np.repeat(target, 5, axis=0), DT, 0.5, kind=kind)
    assert_array_equal(here[0], held[0])
    assert blend(previous, target[:0], DT, 0.5, kind=kind).shape == (0, *target.shape[1:])


@pytest.mark.parametrize("duration", [0.25, 0.5, np.array([0.25, 0.5, 0.75, 1.0, 0.5])])
@pytest.mark.parametrize("blend", BLENDS)
def test_film_and_game_frame_rates_agree_at_equal_times(blend, duration):
    """Turning steadily about several axes, source and target differ by a rotation whose axis moves."""
    random = np.random.default_rng(16)
    axes, speeds, starts = random.normal(size=(2, 5, 3)), random.uniform(-3.0, 3.0, (2, 5)), moving(17, 2)

    def at(fps: float) -> Array:
        source = turning(rotation.normalize(axes[0]), speeds[0], starts[0], np.array([-1.0, 0.0]) / fps)
        target = turning(rotation.normalize(axes[1]), speeds[1], starts[1], np.arange(1, round(fps) + 1) / fps)
        return blend(source, target, 1.0 / fps, duration)

    # Every twelfth of a second is a frame of both.
    assert np.degrees(difference(at(24.0)[1::2], at(60.0)[4::5]).max()) < 1e-6


def test_frame_rates_agree_on_motions_with_acceleration():
    """What two frames tell of a velocity depends on how far apart they are; what is left of that is small."""
    at = {}
    for fps in (24.0, 60.0):
        source = moving(18, round(fps) + 1, dt=1.0 / fps, size=0.3)
        target = moving(19, round(fps) + 1, dt=1.0 / fps, size=0.3)
        at[fps] = inertialization.transition(source[-2:], target[1:], 1.0 / fps, 0.4)
    assert np.degrees(difference(at[24.0][1::2], at[60.0][4::5]).max()) < 0.5


@pytest.mark.thorough
@given(turn=st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
@pytest.mark.parametrize("blend", BLENDS)
def test_vectors_are_blended_as_vectors_never_per_component(blend, turn):
    q = rotation.exp(np.array(turn))
    previous, target = travelling(20, 2), travelling(21, 20)
    turned = blend(rotation.rotate(q, previous), rotation.rotate(q, target), DT, 0.4, kind="vector")
    assert_allclose(turned, rotation.rotate(q, blend(previous, target, DT, 0.4, kind="vector")), atol=1e-12)


@pytest.mark.thorough
@given(turn=st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6))
@pytest.mark.parametrize("blend", BLENDS)
def test_rotations_are_blended_alike_in_any_space(blend, turn):
    """A turned parent, or another rest pose, turns the result and nothing else."""
    left, right = rotation.exp(np.array(turn).reshape(2, 3))

    def moved(poses: Array) -> Array:
        return rotation.multiply(left, rotation.multiply(poses, right))

    previous, target = moving(22, 2), moving(23, 20)
    here = blend(moved(previous), moved(target), DT, 0.4)
    assert_allclose(difference(here, moved(blend(previous, target, DT, 0.4))), 0.0, atol=1e-7)


def test_the_difference_keeps_its_axis_and_decays_as_a_number():
    """Rotations about one axis are numbers: the plain loop of the published steps over their angles."""
    axis = rotation.normalize([1.0, -2.0, 0.5])
    source, target = 1.2 - 2.0 * DT * np.arange(2), 0.3 * np.sin(2.0 * DT * np.arange(2, 30))
    back = 2.0 * target[0] - target[1]
    velocity = (source[1] - source[0] - (target[0] - back)) / DT
    wanted = [g + published(source[1] - back, velocity, 0.4, DT * (n + 1)) for n, g in enumerate(target)]
    here = inertialization.transition(
        rotation.exp(source[:, None, None] * axis), rotation.exp(target[:, None, None] * axis), DT, 0.4
    )
    assert_allclose(difference(here, rotation.exp(np.array(wanted)[:, None, None] * axis)), 0.0, atol=1e-7)
    line = inertialization.transition(
        source[:, None, None] * axis, target[:, None, None] * axis, DT, 0.4, kind="vector"
    )
    assert_allclose(line, np.array(wanted)[:, None, None] * axis, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_stay_as_they_are(kind):
    previous, target, source = clip(kind, 24, 2), clip(kind, 25, 9), clip(kind, 26, 9)
    copies = previous.copy(), target.copy(), source.copy()
    for blend in BLENDS:
        assert not np.shares_memory(blend(previous, target, DT, 0.2, kind=kind), target)
    inertialization.cross_fade(source, target, DT, 0.2, kind=kind)
    inertialization.blend_time(previous, target, DT, kind=kind)
    for now, before in zip((previous, target, source), copies, strict=True):
        assert_array_equal(now, before)


# Real clips.


@pytest.mark.blender
def test_over_real_clips_little_of_the_velocity_jump_is_left(rigs):
    """Rotations and locations of a game character, each of some clips cut into each other in the middle."""
    bpy = pytest.importorskip("bpy")
    import kept
    from extension import load

    armature = kept.rig(rigs / "gltf" / "kaykit_knight.glb", fps=30)
    actions = [action for action in bpy.data.actions if action.frame_range[1] > 16][::6]
    clips = load("rig.transitions.clips")
    read = [
        clips.read(armature, action, action.slots[0], np.arange(int(action.frame_range[1]) + 1)).values
        for action in actions
    ]
    left: dict[str, list[Array]] = {kind: [] for kind in KINDS}
    plain: dict[str, list[Array]] = {kind: [] for kind in KINDS}

    def jump(kind: str, *poses: Array) -> Array:
        a, b, c = poses
        if kind == "vector":
            return np.linalg.norm(c - 2.0 * b + a, axis=-1)
        first, then = (rotation.log(rotation.multiply(y, rotation.inverse(x))) for x, y in ((a, b), (b, c)))
        return np.linalg.norm(then - first, axis=-1)

    for source, target in permutations(read, 2):
        for kind in KINDS:
            shared = [c for c in source if c in target and c.kind == kind and not c.path.endswith("scale")]
            before, after = (np.stack([clip[c] for c in shared], axis=1) for clip in (source, target))
            previous, after = before[len(before) // 2 - 1 :][:2], after[len(after) // 2 :]
            hard = jump(kind, *previous, after[0])
            soft = jump(kind, *previous, inertialization.transition(previous, after, DT, 0.3, kind=kind)[0])
            plain[kind].append(hard[hard > 1e-3])
            left[kind].append(soft[hard > 1e-3])
    for kind in KINDS:
        ratio = np.median(np.concatenate(left[kind])) / np.median(np.concatenate(plain[kind]))
        assert ratio < 0.1, (kind, ratio)


# What inertialization replaces, and dead blending.


@pytest.mark.parametrize("kind", KINDS)
def test_cross_fade_leaves_the_source_and_meets_the_target(kind):
    source, target = clip(kind, 27, 30), clip(kind, 28, 30)
    here = inertialization.cross_fade(source, target, DT, 0.5, kind=kind)
    assert np.all(difference(here[0], source[0], kind) < 0.015 * difference(source[0], target[0], kind))
    assert_array_equal(here[14:], target[14:])
    assert_array_equal(inertialization.cross_fade(source, target, DT, 0.0, kind=kind), target)
    assert_allclose(
        difference(inertialization.cross_fade(target, target, DT, 0.5, kind=kind), target, kind), 0.0, atol=1e-7
    )


def test_cross_fade_is_half_way_in_the_middle():
    source, target = rotation.exp(np.zeros((30, 1, 3))), rotation.exp(np.full((30, 1, 3), 0.5))
    here = inertialization.cross_fade(source, target, DT, 20.0 * DT)
    assert_allclose(here[9], rotation.exp(np.full((1, 3), 0.25)), atol=1e-12)


def test_blended_rotations_that_pass_half_a_turn_do_not_flip():
    """A target that turns on while the blend is under way must not change the side the arc runs on."""
    t = DT * np.arange(1, 31)
    source = rotation.identity(30, 1)
    target = rotation.exp((2.6 + 2.0 * t)[:, None, None] * np.array([0.0, 0.0, 1.0]))
    here = inertialization.cross_fade(source, target, DT, 0.9)
    assert difference(here[1:], here[:-1]).max() < 2.0 * DT + 1.5 * 4.6 * DT / 0.9


def test_dead_blending_coasts_to_a_stop():
    """With a blend far longer than the half-life, the source has gone its velocity times half-life over ln 2."""
    previous = np.array([[[0.0]], [[DT]]])
    here = inertialization.dead_blend(previous, np.zeros((60, 1, 1)) + 1e-12, DT, 1e4, kind="vector", half_life=0.1)
    t = DT * np.arange(1, 61)
    assert_allclose(here[:, 0, 0], DT + (1.0 - 0.5 ** (t / 0.1)) * 0.1 / np.log(2.0), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_dead_blending_chooses_the_decay_along_and_across_the_difference(kind):
    """With an endless blend the source comes to rest: at the target along the way to it, and soon across that way."""
    soon = inertialization.HALF_LIVES[0] / np.log(2.0)
    # A small angle, so that rotations add up as vectors do.
    way, speed = 1e-3, np.array([6e-3, -4e-3, 0.0])
    for direction, along in ((-1.0, -way), (1.0, speed[0] * soon)):
        moved = np.array([direction * speed[0], speed[1], 0.0])
        previous = np.stack((-moved * DT, np.zeros(3)))[:, None] + (way, 0.0, 0.0)
        target = np.zeros((400, 1, 3))
        if kind == "rotation":
            previous, target = rotation.exp(previous), rotation.exp(target)
        here = inertialization.dead_blend(previous, target, DT, 1e6, kind=kind)[-1, 0]
        ends = rotation.log(here) if kind == "rotation" else here
        assert_allclose(ends, (way + along, speed[1] * soon, 0.0), atol=1e-6)


def test_dead_blending_swings_out_less_far_than_with_one_half_life():
    previous = np.array([[[0.5 - 6.0 * DT]], [[0.5]]])
    here, plain = (
        inertialization.dead_blend(previous, np.zeros((30, 1, 1)), DT, 0.4, kind="vector", half_life=half_life).max()
        for half_life in (None, 0.1)
    )
    assert 0.5 < here < 0.5 + 0.8 * (plain - 0.5)


# The automatic blend time.


def test_blend_time_is_within_its_bounds_and_grows_with_distance_and_speed():
    rest, axis = rotation.identity(5, 1), np.array([[0.0, 0.0, 1.0]])
    shortest, longest = inertialization.BLEND_TIMES
    assert inertialization.blend_time(rest[:2], rest, DT) == shortest

    def wanted(angle: float, speed: float) -> float:
        return inertialization.blend_time(
            rotation.exp((angle + speed * DT * np.array([-1.0, 0.0]))[:, None, None] * axis), rest, DT
        )

    by_angle = [wanted(angle, 0.0) for angle in np.radians([0.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0])]
    by_speed = [wanted(0.1, speed) for speed in (0.0, 1.0, 2.0, 4.0, 8.0, 30.0)]
    for row in (by_angle, by_speed):
        assert np.all(np.diff(row) >= 0.0) and shortest <= row[0] and row[-1] == longest
    assert wanted(0.4, 1.0) == pytest.approx(wanted(0.4, -1.0))
    # The decay it gives a still difference is as hard as promised.
    angle, h = np.radians(30.0), 1e-3
    t = wanted(angle, 0.0)
    curve = inertialization.decay(angle, 0.0, t, np.arange(0.0, t, h))
    assert np.abs(np.diff(curve, 2)).max() / h**2 == pytest.approx(inertialization.BLEND_ACCELERATION, rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_blend_time_does_not_depend_on_frame_rate_bone_order_or_unit(kind):
    previous, target = clip(kind, 29, 2), clip(kind, 30, 2)
    order = [3, 0, 4, 1, 2]
    here = inertialization.blend_time(previous, target, DT, kind=kind)
    assert here == pytest.approx(inertialization.blend_time(previous[:, order], target[:, order], DT, kind=kind))
    if kind == "vector":
        assert here == pytest.approx(
            inertialization.blend_time(100.0 * previous, 100.0 * target, DT, kind=kind, size=100.0)
        )


def test_blend_time_asks_bones_not_an_outlier():
    previous, target = rotation.identity(2, 40), rotation.identity(5, 40)
    target[:, 7] = [0.0, 1.0, 0.0, 0.0]
    assert inertialization.blend_time(previous, target, DT) == inertialization.BLEND_TIMES[0]
    assert inertialization.blend_time(previous[:, :0], target[:, :0], DT) == inertialization.BLEND_TIMES[0]
    assert inertialization.blend_time(previous, target[:0], DT) == inertialization.BLEND_TIMES[0]


# Bad input.


def spoiled(kind: str) -> Array:
    poses = clip(kind, 31, 6)
    poses[3, 2, 1] = np.nan
    return poses


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize(
    "change",
    [
        {"kind": "scale"},
        {"dt": 0.0},
        {"dt": -1.0},
        {"dt": np.nan},
        {"duration": -0.1},
        {"duration": np.nan},
        {"duration": np.ones(4)},
        {"duration": np.ones((6, 5))},
        {"previous": moving(1, 3)},
        {"previous": moving(1, 2, bones=4)},
        {"target": moving(1, 6)[..., :3]},
        {"target": spoiled("rotation")},
        {"target": np.zeros((6, 5, 4))},
        {"target": 1.0},
        {"target": spoiled("vector"), "previous": travelling(1, 2), "kind": "vector"},
    ],
)
def test_blends_say_what_is_wrong(blend: Callable[..., Array], change):
    arguments = {"previous": moving(1, 2), "target": moving(2, 6), "dt": DT, "duration": 0.2, **change}
    with pytest.raises(InvalidArgument):
        blend(**arguments)


def test_what_only_some_blends_take_is_checked_too():
    poses = moving(1, 6)
    with pytest.raises(InvalidArgument):
        inertialization.dead_blend(poses[:2], poses, DT, 0.2, half_life=0.0)
    with pytest.raises(InvalidArgument):
        inertialization.cross_fade(poses[:5], poses, DT, 0.2)
    with pytest.raises(InvalidArgument):
        inertialization.cross_fade(spoiled("rotation"), poses, DT, 0.2)
    with pytest.raises(InvalidArgument):
        inertialization.blend_time(poses[:2], poses, DT, size=0.0)
