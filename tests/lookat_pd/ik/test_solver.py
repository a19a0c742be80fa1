"""The laws of solving one chain, judged by forward kinematics with matrices."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

LINKS = 10
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))
ENOUGH = {"ccd": 300, "particle": 300}
"""Iterations that the slow methods may take."""

HEIGHTS = (5.5, 3.0, 0.0, -5.5, -12.0, 1e-9)
"""Of targets on the line of a straight chain: within it, on a joint, on the root, behind, far behind, near the root."""

methods = pytest.mark.parametrize("method", ik.METHODS)
any_method = st.sampled_from(list(ik.METHODS))
seeds = st.integers(0, 2**32 - 1)


def joints(offsets: Array, rotations: Array, base: Array | None = None) -> Array:
    """Places (..., n + 1, 3) of all joints and the effector."""
    frame = np.eye(3) if base is None else rotation.to_matrix(base[3:])
    places = [np.zeros((*rotations.shape[:-2], 3)) + (0.0 if base is None else base[:3])]
    for n in range(rotations.shape[-2]):
        frame = frame @ rotation.to_matrix(rotations[..., n, :])
        places.append(places[-1] + np.einsum("...ij,...j->...i", frame, offsets[..., n, :]))
    return np.stack(places, axis=-2)


def nearly_straight(random: np.random.Generator, links: int = LINKS) -> Array:
    return rotation.exp(random.normal(scale=0.01, size=(links, 3)))


def directions(random: np.random.Generator, count: int) -> Array:
    return rotation.normalize(random.normal(size=(count, 3)))


def in_ball(random: np.random.Generator, count: int, radius: float) -> Array:
    return directions(random, count) * radius * random.uniform(size=(count, 1)) ** (1.0 / 3.0)


def random_chain(seed: int) -> tuple[Array, Array, Array]:
    """Bones of any lengths and directions, a pose, and a target that another pose reaches."""
    random = np.random.default_rng(seed)
    offsets = random.normal(size=(random.integers(2, 8), 3))
    pose, other = rotation.normalize(random.normal(size=(2, len(offsets), 4)))
    return offsets, pose, joints(offsets, other)[-1]


# Reaching


@pytest.mark.thorough
@methods
def test_targets_in_reach_are_reached(method: str) -> None:
    random = np.random.default_rng(1)
    found = ik.solve(
        BONES, nearly_straight(random), in_ball(random, 400, LINKS), method=method, iterations=ENOUGH.get(method, 100)
    )
    assert np.mean(found.error < 1e-3) >= 0.99


@given(any_method, seeds)
@settings(max_examples=60, deadline=None)
def test_the_error_is_that_of_the_rotations_and_no_worse_than_at_the_start(method: str, seed: int) -> None:
    offsets, pose, target = random_chain(seed)
    found = ik.solve(offsets, pose, target, method=method, iterations=seed % 7)
    places = joints(offsets, found.rotations)
    assert_allclose(found.error, np.linalg.norm(places[-1] - target), atol=1e-9)
    assert found.error <= np.linalg.norm(joints(offsets, pose)[-1] - target) + 1e-9
    assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=-1), np.linalg.norm(offsets, axis=-1), atol=1e-9)
    assert_allclose(np.linalg.norm(found.rotations, axis=-1), 1.0, atol=1e-12)
    assert found.iterations <= seed % 7


@pytest.mark.thorough
@methods
def test_more_iterations_are_never_worse(method: str) -> None:
    random = np.random.default_rng(2)
    start, targets = nearly_straight(random), in_ball(random, 30, 1.2 * LINKS)
    errors = [ik.solve(BONES, start, targets, method=method, iterations=n).error for n in (0, 1, 2, 5, 10, 30)]
    # At its target, a chain that settles goes on to the nearest pose.
    counted = np.maximum(errors, 1e-4) if ik.METHODS[method].settles else errors
    assert np.all(np.diff(counted, axis=0) <= 1e-9)
    assert np.all(errors[-1] < errors[0])


@methods
def test_without_iterations_the_start_comes_back(method: str) -> None:
    random = np.random.default_rng(3)
    start = rotation.normalize(random.normal(size=(5, LINKS, 4)))
    found = ik.solve(BONES, start, in_ball(random, 5, LINKS), method=method, iterations=0)
    assert_allclose(found.rotations, start, atol=1e-15)
    assert_array_equal(found.iterations, 0)


@methods
def test_what_is_there_already_is_not_touched(method: str) -> None:
    random = np.random.default_rng(4)
    start = rotation.normalize(random.normal(size=(20, LINKS, 4)))
    found = ik.solve(BONES, start, joints(BONES, start)[:, -1], method=method)
    assert_allclose(found.rotations, start, atol=1e-15)
    assert_array_equal(found.iterations, 0)


@methods
def test_a_chain_is_finished_when_its_error_is_below_the_tolerance(method: str) -> None:
    for tolerance in [1e-2, 1e-6]:
        random = np.random.default_rng(5)
        targets = in_ball(random, 40, 0.7 * LINKS)
        found = ik.solve(BONES, nearly_straight(random), targets, method=method, tolerance=tolerance, history=True)
        done = found.iterations < 100
        assert np.mean(done) > 0.9
        assert np.all(found.error[done] < tolerance)
        if ik.METHODS[method].settles:
            return  # It continues at the target until the joints are at rest.
        before = np.take_along_axis(found.history, np.maximum(found.iterations - 1, 0)[None], axis=0)[0]
        assert np.all(before[found.iterations > 0] >= tolerance)


@pytest.mark.thorough
@methods
def test_finished_chains_stay_as_they_are_while_others_go_on(method: str) -> None:
    random = np.random.default_rng(6)
    start, targets = nearly_straight(random), in_ball(random, 20, 1.1 * LINKS)
    whole = ik.solve(BONES, start, targets, method=method)
    for n in range(0, 20, 4):
        alone = ik.solve(BONES, start, targets[n], method=method)
        assert_allclose(whole.rotations[n], alone.rotations, atol=1e-7)
        assert whole.iterations[n] == alone.iterations
        until = ik.solve(BONES, start, targets[n], method=method, iterations=int(alone.iterations))
        assert_array_equal(until.rotations, alone.rotations)


def test_free_least_squares_makes_the_smallest_rotations() -> None:
    """For a near target those of the pseudoinverse of the Jacobian, from matrices."""
    random = np.random.default_rng(20)
    for _ in range(5):
        offsets, pose = random.normal(size=(6, 3)), rotation.exp(random.normal(size=(6, 3)))
        places, frame, columns = joints(offsets, pose), np.eye(3), []
        for n in range(6):
            frame = frame @ rotation.to_matrix(pose[n])
            columns += [np.cross(axis, places[-1] - places[n]) for axis in frame.T]
        away = 1e-4 * random.normal(size=3)
        found = ik.solve(offsets, pose, places[-1] + away, method="jacobian_quaternion", tolerance=1e-9)
        turns = rotation.log(rotation.multiply(rotation.inverse(pose), found.rotations))
        wanted = np.linalg.pinv(np.transpose(columns)) @ away
        assert_allclose(turns.reshape(-1), wanted, atol=1e-2 * np.abs(wanted).max())


def test_free_least_squares_takes_fewer_iterations_than_published_and_turns_the_joints_as_little() -> None:
    random = np.random.default_rng(21)
    start = rotation.exp(random.normal(scale=0.3, size=(LINKS, 3)))
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    path = LINKS * np.stack((0.4 * np.sin(t), 0.5 + 0.2 * np.cos(t), 0.3 * np.sin(2.0 * t)), axis=-1)
    free, plain = (ik.solve(BONES, start, path, method="jacobian_quaternion", published=p) for p in (False, True))
    assert np.mean(free.iterations) < np.mean(plain.iterations)
    turned, least = (np.sqrt(np.sum(rotation.distance(f.rotations, start) ** 2, axis=-1)) for f in (free, plain))
    assert np.mean(turned) < 1.1 * np.mean(least)
    # Targets on a smooth path give smooth motions.
    steps, needed = (np.max(rotation.distance(f.rotations[1:], f.rotations[:-1])) for f in (free, plain))
    assert steps < 1.5 * needed


def test_more_chains_than_are_iterated_together() -> None:
    random = np.random.default_rng(22)
    start, targets = nearly_straight(random, 3), in_ball(random, 1200, 3.3)
    found = ik.solve(BONES[:3], start, targets, method="jacobian_quaternion", history=True)
    assert_array_equal(found.history[-1], found.error)
    some = ik.solve(BONES[:3], start, targets[990:1010], method="jacobian_quaternion")
    assert_allclose(found.rotations[990:1010], some.rotations, atol=1e-9)
    assert_array_equal(found.iterations[990:1010], some.iterations)


# Out of reach


@pytest.mark.thorough
@methods
def test_out_of_reach_the_nearest_point_is_found_calmly(method: str) -> None:
    random = np.random.default_rng(7)
    targets = directions(random, 30) * random.uniform(1.001, 3.0, (30, 1)) * LINKS
    found = ik.solve(BONES, nearly_straight(random), targets, method=method, history=True)
    far = np.linalg.norm(targets, axis=-1)
    end = joints(BONES, found.rotations)[..., -1, :]
    nearest = targets * (LINKS / far)[:, None]
    assert np.max(np.linalg.norm(end - nearest, axis=-1)) < 0.01 * LINKS
    assert np.all(np.diff(found.history[-20:], axis=0) <= 1e-9)


@methods
def test_too_near_for_the_longest_bone(method: str) -> None:
    offsets = np.array([[0.0, 3.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    random = np.random.default_rng(8)
    targets = 0.3 * directions(random, 20)
    found = ik.solve(offsets, nearly_straight(random, 3), targets, method=method, iterations=300)
    assert_allclose(found.error, 0.7, atol=0.03)


# Degenerate starts


@methods
def test_a_straight_chain_moves(method: str) -> None:
    for links in [2, LINKS]:
        for height in HEIGHTS:
            target = np.array([0.0, height, 0.0]) * links / LINKS
            found = ik.solve(BONES[:links], rotation.identity(links), target, method=method, iterations=200)
            assert np.all(np.isfinite(found.rotations))
            nearest = max(np.linalg.norm(target) - links, 0.0)
            assert found.error < nearest + 1e-3


@methods
def test_a_straight_chain_that_points_at_a_target_out_of_reach_stays(method: str) -> None:
    found = ik.solve(BONES, rotation.identity(LINKS), [0.0, 30.0, 0.0], method=method)
    assert_array_equal(found.rotations, rotation.identity(LINKS))


@methods
def test_bones_without_length(method: str) -> None:
    offsets = BONES.copy()
    offsets[[0, 4, 9]] = 0.0
    found = ik.solve(offsets, rotation.identity(LINKS), [3.0, 2.0, -1.0], method=method)
    assert found.error < 1e-3
    nothing = ik.solve(0.0 * BONES, rotation.identity(LINKS), [3.0, 0.0, 4.0], method=method)
    assert_allclose(nothing.error, 5.0)
    assert np.all(np.isfinite(nothing.rotations))


@methods
def test_a_single_joint_aims(method: str) -> None:
    targets = np.array([[3.0, 0.0, 4.0], [0.0, -5.0, 0.0], [0.0, 0.5, 0.0], [-0.1, 0.2, 0.0]])
    found = ik.solve([[0.0, 1.0, 0.0]], rotation.identity(1), targets, method=method, tolerance=1e-8)
    aim = rotation.rotate(found.rotations[:, 0], [0.0, 1.0, 0.0])
    assert np.max(rotation.angle_between(aim, targets)) < 1e-3


@given(any_method, seeds)
@settings(max_examples=40, deadline=None)
def test_a_start_on_the_line_is_never_the_end(method: str, seed: int) -> None:
    """Folded flat in any way, the target anywhere on the line within reach."""
    random = np.random.default_rng(seed)
    links = int(random.integers(3, 8))
    start = rotation.identity(links)
    start[random.uniform(size=links) < 0.3] = [0.0, 1.0, 0.0, 0.0]
    line = random.uniform(-0.8, 0.8) * links
    found = ik.solve(BONES[:links], start, [0.0, line, 0.0], method=method, iterations=300)
    assert np.all(np.isfinite(found.rotations))
    assert found.error < 0.01


@methods
def test_straight_chains_are_no_worse_after_few_iterations(method: str) -> None:
    for iterations in [0, 1, 2, 5]:
        start, ends = rotation.identity(4), np.array([3.999, 0.5, -3.0, 2.0])
        targets = ends[:, None] * [0.0, 1.0, 0.0]
        found = ik.solve(BONES[:4], start, targets, method=method, iterations=iterations, tolerance=1e-9)
        places = np.array([joints(BONES[:4], pose)[-1] for pose in found.rotations])
        assert_allclose(found.error, np.linalg.norm(places - targets, axis=-1), atol=1e-9)
        assert np.all(found.error <= 4.0 - ends + 1e-12)


# Invariance


@given(any_method, seeds)
@settings(max_examples=30, deadline=None)
def test_moving_everything_changes_nothing(method: str, seed: int) -> None:
    offsets, pose, target = random_chain(seed)
    random = np.random.default_rng(seed)
    base = np.concatenate((random.normal(size=3), rotation.normalize(random.normal(size=4))))
    moved = base[:3] + rotation.rotate(base[3:], target)
    here = ik.solve(offsets, pose, target, method=method, iterations=5)
    there = ik.solve(offsets, pose, moved, method=method, iterations=5, base=base)
    assert_allclose(there.rotations, here.rotations, atol=1e-6)
    assert_allclose(there.error, np.linalg.norm(joints(offsets, there.rotations, base)[-1] - moved), atol=1e-9)


@methods
def test_the_size_of_things_plays_no_part(method: str) -> None:
    for scale in [1e-3, 1e3]:
        random = np.random.default_rng(9)
        start, targets = nearly_straight(random), in_ball(random, 10, 0.9 * LINKS)
        one = ik.solve(BONES, start, targets, method=method, iterations=10)
        two = ik.solve(scale * BONES, start, scale * targets, method=method, iterations=10, tolerance=scale * 1e-4)
        assert_allclose(two.rotations, one.rotations, atol=1e-6)


@pytest.mark.parametrize("base", [[1.0, 2.0, 3.0], [0.5, 0.5, -0.5, 0.5], [1.0, 2.0, 3.0, 0.5, 0.5, -0.5, 0.5]])
def test_a_base_is_a_position_a_rotation_or_both(base: list[float]) -> None:
    whole = np.array({3: [*base, 1.0, 0.0, 0.0, 0.0], 4: [0.0, 0.0, 0.0, *base], 7: base}[len(base)])
    target = np.array([2.0, 4.0, 3.0])
    found = ik.solve(BONES, rotation.identity(LINKS), target, method="ccd_root", base=base)
    assert_allclose(joints(BONES, found.rotations, whole)[-1], target, atol=1e-4)


@methods
def test_leading_axes_are_a_batch(method: str) -> None:
    random = np.random.default_rng(10)
    offsets = random.uniform(0.5, 1.5, (3, 1, 1)) * BONES[:4]
    start = rotation.exp(random.normal(size=(2, 4, 3)))
    targets = in_ball(random, 6, 1.5).reshape(3, 2, 3)
    base = random.normal(scale=0.1, size=(3, 1, 3))
    found = ik.solve(offsets[:, None], start, targets, method=method, base=base)
    assert found.rotations.shape == (3, 2, 4, 4)
    assert found.error.shape == found.iterations.shape == (3, 2)
    one = ik.solve(offsets[1], start[0], targets[1, 0], method=method, base=base[1, 0])
    assert_allclose(found.rotations[1, 0], one.rotations, atol=1e-7)


@methods
def test_an_empty_batch_stays_empty(method: str) -> None:
    found = ik.solve(BONES, rotation.identity(0, LINKS), np.zeros((0, 3)), method=method)
    assert found.rotations.shape == (0, LINKS, 4)
    assert found.error.shape == (0,)


def test_history_starts_at_the_start_and_has_a_row_an_iteration() -> None:
    random = np.random.default_rng(11)
    start, targets = nearly_straight(random), in_ball(random, 12, 0.8 * LINKS)
    found = ik.solve(BONES, start, targets, method="fabrik", history=True)
    assert len(found.history) == 1 + np.max(found.iterations)
    assert_allclose(found.history[0], np.linalg.norm(joints(BONES, start)[-1] - targets, axis=-1))
    assert_allclose(np.min(found.history, axis=0), found.error, atol=1e-9)
    assert ik.solve(BONES, start, targets, method="fabrik").history is None


# What cannot be worked with


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"method": "cdd"}, ", ".join(ik.METHODS)),
        ({"offsets": np.zeros((0, 3))}, "at least one joint"),
        ({"offsets": np.zeros(3)}, "offsets"),
        ({"rotations": rotation.identity(3)}, "rotations"),
        ({"rotations": np.zeros((LINKS, 4))}, "length 0"),
        ({"target": [0.0, 1.0]}, "target"),
        ({"target": [0.0, np.nan, 0.0]}, "target"),
        ({"target": [0.0, np.inf, 0.0]}, "target"),
        ({"target": "there"}, "target"),
        ({"target": np.zeros((4, 3)), "rotations": rotation.identity(3, LINKS)}, "leading axes"),
        ({"iterations": -1}, "iterations"),
        ({"iterations": 2.5}, "iterations"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"base": [1.0, 2.0]}, "base"),
        ({"limits": ik.Limits(locks=np.zeros((3, 3)))}, "limits"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments: dict[str, object], says: str) -> None:
    fine = {"offsets": BONES, "rotations": rotation.identity(LINKS), "target": [1.0, 2.0, 3.0], "method": "ccd"}
    with pytest.raises(InvalidArgument) as caught:
        ik.solve(**{**fine, **arguments})
    message = str(caught.value)
    assert says in message
    assert message.endswith(".") and "\n" not in message


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_sign_and_length_of_quaternions_play_no_part(seed: int) -> None:
    offsets, pose, target = random_chain(seed)
    assume(len(offsets) > 1)
    one = ik.solve(offsets, pose, target, method="ccd_root", iterations=4)
    two = ik.solve(offsets, -3.0 * pose, target, method="ccd_root", iterations=4)
    assert_allclose(joints(offsets, two.rotations), joints(offsets, one.rotations), atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ik.METHODS)
def test_the_published_iterations_are_never_worse_than_the_start_and_keep_the_lengths(method: str) -> None:
    random = np.random.default_rng(3)
    offsets, start = np.tile([0.0, 1.0, 0.0], (4, 1)), rotation.exp(random.normal(scale=0.3, size=(4, 3)))
    targets = 4.0 * random.uniform(0.2, 1.2, size=(20, 1)) * rotation.normalize(random.normal(size=(20, 3)))
    plain = ik.solve(offsets, start, targets, method=method, published=True, history=True)
    assert np.all(plain.error <= plain.history[0] + 1e-9)
    best = ik.solve(offsets, start, targets, method=method)
    assert np.mean(plain.iterations) >= np.mean(best.iterations) - 1.0
    if method == "particle":
        assert np.mean(plain.iterations) > 1.5 * np.mean(best.iterations)
