"""The laws of the look-at over a whole shot, and what an animator must never see, whatever the target does."""

import dataclasses
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from comparison import largest_degrees
from grids import diagonal
from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.gaze.solver import Chain, Event, Solution, Tuning, solve
from lookat_pd.rotation import Array

HEAD = 1.6
RATES = (24, 30, 60, 120)
FINE = 960
ON = (Event(0.5, 0),)
Path = Callable[[Array], Array]


# A character: bones listed head first, standing at the origin, facing -Y, Z up


def make_chain(bones: int = 6, **changes) -> Chain:
    torso = max(bones - 2, 1)
    values = {
        "shares": np.array([0.45, 0.2, *[0.35 / torso] * torso][:bones]),
        "settle_factors": np.linspace(1.0, 2.2, bones),
        "yaw_limits": np.radians([60.0, 35.0, *[80.0 / torso] * torso][:bones]),
        "pitch_up_limits": np.radians([45.0, 25.0, *[50.0 / torso] * torso][:bones]),
        "pitch_down_limits": np.radians([40.0, 25.0, *[50.0 / torso] * torso][:bones]),
        "compensates_lag": np.arange(bones) < 2,
        "forward": np.tile([0.0, 0.0, 1.0], (bones, 1)),
        "up": np.tile([0.0, 1.0, 0.0], (bones, 1)),
        "near": 0.1,
    }
    return Chain(**(values | changes))


REST = rotation.from_axis_angle([1.0, 0.0, 0.0], 0.5 * np.pi)


def body(t: Array, bones: int = 6, sway: float = 0.3, seed: int = 0) -> tuple[Array, Array]:
    """Orientations and positions of a spine that sways on its own, the hips at 1 m and the head at 1.6 m."""
    rng = np.random.default_rng(seed)
    orientation, place = rotation.identity(len(t)), np.tile([0.0, 0.0, 1.0], (len(t), 1))
    rotations, positions = np.empty((len(t), bones, 4)), np.empty((len(t), bones, 3))
    for bone in range(bones - 1, -1, -1):
        wave = sum(rng.normal(size=3) * np.sin(2.0 * np.pi * f * t[:, None] + rng.uniform(0, 6, 3)) for f in (0.3, 0.7))
        orientation = rotation.multiply(orientation, rotation.exp(sway / 3.0 * wave))
        rotations[:, bone], positions[:, bone] = rotation.multiply(orientation, REST), place
        place = place + rotation.rotate(orientation, np.array([0.0, 0.0, (HEAD - 1.0) / max(bones - 1, 1)]))
    return rotations, positions


def at(yaw, pitch=0.0, distance: float = 3.0) -> Array:
    """Points that the character, standing straight, sees at yaw to its left and pitch up [degrees]."""
    yaw, pitch = np.broadcast_arrays(np.radians(yaw), np.radians(pitch))
    direction = np.stack((np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)), axis=-1)
    return distance * direction + (0.0, 0.0, HEAD)


def hold(yaw: float, pitch: float = 0.0) -> Path:
    return lambda t: np.tile(at(yaw, pitch), (len(t), 1))


def between(a: tuple[float, float, float], b: tuple[float, float, float], seconds: float = 4.0) -> Path:
    return lambda t: np.array(a) + np.clip(t / seconds, 0.0, 1.0)[:, None] * np.subtract(b, a)


def jitter(t: Array) -> Array:
    noise = np.random.default_rng(5).normal(size=(3, 97))
    wave = np.stack([np.interp(t, np.arange(97) / 24.0, n) for n in noise], axis=-1)
    return (0.0, 3.0, HEAD) + 0.6 * wave


def film(
    paths: Path | list[Path],
    events=ON,
    tuning: Tuning | None = None,
    rate: int = 24,
    seconds: float = 4.0,
    chain: Chain | None = None,
    sway: float = 0.3,
    **options,
) -> Solution:
    chain = chain or make_chain()
    t = np.arange(round(seconds * rate) + 1) / rate
    paths = paths if isinstance(paths, list) else [paths]
    targets = np.stack([path(t) for path in paths])
    return solve(chain, tuning or Tuning(), *body(t, len(chain), sway), targets, 1.0 / rate, events, **options)


def speeds(solution: Solution, rate: int = FINE) -> Array:
    """Angular velocity (F - 1, b, 3) between frames."""
    q = solution.offsets
    return rotation.log(rotation.multiply(rotation.inverse(q[:-1]), q[1:])) * rate


