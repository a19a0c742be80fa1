"""Hits: momentum, decay, linearity, frame rates, scale, mirror images, limits, and impulses of any size."""

from typing import Any

import numpy as np
import pytest

from grids import diagonal
from lookat_pd import ik, rotation
from lookat_pd.dynamics import Body, hits
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

from . import trees

SETTLE, DT = 0.6, 1.0 / 60.0
POINT, IMPULSE = np.array([0.02, 0.1, -0.01]), np.array([0.4, -0.2, 0.3])


def hit(time: float = 0.1, joint: int = 3, impulse: Array = IMPULSE, point: Array = POINT) -> hits.Hit:
    return hits.Hit(time, joint, point, impulse)


def still(body: Body, frames: int = 121, seed: int = 5) -> Array:
    return np.broadcast_to(trees.pose(len(body), seed), (frames, len(body), 4)).copy()


def swaying(body: Body, frames: int = 121) -> Array:
    """An animation that goes on, sampled every DT."""
    turns = np.random.default_rng(1).normal(scale=0.4, size=(len(body), 3))
    phase = np.sin(2.0 * DT * np.arange(frames))
    return rotation.multiply(still(body, frames), rotation.exp(phase[:, None, None] * turns))


def respond(body: Body, animated: Array, *given: hits.Hit, dt: float = DT, **options: Any) -> hits.HitResponse:
    return hits.respond(body, animated, dt, given, **{"settle_time": SETTLE, "largest_angle": 3.0, **options})


def pointed(body: Body, pose: Array, joint: int, point: Array) -> Array:
    orientations, places = body.forward(pose)
    return places[joint] + rotation.rotate(orientations[joint], point)


@pytest.mark.parametrize("seed", range(4))
def test_the_change_of_velocity_is_the_inverse_inertia_times_the_jacobian_times_the_impulse(seed: int) -> None:
    body, pose = trees.body(5, seed), trees.pose(5, seed)
    jacobian, step = np.zeros((3, 15)), 1e-6
    for column, turn in enumerate(np.eye(15).reshape(15, 5, 3)):
        ends = [pointed(body, rotation.multiply(pose, rotation.exp(s * step * turn)), 4, POINT) for s in (1, -1)]
        jacobian[:, column] = (ends[0] - ends[1]) / (2.0 * step)
    expected = np.linalg.solve(body.mass_matrix(pose), jacobian.T @ IMPULSE)
    found = hits.velocity_change(body, pose, hit(joint=4))
    assert np.allclose(found.ravel(), expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())


def test_the_joints_start_with_that_velocity() -> None:
    body = trees.body(5, 2)
    tiny, animated = 1e-5, still(body, 3)
    response = respond(body, animated, hit(0.0), dt=tiny)
    turned = rotation.log(rotation.multiply(rotation.inverse(animated[0]), response.rotations[1])) / tiny
    assert np.allclose(turned, response.velocities[0], rtol=1e-3, atol=1e-3 * np.abs(turned).max())


def test_no_impulse_changes_nothing_to_the_bit_and_nothing_moves_before_a_hit() -> None:
    body = trees.body(5, 0)
    animated = swaying(body)
    assert np.array_equal(respond(body, animated, hit(impulse=np.zeros(3))).rotations, animated)
    moved = respond(body, animated, hit(0.5)).rotations
    assert np.array_equal(moved[:31], animated[:31]) and not np.allclose(moved[32], animated[32])
    assert np.array_equal(moved[-10:], animated[-10:]), "after two settle times it is over"


def test_the_offset_decays_in_the_settle_time() -> None:
    """As the step response of all controllers, it is down to a few hundredths."""
    times = np.linspace(0.0, 2.5 * SETTLE, 2001)
    response = hits.impulse_response(times, SETTLE)
    left = response[np.searchsorted(times, SETTLE)] / response.max()
    assert 0.02 < left < 0.04
    assert np.all(np.diff(response[np.argmax(response) :]) <= 1e-15), "it comes back once"
    assert np.allclose(response[times <= SETTLE], (times * np.exp(-2.0 * np.pi * times / SETTLE))[times <= SETTLE])
    assert np.abs(np.diff(response, 2)).max() < 1e-4, "without a kink, to the end"
    assert hits.impulse_response(times, SETTLE, 0.4).min() < -0.1 * response.max(), "weakly damped, it swings past"


