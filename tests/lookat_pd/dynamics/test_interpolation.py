"""Motion between keys: on the beat, smooth, and heavy where it has to be."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import Body, Interpolation, interpolate, law
from lookat_pd.dynamics.limited import Limited
from lookat_pd.dynamics.simulation import Simulation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

from . import trees

SEEDS = st.integers(0, 10_000)
RESIDUALS = st.floats(1e-4, 0.5)
engine = pytest.mark.skipif(not dynamics.engine.available(), reason="needs the physics engine")


def arm(masses: tuple[float, ...] = (2.0, 1.5, 0.5)) -> Body:
    return trees.rods([0.3, 0.3, 0.2][: len(masses)], list(masses))


def wave(n: int = 3) -> tuple[Array, Array]:
    """Keys of an arm that is raised, swung aside and lowered, and their times, on frames of 24 and 60 a second."""
    turns = np.zeros((4, n, 3))
    turns[1], turns[2, :, 2], turns[2, 0, 0] = [0.0, 0.0, 0.9], -0.4, 0.5
    return rotation.exp(turns), np.array([0.0, 0.5, 1.0, 1.75])


HINDRANCES = {
    "weak": {"torque_limit": 20.0},
    "weak joint": {"torque_limit": [np.inf, 5.0, np.inf]},
    "weak about axes": {"torque_limit": np.full((3, 3), 15.0)},
    "tail": {"passive": [False, False, True], "damping": [0.0, 0.0, 0.002]},
    "springy tail": {"passive": [False, False, True], "damping": 0.01, "stiffness": 0.5},
    "weak with tail": {"passive": [False, False, True], "damping": [0.0, 0.0, 0.002], "torque_limit": 30.0},
    "friction": {"damping": 0.2},
    "reference": {"inertia": "reference"},
    "limits": {"limits": ik.Limits(minimum=np.full((3, 3), -0.6), maximum=np.full((3, 3), 0.6))},
}
hindered = pytest.mark.parametrize("hindrance", HINDRANCES.values(), ids=HINDRANCES.keys())


# The law by itself.


@given(RESIDUALS, st.floats(0.05, 3.0), st.floats(0.1, 3.0))
def test_what_the_law_leaves_at_the_key_is_the_residual(residual: float, duration: float, turn: float) -> None:
    keys = rotation.exp([[[0.0, 0.0, 0.0]], [[0.0, turn, 0.0]]])
    found = interpolate(trees.rods([0.3], [1.0]), keys, [0.0, duration], duration / 10.0, residual=residual)
    n = law.sharpness(np.array(residual))
    assert_allclose((1.0 + n) * np.exp(-n), residual, rtol=1e-9)
    assert_allclose(found.residuals[1, 0], residual * turn, rtol=1e-2)


@given(st.integers(2, 6), SEEDS, RESIDUALS)
def test_keys_are_hit(count: int, seed: int, residual: float) -> None:
    body, random = trees.body(4, seed), np.random.default_rng(seed)
    steps = random.integers(1, 12, count - 1)
    times = np.concatenate(([0.0], np.cumsum(steps))) / 20.0
    keys = trees.pose(4, seed, count)
    found = interpolate(body, keys, times, 1.0 / 20.0, residual=residual)
    assert_allclose(rotation.distance(found.rotations[np.rint(times * 20.0).astype(int)], keys), 0.0, atol=1e-6)
    assert not found.missed.any()


@given(SEEDS, RESIDUALS)
def test_poses_and_velocities_run_on_over_keys(seed: int, residual: float) -> None:
    keys, times = trees.pose(3, seed, 4), np.array([0.0, 0.3, 0.5, 1.1])
    motion = law.through(keys, times, np.full(3, residual))
    for key in (1, 2, 3):
        before, after = (motion.at(times[key : key + 1], np.array([interval])) for interval in (key - 1, key))
        assert_allclose(rotation.distance(before[0], after[0]), 0.0, atol=1e-7)
        assert_allclose(before[1], after[1], atol=1e-9 * np.abs(motion.speed).max())


@given(SEEDS)
def test_velocities_and_accelerations_are_those_of_the_poses(seed: int) -> None:
    motion = law.through(trees.pose(3, seed, 3), np.array([0.0, 0.5, 1.2]), np.array([0.001, 0.05, 0.3]))
    t, h = np.linspace(0.013, 1.187, 20), 1e-5
    (before, slow, _), (_, w, dw), (after, fast, _) = (motion.at(t + shift) for shift in (-h, 0.0, h))
    turned = rotation.log(rotation.multiply(rotation.inverse(before), after))
    assert_allclose(turned / (2.0 * h), w, atol=1e-6 * max(1.0, np.abs(dw).max()))
    assert_allclose((fast - slow) / (2.0 * h), dw, atol=1e-4 * np.abs(dw).max())


def test_velocity_continues_over_a_key_and_settles_after_the_last() -> None:
    keys = rotation.exp([[[0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]])
    slack = interpolate(trees.rods([0.3], [1.0]), keys, [0.0, 0.5], 0.01, residual=0.2, settle=2.0)
    angle = rotation.log(slack.rotations)[:, 0, 1]
    assert angle[:51].max() <= 1.0 + 1e-12
    assert angle.max() > 1.01
    assert_allclose(angle[-1], 1.0, atol=1e-3)


@given(st.integers(1, 6), SEEDS)
def test_mass_and_gravity_do_not_change_the_plain_motion(n: int, seed: int) -> None:
    light, heavy = trees.body(n, seed), trees.body(n, seed + 1)
    keys, times = trees.pose(n, seed, 3), [0.0, 0.4, 1.0]
    one = interpolate(light, keys, times, 0.05)
    other = interpolate(heavy, keys, times, 0.05, gravity=(0.0, 0.0, -9.81))
    assert np.array_equal(one.rotations, other.rotations)


def test_torques_are_those_that_make_the_motion() -> None:
    """Left to the engine with nothing but the torques found, a rod goes the way that was found."""
    trees.mujoco()
    body, rate, gravity = trees.rods([0.3], [2.0]), 2000.0, (9.81, 0.0, 0.0)
    keys = rotation.exp([[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.9]]])
    found = interpolate(body, keys, [0.0, 0.5], 1.0 / rate, gravity=gravity)
    held = found.torques.copy()
    held[:-1] = 0.5 * (found.torques[:-1] + found.torques[1:])
    motion = dynamics.simulate(body, keys[0], 0.5, 1.0 / rate, torques=held, gravity=gravity)
    assert rotation.distance(motion.rotations, found.rotations).max() < 0.005


def test_keys_of_one_pose_hold_still() -> None:
    pose = trees.pose(3, 1)
    found = interpolate(arm(), np.stack([pose] * 3), [0.0, 0.5, 1.0], 0.1)
    assert_allclose(rotation.distance(found.rotations, pose), 0.0, atol=1e-7)


def test_the_shorter_arc_is_taken_whatever_the_sign() -> None:
    keys = rotation.exp(np.array([[[0.0, 0.0, 0.1]], [[0.0, 0.0, -0.1]]]))
    keys[1] *= -1.0
    found = interpolate(trees.rods([0.3], [1.0]), keys, [0.0, 1.0], 0.1)
    assert rotation.angle(found.rotations).max() < 0.11


# Through the keys.


STEADY = 5.0 * np.exp(-4.0)
"""What the panel's default tension of 4 leaves."""