def yaw_and_pitch(chain: Chain, offsets: Array) -> tuple[Array, Array]:
    """Of every bone's turn [rad], as the direction says that its forward axis takes."""
    aim = rotation.rotate(offsets, chain.forward)
    ahead, above, aside = (np.sum(aim * axis, axis=-1) for axis in (chain.forward, chain.up, chain.right))
    return np.arctan2(-aside, ahead), np.arctan2(above, np.hypot(ahead, aside))


def assert_smooth(solution: Solution, tuning: Tuning, chain: Chain) -> None:
    """Accelerations that the controllers can give: k_p times the largest jump of a goal + k_d times the speed."""
    assert np.all(np.isfinite(solution.offsets))
    assert np.all(np.isfinite(solution.wanted))
    v = speeds(solution)
    omega = 2.0 * np.pi / (tuning.settle_time * chain.settle_factors)
    jump = 2.0 * np.hypot(chain.yaw_limits, np.maximum(chain.pitch_up_limits, chain.pitch_down_limits))
    # What is fed forward moves by no more than a radian in 1 / omega.
    able = omega**2 * jump + 2.0 * tuning.damping_ratio * omega * (
        np.linalg.norm(v, axis=-1).max(axis=0) + 1.05 * tuning.feed_forward * omega
    )
    assert np.all(np.linalg.norm(np.diff(v, axis=0), axis=-1).max(axis=0) * FINE <= able)


def assert_within_limits(solution: Solution, chain: Chain) -> None:
    yaw, pitch = yaw_and_pitch(chain, solution.offsets)
    slack = 1e-6
    assert np.all(np.abs(yaw) <= chain.yaw_limits + slack)
    assert np.all((pitch <= chain.pitch_up_limits + slack) & (-pitch <= chain.pitch_down_limits + slack))


# It looks at the target


@settings(max_examples=40)
@given(st.integers(1, 12), st.floats(-70.0, 70.0), st.floats(-25.0, 25.0), st.integers(0, 1000))
def test_settled_and_in_reach_the_head_looks_at_the_target(bones, yaw, pitch, seed):
    if bones < 3:
        yaw, pitch = 0.4 * yaw, 0.4 * pitch
    chain = make_chain(bones)
    rotations, positions = (np.tile(a[:1], (120, 1, 1)) for a in body(np.array([0.0]), bones, 0.2, seed))
    solution = solve(chain, Tuning(), rotations, positions, np.tile(at(yaw, pitch), (1, 120, 1)), 0.1, ON)
    assert solution.reachable[-1]
    assert solution.settled[-1]
    assert solution.error[-1] < 1e-5


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_bones_may_point_any_way_at_rest(seed):
    """The bones' own frames are a matter of taste: turning them turns the offsets with them and nothing else."""
    rng = np.random.default_rng(seed)
    chain = make_chain()
    frames = rotation.normalize(rng.normal(size=(6, 4)))
    back = rotation.inverse(frames)
    other = dataclasses.replace(chain, forward=rotation.rotate(back, chain.forward), up=rotation.rotate(back, chain.up))
    t = np.arange(60) / 24.0
    rotations, positions = body(t)
    target = np.tile(at(50.0, 10.0), (1, 60, 1))
    plain = solve(chain, Tuning(), rotations, positions, target, 1.0 / 24.0, ON)
    turned = solve(other, Tuning(), rotation.multiply(rotations, frames), positions, target, 1.0 / 24.0, ON)
    expected = rotation.multiply(back, rotation.multiply(plain.offsets, frames))
    assert largest_degrees(turned.offsets, expected) < 1e-6


def test_an_event_before_the_first_frame_starts_settled():
    solution = film(hold(40.0, 10.0), [Event(-1.0, 0)], sway=0.0)
    assert solution.settled.all()
    assert solution.error.max() < 1e-6


def test_head_before_neck_before_chest_before_hips():
    chain = make_chain(4)
    angle = rotation.angle(film(hold(70.0), chain=chain, sway=0.0, rate=240, seconds=8.0).offsets)
    # Neck and head first make up for the rest; the half-turn time is that of the bones' way through the world.
    through = np.cumsum(angle[:, ::-1], axis=1)[:, ::-1]
    half = np.argmax(through > 0.5 * through[-1], axis=0)
    assert np.all(np.diff(half) > 0)
    own = np.argmax(angle > 0.5 * angle[-1], axis=0)
    assert np.all(np.diff(own) > 0)


