"""The laws of the search for the best cut, judged by plain loops, invariances and matches put there on purpose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.transitions import best_cut

DT = 1.0 / 30.0


def body(seed: int, frames: int, joints: int = 6) -> Array:
    """Positions (frames, joints, 3) of joints that swing about a root which wanders."""
    random = np.random.default_rng(seed)
    t = DT * np.arange(frames)[:, None, None]
    phase, pace = random.uniform(0.0, 6.0, (joints, 3)), random.uniform(1.0, 5.0, (joints, 3))
    rest = np.random.default_rng(0).normal(size=(joints, 3)) + np.array([0.0, 0.0, 2.0])
    return rest + 0.3 * np.sin(pace * t + phase) + t * random.uniform(-1.0, 1.0, 3) * np.array([1.0, 1.0, 0.0])


def placed(clip: Array, turn: float, x: float = 0.0, y: float = 0.0) -> Array:
    """The clip elsewhere on the ground, heading elsewhere."""
    return rotation.rotate(rotation.exp([0.0, 0.0, turn]), clip) + np.array([x, y, 0.0])


def plain(a: Array, b: Array, share: Array, velocity: float, root: int) -> Array:
    """Pair by pair, joint by joint, the turn found by trying: finely, then by narrowing down."""

    def speed(clip: Array, frame: int) -> Array:
        before, after = max(frame - 1, 0), min(frame + 1, len(clip) - 1)
        return (clip[after] - clip[before]) / ((after - before) * DT)

    size = sum(share @ np.sum((frame - frame[root]) ** 2, axis=1) for clip in (a, b) for frame in clip)
    size /= len(a) + len(b)
    result = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):

            def cost(turn: float, i: int = i, j: int = j) -> float:
                q, total = rotation.exp([0.0, 0.0, turn]), 0.0
                for joint, weight in enumerate(share):
                    here, there = a[i, joint].copy(), b[j, joint].copy()
                    here[:2] -= a[i, root, :2]
                    there[:2] -= b[j, root, :2]
                    way = here - rotation.rotate(q, there)
                    drift = speed(a, i)[joint] - rotation.rotate(q, speed(b, j)[joint])
                    total += weight * (way @ way + velocity**2 * (drift @ drift))
                return total / size

            turn, width = 0.0, np.pi
            while width > 1e-7:
                turn = min(np.linspace(turn - width, turn + width, 17), key=cost)
                width /= 6.0
            result[i, j] = cost(turn)
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("root", [0, 2, -1])
def test_cost_equals_a_plain_loop_over_pairs_and_joints(root):
    a, b = body(1, 4, 4), placed(body(2, 5, 4), 2.0)
    joints = np.array([1.0, 2.0, 0.0, 3.0])
    here = best_cut.search(a, b, DT, root=root, weights=best_cut.Weights(velocity=0.2, joints=joints))
    assert_allclose(here.cost, plain(a, b, joints / 6.0, 0.2, root), rtol=1e-9, atol=1e-12)


def test_a_clip_and_itself_cost_nothing_on_the_diagonal_and_are_symmetric():
    clip, feet = body(3, 40), np.random.default_rng(1).random((40, 2)) < 0.5
    here = best_cut.search(clip, clip, DT, contacts=(feet, feet))
    assert_allclose(np.diag(here.cost), 0.0, atol=1e-13)
    assert_allclose(here.cost, here.cost.T, atol=1e-13)
    assert_allclose(here.turn, -here.turn.T, atol=1e-9)
    assert np.all(here.cost >= 0.0)
    other = best_cut.search(clip, body(4, 30), DT)
    assert_allclose(other.cost, best_cut.search(body(4, 30), clip, DT).cost.T, atol=1e-13)


@given(
    turns=st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)),
    places=st.lists(st.floats(-50.0, 50.0), min_size=4, max_size=4),
    scale=st.floats(1e-3, 1e3),
    lift=st.floats(-10.0, 10.0),
)
def test_place_heading_and_scale_play_no_part(turns, places, scale, lift):
    a, b = body(5, 12), body(6, 9)
    up = np.array([0.0, 0.0, lift])
    here = best_cut.search(
        scale * (placed(a, turns[0], *places[:2]) + up), scale * (placed(b, turns[1], *places[2:]) + up), DT
    )
    before = best_cut.search(a, b, DT)
    assert_allclose(here.cost, before.cost, atol=1e-9)
    # What each clip was turned, the fit turns back.
    change = here.turn - before.turn - turns[0] + turns[1]
    assert_allclose(np.remainder(change + np.pi, 2.0 * np.pi), np.pi, atol=1e-6)


def test_turn_brings_the_destination_onto_the_source():
    clip = body(7, 20)
    here = best_cut.search(clip, placed(clip, 1.1, 4.0, -2.0), DT)
    assert_allclose(np.diag(here.turn), -1.1, atol=1e-9)


def test_height_counts():
    clip = body(8, 10)
    assert np.diag(best_cut.search(clip, clip + np.array([0.0, 0.0, 0.5]), DT).cost).min() > 0.01


def test_frame_rate_plays_no_part():
    a, b = body(9, 60), body(10, 60)
    slow = best_cut.search(a[::2], b[::2], 2.0 * DT).cost[2:-2, 2:-2]
    assert_allclose(slow, best_cut.search(a, b, DT).cost[::2, ::2][2:-2, 2:-2], rtol=0.2, atol=2e-3)


def test_finds_a_planted_match():
    source, destination = body(11, 120), body(12, 150)
    destination[77:84] = placed(source[40:47], -2.5, 3.0, 8.0)
    first = best_cut.search(source, destination, DT).best(1)[0]
    assert (first.i - 40, first.j - 77) in {(n, n) for n in range(1, 6)}
    assert first.cost < 1e-12


def test_velocity_distinguishes_coming_from_going():
    """A swing passes each pose in both directions: only frames that move the same way match."""
    swing = np.sin(2.0 * np.pi * np.arange(61) / 60)
    clip = np.zeros((61, 2, 3))
    clip[:, 1, 2] = 1.0 + 0.5 * swing
    cost = best_cut.search(clip, clip, DT).cost
    assert cost[5, 25] > 0.01  # the same height going up and coming down
    assert cost[5, 25] > 50.0 * cost[5, 6]
    assert best_cut.search(clip, clip, DT, weights=best_cut.Weights(velocity=0.0)).cost[5, 25] < 1e-12


def test_contacts_add_the_share_of_feet_that_differ():
    a, b = body(13, 7), body(14, 5)
    random = np.random.default_rng(2)
    feet = random.random((7, 4)) < 0.5, random.random((5, 4)) < 0.5
    added = (
        best_cut.search(a, b, DT, contacts=feet, weights=best_cut.Weights(contact=0.3)).cost
        - best_cut.search(a, b, DT).cost
    )
    wanted = [[0.3 * np.mean(here != there) for there in feet[1]] for here in feet[0]]
    assert_allclose(added, wanted, atol=1e-12)


@given(n=st.integers(0, 40), spacing=st.integers(0, 8), history=st.integers(0, 12), room=st.integers(0, 12))
def test_best_cuts_are_ranked_apart_and_within_the_margins(n, spacing, history, room):
    here = best_cut.search(body(15, 25), body(16, 20), DT)
    found = here.best(n, spacing=spacing, history=history, room=room)
    costs = [one.cost for one in found]
    assert costs == sorted(costs) and len(found) <= n
    assert all(one.i >= history and one.j < 20 - room and one.cost == here.cost[one.i, one.j] for one in found)
    for place, one in enumerate(found):
        assert all(abs(one.i - other.i) > spacing or abs(one.j - other.j) > spacing for other in found[:place])
    if found:
        assert found[0].cost == here.cost[history:, : 20 - room].min()
    # Local minima, and fewer than asked for only where every local minimum left is next to a cut.
    allowed = np.full((25, 20), np.inf)
    allowed[history:, : max(20 - room, 0)] = here.cost[history:, : max(20 - room, 0)]

    def is_lowest(i: int, j: int) -> bool:
        around = allowed[max(i - spacing, 0) : i + spacing + 1, max(j - spacing, 0) : j + spacing + 1]
        return bool(allowed[i, j] < np.inf and allowed[i, j] == around.min())

    assert all(is_lowest(one.i, one.j) for one in found)
    if len(found) < n:
        near = np.zeros((25, 20), dtype=bool)
        for one in found:
            near[max(one.i - spacing, 0) : one.i + spacing + 1, max(one.j - spacing, 0) : one.j + spacing + 1] = True
        assert all(near[i, j] for i in range(25) for j in range(20) if is_lowest(i, j))


def test_cuts_within_a_range():
    here = best_cut.search(body(15, 25), body(16, 20), DT)
    found = here.best(5, spacing=2, source=slice(5, 12), destination=slice(3, 9))
    assert found[0].cost == here.cost[5:12, 3:9].min()
    assert all(5 <= one.i < 12 and 3 <= one.j < 9 for one in found)


def test_cuts_are_not_all_in_one_stripe():
    """Of two clips with the same cycle, each step is one stripe of the map, and one cut."""
    t = DT * np.arange(90)[:, None, None]
    cycle = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]) + 0.3 * np.sin(
        2.0 * np.pi * t + [0.0, 1.0, 2.0]
    )
    here = best_cut.search(cycle + 0.01 * t, cycle - 0.003 * t, DT)
    found = here.best(10, spacing=9)
    stripes = [round((one.i - one.j) * DT, 1) for one in found[:3]]
    assert len(set(stripes)) == 3


def test_margins_longer_than_the_clips_leave_nothing():
    here = best_cut.search(body(17, 8), body(18, 8), DT)
    assert here.best(history=8) == [] and here.best(room=9) == [] and here.best(0) == []
    assert len(here.best(3, spacing=20)) == 1


def test_clips_of_one_frame_and_of_one_joint():
    assert best_cut.search(body(19, 1), body(20, 5), DT).cost.shape == (1, 5)
    point = np.zeros((3, 1, 3))
    assert_array_equal(best_cut.search(point, point, DT).cost, 0.0)


def test_looking_for_cuts_changes_nothing():
    here = best_cut.search(body(21, 4), body(22, 4), DT)
    before = here.cost.copy()
    here.best(5)
    assert_array_equal(here.cost, before)
    with pytest.raises(AttributeError):
        here.cost = before  # type: ignore[misc]


def walk(feet: Array) -> Array:
    """A foot that stands for 20 frames and steps for 10, 0.6 a step, again and again, as positions (F, 1, 3)."""
    t = np.maximum(feet % 30 - 20, 0) / 10.0
    forth = 0.6 * (feet // 30 + t * t * (3.0 - 2.0 * t))
    return np.stack((0.0 * t, forth, 0.08 + 0.12 * np.sin(np.pi * t)), axis=-1)[:, None]


def test_foot_contacts_are_where_the_foot_stands():
    frames = np.arange(120)
    here = best_cut.foot_contacts(walk(frames), DT)[:, 0]
    stands, steps = (frames % 30 > 0) & (frames % 30 < 20), (frames % 30 > 21) & (frames % 30 < 29)
    assert np.all(here[stands]) and not np.any(here[steps])


def test_foot_contacts_want_low_and_slow():
    frames = np.arange(60)
    sliding = np.stack((0.1 * frames, 0.0 * frames, 0.0 * frames), axis=-1)[:, None]
    assert not np.any(best_cut.foot_contacts(sliding, DT))
    hovering = np.zeros((60, 1, 3))
    hovering[30:, 0, 2] = 0.2
    assert not np.any(best_cut.foot_contacts(hovering, DT)[31:])
    assert np.all(best_cut.foot_contacts(hovering, DT, ground=0.2)[31:])


def test_the_ground_is_where_the_foot_is_lowest_but_for_a_few_frames():
    """A clip mostly in the air, with one frame that sinks in."""
    hop = np.zeros((100, 1, 3))
    hop[20:, 0, 2], hop[5, 0, 2] = 0.5, -0.3
    touches = best_cut.foot_contacts(hop, DT)[:, 0]
    assert np.all(touches[8:18]) and not np.any(touches[20:])


@given(scale=st.floats(1e-2, 1e2), turn=st.floats(-3.0, 3.0), lift=st.floats(-5.0, 5.0))
def test_foot_contacts_do_not_depend_on_place_heading_and_scale(scale, turn, lift):
    feet = walk(np.arange(75))
    moved = scale * (placed(feet, turn, 3.0, 1.0) + np.array([0.0, 0.0, lift]))
    assert_array_equal(best_cut.foot_contacts(moved, DT, size=scale), best_cut.foot_contacts(feet, DT))


@pytest.mark.parametrize(
    "change",
    [
        {"source": body(1, 5)[:, :4]},
        {"source": body(1, 5)[..., :2]},
        {"source": body(1, 5)[:0]},
        {"source": np.full((5, 6, 3), np.nan)},
        {"destination": 3.0},
        {"dt": 0.0},
        {"dt": np.inf},
        {"root": 6},
        {"root": -7},
        {"weights": best_cut.Weights(velocity=-1.0)},
        {"weights": best_cut.Weights(contact=np.nan)},
        {"weights": best_cut.Weights(joints=np.ones(5))},
        {"weights": best_cut.Weights(joints=np.zeros(6))},
        {"weights": best_cut.Weights(joints=[-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])},
        {"contacts": (np.ones((5, 2)), np.ones((6, 2)))},
        {"contacts": (np.ones((5, 2)), np.ones((7, 3)))},
        {"contacts": (np.ones((5, 0)), np.ones((7, 0)))},
    ],
)
def test_search_says_what_is_wrong(change):
    arguments = {"source": body(1, 5), "destination": body(2, 7), "dt": DT, **change}
    with pytest.raises(InvalidArgument):
        best_cut.search(**arguments)


def test_the_rest_says_what_is_wrong_too():
    here = best_cut.search(body(1, 5), body(2, 5), DT)
    for change in ({"n": -1}, {"spacing": -1}, {"history": -1}, {"room": -1}):
        with pytest.raises(InvalidArgument):
            here.best(**change)
    for change in ({"dt": 0.0}, {"size": 0.0}, {"height": -1.0}, {"speed": np.nan}, {"feet": np.ones((4, 3))}):
        with pytest.raises(InvalidArgument):
            best_cut.foot_contacts(**{"feet": np.ones((4, 2, 3)), "dt": DT, **change})