def turned(*angles: float) -> Array:
    """Keys (k, 1, 4) of a joint about Z."""
    return rotation.exp(np.array([[[0.0, 0.0, angle]] for angle in angles]))


def passed(keys: Array, times: Sequence[float], kinds: Sequence[str] | None = None, **given: Any) -> Interpolation:
    velocities = dynamics.key_velocities(keys, times, kinds)
    body = trees.rods([0.3] * keys.shape[1], [1.0] * keys.shape[1])
    return interpolate(body, keys, times, 1.0 / 240.0, **{"residual": STEADY, "velocities": velocities, **given})


def speeds(found: Interpolation) -> Array:
    """(F - 1,) [rad/s] of the fastest joint."""
    return rotation.distance(found.rotations[1:], found.rotations[:-1]).max(axis=1) * 240.0


@pytest.mark.parametrize("residual", [0.001, STEADY, 0.3])
def test_keys_at_a_constant_speed_are_passed_at_that_speed(residual: float) -> None:
    keys, times = turned(0.0, 1.0, 2.0, 3.0, 4.0), 0.5 * np.arange(5.0)
    motion = law.through(keys, times, np.array([residual]), dynamics.key_velocities(keys, times))
    _, before, _ = motion.at(times[1:4], np.arange(3))
    _, after, _ = motion.at(times[1:4], np.arange(1, 4))
    assert_allclose(before[:, 0, 2], 2.0, atol=1e-9)
    assert_allclose(after[:, 0, 2], 2.0, atol=1e-9)
    # Between two passed keys it is that speed all the time.
    assert_allclose(motion.at(np.linspace(0.5, 1.5, 50))[1][:, 0, 2], 2.0, atol=1e-9)


@given(st.integers(2, 6), SEEDS, RESIDUALS)
def test_passed_keys_are_hit_exactly(count: int, seed: int, residual: float) -> None:
    random = np.random.default_rng(seed)
    times = np.concatenate(([0.0], np.cumsum(random.integers(1, 12, count - 1)))) / 20.0
    keys = trees.pose(4, seed, count)
    velocities = dynamics.key_velocities(keys, times)
    found = interpolate(trees.body(4, seed), keys, times, 1.0 / 20.0, residual=residual, velocities=velocities)
    at = np.rint(times * 20.0).astype(int)
    assert (
        np.abs(rotation.align_hemisphere(np.stack((found.rotations[at], keys)))[1] - found.rotations[at]).max() < 1e-9
    )


POSES = {
    "steady": turned(0.0, 1.0, 2.0, 3.0),
    "there and back": turned(0.0, 1.0, -0.5, 0.6),
    "unequal": turned(0.0, 0.3, 1.2, 1.4),
    "in space": rotation.exp(np.array([[[0.0, 0.0, 0.0]], [[0.8, 0.2, 0.0]], [[0.9, 0.9, 0.3]], [[0.0, 1.0, 0.8]]])),
}


@pytest.mark.parametrize("keys", POSES.values(), ids=POSES.keys())
def test_poses_a_second_apart_are_neither_rushed_nor_rested_at(keys: Array) -> None:
    """At most 1.3 times the peak of Bezier curves with automatic handles, and moving nearly all the time."""
    times = np.arange(4.0)
    found = speeds(passed(keys, times))
    span = rotation.log(rotation.multiply(rotation.inverse(keys[:-1]), keys[1:]))[:, 0]
    slopes = np.zeros((4, 3))
    same = span[:-1] * span[1:] > 0.0
    slopes[1:3] = np.where(same, 0.5 * (span[:-1] + span[1:]), 0.0)
    s = np.linspace(0.0, 1.0, 101)[:, None]
    curve = [
        6.0 * (s - s * s) * span[i] + (1.0 + s * (3.0 * s - 4.0)) * slopes[i] + s * (3.0 * s - 2.0) * slopes[i + 1]
        for i in range(3)
    ]
    bezier = max(float(np.linalg.norm(part, axis=1).max()) for part in curve)
    assert found.max() < 1.3 * bezier
    assert np.mean(found < 0.02 * found.max()) < 0.05


def test_kinds_of_keys_say_how_they_are_passed() -> None:
    times = np.arange(4.0)
    onward, back = turned(0.0, 1.0, 2.0, 3.0), turned(0.0, 1.0, 0.5, 2.0)

    def at(keys: Array, *kinds: str) -> Array:
        return dynamics.key_velocities(keys, times, kinds)[:, 0, 2]

    assert_allclose(at(onward, "auto", "auto", "stop", "auto"), [0.0, 1.0, 0.0, 0.0], atol=1e-12)
    assert_allclose(at(back, "auto", "auto", "auto", "auto"), 0.0, atol=1e-12)
    assert_allclose(at(back, "auto", "pass", "auto", "auto"), [0.0, 0.25, 0.0, 0.0], atol=1e-12)
    assert_allclose(at(onward, "pass", "auto", "auto", "pass"), 1.0, atol=1e-12)