@pytest.mark.parametrize(("yaw", "pitch"), [(60.0, 0.0), (-95.0, 0.0), (0.0, 40.0), (50.0, -30.0)])
@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_critically_damped_the_aim_does_not_swing_past_the_target(yaw, pitch, method):
    """Head and neck know what the torso is about to add to their own turn."""
    result = film(hold(yaw, pitch), tuning=Tuning(damping_ratio=1.0, method=method), sway=0.0, rate=120)
    aim = rotation.rotate(result.wanted[:, 0], np.array([0.0, 0.0, 1.0]))
    goal = rotation.normalize(aim[-1])
    start = aim[0]
    side = rotation.normalize(goal - start * (goal @ start))
    past = np.degrees(np.arctan2(aim @ side, aim @ start)).max() - np.degrees(np.arccos(goal @ start))
    assert past < 0.5


def test_before_the_first_event_and_after_the_release_the_offsets_are_nothing_exactly():
    for tuning in (Tuning(), Tuning(method="component"), Tuning(integrator="stable"), Tuning(max_speed=3.0)):
        solution = film(hold(40.0, 10.0), [Event(0.51, 0), Event(2.0, None)], tuning, seconds=6.0)
        assert np.all(solution.offsets[:13] == rotation.IDENTITY)
        assert np.any(solution.offsets[20] != rotation.IDENTITY)
        assert np.all(solution.offsets[-24:] == rotation.IDENTITY)
        assert np.all(np.isnan(solution.error[-24:]))
        assert np.all(solution.looked_at[[0, 12, 13, 40, 60]] == [-1, -1, 0, 0, -1])


# Nothing jumps

PATHS: dict[str, Path] = {
    "still": hold(60.0, 20.0),
    "exactly behind": hold(180.0),
    "exactly above": lambda t: np.tile([0.0, 0.0, 4.0], (len(t), 1)),
    "exactly below": lambda t: np.tile([0.0, 0.0, 0.2], (len(t), 1)),
    "in the head": lambda t: np.tile([0.0, 0.0, HEAD], (len(t), 1)),
    "sine": lambda t: at(40.0 * np.sin(2.0 * np.pi * t)),
    "round and round": lambda t: at(270.0 * t),
    "round and round, high": lambda t: at(120.0 * t, 70.0),
    "behind and back": lambda t: at(180.0 + 50.0 * np.sin(2.0 * t)),
    "jitter behind": jitter,
    "over the head": between((0.0, -3.0, 3.6), (0.0, 3.0, 3.6)),
    "over the head, aside": between((3.0, 0.0, 3.6), (-3.0, 0.0, 3.6)),
    "under the feet": between((0.0, -2.0, 0.4), (0.0, 2.0, 0.4)),
    "through the head": between((0.0, -3.0, HEAD), (0.0, 3.0, HEAD)),
    "through the head, aside": between((3.0, 0.0, HEAD), (-3.0, 0.0, HEAD)),
    "past the nose": between((3.0, -0.02, HEAD), (-3.0, -0.02, HEAD), 1.5),
    "passing behind": between((3.0, 2.0, HEAD), (-3.0, 2.0, HEAD)),
    "teleporting": lambda t: np.where(((t + 1e-9) % 2.0 < 1.0)[:, None], at(60.0, 5.0), at(-50.0, -10.0)),
    "teleporting up and down": lambda t: np.where(((t + 1e-9) % 2.0 < 1.0)[:, None], at(10.0, 30.0), at(10.0, -30.0)),
    "teleporting behind": lambda t: np.where(((t + 1e-9) % 2.0 < 1.0)[:, None], at(150.0), at(-150.0)),
}
KINDS = {
    "critical": Tuning(),
    "responsive": Tuning(damping_ratio=0.5**0.5),
    "component": Tuning(method="component"),
}
AHEAD = KINDS | {"feed-forward": Tuning(feed_forward=1.0), "half": Tuning(feed_forward=0.5, damping_ratio=0.5**0.5)}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_whatever_the_target_does_the_motion_is_smooth_and_within_the_limits(path, subtests):
    chain = make_chain()
    for (name, tuning), sway in product(AHEAD.items(), (0.0, 0.3)):
        with subtests.test(tuning=name, sway=sway):
            solution = film(path, tuning=tuning, rate=FINE, chain=chain, sway=sway)
            assert_smooth(solution, tuning, chain)
            assert_within_limits(solution, chain)