@pytest.mark.slow
@pytest.mark.parametrize("damping_ratio", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("contact", [0.002, 0.05, 0.3])
def test_a_contact_time_spreads_the_same_impulse(contact: float, damping_ratio: float) -> None:
    """Against the sum of many small impulses, of which the middle ones are the largest."""
    times = np.linspace(0.0, SETTLE, 401)
    parts = (np.arange(4000) + 0.5) / 4000
    share = np.minimum(parts, 1.0 - parts)
    expected = sum(
        s * hits.impulse_response(times - contact * p, SETTLE, damping_ratio)
        for s, p in zip(share / share.sum(), parts, strict=True)
    )
    found = hits.impulse_response(times, SETTLE, damping_ratio, contact)
    assert np.abs(found - expected).max() < 1e-5 * expected.max()


@pytest.mark.parametrize("fps", [24, 60])
def test_with_a_contact_time_the_first_frame_is_no_jolt(fps: int) -> None:
    """The largest step is not the first one, and no step is much larger than those beside it."""
    times = np.arange(0.0, 2.0 * SETTLE, 1.0 / fps)
    steps = np.diff(hits.impulse_response(times, SETTLE, contact=0.05))
    at_once = np.diff(hits.impulse_response(times, SETTLE))
    assert np.argmax(at_once) == 0 < np.argmax(steps)
    assert steps[0] < 0.5 * at_once[0]
    assert np.abs(np.diff(steps, prepend=0.0)).max() < 0.8 * np.abs(np.diff(at_once, prepend=0.0)).max()


@pytest.mark.parametrize("contact", [0.0, 0.05, 0.2])
def test_a_settle_time_after_the_middle_of_the_contact_3_percent_are_left(contact: float) -> None:
    times = np.linspace(0.0, SETTLE, 2001)
    largest = hits.impulse_response(times, SETTLE, contact=contact).max()
    left = hits.impulse_response(0.5 * contact + SETTLE, SETTLE, contact=contact) / largest
    assert left == pytest.approx(0.03, abs=0.01)


def test_small_impulses_act_in_proportion_and_hits_add_up() -> None:
    body = trees.body(5, 1)
    animated = still(body)
    one, two = hit(0.1, 3, 1e-4 * IMPULSE), hit(0.2, 4, 1e-4 * IMPULSE[::-1])
    first, second = respond(body, animated, one).offsets, respond(body, animated, two).offsets
    double = respond(body, animated, hit(0.1, 3, 2e-4 * IMPULSE)).offsets
    both = respond(body, animated, two, one).offsets
    size = np.abs(both).max()
    assert np.allclose(double, 2.0 * first, atol=1e-12 * size)
    assert np.allclose(both, first + second, atol=1e-3 * size)


@pytest.mark.parametrize("fps", [24, 30, 120])
def test_all_frame_rates_agree(fps: int) -> None:
    body = trees.body(5, 1)
    given = hit(0.5), hit(1.0, 4)
    base = respond(body, still(body, 181), *given)
    other = respond(body, still(body, 3 * fps + 1), *given, dt=1.0 / fps)
    assert np.allclose(base.rotations[::60], other.rotations[::fps], atol=1e-9)
    assert np.allclose(base.factors, other.factors)


@pytest.mark.parametrize("stiffness", [0.0, 0.5])
def test_a_larger_body_turns_alike_by_an_impulse_that_grows_with_mass_times_length(stiffness: float) -> None:
    body, size = trees.body(4, 3), 2.5
    grown = Body(
        body.parents,
        size * np.asarray(body.offsets),
        size**3 * np.asarray(body.masses),
        size * np.asarray(body.centers),
        size**5 * np.asarray(body.inertias),
    )
    pose = trees.pose(4, 1)
    small = hits.velocity_change(body, pose, hit(), stiffness)
    large = hits.velocity_change(grown, pose, hit(impulse=size**4 * IMPULSE, point=size * POINT), stiffness)
    assert np.allclose(large, small, rtol=1e-9)


def test_a_mirrored_body_answers_in_the_mirror() -> None:
    body, pose = trees.body(5, 4), trees.pose(5, 2)
    across = np.array([-1.0, 1.0, 1.0])
    turned = np.array([1.0, 1.0, -1.0, -1.0])
    mirrored = Body(
        body.parents,
        across * body.offsets,
        body.masses,
        across * body.centers,
        across[:, None] * np.asarray(body.inertias) * across,
    )
    plain = hits.velocity_change(body, pose, hit())
    image = hits.velocity_change(mirrored, turned * pose, hit(impulse=across * IMPULSE, point=across * POINT))
    assert np.allclose(image, -across * plain, rtol=1e-9)


def test_muscles_resist() -> None:
    """The stiffer, the less the joints turn, and the less what hangs on the bone that is hit lags behind it."""
    body, pose = trees.rods([0.3] * 4, [4.0, 3.0, 2.0, 1.0]), trees.pose(4, 0)
    given = hit(joint=1)
    found = [np.linalg.norm(hits.velocity_change(body, pose, given, s), axis=-1) for s in (0.0, 0.3, 1.0, 10.0)]
    sizes = [np.linalg.norm(item) for item in found]
    assert sizes == sorted(sizes, reverse=True)
    assert found[3][2:].max() < 0.2 * found[3][:2].max()
    assert found[0][2:].max() > 0.2 * found[0][:2].max()


def test_hinges_turn_about_their_axes() -> None:
    body, pose = trees.body(4, 0), trees.pose(4, 0)
    hinges = np.zeros((4, 3))
    hinges[1], hinges[3] = (2.0, 0.0, 0.0), (0.0, 1.0, 1.0)
    found = hits.velocity_change(body, pose, hit(), hinges=hinges)
    assert np.allclose(found[1, 1:], 0.0) and np.allclose(rotation.cross(found[3], hinges[3]), 0.0)
    assert np.abs(found[1]).max() > 0.0


def test_limits_hold_and_joints_without_hits_stay() -> None:
    body = trees.rods([0.3] * 3, [2.0, 1.0, 1.0])
    animated = np.broadcast_to(rotation.IDENTITY, (60, 3, 4)).copy()
    limits = ik.Limits(np.zeros((3, 3), bool), np.full((3, 3), -0.1), np.full((3, 3), 0.1))
    response = respond(body, animated, hit(0.1, 2, 20.0 * IMPULSE), limits=limits)
    assert limits.excess(response.rotations).max() < 1e-9
    assert rotation.angle(response.rotations).max() > 0.09


FINGER = trees.rods([0.5, 0.3, 0.05], [30.0, 3.0, 0.01])
"""A light bone at the end of heavy ones."""


def test_a_light_bone_at_its_largest_angle_does_not_keep_a_heavy_one_from_moving() -> None:
    shove = hits.Hit(0.1, 1, (0.0, 0.28, 0.0), (0.0, 0.0, 2.0))
    free = respond(FINGER, still(FINGER, 90), shove, largest_angle=3.0)
    bound = respond(FINGER, still(FINGER, 90), shove, largest_angle=0.3)
    before, after = (np.linalg.norm(found.offsets, axis=-1).max(axis=0) for found in (free, bound))
    assert before[2] > 1.0 and after[2] == pytest.approx(0.3, rel=0.01)
    assert np.allclose(after[:2], before[:2], rtol=0.02)
    assert bound.factors[0] > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_a_stop_changes_the_momentum_of_its_own_joint_alone(seed: int) -> None:
    body, struck = trees.body(5, seed), hit(0.0, 4)
    free = respond(body, still(body), struck, largest_angle=np.pi)
    largest = 0.5 * min(3.0, float(np.linalg.norm(free.offsets, axis=-1).max()))
    bound = respond(body, still(body), struck, largest_angle=largest)
    pose = still(body)[0]
    masses = body.mass_matrix(pose)
    missing = (masses @ (hits.velocity_change(body, pose, struck) - bound.velocities[0]).ravel()).reshape(5, 3)
    at_end = np.linalg.norm(bound.offsets, axis=-1).max(axis=0) > 0.99 * largest
    assert at_end.any() and not at_end.all()
    taken = np.linalg.norm(missing, axis=-1)
    assert taken[~at_end].max() < 1e-3 * taken.max()


@pytest.mark.slow
def test_the_answer_changes_evenly_with_the_impulse() -> None:
    """Also where one joint after the other comes to its end."""
    body, sizes = trees.body(5, 1), np.geomspace(0.01, 30.0, 120)
    found = np.stack(
        [respond(body, still(body, 40), hit(0.1, 3, size * IMPULSE), largest_angle=0.6).velocities[0] for size in sizes]
    )
    steps = np.linalg.norm(np.diff(found, axis=0), axis=(1, 2)) / np.linalg.norm(found[1:], axis=(1, 2))
    assert steps.max() < 1.5 * (sizes[1] / sizes[0] - 1.0)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e12, 1e30])
