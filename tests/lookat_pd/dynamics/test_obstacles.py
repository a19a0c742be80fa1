"""Reaching around obstacles: clear of them, at a reasonable cost, and unchanged where they are not in the way."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import dynamics, rotation
from lookat_pd.dynamics import Obstacles, Reach
from lookat_pd.errors import InvalidArgument

from . import trees

HEAD, TRUNK = [-0.18, 0.03, 0.25], ([-0.18, 0.0, -0.4], [-0.18, 0.0, 0.0])
"""Beside a shoulder at the origin: Y is ahead, Z is up."""
BODY = Obstacles([HEAD, TRUNK[0]], [HEAD, TRUNK[1]], [0.13, 0.13])
ACROSS, BEHIND, AHEAD = (-0.5, 0.2, 0.25), (-0.42, 0.1, 0.35), (0.2, 0.4, 0.4)
"""Goals beside the head on its other side, behind it, and with nothing between."""


@cache
def reached(goal: tuple[float, float, float], obstacles: Obstacles | None = None) -> Reach:
    """An arm that hangs down, slightly bent, reaches for a goal."""
    body = trees.rods([0.3, 0.27, 0.1], [2.0, 1.5, 0.5])
    down = rotation.exp(np.array([[-1.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.2, 0.0, 0.0]]))
    end = (2, (0.0, 0.1, 0.0))
    return dynamics.reach(body, down, goal, 1.0, 1.0 / 24.0, effector=end, obstacles=obstacles)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [ACROSS, BEHIND])
def test_a_reach_goes_around_the_head(goal: tuple[float, float, float]) -> None:
    found, plain = reached(goal, BODY), reached(goal)
    assert found.clearance is not None and found.clearance > -0.002
    assert_allclose(found.path[-1], goal, atol=1e-6)
    assert plain.clearance is None
    # It costs more than through the head, but not much, and the hand is not faster by much.
    assert plain.cost < found.cost < 3.0 * plain.cost
    speeds = [np.linalg.norm(np.diff(reach.path, axis=0), axis=1).max() for reach in (found, plain)]
    assert speeds[0] < 2.0 * speeds[1]


def test_obstacles_that_are_not_in_the_way_change_nothing() -> None:
    found, plain = reached(AHEAD, BODY), reached(AHEAD)
    assert_allclose(found.rotations, plain.rotations, atol=1e-6)
    assert found.cost <= found.costs[0]


def test_an_obstacle_that_moves_is_avoided_where_it_is() -> None:
    """A ball that crosses the path when the hand is there, and one that has passed before."""
    path = reached(AHEAD).path
    middle = path[len(path) // 2]
    late = np.linspace(0.0, 1.0, len(path))[:, None, None] * np.array([[3.0, 0.0, 0.0]])
    meets, gone = (middle - 1.5 * shift * np.array([1.0, 0.0, 0.0]) + late for shift in (1.0, 0.2))
    for places, hits in ((meets, True), (gone, False)):
        found = reached.__wrapped__(AHEAD, Obstacles(places, places, [0.1]))
        assert found.clearance is not None and found.clearance > -0.002
        assert (found.cost > 1.05 * reached(AHEAD).cost) == hits


def test_what_starts_within_an_obstacle_may_leave_it() -> None:
    hand = [0.0, 0.17, -0.6]
    found = reached(AHEAD, Obstacles([hand], [hand], [0.2]))
    assert_allclose(found.path[-1], AHEAD, atol=1e-6)
    assert found.clearance is not None and found.clearance < 0.0


@pytest.mark.thorough
def test_what_the_hand_takes_is_in_the_way_of_the_arm_and_touched_by_the_hand_alone() -> None:
    """A ball into which the hand reaches from the far side: its bone comes no nearer than on arrival, the others stay
    clear, and the rest of the way is around it."""
    goal = (0.0, 0.42, 0.0)
    ball = [0.0, 0.33, 0.02]
    plain = reached.__wrapped__(goal, Obstacles([ball], [ball], [0.08]))
    taken = reached.__wrapped__(goal, Obstacles([ball], [ball], [0.08], [True]))
    assert_allclose(taken.path[-1], goal, atol=1e-6)
    assert taken.clearance is not None and plain.clearance is not None
    assert taken.clearance >= -0.002
    away = np.linalg.norm(taken.path - ball, axis=1)
    assert away.min() > min(0.08, away[-1]) - 0.004


def test_taken_has_one_number_for_each_obstacle() -> None:
    with pytest.raises(InvalidArgument, match="taken must say"):
        Obstacles([HEAD], [HEAD], [0.1], [True, False])


@pytest.mark.parametrize(
    ("starts", "radii", "says"),
    [
        (np.zeros((1, 3)), [0.0], "above 0 m"),
        (np.zeros((2, 3)), [0.1], "places of 1 obstacles"),
        (np.full((1, 3), np.nan), [0.1], "finite"),
    ],
)
def test_obstacles_that_are_none_are_refused(starts: list, radii: list, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        Obstacles(starts, starts, radii)