@pytest.mark.thorough
@pytest.mark.parametrize("zeta", [0.2, 0.4, 0.5**0.5, 1.0, 2.0])
@pytest.mark.parametrize("feed_forward", [0.0, 1.0])
def test_limits_hold_for_any_damping_and_feed_forward(zeta, feed_forward):
    chain = make_chain()
    tuning = Tuning(settle_time=0.4, damping_ratio=zeta, feed_forward=feed_forward)
    for path in ("teleporting behind", "round and round", "jitter behind"):
        assert_within_limits(film(PATHS[path], tuning=tuning, chain=chain, seconds=8.0), chain)


@pytest.mark.parametrize("zeta", [0.0, 0.1])
def test_nearly_no_damping_still_gives_rotations(zeta):
    solution = film(PATHS["teleporting behind"], tuning=Tuning(damping_ratio=zeta), seconds=8.0)
    assert_allclose(np.linalg.norm(solution.offsets, axis=-1), 1.0, atol=1e-9)


@pytest.mark.parametrize("tuning", KINDS.values(), ids=KINDS)
def test_every_switch_keeps_the_velocity(tuning):
    events = [Event(0.3, 0), Event(0.7003, 1), Event(1.0, None), Event(1.2, 0), Event(1.2, 1), Event(1.9, None)]
    chain = make_chain()
    solution = film([PATHS["sine"], hold(-60.0, 15.0)], events, tuning, FINE, chain=chain, seconds=6.0)
    assert_smooth(solution, tuning, chain)
    assert np.all(solution.offsets[-1] == rotation.IDENTITY)


def test_the_release_of_a_slow_torso_has_no_kink():
    v = speeds(film(hold(30.0), [Event(-1.0, 0), Event(0.5, None)], rate=FINE, seconds=6.0, sway=0.0))
    late = np.linalg.norm(np.diff(v, axis=0), axis=-1)[2 * FINE :] * FINE
    assert late.max() < 8.0 * np.radians(0.5) / 0.2**2


def test_a_target_that_stays_about_straight_behind_does_not_make_the_head_swing():
    """The head turns to one side and stays there while the target wavers within the margin."""
    solution = film(lambda t: at(175.0 + 20.0 * np.sin(3.0 * t)), seconds=8.0, sway=0.0)
    yaw, _ = yaw_and_pitch(make_chain(), solution.offsets)
    assert np.abs(yaw[48:, 0]).min() > np.radians(45.0)
    assert np.all(np.sign(yaw[48:, 0]) == np.sign(yaw[48, 0]))


@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("pitch", [0.0, 30.0])
def test_a_target_that_goes_round_and_round_is_looked_at_whenever_it_passes_in_front(direction, pitch):
    """Five rounds of eight seconds: the head meets it again on the other side every time."""
    solution = film(lambda t: at(direction * 45.0 * t, pitch), [Event(-1.0, 0)], seconds=40.0, sway=0.0)
    around = 45.0 * np.arange(len(solution.error)) / 24.0 % 360.0
    coming = (around > 300.0) | (around < 100.0)
    assert np.degrees(solution.error[coming][48:]).max() < 20.0
    assert np.all(np.abs(np.diff(yaw_and_pitch(make_chain(), solution.offsets)[0], axis=0)) < 0.5)


def test_it_takes_the_shorter_arc_after_a_teleport_behind():
    path = lambda t: np.where((t < 2.0 - 1e-9)[:, None], at(150.0), at(-40.0))  # noqa: E731
    solution = film(path, [Event(-1.0, 0)], seconds=6.0, sway=0.0)
    assert solution.error[-1] < 1e-3


# The same at all frame rates

ANYWHERE = (Event(0.513, 0), Event(1.7771, 1), Event(2.0, None), Event(2.1234, 0), Event(3.3, 1))
ON_FRAMES = (Event(0.5, 0), Event(1.5, 1), Event(2.0, None), Event(2.5, 0), Event(3.0, 1))


SAME_AT_ALL_RATES = (
    "still",
    "sine",
    "behind and back",
    "passing behind",
    "teleporting",
    "teleporting up and down",
    "teleporting behind",
    "over the head, aside",
    "past the nose",
    "round",
)


