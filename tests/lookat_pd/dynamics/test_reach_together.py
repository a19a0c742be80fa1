"""Several hands of one body that reach together: all arrive, shared joints move once, and alone each is as before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.dynamics import Body, Hand, reach, reach_together
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

DT = 1.0 / 24.0
TIP = (0.0, 0.3, 0.0)


def torso(*, trunk: bool = True) -> Body:
    """Two arms of two rods, to both sides of a trunk of one, which need not be a joint."""
    sides = np.array([[0.2, 0.0, 0.4], [-0.2, 0.0, 0.4]])
    across = np.array([0.012, 0.0012, 0.012])[:, None] * np.eye(3)
    heavy = np.array([0.8, 0.3, 0.8])[:, None] * np.eye(3)
    arm = np.array([0.0, 0.3, 0.0])
    if trunk:
        return Body(
            [-1, 0, 1, 0, 3],
            np.array([[0.0, 0.0, 1.0], sides[0], arm, sides[1], arm]),
            [30.0, 2.0, 1.5, 2.0, 1.5],
            np.array([[0.0, 0.0, 0.3], *[0.5 * arm] * 4]),
            np.array([heavy, *[across] * 4]),
        )
    return Body(
        [-1, 0, -1, 2],
        np.array([sides[0], arm, sides[1], arm]) + np.array([[0, 0, 1.0], [0, 0, 0], [0, 0, 1.0], [0, 0, 0]]),
        [2.0, 1.5, 2.0, 1.5],
        np.array([0.5 * arm] * 4),
        np.array([across] * 4),
    )


BENT = [[-0.9, 0.0, 0.2], [1.1, 0.0, 0.0], [-0.9, 0.0, -0.2], [1.1, 0.0, 0.0]]
ARMS, WHOLE = rotation.exp(BENT), rotation.exp([[0.0, 0.0, 0.0], *BENT])
GOALS = np.array([[0.15, 0.5, 1.5], [-0.15, 0.5, 1.5]])
HANDS = [Hand((2, TIP), GOALS[0]), Hand((4, TIP), GOALS[1])]


def hands(body: Body, rotations: Array) -> Array:
    """Positions (F, 2, 3) of the hands, by forward kinematics."""
    turned, places = body.forward(rotations)
    last = (2, 4) if len(body) == 5 else (1, 3)
    return np.stack([places[:, n] + rotation.rotate(turned[:, n], TIP) for n in last], axis=1)


@pytest.mark.slow
@settings(max_examples=6)
@given(st.integers(0, 1000))
def test_all_hands_arrive_and_the_cost_is_no_higher_than_that_of_minimum_jerk(seed: int) -> None:
    goals = GOALS + np.random.default_rng(seed).uniform(-0.15, 0.15, (2, 3))
    both = [Hand((2, TIP), goals[0]), Hand((4, TIP), goals[1])]
    found = reach_together(torso(), WHOLE, both, 1.0, DT, damping=0.3, passes=15)
    seen = hands(torso(), found.rotations)
    assert_allclose(seen, found.path, atol=1e-9)
    assert_allclose(seen[-1], goals, atol=1e-4)
    assert found.cost == found.costs.min() <= found.costs[0]
    assert_allclose(rotation.distance(found.rotations[0], WHOLE), 0.0, atol=1e-9)


def test_arms_that_share_no_joint_move_as_each_does_alone() -> None:
    body, given = torso(trunk=False), {"damping": 0.3}
    alone = [
        reach(body, ARMS, goal, 1.0, DT, effector=(n, TIP), **given) for n, goal in zip((1, 3), GOALS, strict=True)
    ]
    found = reach_together(body, ARMS, [Hand((1, TIP), GOALS[0]), Hand((3, TIP), GOALS[1])], 1.0, DT, **given)
    assert_allclose(found.cost, sum(one.cost for one in alone), rtol=0.01)
    for n, one in enumerate(alone):
        assert np.abs(found.path[:, n] - one.path).max() < 0.01


def test_one_hand_is_the_reach_of_one() -> None:
    body = torso()
    one = reach(body, WHOLE, GOALS[0], 1.0, DT, effector=(2, TIP))
    found = reach_together(body, WHOLE, HANDS[:1], 1.0, DT)
    assert_allclose(found.rotations, one.rotations, atol=1e-12)
    assert found.path.shape == (*one.path.shape[:1], 1, 3)


def test_mirrored_hands_do_not_turn_the_trunk_to_a_side() -> None:
    """Mirrored in the plane of Y and Z."""
    found = reach_together(torso(), WHOLE, HANDS, 1.0, DT, damping=0.3)
    assert np.abs(found.path[:, 0] * [-1, 1, 1] - found.path[:, 1]).max() < 2e-3
    assert np.abs(rotation.log(found.rotations[:, 0])[:, 1:]).max() < 2e-3


def test_the_trunk_leans_where_the_arms_are_too_short() -> None:
    far = [Hand(hand.effector, np.add(hand.goal, [0.0, 0.35, 0.0])) for hand in HANDS]
    found = reach_together(torso(), WHOLE, far, 1.0, DT)
    assert rotation.angle(found.rotations[-1, 0]) > 0.1
    assert_allclose(found.path[-1], [hand.goal for hand in far], atol=1e-5)
    fixed = np.zeros((5, 3), dtype=bool)
    fixed[0] = True
    with pytest.raises(InvalidArgument, match=r"misses its goal"):
        reach_together(torso(), WHOLE, far, 1.0, DT, limits=ik.Limits(locks=fixed))


def test_a_hand_at_its_goal_is_there_in_the_end() -> None:
    here = hands(torso(), WHOLE[None])[0]
    found = reach_together(torso(), WHOLE, [HANDS[0], Hand((4, TIP), here[1])], 1.0, DT)
    assert_allclose(found.path[-1], [GOALS[0], here[1]], atol=1e-5)
    with pytest.raises(InvalidArgument, match=r"already at its goal"):
        reach_together(torso(), WHOLE, [Hand((2, TIP), here[0]), Hand((4, TIP), here[1])], 1.0, DT)


@pytest.mark.slow
def test_orientations_approaches_and_speeds_of_all_goals_are_met() -> None:
    turned = rotation.exp([[0.9, 0.0, 0.5], [0.9, 0.0, -0.5]])
    wanted = [
        Hand(hand.effector, hand.goal, np.array([0.0, 0.0, 0.1]), turned[n], np.array([-0.1, 0.0, 0.0]) * (1, -1)[n])
        for n, hand in enumerate(HANDS)
    ]
    body = torso()
    found = reach_together(body, WHOLE, wanted, 1.0, 1.0 / 240.0)
    orientations, _ = body.forward(found.rotations)
    for n, last in enumerate((2, 4)):
        assert rotation.distance(orientations[-1, last], turned[n]) < 1e-5
        path = found.path[:, n]
        assert_allclose(path[-1], GOALS[n], atol=1e-5)
        assert_allclose((3.0 * path[-1] - 4.0 * path[-2] + path[-3]) * 120.0, [0.0, 0.0, 0.1], atol=5e-3)
        assert np.abs(path[-20:] - GOALS[n])[:, 1].max() < 6e-3


def test_hands_that_follow_are_on_their_paths() -> None:
    found = reach_together(torso(), WHOLE, HANDS, 1.0, DT)
    paths = GOALS + np.linspace(0.0, 1.0, 13)[:, None, None] * [0.05, -0.1, 0.05]
    effectors = [hand.effector for hand in HANDS]
    made = dynamics.track_paths(torso(), found.rotations[-1], paths, effectors=effectors)
    assert_allclose(hands(torso(), made), paths, atol=1e-5)
    orientations = np.broadcast_to(torso().forward(found.rotations[-1])[0][[2, 4]], (13, 2, 4))
    kept = dynamics.track_paths(
        torso(), found.rotations[-1], paths[:1].repeat(13, axis=0), effectors=effectors, orientations=orientations
    )
    assert_allclose(hands(torso(), kept), paths[:1].repeat(13, axis=0), atol=1e-5)


@pytest.mark.thorough
def test_an_obstacle_between_both_hands_is_kept_clear() -> None:
    ball = dynamics.Obstacles([[0.0, 0.45, 1.28]], [[0.0, 0.45, 1.28]], [0.12])
    found = reach_together(torso(), WHOLE, HANDS, 1.0, DT, obstacles=ball)
    assert found.clearance is not None
    assert found.clearance > -0.005
    assert_allclose(found.path[-1], GOALS, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([], "no hand"),
        ([HANDS[0], Hand((4, TIP), (3.0, 0.0, 0.0))], "out of reach"),
        ([HANDS[0], Hand((9, TIP), GOALS[1])], "no joint 9"),
        ([HANDS[0], Hand(0, GOALS[1])], "No joint moves"),
        ([HANDS[0], Hand((4, TIP), GOALS[1], approach=(0.0, 0.0, -0.1))], "no length"),
    ],
)
def test_hands_that_cannot_reach_together_are_refused(wrong: list[Hand], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        reach_together(torso(), WHOLE, wrong, 1.0, DT)


CROSSED = {
    "places exchanged": [[-0.15, 0.42, 1.5], [0.15, 0.42, 1.5]],
    "forearms that cross at the goals": [[-0.15, 0.45, 1.5], [0.15, 0.38, 1.55]],
}


def apart(rotations: Array) -> float:
    """The smallest distance [m] between the axes of the two arms, by points on them."""
    turned, places = torso().forward(rotations)
    lines = []
    for upper, lower in ((1, 2), (3, 4)):
        ends = places[:, lower] + rotation.rotate(turned[:, lower], TIP)
        along = np.linspace(0.0, 1.0, 40)[:, None, None]
        parts = [a + along * (b - a) for a, b in ((places[:, upper], places[:, lower]), (places[:, lower], ends))]
        lines.append(np.concatenate(parts))
    return float(np.linalg.norm(lines[0][:, None] - lines[1][None], axis=-1).min())


@pytest.mark.slow
@pytest.mark.parametrize("case", CROSSED)
def test_the_arms_do_not_pass_through_each_other(case: str) -> None:
    both = [Hand((2, TIP), CROSSED[case][0]), Hand((4, TIP), CROSSED[case][1])]
    through = reach_together(torso(), WHOLE, both, 1.0, DT, damping=0.3)
    found = reach_together(torso(), WHOLE, both, 1.0, DT, damping=0.3, thickness=0.03)
    assert through.apart is None
    assert apart(through.rotations) < 0.03
    assert apart(found.rotations) > 0.058
    assert found.apart is not None and found.apart.min() > -0.002
    assert_allclose(hands(torso(), found.rotations)[-1], CROSSED[case], atol=1e-4)
    assert through.cost < found.cost < 3.0 * through.cost


def test_arms_that_are_far_apart_move_as_without_thickness() -> None:
    plain = reach_together(torso(), WHOLE, HANDS, 1.0, DT, passes=10)
    found = reach_together(torso(), WHOLE, HANDS, 1.0, DT, passes=10, thickness=0.03)
    assert_allclose(found.rotations, plain.rotations, atol=1e-6)


def test_hands_may_meet_where_their_goals_do() -> None:
    goals = [[0.01, 0.45, 1.45], [-0.01, 0.45, 1.45]]
    both = [Hand((2, TIP), goals[0]), Hand((4, TIP), goals[1])]
    found = reach_together(torso(), WHOLE, both, 1.0, DT, passes=15, thickness=0.03)
    assert_allclose(hands(torso(), found.rotations)[-1], goals, atol=1e-4)
    assert found.apart is not None and found.apart.min() > -0.002


@pytest.mark.slow
def test_each_hand_passes_its_own_waypoints_and_the_other_is_free_then() -> None:
    above = np.array([0.25, 0.35, 1.6])
    one = [Hand((2, TIP), GOALS[0], via=[(0.5, above)]), HANDS[1]]
    fixed = [one[0], Hand((4, TIP), GOALS[1], via=[(0.5, [-0.14, 0.48, 1.35])])]
    found, held = (reach_together(torso(), WHOLE, both, 1.0, DT, damping=0.3) for both in (one, fixed))
    assert_allclose(found.path[12, 0], above, atol=1e-4)
    assert_allclose(hands(torso(), found.rotations)[-1], GOALS, atol=1e-4)
    assert found.cost <= min(found.costs[0], held.cost)
    other = np.array([-0.2, 0.4, 1.55])
    both = [one[0], Hand((4, TIP), GOALS[1], via=[(0.25, other), (0.75, other + 0.02)])]
    found = reach_together(torso(), WHOLE, both, 1.0, DT, damping=0.3)
    assert_allclose(found.path[[12, 6, 18], [0, 1, 1]], [above, other, other + 0.02], atol=1e-4)
    with pytest.raises(InvalidArgument, match="in order of time"):
        reach_together(torso(), WHOLE, [one[0], Hand((4, TIP), GOALS[1], via=[(0.7, other), (0.2, other)])], 1.0, DT)