def test_impulses_of_any_size_stay_within_the_largest_angle(size: float) -> None:
    body, largest = trees.body(5, 1), 0.8
    response = respond(
        body,
        still(body),
        hit(0.1, 3, size * IMPULSE / np.abs(IMPULSE).max()),
        hit(0.2, 4, size * np.ones(3)),
        largest_angle=largest,
    )
    assert np.all(np.isfinite(response.rotations)) and np.all((response.factors >= 0.0) & (response.factors <= 1.0))
    assert np.linalg.norm(response.offsets, axis=-1).max() <= largest * (1.0 + 1e-6)
    assert size < 2.0 or response.factors.min() < 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"time": -0.1}, "within the animation"),
        ({"time": 9.0}, "within the animation"),
        ({"time": np.nan}, "within the animation"),
        ({"joint": 7}, "joint of a hit"),
        ({"impulse": np.full(3, np.nan)}, "impulse"),
        ({"point": np.zeros(2)}, "point of the hit"),
    ],
)
def test_hits_that_cannot_be_are_refused(given: dict[str, Any], words: str) -> None:
    body = trees.body(5, 0)
    with pytest.raises(InvalidArgument, match=words):
        respond(body, still(body), hit(**given))


@pytest.mark.parametrize(
    "options",
    [
        *({"settle_time": 0.0}, {"largest_angle": 0.0}, {"largest_angle": np.nan}),
        *({"stiffness": -1.0}, {"damping_ratio": -1.0}),
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    body = trees.body(5, 0)
    with pytest.raises(InvalidArgument):
        respond(body, still(body), hit(), **options)


# A blow that travels


TRAVEL = 0.12


def peaks(response: hits.HitResponse, dt: float) -> Array:
    """When each joint is farthest [s]."""
    return dt * np.linalg.norm(response.offsets, axis=-1).argmax(axis=0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settle_time", [0.4, 0.8, 1.5])
def test_parts_are_farthest_one_after_the_other_from_the_blow_outwards(seed: int, settle_time: float) -> None:
    body, fine = trees.body(6, seed, chain=True), 1.0 / 960.0
    struck = int(np.random.default_rng(seed).integers(6))
    given = {
        "dt": fine,
        "settle_time": settle_time,
        "travel": 0.15 * settle_time,
        "contact": 0.05,
        "largest_angle": 1.0,
    }
    moment = peaks(respond(body, still(body, 960), hit(0.0, struck, 0.1 * IMPULSE), **given), fine)
    order = np.argsort(np.abs(np.arange(6) - struck), kind="stable")
    apart = np.abs(np.arange(6) - struck)[order]
    assert np.all(np.diff(moment[order])[np.diff(apart) > 0] > 0.002 * settle_time)
    if settle_time == 0.8:
        assert np.all((moment >= 0.05) & (moment <= 0.26))


@pytest.mark.thorough
@diagonal(seed=range(6), size=[0.1, 1.0, 30.0, 1e4, 1e8])
def test_a_line_of_joints_turns_by_the_largest_angle_at_most(seed: int, size: float) -> None:
    body = trees.body(5, seed, chain=True)
    animated, largest = swaying(body), np.radians(60.0)
    given = hit(0.1, 4, size * IMPULSE), hit(0.3, 2, size * IMPULSE[::-1])
    response = respond(body, animated, *given, largest_angle=largest, travel=TRAVEL, contact=0.05)
    turned, stands = (body.forward(poses)[0] for poses in (response.rotations, animated))
    assert rotation.distance(turned, stands).max() < 1.01 * largest
    assert np.linalg.norm(response.offsets, axis=-1).max() < 1.001 * largest
    if size >= 30.0:
        assert rotation.distance(turned, stands).max() > 0.8 * largest


@pytest.mark.thorough
@pytest.mark.parametrize("size", [3.0, 30.0, 1e6])
def test_joints_with_a_range_give_way_no_further_and_pass_the_blow_on(size: float) -> None:
    body = trees.body(5, 3, chain=True)
    animated, ranges = swaying(body), np.radians([60.0, 20.0, 180.0, 20.0, 40.0])
    given, options = hit(0.1, 4, size * IMPULSE), {"largest_angle": np.radians(60.0), "travel": TRAVEL}
    response = respond(body, animated, given, ranges=ranges, **options)
    turned = np.linalg.norm(response.offsets, axis=-1).max(axis=0)
    assert np.all(turned <= 1.001 * np.minimum(ranges, np.radians(60.0)))
    free = respond(body, animated, given, ranges=np.full(5, np.pi), **options)
    plain = respond(body, animated, given, **options)
    assert np.array_equal(free.rotations, plain.rotations)
    small = respond(body, animated, hit(0.1, 4, 1e-3 * IMPULSE), ranges=ranges, **options)
    assert np.allclose(small.velocities, respond(body, animated, hit(0.1, 4, 1e-3 * IMPULSE), **options).velocities)


def test_without_time_to_travel_a_small_hit_is_as_published() -> None:
    body = trees.body(5, 2)
    animated = swaying(body)
    published, given = (respond(body, animated, hit(), travel=travel) for travel in (None, 0.0))
    assert np.abs(published.offsets - given.offsets).max() < 1e-12


def test_a_blow_that_travels_gives_the_same_velocities_later() -> None:
    body = trees.body(5, 2)
    animated = swaying(body)
    at_once, travels = (respond(body, animated, hit(), travel=travel) for travel in (0.0, TRAVEL))
    assert np.abs(at_once.velocities - travels.velocities).max() < 1e-9
    assert not travels.offsets[:7].any()


@pytest.mark.thorough
def test_the_angle_of_a_line_changes_evenly_with_the_impulse() -> None:
    body = trees.body(5, 3, chain=True)
    animated, sizes = still(body, 60), np.geomspace(0.1, 50.0, 80)
    most = []
    for size in sizes:
        response = respond(body, animated, hit(0.1, 4, size * IMPULSE), largest_angle=1.0, travel=TRAVEL)
        most.append(rotation.distance(*(body.forward(q)[0] for q in (response.rotations, animated))).max())
    # At the limit the joints share it differently, and a line turns a little less than it may.
    assert np.all(most > 0.95 * np.maximum.accumulate(most))
    assert np.abs(np.diff(most)).max() < 0.12
