"""Whole bodies in time: the poses are those of each one solved by itself, in fewer iterations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.ik import BodyAim, BodyPole, BodyPosition, Limits
from lookat_pd.ik.body_objectives import LOW
from lookat_pd.rotation import Array

from .test_full_body import FRAMES, balance, both_hands, figure

LATER = (np.arange(FRAMES) >= FRAMES // 2)[:, None]
ONCE = (np.arange(FRAMES) == FRAMES // 2)[:, None]
AWAY = np.array([0.1, -0.1, 0.15])
Case = tuple[list[ik.BodyObjective], dict[str, Any]]


def hand(*away: float, **settings: Any) -> BodyPosition:
    """The left hand moves on half a circle about a point at this distance from where it is."""
    t = np.linspace(0.0, np.pi, FRAMES)
    circle = 0.1 * np.stack((np.sin(t), np.cos(t), np.sin(t)), axis=-1)
    body = figure()
    return BodyPosition(body("hand L"), body.place("hand L") + np.array(away) + circle, **settings)


def moved(objective: BodyPosition, away: Array) -> BodyPosition:
    return replace(objective, target=np.asarray(objective.target) + away)


def with_feet(*objectives: ik.BodyObjective, **settings: Any) -> Case:
    return [*figure().feet(), *objectives], settings


def limited() -> Case:
    body, n = figure(), len(figure().names)
    locks, minimum, maximum = np.zeros((n, 3), dtype=bool), np.full((n, 3), -np.inf), np.full((n, 3), np.inf)
    locks[body("spine 0")], locks[body("upper arm L"), 1] = True, True
    minimum[body("upper arm L")], maximum[body("spine 1")], minimum[body("spine 1")] = -0.35, 0.1, -0.1
    return with_feet(hand(0.1, -0.2, 0.2), limits=Limits(locks=locks, minimum=minimum, maximum=maximum))


def in_and_out() -> Case:
    swing = np.sin(np.linspace(0.0, np.pi, FRAMES))[:, None] * [0.5, -1.0, 0.0]
    return with_feet(moved(hand(0.1, -0.2, 0.2), swing))


CASES: dict[str, Callable[[], Case]] = {
    "in reach": lambda: with_feet(hand(0.1, -0.2, 0.2)),
    "both hands": lambda: (both_hands(), {}),
    "without posture": lambda: with_feet(hand(0.1, -0.2, 0.2), posture=None),
    "hinges at their end": lambda: with_feet(hand(0.0, -0.2, -0.6), figure().hand("R", 0.3, -0.1, 0.5)),
    "limits": limited,
    "balance": lambda: with_feet(hand(0.1, -0.6, 0.0), balance=balance()),
    "a weight below one": lambda: with_feet(hand(0.1, -0.2, 0.2, weight=0.5)),
    "a weight in time": lambda: with_feet(hand(0.1, -0.2, 0.2, weight=np.clip(np.arange(FRAMES) / 12.0, 0.0, 1.0))),
    "priorities": lambda: with_feet(hand(0.2, -0.2, 0.3), hand(-0.2, -0.2, 0.3, priority=LOW)),
    "pole and aim": lambda: with_feet(
        hand(0.1, -0.2, 0.2),
        BodyPole(figure()("hand L"), np.array([0.5, 1.0, 0.2]), priority=LOW),
        BodyAim(figure()("head"), [1.0, -2.0, 1.2], [0.0, -1.0, 0.0]),
    ),
    "out of reach": lambda: with_feet(hand(1.0, -1.5, 0.4)),
    "in and out of reach": in_and_out,
    "a jump": lambda: with_feet(moved(hand(0.1, -0.2, 0.2), np.where(LATER, AWAY, 0.0))),
    "another place once": lambda: with_feet(moved(hand(0.1, -0.2, 0.2), np.where(ONCE, AWAY, 0.0))),
    "to the other side": lambda: with_feet(moved(hand(0.1, -0.2, 0.2), np.where(LATER, [-0.9, 0.1, 0.4], 0.0))),
    "shaking": lambda: with_feet(
        moved(hand(0.1, -0.2, 0.2), np.random.default_rng(0).normal(scale=0.03, size=(FRAMES, 3)))
    ),
}


def solutions(case: Case) -> tuple[ik.BodySolution, ik.BodySolution]:
    """Each pose by itself, and in time."""
    objectives, settings = case
    return tuple(figure().solve(objectives, in_time=in_time, **settings) for in_time in (False, True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_the_poses_are_those_of_each_solved_by_itself(name: str) -> None:
    """On the same branch everywhere, and without steps from one to the next that these do not have."""
    plain, found = solutions(CASES[name]())
    # The last iteration of both turns no joint by more than 1e-4.
    assert rotation.distance(found.rotations, plain.rotations).max() < 5e-4
    assert np.abs(found.displacement - plain.displacement).max() < 1e-4
    assert np.abs(found.errors - plain.errors).max() < 1e-4
    turns = [
        rotation.log(rotation.multiply(rotation.inverse(figure().pose), part.rotations)) for part in (plain, found)
    ]
    assert np.abs(np.diff(turns[1] - turns[0], n=2, axis=0)).max() < 5e-4


@pytest.mark.parametrize("name", ["in reach", "both hands", "without posture", "pole and aim", "a jump"])
def test_a_smooth_motion_takes_less_than_half_the_iterations(name: str) -> None:
    plain, found = solutions(CASES[name]())
    assert found.iterations.mean() < 0.5 * plain.iterations.mean()


def test_a_guess_that_needs_no_iteration_meets_its_objectives() -> None:
    """A tenth of the tolerance of 1e-4, in mean bones and radians."""
    body, (objectives, settings) = figure(), CASES["in reach"]()
    found = body.solve(objectives, in_time=True, **settings)
    guessed = found.errors[found.iterations == 0]
    assert len(guessed) >= FRAMES // 4
    assert np.all(guessed < 1e-5)


def test_a_jump_of_the_initial_pose_changes_no_branch() -> None:
    body = figure()
    pose = body.pose.copy()
    pose[FRAMES // 2 :, body("upper arm L")] = rotation.exp([0.3, -0.9, 0.8])
    objectives = [*body.feet(), hand(0.1, -0.2, 0.2)]
    plain, found = (
        ik.solve_body(
            body.parents, body.offsets, pose, objectives, posture=body.posture, move_root=True, in_time=in_time
        )
        for in_time in (False, True)
    )
    assert rotation.distance(found.rotations, plain.rotations).max() < 5e-4


def test_in_time_what_meets_its_objectives_stays_to_the_bit() -> None:
    body = figure()
    held = BodyPosition(body("hand L"), body.place("hand L"))
    found = body.solve([*body.feet(), held], in_time=True)
    assert_array_equal(found.rotations, body.pose)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_few_poses_in_time_are_solved_by_themselves(count: int) -> None:
    body, some = figure(), slice(0, count)
    objectives = [BodyPosition(body("hand L"), np.asarray(hand(0.1, -0.2, 0.2).target)[some])]
    plain, found = (
        ik.solve_body(body.parents, body.offsets, body.pose[some], objectives, in_time=in_time)
        for in_time in (False, True)
    )
    assert_array_equal(found.rotations, plain.rotations)