@pytest.mark.thorough
@diagonal(name=SAME_AT_ALL_RATES, tuning=KINDS, events={"on frames": ON_FRAMES, "between frames": ANYWHERE})
def test_all_frame_rates_give_the_same_motion(name, tuning, events):
    path = PATHS.get(name, lambda t: at(90.0 * t))
    films = [film([path, hold(-30.0, 10.0)], events, tuning, rate).offsets[:: rate // 6] for rate in RATES]
    for other in films[:-1]:
        assert largest_degrees(other, films[-1]) < 0.1


@pytest.mark.parametrize("integrator", ["stable", "euler"])
def test_engine_integrators_converge_to_the_exact_one(integrator):
    differences = [
        largest_degrees(
            film(PATHS["sine"], ON, Tuning(integrator=integrator), rate).offsets[:: rate // 6],
            film(PATHS["sine"], ON, Tuning(), rate).offsets[:: rate // 6],
        )
        for rate in (60, 240, 960)
    ]
    assert differences[2] < 0.3 * differences[1] < 0.1 * differences[0]


@pytest.mark.parametrize("integrator", ["stable", "euler"])
def test_engine_integrators_stay_finite_when_the_frames_are_too_long(integrator):
    tuning = Tuning(settle_time=0.1, integrator=integrator)
    solution = film(PATHS["teleporting"], tuning=tuning, rate=4)
    assert_within_limits(solution, make_chain())
    assert np.all(np.isfinite(solution.offsets))


def test_components_stay_near_the_great_circle():
    geodesic, component = (film(PATHS["sine"], tuning=Tuning(method=m)).offsets for m in ("geodesic", "component"))
    assert 0.001 < largest_degrees(geodesic, component) < 1.0


@pytest.mark.parametrize("method", ["geodesic", "component"])
def test_the_speed_limit_holds(method):
    tuning = Tuning(max_speed=1.0, method=method)
    events = [Event(0.5, 0), Event(2.0, 1), Event(3.0, None)]
    v = speeds(film([PATHS["teleporting"], hold(-60.0, 20.0)], events, tuning, 240), 240)
    assert np.linalg.norm(v, axis=-1).max() <= 1.0 * 1.02


# Invariances


def test_influence_scales_the_offsets():
    full, half, none = (film(hold(50.0, 10.0), influence=i).offsets for i in (1.0, 0.5, 0.0))
    assert_allclose(rotation.log(half), 0.5 * rotation.log(full), atol=1e-12)
    assert np.all(none == rotation.IDENTITY)
    ramp = np.linspace(0.0, 1.0, len(full))
    ramped = film(hold(50.0, 10.0), influence=ramp).offsets
    assert_allclose(rotation.log(ramped), ramp[:, None, None] * rotation.log(full), atol=1e-12)


def test_the_same_input_gives_the_same_bits():
    a, b = (film(PATHS["sine"], ANYWHERE[:1]) for _ in range(2))
    assert np.all(a.offsets == b.offsets)


@pytest.mark.parametrize("when", [1.0, 1.01, 1.0 + 1e-10])
def test_naming_the_same_target_again_changes_nothing(when):
    once = film(PATHS["sine"], [Event(0.5, 0)])
    twice = film(PATHS["sine"], [Event(0.5, 0), Event(when, 0)])
    assert largest_degrees(once.offsets, twice.offsets) < 0.05


@settings(max_examples=10)
@given(st.integers(0, 1000), st.floats(0.01, 100.0))
def test_turning_moving_and_scaling_the_world_changes_no_offset(seed, scale):
    rng = np.random.default_rng(seed)
    q, move = rotation.normalize(rng.normal(size=4)), rng.normal(size=3)
    chain, t = make_chain(), np.arange(60) / 24.0
    rotations, positions = body(t)
    target = PATHS["sine"](t)[None]
    plain = solve(chain, Tuning(), rotations, positions, target, 1.0 / 24.0, ON)
    moved = solve(
        dataclasses.replace(chain, near=scale * chain.near),
        Tuning(),
        rotation.multiply(q, rotations),
        scale * rotation.rotate(q, positions) + move,
        scale * rotation.rotate(q, target) + move,
        1.0 / 24.0,
        ON,
    )
    assert largest_degrees(plain.offsets, moved.offsets) < 1e-5


def test_the_mirrored_target_gives_the_mirrored_motion():
    left, right = (film(lambda t, s=s: at(s * (40.0 + 30.0 * t), 10.0), sway=0.0).offsets for s in (1.0, -1.0))
    assert_allclose(left * (1.0, 1.0, -1.0, -1.0), right, atol=1e-9)


# Odd timelines


def test_a_single_frame():
    assert np.all(film(hold(40.0), [Event(0.0, 0)], seconds=0.0).offsets == rotation.IDENTITY)
    assert film(hold(40.0), [Event(-1.0, 0)], seconds=0.0).error[0] < 1e-6
    assert np.isnan(film(hold(40.0), [Event(5.0, 0)], seconds=0.0).error[0])


def test_two_frames_and_an_event_between_them():
    solution = film(hold(40.0), [Event(0.02, 0)], rate=24, seconds=1.0 / 24.0)
    assert np.all(solution.offsets[0] == rotation.IDENTITY)
    assert 0.0 < rotation.angle(solution.offsets[1, 0]) < 0.2


def test_events_outside_the_range_do_not_disturb_it():
    plain = film(hold(40.0), [Event(0.5, 0)])
    more = film([hold(40.0), hold(-70.0)], [Event(-3.0, 1), Event(-2.0, None), Event(0.5, 0), Event(4.5, 1)])
    assert largest_degrees(plain.offsets, more.offsets) < 1e-9


def test_events_may_come_in_any_order_and_the_last_of_one_instant_counts():
    paths = [hold(40.0), hold(-40.0)]
    plain = film(paths, [Event(0.5, 0), Event(1.5, 1), Event(2.0, None)])
    shuffled = film(paths, [Event(2.0, None), Event(1.5, 0), Event(1.5, 1), Event(0.5, 1), Event(0.5, 0)])
    assert largest_degrees(plain.offsets, shuffled.offsets) < 1e-9


def test_many_events_within_one_frame():
    times = 1.0 + np.arange(20) / 24.0 / 25.0
    paths = [hold(40.0), hold(-40.0)]
    plain = film(paths, [Event(0.5, 0), Event(times[-1], 1)], sway=0.0)
    crowded = film(paths, [Event(0.5, 0), *(Event(t, k % 2) for k, t in enumerate(times))], sway=0.0)
    assert np.all(np.isfinite(crowded.offsets))
    assert largest_degrees(plain.offsets, crowded.offsets) < 10.0


@pytest.mark.thorough
def test_ten_thousand_frames_and_a_hundred_events():
    rng = np.random.default_rng(2)
    events = [Event(t, (None, 0, 1)[k % 3]) for k, t in enumerate(np.sort(rng.uniform(0.0, 416.0, 100)))]
    solution = film([PATHS["sine"], PATHS["round and round"]], events, seconds=10_000 / 24.0)
    assert len(solution.offsets) == 10_001
    assert_within_limits(solution, make_chain())
    assert np.all(np.isfinite(solution.offsets))


# Bad input


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rotations": np.full((3, 2, 4), np.nan)}, "pose"),
        ({"positions": np.full((3, 2, 3), np.inf)}, "pose"),
        ({"targets": np.full((1, 3, 3), np.nan)}, "target"),
        ({"targets": np.zeros((1, 4, 3))}, "do not match"),
        ({"rotations": np.zeros((3, 3, 4))}, "do not match"),
        ({"dt": 0.0}, "time step"),
        ({"dt": np.nan}, "time step"),
        ({"events": [Event(0.0, 1)]}, "target 1"),
        ({"events": [Event(0.0, -1)]}, "target -1"),
        ({"events": [Event(np.nan, 0)]}, "event"),
    ],
)
def test_a_bad_argument_is_named(changed, named):
    rotations, positions = body(np.arange(3) / 24.0, 2)
    arguments = {"rotations": rotations, "positions": positions, "targets": np.zeros((1, 3, 3)), "dt": 0.1}
    with pytest.raises(InvalidArgument, match=named):
        solve(make_chain(2), Tuning(), **(arguments | changed))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"shares": np.zeros(6)}, "shares"),
        ({"shares": np.ones(5)}, "shares|settle factors"),
        ({"settle_factors": np.full(6, np.nan)}, "settle factors"),
        ({"yaw_limits": np.full(6, -0.1)}, "yaw limits"),
        ({"compensates_lag": np.arange(6) == 3}, "compensate for the lag"),
        ({"shares": np.empty(0)}, "no bones"),
    ],
)
def test_a_bad_chain_is_named(changed, named):
    with pytest.raises(InvalidArgument, match=named):
        make_chain(**changed)


def test_the_head_always_compensates_lag() -> None:
    assert make_chain(compensates_lag=np.zeros(6, dtype=bool)).compensates_lag.tolist() == [True, *[False] * 5]
