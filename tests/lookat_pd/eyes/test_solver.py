"""The laws of the eyes, on heads that turn as the look-at turns them, and what nobody must ever see."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comparison import largest_degrees
from lookat_pd import pd, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.eyes import Eyes, EyeSolution, solve
from lookat_pd.gaze.solver import Event
from lookat_pd.rotation import Array

FORWARD, UP = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
MIDDLE = np.array([0.0, -0.1, 1.6])
FINE = 960
DELAY = 0.075
Place = tuple[float, float] | tuple[float, float, float]


# A character with its eyes 6 cm apart, standing at the origin, facing -Y, Z up


def make_eyes(count: int = 2, **changes) -> Eyes:
    values = {"forward": np.tile(FORWARD, (count, 1)), "head_forward": FORWARD, "head_up": UP}
    return Eyes(**(values | changes))


def at(yaw: float, pitch: float = 0.0, distance: float = 3.0) -> Array:
    """A point at yaw to the left and pitch up [degrees] from the middle of the eyes."""
    yaw, pitch = np.radians(yaw), np.radians(pitch)
    return MIDDLE + distance * np.array([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)])


def turned(t: Array, events: Sequence[tuple[float, float]], settle_time: float = 0.6, delay: float = DELAY) -> Array:
    """Yaw [rad] of a head that follows (time, degrees) as the look-at does, whatever the times that are asked for."""
    fine = np.arange(int(t[-1] * 4800) + 2) / 4800.0
    goal = np.zeros_like(fine)
    for time, degrees in events:
        goal[fine >= time + delay - 1e-9] = np.radians(degrees)
    return np.interp(t, fine, pd.track(goal, 1.0 / 4800.0, settle_time)[0])


class Film:
    """A head that turns about the middle of its eyes, on top of an animation that sways, and what its eyes do."""

    def __init__(
        self,
        places: Sequence[Place | Array | Callable[[Array], Array]],
        events: Sequence[Event],
        head: Sequence[tuple[float, float]] = (),
        *,
        eyes: Eyes | None = None,
        rate: int = FINE,
        seconds: float = 2.0,
        sway: float = 0.0,
        apart: float = 0.06,
        settle_time: float = 0.6,
        glance: float | Callable[[Array], Array] = 0.0,
        **options,
    ) -> None:
        self.eyes = eyes or make_eyes()
        self.rate, self.t = rate, np.arange(round(seconds * rate) + 1) / rate
        count, k = len(self.t), len(self.eyes)
        self.head_yaw = turned(self.t, head, settle_time)
        body = rotation.about(UP, sway * np.sin(2.0 * np.pi * 0.4 * self.t))
        glances = glance(self.t) if callable(glance) else glance * np.sin(2.0 * np.pi * 0.3 * self.t + 1.0)
        look = rotation.about(UP, glances)
        self.head = rotation.multiply(rotation.about(UP, self.head_yaw), body)
        animated = np.repeat(rotation.multiply(body, look)[:, None], k, axis=1)
        self.orientations = np.repeat(rotation.multiply(self.head, look)[:, None], k, axis=1)
        beside = np.linspace(0.5, -0.5, k)[:, None] * (apart, 0.0, 0.0) if k > 1 else np.zeros((1, 3))
        self.centers = MIDDLE + rotation.rotate(self.head[:, None], beside)
        paths = [place(self.t) if callable(place) else place for place in places]
        paths = [at(*path) if isinstance(path, tuple) else path for path in paths]
        self.targets = np.stack([np.broadcast_to(path, (count, 3)) for path in paths])
        self.result: EyeSolution = solve(
            self.eyes, self.head, self.orientations, self.centers, animated, self.targets, 1.0 / rate, events, **options
        )

    def directions(self) -> Array:
        """(n, k, 3) of the eyes, from what is handed back alone."""
        return rotation.rotate(rotation.multiply(self.orientations, self.result.offsets), self.eyes.forward)

    def in_head(self) -> Array:
        """Yaws to the left and pitches up (n, k, 2) of the eyes in the head."""
        local = rotation.rotate(rotation.inverse(self.head)[:, None], self.directions())
        yaw = np.arctan2(rotation.dot(local, -self.eyes.head_right), rotation.dot(local, self.eyes.head_forward))
        return np.stack((yaw, np.arcsin(np.clip(rotation.dot(local, self.eyes.head_up), -1.0, 1.0))), axis=-1)

    def off_target(self, target: int = 0) -> Array:
        """Angle (n, k) between each eye and the target."""
        return rotation.angle_between(self.directions(), self.targets[target][:, None] - self.centers)


def assert_sound(film: Film) -> None:
    result, angles = film.result, film.in_head()
    for values in (result.offsets, result.gaze, result.blink):
        assert np.all(np.isfinite(values))
    assert_allclose(np.linalg.norm(result.offsets, axis=-1), 1.0, atol=1e-12)
    assert_allclose(np.linalg.norm(result.gaze, axis=-1), 1.0, atol=1e-12)
    assert np.all(np.abs(angles[..., 0]) <= film.eyes.yaw_limit + 1e-9)
    assert np.all(angles[..., 1] <= film.eyes.pitch_up_limit + 1e-9)
    assert np.all(-angles[..., 1] <= film.eyes.pitch_down_limit + 1e-9)


# Saccades


@pytest.mark.parametrize("degrees", [5, 10, 20, 30, 40])
@pytest.mark.parametrize("head_moves", [False, True])
def test_a_saccade_takes_as_long_as_is_published(degrees: float, head_moves: bool) -> None:
    """25 ms and 2.2 to 2.7 ms more for each degree that the eye is seen to turn in the head."""
    film = Film([(degrees, 0.0)], [Event(0.2, 0)], [(0.2, degrees)] if head_moves else [])
    (shift,) = film.result.shifts
    begin, end = round(shift.time * FINE), round((shift.time + shift.duration) * FINE)
    seen = film.in_head()
    turn = np.degrees(seen[end, :, 0] - seen[begin, :, 0]).mean()
    assert 2.2 <= (1e3 * shift.duration - 25.0) / turn <= 2.7
    assert np.degrees(shift.amplitude) == pytest.approx(turn, abs=0.5)
    assert_allclose(seen[: begin + 1], 0.0, atol=1e-9)


@pytest.mark.parametrize("degrees", [5, 20, 40])
def test_the_peak_speed_is_the_one_that_is_seen(degrees: float) -> None:
    film = Film([(degrees, 0.0)], [Event(0.2, 0)], [(0.2, degrees)])
    speed = np.abs(np.diff(film.in_head()[..., 0].mean(axis=1))).max() * FINE
    assert film.result.shifts[0].peak_speed == pytest.approx(speed, rel=0.03)
    # A minimum-jerk motion has 15/8 of its mean speed.
    assert speed == pytest.approx(1.875 * np.radians(degrees) / film.result.shifts[0].duration, rel=0.1)


@settings(max_examples=30, deadline=None)
@given(st.floats(-60.0, 60.0), st.floats(-30.0, 30.0), st.floats(0.3, 1.5), st.floats(0.0, 0.15), st.floats(0.5, 20.0))
def test_the_gaze_stays_on_the_target_while_the_head_turns(yaw, pitch, settle_time, sway, distance) -> None:
    """From the end of the saccade on, as soon as the target is within the range of the eyes."""
    target = (yaw, pitch, distance)
    film = Film([target], [Event(0.2, 0)], [(0.2, yaw)], settle_time=settle_time, sway=sway, rate=240)
    (shift,) = film.result.shifts or [None]
    local = rotation.rotate(rotation.inverse(film.head)[:, None], film.targets[0][:, None] - film.centers)
    reachable = np.all(np.abs(np.arctan2(local[..., 0], -local[..., 1])) <= film.eyes.yaw_limit, axis=1)
    after = (film.t > (0.2 + shift.duration if shift else 0.2)) & reachable
    assert np.degrees(film.off_target()[after].max()) < 0.5
    assert np.degrees(film.result.error[after].max()) < 0.5
    assert after.sum() > 100


def test_a_moving_target_is_pursued() -> None:
    film = Film([lambda t: at(0.0) + np.sin(3.0 * t)[:, None] * (0.8, 0.0, 0.4)], [Event(-1.0, 0)])
    assert np.degrees(film.off_target().max()) < 1e-6
    assert not film.result.shifts


SWITCHES = {
    "on and off": [Event(0.3, 0), Event(1.2, None)],
    "interrupted": [Event(0.3, 0), Event(0.35, 1)],
    "turned back": [Event(0.3, 0), Event(0.36, None), Event(0.38, 0)],
    "many": [Event(0.3, 0), Event(0.3413, 1), Event(0.3777, 2), Event(0.4501, None), Event(1.2, 1)],
    "at the first frame": [Event(0.0, 0), Event(0.03, 1)],
}


@pytest.mark.parametrize("name", SWITCHES)
def test_nothing_jumps_where_gaze_shifts_interrupt_each_other(name: str) -> None:
    """Twice as fine, steps are half as large, and so are the changes of velocity."""
    step, bend = [], []
    for rate in (1920, 3840):
        film = Film([(35.0, 10.0), (-30.0, 0.0), (5.0, -20.0)], SWITCHES[name], [(0.3, 20.0)], rate=rate, sway=0.1)
        velocity = rotation.log(rotation.multiply(rotation.inverse(film.result.offsets[:-1]), film.result.offsets[1:]))
        step.append(np.linalg.norm(velocity, axis=-1).max())
        bend.append(np.linalg.norm(np.diff(velocity, axis=0), axis=-1).max() * rate)
        assert_sound(film)
    assert step[1] < 0.55 * step[0]
    assert bend[1] < 0.6 * bend[0]


def test_what_teleports_is_met_by_a_saccade() -> None:
    film = Film([lambda t: np.where(t[:, None] < 1.0 - 1e-9, at(-10.0), at(20.0))], [Event(-1.0, 0)])
    (shift,) = film.result.shifts
    assert shift.time == pytest.approx(1.0)
    assert np.degrees(shift.amplitude) == pytest.approx(30.0, abs=0.01)
    assert shift.duration == pytest.approx(0.025 + 30.0 * 0.0024, abs=1e-4)
    done = film.t > 1.0 + shift.duration
    assert np.degrees(film.off_target()[done | (film.t < 1.0)].max()) < 1e-6
    assert np.degrees(np.linalg.norm(np.diff(film.result.gaze, axis=0), axis=-1).max()) * FINE < 800.0


def test_a_target_behind_is_looked_at_over_the_side_to_which_the_head_turns() -> None:
    """And on that side until it is 30 degrees past straight behind."""
    path = Film([lambda t: np.stack([at(y) for y in 150.0 + 80.0 * t / t[-1]])], [Event(-1.0, 0)])
    yaw = np.degrees(path.in_head()[:, :, 0])
    before = path.t < 2.0 * (60.0 / 80.0) - 0.01
    assert np.all(yaw[before] > 44.0)
    assert np.all(yaw[-1] < -44.0)
    assert len(path.result.shifts) == 1


def test_a_target_that_passes_close_below_the_eyes_pulls_none_of_them_round() -> None:
    step = []
    for rate in (1920, 3840):
        film = Film(
            [lambda t: MIDDLE + np.stack((0.02 * np.cos(3.0 * t), 0.02 * np.sin(3.0 * t), 0.0 * t - 0.1), axis=-1)],
            [Event(-1.0, 0)],
            rate=rate,
        )
        step.append(np.abs(np.diff(film.in_head(), axis=0)).max())
    assert step[1] < 0.55 * step[0]


# Off


@settings(max_examples=30, deadline=None)
@given(st.floats(-50.0, 50.0), st.floats(0.0, 1.5), st.floats(0.0, 0.3), st.integers(1, 3))
def test_off_and_still_the_animation_is_left_exactly(yaw, glance, sway, count) -> None:
    """Even where the animation turns the eyes farther than eyes go."""
    events = [Event(0.3, 0), Event(0.9, None)]
    film = Film([(yaw, 5.0)], events, [], eyes=make_eyes(count), sway=sway, glance=glance, rate=120)
    still = (film.t < 0.3) | (film.t > 0.9 + 0.3)
    assert np.all(film.result.offsets[still] == rotation.IDENTITY)
    assert np.all(np.isnan(film.result.error[still]))
    assert np.all(film.result.blink[film.t < 0.3] == 0.0)


@pytest.mark.parametrize("glance", [0.2, 1.2])
def test_off_the_eyes_come_to_the_animation_without_a_jump(glance: float) -> None:
    """The last that they do before the head is back is as good as nothing."""
    bends = []
    for rate in (1920, 3840):
        film = Film([(30.0, 0.0)], [Event(0.3, 0), Event(0.9, None)], [], glance=glance, rate=rate)
        velocity = np.diff(film.result.offsets, axis=0)
        bends.append(np.abs(np.diff(velocity, axis=0)).max() * rate)
    assert bends[1] < 0.6 * bends[0]


def test_off_the_eyes_look_where_the_animation_looks_while_the_head_comes_back() -> None:
    film = Film([(40.0, 0.0)], [Event(-1.0, 0), Event(0.3, None)], [(0.0, 30.0), (0.3, 0.0)], seconds=3.0)
    shift = film.result.shifts[-1]
    after = film.t > 0.3 + shift.duration
    assert np.degrees(rotation.angle_between(film.directions()[after], FORWARD).max()) < 0.5
    assert np.degrees(film.in_head()[after][0, 0, 0]) < -15.0


def test_eyes_that_dart_in_the_animation_dart_when_left_to_it() -> None:
    """And not when they look at a target."""
    film = Film(
        [(10.0, 0.0)],
        [Event(0.5, 0), Event(1.0, None)],
        glance=lambda t: np.where(np.floor(4.0 * t + 1.125) % 2.0, 0.3, -0.2),
        rate=120,
    )
    left_alone = (film.t < 0.5) | (film.t > 1.1)
    assert np.all(film.result.offsets[left_alone] == rotation.IDENTITY)
    assert np.degrees(film.off_target()[(film.t > 0.6) & (film.t < 1.0)].max()) < 1e-6
    assert [shift.time for shift in film.result.shifts] == [0.5, 1.0]


# Where eyes can look


places = st.tuples(st.floats(-180.0, 180.0), st.floats(-90.0, 90.0), st.floats(0.0, 5.0))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(places, min_size=2, max_size=2),
    st.lists(st.tuples(st.floats(-0.5, 1.2), st.sampled_from([0, 1, None])), max_size=6),
    st.integers(1, 3),
    st.floats(0.0, 0.1),
    st.floats(-90.0, 90.0),
    st.floats(0.0, 0.05),
)
def test_whatever_is_looked_at_the_eyes_stay_in_their_range(targets, events, count, distance, yaw, micro) -> None:
    film = Film(
        targets,
        [Event(*event) for event in events],
        [(0.2, yaw)],
        eyes=make_eyes(count, micro=micro),
        rate=60,
        seconds=1.2,
        sway=0.3,
        apart=distance,
    )
    assert_sound(film)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0, 45.0), st.floats(-35.0, 35.0))
def test_up_to_its_range_an_eye_looks_at_the_target(yaw, pitch) -> None:
    film = Film([(yaw, pitch)], [Event(-1.0, 0)], eyes=make_eyes(1), rate=24, seconds=0.5)
    assert np.degrees(film.off_target().max()) < 0.5


def test_without_a_range_eyes_do_not_move() -> None:
    eyes = make_eyes(yaw_limit=0.0, pitch_up_limit=0.0, pitch_down_limit=0.0)
    film = Film([(20.0, 10.0)], [Event(-1.0, 0)], eyes=eyes)
    assert_allclose(film.in_head(), 0.0, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("distance", [0.4, 1.0, 5.0])
def test_eyes_converge_as_far_as_they_are_set(share: float, distance: float) -> None:
    film = Film([(0.0, 0.0, distance)], [Event(-1.0, 0)], eyes=make_eyes(vergence=share), rate=24)
    left, right = np.swapaxes(film.in_head()[..., 0], 0, 1)
    assert_allclose(right - left, share * 2.0 * np.arctan(0.03 / distance), atol=1e-9)
    assert_allclose(film.result.error, 0.0, atol=1e-7)


def test_eyes_never_squint_beyond_the_cap() -> None:
    film = Film(
        [lambda t: at(0.0) * 0.0 + MIDDLE + (0.0, -1.0, 0.0) * np.linspace(2.0, 0.0, len(t))[:, None]], [Event(-1.0, 0)]
    )
    left, right = np.swapaxes(film.in_head()[..., 0], 0, 1)
    assert (right - left).max() == pytest.approx(film.eyes.vergence_limit)
    assert np.all(right - left <= film.eyes.vergence_limit + 1e-9)
    assert_sound(film)


@pytest.mark.parametrize("place", [at(0.0, 0.0, 0.0), at(90.0, 0.0, 0.03), at(90.0, 0.0, 0.001)])
@pytest.mark.parametrize("distance", [0.0, 0.06])
@pytest.mark.parametrize("count", [1, 2])
def test_a_target_in_the_eyes_is_nothing_to_see(place: Array, distance: float, count: int) -> None:
    assert_sound(Film([place], [Event(0.2, 0)], eyes=make_eyes(count), apart=distance))


def test_axes_are_whatever_the_bones_have() -> None:
    """Bones with odd rolls, one of them mirrored, look in the same directions."""
    plain = Film([(25.0, 12.0)], [Event(0.2, 0)], [(0.2, 20.0)], glance=0.2)
    rolls = rotation.exp(np.array([[0.3, 2.0, -1.0], [-2.5, 0.4, 0.7]]))
    eyes = make_eyes(forward=rotation.rotate(rotation.inverse(rolls), FORWARD))
    animated = rotation.multiply(plain.orientations, rolls)
    result = solve(eyes, plain.head, animated, plain.centers, animated, plain.targets, 1.0 / FINE, [Event(0.2, 0)])
    looks = rotation.rotate(rotation.multiply(animated, result.offsets), eyes.forward)
    on = plain.t > 0.4
    assert_allclose(looks[on], plain.directions()[on], atol=1e-9)


def test_eyes_do_not_roll() -> None:
    film = Film([(25.0, 20.0)], [Event(0.2, 0)])
    _, twist = rotation.swing_twist(film.result.offsets, FORWARD)
    assert_allclose(rotation.angle(twist), 0.0, atol=1e-9)


# The same at any frame rate, over any range


@pytest.mark.parametrize("rate", [24, 60])
@pytest.mark.parametrize("time", [0.25, 0.2637, 0.2999])
def test_the_frame_rate_does_not_matter(rate: int, time: float) -> None:
    path = lambda t: at(20.0) + np.sin(3.0 * t)[:, None] * (0.5, 0.0, 0.3)  # noqa: E731
    events = [Event(time, 0), Event(time + 0.0512, 1), Event(time + 0.7, None)]
    eyes = make_eyes(micro=0.01)
    found, fine = (Film([path, (-20.0, 5.0)], events, sway=0.2, eyes=eyes, rate=r) for r in (rate, 960))
    common = np.gcd(rate, 960)
    assert largest_degrees(found.result.offsets[:: rate // common], fine.result.offsets[:: 960 // common]) < 0.1


@pytest.mark.parametrize("time", [0.25, 0.2637, 0.2999])
@pytest.mark.parametrize("settle_time", [0.3, 0.6])
def test_saccades_are_right_where_the_samples_tell_how_the_head_sets_out(time: float, settle_time: float) -> None:
    events = [Event(time, 0), Event(time + 0.5, 1), Event(time + 1.1, None)]
    head = [(time, 40.0), (time + 0.5, -20.0), (time + 1.1, 0.0)]
    places: list[Place] = [(40.0, 0.0), (-30.0, 0.0)]
    found, fine = (Film(places, events, head, rate=r, settle_time=settle_time) for r in (120, 960))
    assert largest_degrees(found.result.offsets, fine.result.offsets[::8]) < 0.05
    for a, b in zip(found.result.shifts, fine.result.shifts, strict=True):
        assert a.duration == pytest.approx(b.duration, abs=2e-4)


def test_micro_saccades_are_small_seeded_and_for_targets_alone() -> None:
    events = [Event(1.0, 0), Event(7.0, None)]
    still, one, same, other = (
        Film([(10.0, 0.0)], events, eyes=make_eyes(micro=size, seed=seed), rate=240, seconds=9.0)
        for size, seed in ((0.0, 1), (0.01, 1), (0.01, 1), (0.01, 2))
    )
    assert np.array_equal(one.result.offsets, same.result.offsets)
    assert not np.allclose(one.result.offsets, other.result.offsets, atol=1e-4)
    assert 0.001 < rotation.angle_between(one.result.gaze, still.result.gaze).max() <= 0.005 + 1e-9
    off = (one.t < 1.0) | (one.t > 7.3)
    assert np.array_equal(one.result.offsets[off], still.result.offsets[off])
    moving = np.linalg.norm(np.diff(one.result.gaze, axis=0), axis=-1)[round(1.3 * 240) : 7 * 240] > 1e-7
    assert 0.0 < moving.mean() < 0.15


@pytest.mark.parametrize("start", [3.0, 4.3125])
def test_micro_saccades_are_the_same_over_a_later_range(start: float) -> None:
    eyes = make_eyes(micro=0.02, seed=5)
    whole = Film([(10.0, 0.0)], [Event(-1.0, 0)], eyes=eyes, rate=96, seconds=8.0, time=-2.0)
    later = Film([(10.0, 0.0)], [Event(-1.0, 0)], eyes=eyes, rate=96, seconds=2.0, time=-2.0 + start)
    first = round(start * 96)
    assert largest_degrees(whole.result.offsets[first : first + len(later.t)], later.result.offsets) < 1e-5


# Blinks


def test_only_large_shifts_come_with_a_blink() -> None:
    places: list[Place] = [(0.0, 0.0), (30.0, 0.0), (-20.0, 0.0)]
    film = Film(places, [Event(-1.0, 0), Event(0.5, 1), Event(1.0, 2)])
    closed = film.result.blink
    assert np.all(closed[(film.t <= 1.0) | (film.t >= 1.23)] == 0.0)
    assert closed.max() == pytest.approx(1.0, abs=1e-3)
    assert film.t[np.argmax(closed)] == pytest.approx(1.07, abs=2e-3)
    speed = np.diff(closed) * FINE
    assert np.abs(np.diff(speed)).max() < 1.1 * 6.0 / 0.07**2 / FINE


# What does not fit


def test_what_eyes_cannot_have_is_refused() -> None:
    for changes, word in (
        ({"forward": np.zeros((2, 3))}, "axes"),
        ({"forward": np.zeros((0, 3))}, "forward"),
        ({"head_up": FORWARD}, "parallel"),
        ({"yaw_limit": -1.0}, "yaw limit"),
        ({"vergence": np.nan}, "vergence"),
        ({"saccade_start": 0.0}, "saccade start"),
        ({"micro": 0.01, "micro_rate": 50.0}, "rate"),
    ):
        with pytest.raises(InvalidArgument, match=word):
            make_eyes(**changes)


def test_motion_that_does_not_fit_is_refused() -> None:
    film = Film([(0.0, 0.0)], [], rate=24)
    good = (film.head, film.orientations, film.centers, film.orientations, film.targets)
    broken = film.targets.copy()
    broken[0, 3] = np.nan
    for arrays, step in (((*good[:4], good[4][:, 1:]), 0.1), ((*good[:4], broken), 0.1), (good, 0.0)):
        with pytest.raises(InvalidArgument):
            solve(film.eyes, *arrays, step, [])


def test_an_empty_list_of_events_and_no_targets_leave_everything_alone() -> None:
    film = Film([(0.0, 0.0)], [], rate=24, glance=0.5)
    result = solve(
        film.eyes, film.head, film.orientations, film.centers, film.orientations, np.empty((0, len(film.t), 3)), 0.1, []
    )
    assert np.all(result.offsets == rotation.IDENTITY)
    assert not result.shifts


def test_one_sample_is_enough() -> None:
    assert_sound(Film([(20.0, 0.0)], [Event(0.0, 0)], rate=24, seconds=0.0))
    film = Film([(20.0, 0.0)], [Event(-1.0, 0)], rate=24, seconds=0.0)
    assert np.degrees(film.off_target().max()) < 1e-6