@pytest.mark.parametrize("residual", [0.001, STEADY])
@given(SEEDS)
def test_automatic_keys_do_not_overshoot(residual: float, seed: int) -> None:
    """Where keys only go one way, so does the joint, and a held pose is still."""
    random = np.random.default_rng(seed)
    angles = np.cumsum(random.choice([0.0, 0.02, 0.3, 1.0], 5))
    times = np.concatenate(([0.0], np.cumsum(random.choice([0.1, 0.5, 2.0], 4))))
    found = passed(turned(*angles), times, residual=residual)
    path = np.unwrap(2.0 * np.arctan2(found.rotations[:, 0, 3], found.rotations[:, 0, 0]), period=2.0 * np.pi)
    assert np.diff(path).min() > -1e-9


@pytest.mark.parametrize("residual", [0.001, STEADY])
def test_swinging_past_goes_as_far_as_asked_and_comes_back_to_rest(residual: float) -> None:
    found = passed(turned(0.0, 0.5, 1.5), [0.0, 1.0, 2.0], settle=2.0, swing_past=0.2, residual=residual)
    path = rotation.log(found.rotations[:, 0])[:, 2]
    assert path[:480].max() < 1.5
    assert_allclose(path.max(), 1.5 + 0.2 * 1.0, atol=0.01)
    assert_allclose(path[-1], 1.5, atol=1e-9)
    assert abs(path[-1] - path[-2]) < 1e-4


@pytest.mark.parametrize("swing_past", [0.1, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("residual", [0.001, 0.01, STEADY])
@pytest.mark.parametrize("angles", [(0.0, 1.0), (0.0, 0.5, 1.5)])
def test_joints_do_not_draw_back_before_they_swing_past(
    angles: tuple[float, ...], residual: float, swing_past: float
) -> None:
    """With the time that it takes."""
    times = np.arange(len(angles)) * 0.8
    settle = law.swing_time(law.sharpness(np.array(residual)), 0.8, swing_past)
    found = passed(turned(*angles), times, settle=float(settle), swing_past=swing_past, residual=residual)
    path = rotation.log(found.rotations[:, 0])[:, 2]
    past = swing_past * (angles[-1] - angles[-2])
    assert np.diff(path[found.times <= times[-1]]).min() > -1e-4
    assert_allclose(path.max(), angles[-1] + past, atol=0.02 * past + 0.002)
    assert_allclose(path[-1], angles[-1], atol=0.02)


@pytest.mark.thorough
@engine
@hindered
def test_passed_keys_are_hit_with_something_in_the_way_too(hindrance: dict) -> None:
    keys, times = wave()
    found = interpolate(
        arm(), keys, times, 0.05, settle=0.25, velocities=dynamics.key_velocities(keys, times), **hindrance
    )
    at = np.rint(times / 0.05).astype(int)
    driven = [joint for joint in range(3) if not hindrance.get("passive", [False] * 3)[joint]]
    seen = rotation.distance(found.rotations[at], keys)[:, driven]
    assert_allclose(found.missed, seen.max(axis=1), atol=1e-6)
    assert np.isfinite(found.torques).all()


@engine
@pytest.mark.parametrize("load", [1.0, 3.0, 20.0])
def test_a_body_with_a_load_passes_its_keys_at_their_speed_and_comes_to_rest(load: float) -> None:
    """Though its joints apply the torques for the body without the load."""
    body, reference = (trees.rods([0.3, 0.3], [1.0, mass]) for mass in (load, 0.5))
    turns = np.zeros((5, 2, 3))
    turns[:, 0, 2], turns[:, 1, 2] = np.arange(5.0), 0.3 * np.arange(5.0)
    keys, times, dt = rotation.exp(turns), 0.5 * np.arange(5.0), 1.0 / 2400.0
    velocities = dynamics.key_velocities(keys, times)
    heavy, plain = (
        interpolate(body, keys, times, dt, residual=STEADY, velocities=velocities, **hindrance)
        for hindrance in ({"inertia": "reference", "reference": reference}, {})
    )
    assert rotation.distance(heavy.rotations, plain.rotations).max() > 0.05
    at = np.rint(times / dt).astype(int)
    assert rotation.distance(heavy.rotations[at], keys).max() < 1e-9
    turned = rotation.log(rotation.multiply(rotation.inverse(heavy.rotations[:-1]), heavy.rotations[1:])) / dt
    for before in (turned[at[1:4] - 1], turned[at[1:4]]):
        assert_allclose(before[:, 0, 2], 2.0, rtol=0.02)
        assert_allclose(before[:, 1, 2], 0.6, rtol=0.02)
    assert np.abs(turned[-1]).max() < 0.02


@engine
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_a_load_makes_the_joints_miss_by_as_much_as_the_law_integrated_finely(seed: int) -> None:
    """T dw = B (the law's acceleration), with the mass matrices of the body and its reference, by the midpoint rule."""
    body, random = trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5]), np.random.default_rng(seed)
    loads = random.uniform(0.5, 1.5, 3)
    reference = trees.rods([0.3, 0.3, 0.2], list(loads * np.asarray(body.masses)))
    keys = rotation.exp(random.normal(scale=0.4, size=(2, 3, 3)))
    given: dict[str, Any] = {"inertia": "reference", "reference": reference, "residual": 0.02}
    found = interpolate(body, keys, [0.0, 0.5], 1.0 / 60.0, **given)
    motion = law.through(keys, np.array([0.0, 0.5]), np.full(3, 0.02))
    rate = motion.frequency[0, 0]

    def slope(t: float, q: Array, w: Array) -> Array:
        own, spin, rise = (values[0] for values in motion.at(np.array([t]), np.array([0])))
        wanted = rise + rate**2 * rotation.log(rotation.multiply(rotation.inverse(q), own)) + 2.0 * rate * (spin - w)
        return np.linalg.solve(body.mass_matrix(q), reference.mass_matrix(q) @ wanted.ravel()).reshape(3, 3)

    q, w, h = keys[0], np.zeros((3, 3)), 1.0 / 400.0
    for t in h * np.arange(200):
        middle = rotation.multiply(q, rotation.exp(0.5 * h * w))
        w_middle = w + 0.5 * h * slope(t, q, w)
        w = w + h * slope(t + 0.5 * h, middle, w_middle)
        q = rotation.multiply(q, rotation.exp(h * w_middle))
    missed = rotation.distance(q, keys[1])
    assert missed.max() > 0.01
    assert_allclose(found.residuals[1], missed, atol=1e-3)


