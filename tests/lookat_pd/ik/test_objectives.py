"""Objectives beside the target: orientation, pole, soft goals of joints."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import JointGoal, Limits, Orientation, Pole
from lookat_pd.rotation import Array

LINKS = 6
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))
SOFT = [row.id for row in ik.METHODS.values() if row.draws_joints]

methods = pytest.mark.parametrize("method", ik.METHODS)


def forward(parents: list[int], offsets: Array, rotations: Array) -> tuple[Array, Array]:
    """Matrices (..., n, 3, 3) and places (..., n, 3) of joints, each offset in its parent's frame."""
    turns = rotation.to_matrix(rotations)
    matrices, places = turns.copy(), np.broadcast_to(offsets, (*rotations.shape[:-1], 3)).copy()
    for n, parent in enumerate(parents):
        if parent >= 0:
            matrices[..., n, :, :] = matrices[..., parent, :, :] @ turns[..., n, :, :]
            places[..., n, :] = places[..., parent, :] + matrices[..., parent, :, :] @ offsets[n]
    return matrices, places


def chain_places(rotations: Array) -> Array:
    """Places of joints 1 to n of the chain, the last of which is the effector."""
    offsets = np.concatenate((np.zeros((1, 3)), BONES))
    rotations = np.concatenate((rotations, np.broadcast_to(rotation.IDENTITY, (*rotations.shape[:-2], 1, 4))), axis=-2)
    return forward(list(range(-1, LINKS)), offsets, rotations)[1][..., 1:, :]


def shot(count: int, seed: int = 1) -> tuple[Array, Array, np.random.Generator]:
    """A bent chain and targets that are easy to reach."""
    random = np.random.default_rng(seed)
    targets = rotation.normalize(random.normal(size=(count, 3))) * random.uniform(1.5, 4.0, (count, 1))
    return rotation.exp(random.normal(scale=0.1, size=(LINKS, 3))), targets, random


# Orientation


@methods
def test_the_last_joint_takes_the_wanted_orientation_at_the_target(method: str) -> None:
    start, targets, random = shot(60)
    wanted = rotation.normalize(random.normal(size=(60, 4)))
    found = ik.solve(BONES, start, targets, method=method, objectives=[Orientation(wanted)])
    matrices, _ = forward(list(range(-1, LINKS - 1)), np.zeros((LINKS, 3)), found.rotations)
    assert np.mean(found.error < 1e-3) >= 0.95
    left = rotation.angle(rotation.from_matrix(np.swapaxes(rotation.to_matrix(wanted), -1, -2) @ matrices[:, -1]))
    assert np.mean(left < 1e-3) >= 0.95
    assert_allclose(found.orientation_error, left, atol=1e-6)


@pytest.mark.thorough
@methods
def test_the_weight_leads_from_none_of_the_orientation_to_all_of_it(method: str) -> None:
    start, targets, random = shot(20)
    wanted = rotation.normalize(random.normal(size=(20, 4)))
    left = [
        ik.solve(BONES, start, targets, method=method, objectives=[Orientation(wanted, weight)]).orientation_error
        for weight in (0.0, 0.5, 1.0)
    ]
    free = ik.solve(BONES, start, targets, method=method)
    unasked = ik.solve(BONES, start, targets, method=method, objectives=[Orientation(wanted, 0.0)])
    assert_array_equal(unasked.rotations, free.rotations)
    assert free.orientation_error is None
    assert_allclose(left[1], 0.5 * left[0], atol=2e-3)
    assert_allclose(left[2], 0.0, atol=2e-3)


@pytest.mark.thorough
@methods
def test_a_wrist_that_limits_hold_back_still_lets_the_hand_arrive(method: str) -> None:
    start, targets, _ = shot(20)
    minimum, maximum = np.full((LINKS, 3), -np.inf), np.full((LINKS, 3), np.inf)
    minimum[-1], maximum[-1] = -0.1, 0.1
    limits = Limits(minimum=minimum, maximum=maximum)
    wanted = Orientation([0.0, 1.0, 0.0, 0.0])
    found = ik.solve(BONES, start, targets, method=method, objectives=[wanted], limits=limits)
    assert np.max(limits.excess(found.rotations)) < 1e-6


# Pole


