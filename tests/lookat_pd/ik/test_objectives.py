"""More than a point: orientation, pole, soft goals, a base that follows, and several effectors on one body."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import Effector, Limits
from lookat_pd.rotation import Array

LINKS = 6
BONES = np.tile([0.0, 1.0, 0.0], (LINKS, 1))
SOFT = ("particle", "fabrik", "jacobian_euler", "jacobian_quaternion")
PARENTS = [-1, 0, 1, 2, 3, 4, 2, 6, 7, 2]
"""A spine of three, an arm of three on each side, a head."""
BODY = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.0, 0.3, 0.0],
        [0.0, 0.3, 0.0],
        [0.2, 0.2, 0.0],
        [0.4, 0.0, 0.0],
        [0.4, 0.0, 0.0],
        [-0.2, 0.2, 0.0],
        [-0.4, 0.0, 0.0],
        [-0.4, 0.0, 0.0],
        [0.0, 0.4, 0.0],
    ]
)
LEFT, RIGHT, HEAD = 5, 8, 9

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
    found = ik.solve(BONES, start, targets, method=method, orientation=wanted)
    matrices, _ = forward(list(range(-1, LINKS - 1)), np.zeros((LINKS, 3)), found.rotations)
    assert np.mean(found.error < 1e-3) >= 0.95
    left = rotation.angle(rotation.from_matrix(np.swapaxes(rotation.to_matrix(wanted), -1, -2) @ matrices[:, -1]))
    assert np.mean(left < 1e-3) >= 0.95
    assert_allclose(found.orientation_error, left, atol=1e-6)


@methods
def test_the_weight_leads_from_none_of_the_orientation_to_all_of_it(method: str) -> None:
    start, targets, random = shot(20)
    wanted = rotation.normalize(random.normal(size=(20, 4)))
    left = [
        ik.solve(BONES, start, targets, method=method, orientation=wanted, orientation_weight=weight).orientation_error
        for weight in (0.0, 0.5, 1.0)
    ]
    free = ik.solve(BONES, start, targets, method=method)
    unasked = ik.solve(BONES, start, targets, method=method, orientation=wanted, orientation_weight=0.0)
    assert_array_equal(unasked.rotations, free.rotations)
    assert free.orientation_error is None
    assert_allclose(left[1], 0.5 * left[0], atol=2e-3)
    assert_allclose(left[2], 0.0, atol=2e-3)


@methods
def test_a_wrist_that_limits_hold_back_still_lets_the_hand_arrive(method: str) -> None:
    start, targets, _ = shot(20)
    minimum, maximum = np.full((LINKS, 3), -np.inf), np.full((LINKS, 3), np.inf)
    minimum[-1], maximum[-1] = -0.1, 0.1
    limits = Limits(minimum=minimum, maximum=maximum)
    found = ik.solve(BONES, start, targets, method=method, orientation=[0.0, 1.0, 0.0, 0.0], limits=limits)
    assert np.max(limits.excess(found.rotations)) < 1e-6


# Pole


@methods
def test_the_chain_bends_towards_the_pole(method: str) -> None:
    start, targets, random = shot(40)
    poles = random.normal(scale=5.0, size=(40, 3))
    found = ik.solve(BONES, start, targets, method=method, pole=poles)
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
    found = ik.solve(BONES, start, target, method=method, pole=pole)
    bend = np.sum(chain_places(found.rotations)[:-1], axis=0)
    line = rotation.normalize(target)
    assert found.error < 1e-3
    assert rotation.angle_between(bend - bend @ line * line, pole) < 1e-6


# Soft goals


@pytest.mark.parametrize("method", SOFT)
def test_soft_goals_draw_joints_and_the_effector_still_arrives(method: str) -> None:
    start, targets, _ = shot(40)
    goals, strengths = np.zeros((LINKS, 3)), np.zeros(LINKS)
    goals[3], strengths[3] = [1.5, 1.5, 1.5], 0.9
    free = ik.solve(BONES, start, targets, method=method)
    drawn = ik.solve(BONES, start, targets, method=method, goals=goals, strengths=strengths)
    away = [np.mean(np.linalg.norm(chain_places(found.rotations)[:, 2] - goals[3], axis=-1)) for found in (free, drawn)]
    assert np.max(drawn.error) < 1e-3
    assert away[1] < 0.85 * away[0]
    nothing = ik.solve(BONES, start, targets, method=method, goals=goals, strengths=0.0 * strengths)
    assert_array_equal(nothing.rotations, free.rotations)


@pytest.mark.parametrize("method", SOFT)
def test_soft_goals_never_leave_the_effector_worse_off(method: str) -> None:
    start, targets, random = shot(30)
    goals, strengths = random.normal(scale=3.0, size=(LINKS, 3)), np.ones(LINKS)
    before = np.linalg.norm(chain_places(start)[-1] - targets, axis=-1)
    for iterations in (1, 2, 5, 40):
        found = ik.solve(BONES, start, targets, method=method, goals=goals, strengths=strengths, iterations=iterations)
        assert np.all(found.error <= before + 1e-4)


# A base that follows


@methods
def test_a_base_that_may_move_reaches_everything(method: str) -> None:
    start, targets, random = shot(20)
    base = np.concatenate((random.normal(size=3), rotation.normalize(random.normal(size=4))))
    far = base[:3] + 5.0 * targets
    found = ik.solve(BONES, start, far, method=method, mobility=0.3, base=base)
    ends = found.base + rotation.rotate(base[3:], chain_places(found.rotations)[:, -1])
    assert_allclose(ends, far, atol=1e-3)
    assert_allclose(found.error, np.linalg.norm(ends - far, axis=-1), atol=1e-9)
    assert_allclose(ik.solve(BONES, start, far, method=method, base=base).base, np.tile(base[:3], (20, 1)))


# Several effectors


def test_both_hands_and_the_head_at_once() -> None:
    random = np.random.default_rng(3)
    pose = rotation.exp(random.normal(scale=0.4, size=(50, len(PARENTS), 3)))
    matrices, places = forward(PARENTS, BODY, pose)
    hand = np.array([0.1, 0.0, 0.0])
    effectors = [
        Effector(LEFT, target=places[:, LEFT] + matrices[:, LEFT] @ hand, offset=hand),
        Effector(RIGHT, target=places[:, RIGHT]),
        Effector(HEAD, orientation=rotation.from_matrix(matrices[:, HEAD])),
    ]
    found = ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), effectors)
    there, stands = forward(PARENTS, BODY, found.rotations)
    assert_allclose(stands[:, LEFT] + there[:, LEFT] @ hand, effectors[0].target, atol=1e-3)
    assert_allclose(stands[:, RIGHT], places[:, RIGHT], atol=1e-3)
    assert_allclose(there[:, HEAD], matrices[:, HEAD], atol=5e-3)
    assert np.max(found.errors) < 1e-3


def test_what_weighs_more_is_left_less() -> None:
    def left(weight: float) -> Array:
        apart = [Effector(LEFT, [1.5, 0.8, 0.0], weight=weight), Effector(RIGHT, [-1.5, 0.8, 0.0])]
        return ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), apart).errors

    light, even, heavy = left(0.3), left(1.0), left(3.0)
    assert heavy[0] < even[0] < light[0]
    assert heavy[1] > even[1] > light[1]
    assert_allclose(even[0], even[1], rtol=0.2)


def test_one_effector_is_a_chain() -> None:
    start, targets, _ = shot(20)
    heads = np.concatenate((np.zeros((1, 3)), BONES[:-1]))
    parents = list(range(-1, LINKS - 1))
    tree = ik.solve_tree(parents, heads, start, [Effector(LINKS - 1, targets, offset=BONES[-1])])
    chain = ik.solve(BONES, start, targets, method="jacobian_quaternion")
    assert_allclose(tree.rotations, chain.rotations, atol=1e-9)
    assert_allclose(tree.errors[:, 0], chain.error, atol=1e-9)


def test_limits_of_a_body_are_kept() -> None:
    random = np.random.default_rng(4)
    limits = Limits(minimum=np.full((len(PARENTS), 3), -0.5), maximum=np.full((len(PARENTS), 3), 0.4))
    effectors = [Effector(LEFT, random.normal(size=(20, 3))), Effector(RIGHT, random.normal(size=(20, 3)))]
    found = ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), effectors, limits=limits)
    assert np.max(limits.excess(found.rotations)) < 1e-6
    start = ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), effectors, iterations=0)
    assert np.all(np.linalg.norm(found.errors, axis=-1) <= np.linalg.norm(start.errors, axis=-1))


def test_straight_arms_drawn_inwards_bend() -> None:
    inwards = [Effector(LEFT, [0.7, 0.8, 0.0]), Effector(RIGHT, [-0.7, 0.8, 0.0])]
    assert np.max(ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), inwards).errors) < 1e-3


def test_a_body_whose_base_follows() -> None:
    effectors = [Effector(LEFT, [5.0, 1.0, 0.0]), Effector(RIGHT, [4.0, 1.0, 0.5])]
    found = ik.solve_tree(PARENTS, BODY, rotation.identity(len(PARENTS)), effectors, mobility=0.5)
    _, places = forward(PARENTS, BODY, found.rotations)
    assert_allclose(found.base + places[[LEFT, RIGHT]], [[5.0, 1.0, 0.0], [4.0, 1.0, 0.5]], atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"effectors": []}, "effector"),
        ({"effectors": [Effector(40, [0.0, 0.0, 0.0])]}, "joint 40"),
        ({"effectors": [Effector(LEFT)]}, "joint 5"),
        ({"effectors": [Effector(LEFT, [0.0, 0.0, 0.0], weight=-1.0)]}, "joint 5"),
        ({"effectors": [Effector(LEFT, [0.0, np.nan, 0.0])]}, "target"),
        ({"parents": [0] * len(PARENTS)}, "parent"),
        ({"parents": [-1, 0]}, "parents"),
    ],
)
def test_bad_bodies_are_refused_in_one_sentence(arguments: dict[str, object], says: str) -> None:
    fine = {
        "parents": PARENTS,
        "offsets": BODY,
        "rotations": rotation.identity(len(PARENTS)),
        "effectors": [Effector(LEFT, [0.0, 0.0, 0.0])],
    }
    with pytest.raises(InvalidArgument) as caught:
        ik.solve_tree(**{**fine, **arguments})
    assert says in str(caught.value)
    assert str(caught.value).endswith(".")