@pytest.mark.slow
@engine
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 7, 8])
@pytest.mark.parametrize("passes", [False, True])
def test_torques_for_another_body_move_a_tree_as_in_much_shorter_steps(
    seed: int, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 2 + seed % 7
    body, random = trees.body(n, seed, spread=0.3), np.random.default_rng(seed)
    factor = 5.0 ** random.uniform(-1.0, 1.0, n)
    inertias = np.asarray(body.inertias) * factor[:, None, None]
    given: dict[str, Any] = {
        "inertia": "reference",
        "reference": dataclasses.replace(body, masses=np.asarray(body.masses) * factor, inertias=inertias),
    }
    keys, times = rotation.exp(random.normal(scale=0.5, size=(5, n, 3))), np.array([0.0, 0.5, 1.0, 1.4, 2.0])
    if passes:
        given["velocities"] = dynamics.key_velocities(keys, times)
    found = interpolate(body, keys, times, 1.0 / 60.0, **given)
    monkeypatch.setattr(Simulation, "longest", 1.0 / 1920.0)
    fine = interpolate(body, keys, times, 1.0 / 60.0, **given)
    plain = interpolate(body, keys, times, 1.0 / 60.0, velocities=given.get("velocities"))
    assert rotation.distance(found.rotations, plain.rotations).max() > 0.05
    assert rotation.distance(found.rotations, fine.rotations).max() < 1e-3


@pytest.mark.slow
@engine
def test_a_long_chain_with_reference_inertia_is_as_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    body, times = trees.rods([0.2] * 20, [1.0] * 20), 0.5 * np.arange(5)
    keys = rotation.exp(np.random.default_rng(1).normal(scale=0.3, size=(5, 20, 3)))
    found = interpolate(body, keys, times, 1.0 / 60.0, inertia="reference")
    monkeypatch.setattr(Simulation, "longest", 1.0 / 1920.0)
    fine = interpolate(body, keys, times, 1.0 / 60.0, inertia="reference")
    assert rotation.distance(found.rotations, fine.rotations).max() < 1e-3


@engine
def test_strong_joints_start_at_the_speed_of_a_passed_first_key() -> None:
    keys, times = turned(0.0, 1.0, 2.0), np.arange(3.0)
    plain, strong = (passed(keys, times, ["pass"] * 3, torque_limit=limit) for limit in (None, 1e4))
    assert rotation.distance(plain.rotations, strong.rotations).max() < 1e-6


# With something in its way.


@pytest.mark.thorough
@engine
@hindered
def test_the_frame_rate_does_not_matter(hindrance: dict) -> None:
    keys, times = wave()
    fine, coarse = (interpolate(arm(), keys, times, dt, settle=0.25, **hindrance) for dt in (1.0 / 60.0, 1.0 / 24.0))
    assert rotation.distance(fine.rotations[::5], coarse.rotations[::2]).max() < np.radians(0.1)
    assert_allclose(fine.missed, coarse.missed, atol=1e-12)


@pytest.mark.slow
@engine
@hindered
def test_the_same_is_found_again(hindrance: dict) -> None:
    keys, times = wave()
    one, other = (interpolate(arm(), keys, times, 1.0 / 30.0, **hindrance) for _ in range(2))
    assert np.array_equal(one.rotations, other.rotations)
    assert np.array_equal(one.torques, other.torques)


@pytest.mark.thorough
@engine
@hindered
def test_what_is_missed_is_reported(hindrance: dict) -> None:
    keys, times = wave()
    found = interpolate(arm(), keys, times, 0.25 / 15.0, **hindrance)
    at = np.rint(times / (0.25 / 15.0)).astype(int)
    driven = [joint for joint in range(3) if not hindrance.get("passive", [False] * 3)[joint]]
    seen = rotation.distance(found.rotations[at], keys)[:, driven]
    assert_allclose(found.missed, seen.max(axis=1), atol=1e-6)


@engine
def test_limits_that_are_never_met_change_nothing() -> None:
    keys, times = wave()
    plain = interpolate(arm(), keys, times, 0.05)
    for hindrance in ({"torque_limit": 1e6}, {"limits": ik.Limits(minimum=np.full((3, 3), -3.0))}):
        assert (
            rotation.distance(interpolate(arm(), keys, times, 0.05, **hindrance).rotations, plain.rotations).max()
            < 1e-6
        )


@engine
def test_the_last_frame_needs_no_more_torque_than_those_before_it() -> None:
    keys, _ = wave()
    found = interpolate(arm(), keys[:3], [0.0, 0.4, 1.4], 0.02, torque_limit=1e6)
    assert np.abs(found.torques[-1]).max() < np.abs(found.torques[:-1]).max()


@engine
def test_a_body_that_is_its_own_reference_moves_plainly() -> None:
    keys, times = wave()
    plain = interpolate(arm(), keys, times, 0.05)
    own = interpolate(arm(), keys, times, 0.05, inertia="reference", reference=arm())
    assert rotation.distance(own.rotations, plain.rotations).max() < 1e-6


@pytest.mark.thorough
@engine
@settings(max_examples=4)
@given(SEEDS, st.sampled_from([2.0, 8.0, 30.0]), st.booleans())
def test_torques_stay_within_their_limits(seed: int, limit: float, falls: bool) -> None:
    body, keys = trees.body(5, seed, spread=0.3), trees.pose(5, seed, 4)
    gravity = (0.0, 0.0, -9.81 if falls else 0.0)
    found = interpolate(body, keys, [0.0, 0.4, 0.9, 1.5], 0.02, torque_limit=limit, gravity=gravity)
    assert np.linalg.norm(found.torques, axis=-1).max() <= limit * (1.0 + 1e-6)
    assert np.isfinite(found.rotations).all()


@engine
def test_torques_about_each_axis_stay_within_their_limits() -> None:
    keys, times = wave()
    limit = np.array([[5.0, 1.0, 20.0], [np.inf, np.inf, 6.0], [3.0, 3.0, 3.0]])
    found = interpolate(arm(), keys, times, 0.02, torque_limit=limit)
    assert np.all(np.abs(found.torques) <= limit * (1.0 + 1e-6))
    assert found.missed.max() > 0.01


@engine
def test_a_limit_that_bites_at_first_still_lets_the_key_be_hit() -> None:
    keys, times = wave(1)
    body = trees.rods([0.3], [2.0])
    strong = interpolate(body, keys[:2], times[:2], 0.01)
    peak = np.linalg.norm(strong.torques, axis=-1).max()
    weak = interpolate(body, keys[:2], times[:2], 0.01, torque_limit=0.5 * peak)
    assert weak.missed.max() < 1e-6
    assert rotation.distance(weak.rotations, strong.rotations).max() > np.radians(0.5)


@pytest.mark.slow
@engine
@pytest.mark.parametrize("seed", range(4))
def test_a_weak_tree_moves_the_same_whatever_the_step(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body = trees.body(3 + seed, seed, spread=0.3)
    keys = rotation.exp(np.random.default_rng(seed).normal(scale=0.6, size=(5, 3 + seed, 3)))
    times = np.array([0.0, 0.5, 1.0, 1.4, 2.0])
    strong = interpolate(body, keys, times, 1.0 / 60.0)
    limit = 0.5 * np.linalg.norm(strong.torques, axis=-1).max(axis=0)
    found = interpolate(body, keys, times, 1.0 / 60.0, torque_limit=limit)
    monkeypatch.setattr(Limited, "longest", 1.0 / 960.0)
    fine = interpolate(body, keys, times, 1.0 / 60.0, torque_limit=limit)
    assert rotation.distance(found.rotations, strong.rotations).max() > 0.05
    assert rotation.distance(found.rotations, fine.rotations).max() < 0.02


@pytest.mark.slow
@engine
def test_an_arm_that_is_far_too_weak_converges_with_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve rods of which the first would need a thousand times its torque."""
    body, keys = trees.rods([0.2] * 12, [1.0] * 12), rotation.exp(np.random.default_rng(1).normal(0.0, 0.3, (3, 12, 3)))
    times = np.array([0.0, 0.5, 1.0])
    poses = []
    for halved in range(4):
        monkeypatch.setattr(Limited, "longest", 0.5**halved / 144.0)
        poses.append(interpolate(body, keys, times, 1.0 / 60.0, torque_limit=20.0).rotations)
    apart = [rotation.distance(pose, poses[-1]).max() for pose in poses[:-1]]
    # By less than a seventh it would be of first order.
    assert apart[2] < 0.1 * apart[0] < 0.01


@pytest.mark.thorough
@engine
@pytest.mark.parametrize("limit", [3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
def test_a_rod_accelerates_no_faster_than_its_torque_allows(limit: float) -> None:
    """Nor where it is led to a key that it has swung beyond."""
    body, angles, dt = trees.rods([0.3], [10.0]), np.radians([0.0, 60.0, -30.0, 20.0]), 1.0 / 120.0
    keys = rotation.exp(angles[:, None, None] * np.array([0.0, 0.0, 1.0]))
    found = interpolate(body, keys, 0.5 * np.arange(4), dt, settle=0.75, torque_limit=limit)
    turns = rotation.log(found.rotations[:, 0])[:, 2]
    inertia = body.mass_matrix(rotation.identity(1))[2, 2]
    assert np.abs(np.diff(turns, 2)).max() / dt**2 * inertia < 1.1 * limit


def half_way(found: Interpolation, joint: int) -> float:
    """When a joint has gone half of its way to the last pose."""
    way = rotation.distance(found.rotations[:1], found.rotations)[:, joint]
    return float(np.interp(0.5 * way[-1], np.maximum.accumulate(way), found.times))


@engine
@pytest.mark.parametrize("hindrance", [{"torque_limit": 8.0}, {"inertia": "reference"}], ids=["weak", "reference"])
def test_a_heavier_limb_moves_later(hindrance: dict) -> None:
    keys, _ = wave(2)
    light, heavy = (
        interpolate(trees.rods([0.3, 0.3], [mass, mass]), keys[:2], [0.0, 0.8], 1.0 / 60.0, settle=1.0, **hindrance)
        for mass in (0.5, 5.0)
    )
    at_key = 48
    reached = [
        float(rotation.distance(found.rotations[0], found.rotations[at_key // 2])[0]) for found in (light, heavy)
    ]
    assert reached[1] < 0.8 * reached[0]
    assert half_way(heavy, 0) > half_way(light, 0) + 0.05


@engine
def test_a_heavier_tail_swings_later() -> None:
    """Of two tails on the same spring the heavier one follows later."""
    keys, times = wave(2)

    def swung(mass: float) -> Array:
        body = trees.rods([0.3, 0.3], [1.0, mass])
        found = interpolate(
            body, keys[:2], times[:2], 0.01, settle=2.0, passive=[False, True], stiffness=2.0, damping=[0.0, 0.05]
        )
        assert found.missed.max() < 1e-6
        return found.times[np.argmax(rotation.log(found.rotations[:, 1])[:, 2])]

    assert swung(5.0) > swung(0.5) + 0.1


@engine
def test_a_driven_parent_is_not_moved_by_its_tail() -> None:
    keys, times = wave()
    plain = interpolate(arm(), keys, times, 0.02)
    tail = interpolate(arm((2.0, 1.5, 50.0)), keys, times, 0.02, passive=[False, False, True], damping=0.0)
    assert rotation.distance(plain.rotations, tail.rotations)[:, :2].max() < 1e-6
    assert rotation.distance(plain.rotations, tail.rotations)[:, 2].max() > 0.1


@engine
def test_a_tail_hangs_in_the_end() -> None:
    body, keys = trees.rods([0.3, 0.3], [1.0, 1.0]), rotation.exp(np.zeros((2, 2, 3)))
    found = interpolate(
        body, keys, [0.0, 0.5], 0.05, settle=8.0, passive=[False, True], damping=[0.0, 0.05], gravity=(9.81, 0.0, 0.0)
    )
    down = rotation.rotate(found.rotations[-1, 1], [0.0, 1.0, 0.0])
    assert_allclose(down, [1.0, 0.0, 0.0], atol=0.02)


@engine
def test_a_moving_root_swings_the_tail() -> None:
    body, keys = trees.rods([0.3], [1.0]), rotation.identity(2, 1)
    t = 0.02 * np.arange(51)
    given = {"passive": [True], "damping": [0.0], "gravity": (0.0, 0.0, 0.0)}
    pushed = np.zeros((51, 3))
    # A constant acceleration sideways is a gravity to the other side.
    pushed[:, 0] = 0.5 * 3.0 * t**2
    found = interpolate(body, keys, [0.0, 1.0], 0.02, root=(pushed, rotation.identity(51)), **given)
    falling = interpolate(body, keys, [0.0, 1.0], 0.02, **{**given, "gravity": (-3.0, 0.0, 0.0)})
    # To a substep, which is what the beginning of both may be apart.
    substep = rotation.distance(falling.rotations[1:], falling.rotations[:-1]).max() / 0.02 * Simulation.longest
    assert rotation.distance(found.rotations, falling.rotations).max() < substep
    assert substep < 0.05
    assert rotation.angle(falling.rotations[-1]).max() > 0.5


@engine
def test_a_root_is_moved_by_nothing_but_its_own_motion() -> None:
    """Whatever hinders the joints: strong ones on a root that swings go as they would on one that stands."""
    keys, times = wave()
    t = np.arange(36) * 0.05
    swung = np.zeros((36, 3))
    swung[:, 0] = np.sin(5.0 * t)
    turned = rotation.exp(np.stack([0.0 * t, np.sin(4.0 * t), 0.0 * t], axis=-1))
    plain = interpolate(arm(), keys, times, 0.05)
    found = interpolate(arm(), keys, times, 0.05, root=(swung, turned), torque_limit=1e6)
    assert rotation.distance(found.rotations, plain.rotations).max() < 1e-6
    weak = interpolate(arm(), keys, times, 0.05, root=(swung, turned), torque_limit=10.0)
    still = interpolate(arm(), keys, times, 0.05, torque_limit=10.0)
    assert rotation.distance(weak.rotations, still.rotations).max() > 0.05


def test_a_turning_root_does_not_stop_at_the_ends() -> None:
    """What turns evenly throughout asks for the same torque at the first and last moment as in between."""
    times = np.array([0.0, 1.0])
    bent = rotation.exp(np.array([[0.3, 0.2, 0.5], [0.6, -0.2, 0.1], [0.2, 0.4, 0.3]]))
    keys = np.stack((bent, bent))
    spin = rotation.about(np.array([0.0, 0.0, 1.0]), np.linspace(0.0, 2.0, 21))
    found = interpolate(arm(), keys, times, 0.05, root=(np.zeros((21, 3)), spin))
    sizes = np.linalg.norm(found.torques, axis=-1)
    # As near as the curve through the samples is at its ends.
    assert_allclose(sizes[[0, -1]], sizes[[10, 10]], rtol=0.01)


def test_a_moving_root_changes_the_torques_of_the_plain_motion() -> None:
    body, (keys, times) = arm(), wave()
    t = np.arange(36) * 0.05
    lifted = np.zeros((36, 3))
    lifted[:, 2] = 0.5 * 9.81 * t**2
    plain = interpolate(body, keys, times, 0.05, gravity=(0.0, 0.0, -9.81))
    rising = interpolate(body, keys, times, 0.05, root=(lifted, rotation.identity(36)))
    assert np.array_equal(plain.rotations, rising.rotations)
    assert_allclose(rising.torques, plain.torques, atol=1e-6 * np.abs(plain.torques).max())


@engine
def test_joints_stay_within_their_limits() -> None:
    keys, times = wave()
    limits = ik.Limits(minimum=np.full((3, 3), -0.3), maximum=np.full((3, 3), 0.3))
    found = interpolate(
        arm(), keys, times, 0.02, settle=0.5, limits=limits, passive=[False, False, True], damping=[0.0, 0.0, 0.001]
    )
    assert limits.excess(found.rotations).max() < 1e-6
    assert found.missed[1] > 0.5


def test_limits_that_the_motion_keeps_need_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamics.engine, "_module", lambda: ModuleNotFoundError("mujoco"))
    keys, times = wave()
    limits = ik.Limits(minimum=np.full((3, 3), -1.0), maximum=np.full((3, 3), 1.0))
    held = interpolate(arm(), keys, times, 0.02, limits=limits)
    assert_allclose(held.rotations, interpolate(arm(), keys, times, 0.02).rotations, atol=1e-12)


@engine
def test_a_swing_past_a_limit_stops_at_it() -> None:
    keys, times = rotation.exp([[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.5]]]), np.array([0.0, 0.5])
    given: dict[str, Any] = {"settle": 1.0, "swing_past": 0.4, "velocities": np.zeros((2, 1, 3))}
    limits = ik.Limits(maximum=[[0.55, 0.55, 0.55]])
    free = interpolate(arm((2.0,)), keys, times, 0.01, **given)
    held = interpolate(arm((2.0,)), keys, times, 0.01, limits=limits, **given)
    assert limits.excess(free.rotations).max() > 0.1
    assert limits.excess(held.rotations).max() < 1e-6 and held.missed.max() < 1e-6


# Hinges.


def hinged(n: int, seed: int) -> tuple[Body, Array, Array]:
    """A random body, axes of hinges in its bones, and a pose."""
    axes = rotation.normalize(np.random.default_rng(seed).normal(size=(n, 3)))
    return trees.body(n, seed, spread=0.3), axes, trees.pose(n, seed)


@engine
@pytest.mark.parametrize("seed", range(3))
def test_loose_hinges_swing_as_those_of_the_engine(seed: int) -> None:
    body, axes, start = hinged(4, seed)
    gravity = np.array([0.0, 0.0, -9.81])
    found = interpolate(
        body, [start, start], [0.0, 2.0], 1.0 / 24.0, passive=[True] * 4, damping=0.5, gravity=gravity, hinges=axes
    )
    turns = rotation.log(rotation.multiply(rotation.inverse(start), found.rotations))
    angles = rotation.dot(turns, axes)
    assert np.abs(turns - angles[..., None] * axes).max() < 1e-9
    alone = trees.hinge_angles(body, axes, start, gravity, 0.5, 1.0 / 960.0, 1920)[::40]
    assert np.abs(alone).max() > 1.0
    assert apart(angles, alone) < 1e-3


def apart(angles: Array, others: Array) -> float:
    """The largest difference of angles."""
    return float(np.abs((angles - others + np.pi) % (2.0 * np.pi) - np.pi).max())


@engine
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_loose_hinges_at_their_stops_stay_within_them_and_lose_energy(seed: int) -> None:
    body, _, start = hinged(4, seed)
    axes, gravity, most = np.tile([1.0, 0.0, 0.0], (4, 1)), np.array([0.0, 0.0, -9.81]), 0.6
    limits = ik.Limits(rest=start, minimum=np.full((4, 3), -most), maximum=np.full((4, 3), most))
    given: dict[str, Any] = {"passive": [True] * 4, "gravity": gravity, "hinges": axes}
    dt = 1.0 / 1200.0
    found = interpolate(body, [start, start], [0.0, 2.0], dt, limits=limits, **given)
    angles = rotation.log(rotation.multiply(rotation.inverse(start), found.rotations))[..., 0]
    assert most - 1e-6 < np.abs(angles).max() < most + 1e-6
    w = np.zeros((len(angles) - 1, 12))
    w[:, ::3] = np.diff(angles, axis=0) / dt
    _, places = body.forward(found.rotations)
    turned = body.forward(found.rotations)[0]
    centers = places + rotation.rotate(turned, np.broadcast_to(body.centers, places.shape))
    height = 9.81 * np.sum(np.asarray(body.masses) * centers[..., 2], axis=1)
    moving = 0.5 * np.einsum("fi,fij,fj->f", w, body.mass_matrix(found.rotations[:-1]), w)
    energy = moving + 0.5 * (height[:-1] + height[1:])
    assert energy[-1] < energy[0]


@pytest.mark.thorough
@engine
@pytest.mark.parametrize(
    ("seed", "damping", "steps"), [(0, 0.05, 1920), (1, 0.05, 1920), (2, 0.05, 1920), (2, 2.0, 30720)]
)
def test_loose_trees_on_moving_springs_swing_as_those_of_the_engine(seed: int, damping: float, steps: int) -> None:
    """Little friction is explicit in the steps, much of it implicit."""
    body, times, gravity = trees.body(4, seed, spread=0.3), np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, -9.81])
    keys = rotation.exp(np.random.default_rng(seed).normal(scale=0.3, size=(3, 4, 3)))
    given: dict[str, Any] = {"damping": damping, "stiffness": 20.0, "gravity": gravity}
    found = interpolate(body, keys, times, 1.0 / 24.0, passive=[True] * 4, **given)
    fine = np.linspace(0.0, 1.0, steps + 1)
    motion = law.through(keys, times, np.full(4, 0.001))
    alone = trees.sprung(body, motion.poses(fine), gravity, damping, 20.0, fine[1])[:: steps // 24]
    assert rotation.distance(alone[0], alone).max() > 0.5
    assert rotation.distance(found.rotations, alone).max() < 1e-3


@pytest.mark.thorough
@engine
@pytest.mark.parametrize(("seed", "damping"), [(0, 0.3), (1, 0.1), (1, 0.3), (4, 0.1), (4, 0.3), (5, 0.3)])
def test_loose_trees_behind_driven_joints_swing_as_those_of_the_engine(seed: int, damping: float) -> None:
    """Also if they tumble and whip."""
    body, times, gravity = trees.body(4, seed, spread=0.3), np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.0, -9.81])
    keys = rotation.exp(np.random.default_rng(seed).normal(scale=0.3, size=(3, 4, 3)))
    passive = np.arange(4) >= 2
    friction = damping * passive
    found = interpolate(body, keys, times, 1.0 / 120.0, passive=passive, damping=friction, gravity=gravity)
    fine = np.linspace(0.0, 1.0, 9601)
    motion = law.through(keys, times, np.full(4, 0.001))
    alone = trees.driven(body, motion.poses(fine), passive, gravity, friction, fine[1])[::80]
    assert rotation.distance(alone[0], alone)[:, passive].max() > 0.5
    assert rotation.distance(found.rotations, alone).max() < 1e-3


@engine
@pytest.mark.parametrize("stiffness", [pytest.param(0.0, marks=pytest.mark.slow), 6.0])
def test_a_tail_swings_the_same_whatever_the_step(stiffness: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Friction that is stiff against the small inertia about the length of a bone."""
    body = trees.rods([0.3, 0.1, 0.1], [10.0, 0.4, 0.2])
    keys, times = wave()
    given: dict[str, Any] = {"passive": [False, True, True], "damping": 0.1, "stiffness": stiffness}
    given["damping"] = [0.0, 0.1, 0.02]
    found = interpolate(body, keys, times, 1.0 / 24.0, gravity=(9.81, 0.0, 0.0), **given)
    monkeypatch.setattr(Simulation, "longest", 1.0 / 1920.0)
    fine = interpolate(body, keys, times, 1.0 / 24.0, gravity=(9.81, 0.0, 0.0), **given)
    assert rotation.distance(found.rotations, fine.rotations).max() < 1e-3


@engine
@pytest.mark.parametrize("wide", [False, True])
def test_weak_hinges_stay_on_their_axes_and_within_their_torque(wide: bool) -> None:
    body, axes, start = hinged(4, 5)
    angles = np.array([0.0, 1.2, -0.5, 0.3])[:, None] * np.ones(4)
    keys = rotation.multiply(start, rotation.exp(angles[..., None] * axes))
    limit: Any = np.full((4, 3), 8.0) if wide else 8.0
    found = interpolate(body, keys, [0.0, 0.4, 0.8, 1.4], 0.02, torque_limit=limit, hinges=axes, gravity=(0, 0, -9.81))
    turns = rotation.log(rotation.multiply(rotation.inverse(start), found.rotations))
    about = rotation.dot(turns, axes)
    assert np.abs(turns - about[..., None] * axes).max() < 1e-9
    most = 8.0 / np.abs(axes).max(axis=1) if wide else 8.0
    assert np.all(np.abs(rotation.dot(found.torques, axes)) <= most * (1.0 + 1e-6))
    assert found.missed.max() > 0.01


def test_keys_that_a_hinge_cannot_take_are_refused() -> None:
    keys, times = wave()
    with pytest.raises(InvalidArgument, match="axis of its hinge"):
        interpolate(arm(), keys, times, 0.02, hinges=[[1.0, 0.0, 0.0]] * 3)


@engine
@pytest.mark.parametrize(
    "hindrance",
    [
        {},
        {"torque_limit": 5.0},
        pytest.param({"inertia": "reference"}, marks=pytest.mark.slow),
        {"damping": 0.1},
    ],
)
@pytest.mark.parametrize("gravity", [0.0, pytest.param(-9.81, marks=pytest.mark.slow)])
def test_the_worst_input_stays_bounded(hindrance: dict, gravity: float) -> None:
    """Seventy bones with masses a thousandfold apart and keys far apart in space and close in time."""
    body = trees.body(70, 3, chain=True, spread=1.5)
    keys, times = trees.pose(70, 3, 4), np.arange(4) * 0.05
    found = interpolate(body, keys, times, 1.0 / 60.0, settle=0.2, gravity=(0.0, 0.0, gravity), **hindrance)
    assert np.isfinite(found.rotations).all()
    assert np.isfinite(found.torques).all()
    assert np.isfinite(found.missed).all()
    assert_allclose(np.linalg.norm(found.rotations, axis=-1), 1.0, atol=1e-9)


@engine
def test_a_light_bone_behind_weak_joints_does_not_whip() -> None:
    """A hand without strength on an arm that is too weak turns no faster than those of people."""
    turns = np.zeros((4, 3, 3))
    turns[:, 0, 0], turns[:, 1, 0], turns[:, 2, 2] = (0.0, 1.5, -1.0, 1.0), (0.0, -1.5, 1.0, 0.5), (0.0, 1.0, -1.0, 0.0)
    body, times = trees.rods([0.3, 0.3, 0.1], [3.0, 2.0, 0.05]), 0.3 * np.arange(4.0)
    weak = {"torque_limit": [30.0, 1.0, 0.001], "gravity": (0.0, 0.0, -9.81), "settle": 0.5}
    found = interpolate(body, rotation.exp(turns), times, 1.0 / 240.0, **weak)
    assert speeds(found).max() < 25.01


@pytest.mark.slow
@engine
@settings(max_examples=6)
@given(SEEDS)
def test_a_loose_chain_of_unlike_bones_stays_bounded(seed: int) -> None:
    body, keys = trees.body(12, seed, chain=True, spread=1.5), trees.pose(12, seed, 3)
    passive = np.arange(12) > 5
    found = interpolate(
        body, keys, [0.0, 0.05, 0.5], 0.02, settle=1.0, passive=passive, stiffness=1e4, damping=1e2, torque_limit=50.0
    )
    assert np.isfinite(found.rotations).all()


GOOD = {"keys": rotation.identity(3, 2), "key_times": [0.0, 0.5, 1.0], "dt": 0.1}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"keys": rotation.identity(1, 2), "key_times": [0.0]}, "at least two"),
        ({"key_times": [0.0, 0.5, 0.5]}, "in order of time"),
        ({"key_times": [0.0, 1.0, 0.5]}, "in order of time"),
        ({"key_times": [0.0, np.nan, 1.0]}, "finite"),
        ({"key_times": [0.0, 1.0]}, "shape of the key times"),
        ({"keys": np.full((3, 2, 4), np.nan)}, "finite"),
        ({"keys": np.zeros((3, 2, 4))}, "unit quaternions"),
        ({"keys": rotation.identity(3, 5)}, "shape of the keys"),
        ({"dt": 0.0}, "between frames"),
        ({"residual": 0.0}, "residual of joint 0"),
        ({"residual": [0.1, 1.0]}, "residual of joint 1"),
        ({"residual": [0.1, 0.1, 0.1]}, "one number or 2"),
        ({"torque_limit": -1.0}, "torque limit of joint 0"),
        ({"torque_limit": [1.0, np.nan]}, "torque limit of joint 1"),
        ({"torque_limit": [1.0] * 4}, "torque limit"),
        ({"inertia": "false"}, "unknown"),
        ({"damping": -1.0}, "damping of joint 0"),
        ({"stiffness": [0.0, np.inf]}, "stiffness of joint 1"),
        ({"passive": [1, 0]}, "truth values"),
        ({"passive": [True]}, "truth values"),
        ({"gravity": (0.0, 1.0)}, "gravity"),
        ({"settle": -1.0}, "settle"),
        ({"velocities": np.zeros((3, 2, 2))}, "shape of the velocities"),
        ({"velocities": np.full((3, 2, 3), np.nan)}, "finite"),
        ({"swing_past": 0.1}, "needs velocities"),
        ({"swing_past": 2.0}, "swing past"),
        ({"limits": ik.Limits(locks=np.zeros((3, 3), dtype=bool))}, "limits are for 3"),
        ({"root": (np.zeros((3, 3)), rotation.identity(3))}, "root's positions"),
    ],
)
def test_what_cannot_be_worked_with_is_refused(wrong: dict, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        interpolate(trees.rods([0.3, 0.3], [1.0, 1.0]), **{**GOOD, **wrong})


def test_work_in_slices_ends_with_the_same() -> None:
    trees.mujoco()
    keys, times = wave()
    work, seen = dynamics.interpolating(arm(), keys, times, 0.05, torque_limit=20.0), []
    while True:
        try:
            seen.append(next(work))
        except StopIteration as end:
            found = end.value
            break
    assert seen == sorted(seen)
    assert seen[0] >= 0.0
    assert seen[-1] <= 1.0
    assert np.array_equal(found.rotations, interpolate(arm(), keys, times, 0.05, torque_limit=20.0).rotations)