@methods
def test_the_chain_bends_towards_the_pole(method: str) -> None:
    start, targets, random = shot(40)
    poles = random.normal(scale=5.0, size=(40, 3))
    found = ik.solve(BONES, start, targets, method=method, objectives=[Pole(poles)])
    assert np.max(found.error) < 1e-3
    places = chain_places(found.rotations)
    line = rotation.normalize(places[:, -1])
    bend = np.sum(places[:, :-1], axis=1)
    beside = [v - np.sum(v * line, axis=-1, keepdims=True) * line for v in (bend, poles)]
    assert np.max(rotation.angle_between(*beside)) < 1e-6


@methods
def test_a_chain_that_is_at_its_target_still_bends_towards_the_pole(method: str) -> None:
    start, _, _ = shot(1)
    start = rotation.multiply(rotation.exp([0.3, 0.0, 0.0]), start)
    target = chain_places(start)[-1]
    pole = np.cross(target, [1.0, 2.0, 3.0])
    found = ik.solve(BONES, start, target, method=method, objectives=[Pole(pole)])
    bend = np.sum(chain_places(found.rotations)[:-1], axis=0)
    line = rotation.normalize(target)
    assert found.error < 1e-3
    assert rotation.angle_between(bend - bend @ line * line, pole) < 1e-6


# Soft goals


@pytest.mark.thorough
@pytest.mark.parametrize("method", SOFT)
def test_soft_goals_draw_joints_and_the_effector_still_arrives(method: str) -> None:
    start, targets, _ = shot(40)
    goal = JointGoal(3, [1.5, 1.5, 1.5], 0.9)
    free = ik.solve(BONES, start, targets, method=method)
    drawn = ik.solve(BONES, start, targets, method=method, objectives=[goal])
    away = [
        np.mean(np.linalg.norm(chain_places(found.rotations)[:, 2] - goal.target, axis=-1)) for found in (free, drawn)
    ]
    assert np.max(drawn.error) < 1e-3
    assert away[1] < 0.85 * away[0]
    nothing = ik.solve(BONES, start, targets, method=method, objectives=[JointGoal(3, goal.target, 0.0)])
    # The same work, but products of matrices may differ in the last digit from call to call.
    assert_allclose(nothing.rotations, free.rotations, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("method", SOFT)
def test_soft_goals_never_leave_the_effector_worse_off(method: str) -> None:
    start, targets, random = shot(30)
    goals = [JointGoal(joint, place) for joint, place in enumerate(random.normal(scale=3.0, size=(LINKS, 3))) if joint]
    before = np.linalg.norm(chain_places(start)[-1] - targets, axis=-1)
    for iterations in (1, 2, 5, 40):
        found = ik.solve(BONES, start, targets, method=method, objectives=goals, iterations=iterations)
        assert np.all(found.error <= before + 1e-4)


# What cannot be objectives


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Orientation(np.zeros(4)), "length 0"),
        (lambda: Orientation([0.0, 1.0, 0.0]), "orientation"),
        (lambda: Orientation(rotation.IDENTITY, 1.5), "weight of the orientation"),
        (lambda: Pole([0.0, np.nan, 0.0]), "pole"),
        (lambda: JointGoal(1, [0.0, 1.0]), "goal"),
        (lambda: JointGoal(1, [0.0, 1.0, 0.0], 2.0), "weight"),
    ],
)
def test_bad_objectives_are_refused_when_they_are_made(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert says in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("method", "objectives", "says"),
    [
        ("ccd", [JointGoal(2, [0.0, 1.0, 0.0])], "particle"),
        ("particle", [JointGoal(0, [0.0, 1.0, 0.0])], "Joint 0"),
        ("particle", [JointGoal(LINKS, [0.0, 1.0, 0.0])], f"Joint {LINKS}"),
        ("ccd", [Pole([0.0, 1.0, 0.0]), Pole([1.0, 0.0, 0.0])], "one kind"),
        ("ccd", [Pole(np.zeros((3, 3))), Orientation(rotation.identity(2))], "leading axes"),
    ],
)
def test_objectives_that_do_not_fit_the_chain_are_refused(
    method: str, objectives: list[ik.Objective], says: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        ik.solve(BONES, rotation.identity(LINKS), [1.0, 2.0, 3.0], method=method, objectives=objectives)
    assert says in str(caught.value)
