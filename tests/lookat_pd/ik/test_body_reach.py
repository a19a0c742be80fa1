"""The end of the reach of a whole body: limbs that are stretched there let go smoothly."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import ik, rotation
from lookat_pd.ik import BodyPosition
from lookat_pd.skeleton import forward

from .test_full_body import figure


def held(count: int) -> list[ik.BodyObjective]:
    """Both feet stay, in so many poses."""
    found = []
    for objective in figure().feet():
        name = "target" if isinstance(objective, BodyPosition) else "orientation"
        found.append(replace(objective, **{name: np.repeat(np.asarray(getattr(objective, name))[:1], count, axis=0)}))
    return found


def solved(objectives: list[ik.BodyObjective], pose: rotation.Array) -> ik.BodySolution:
    body = figure()
    return ik.solve_body(body.parents, body.offsets, pose, objectives, posture=body.posture, move_root=True)


@pytest.mark.thorough
def test_a_straight_knee_lets_go_without_a_snap() -> None:
    """Hands that are pulled apart out of reach: one knee is straight, and bends as they move."""
    body, count = figure(), 200
    t = np.linspace(0.0, 2.0 * np.pi, count)
    circle = 0.1 * np.stack((np.sin(t), np.cos(t), np.sin(t)), axis=-1)
    hands = [
        BodyPosition(body(name), body.place(name)[0] + away + circle)
        for name, away in (("hand L", [0.3, -0.5, 1.8]), ("hand R", [-0.3, -0.5, -1.5]))
    ]
    found = solved([*held(count), *hands], np.repeat(body.pose[:1], count, axis=0))
    assert np.max(rotation.distance(found.rotations[1:], found.rotations[:-1])) < 0.03
    # Which hinges are at their end, each pose finds for itself.
    for frame in range(0, count, 25):
        alone = [replace(hand, target=np.asarray(hand.target)[frame : frame + 1]) for hand in hands]
        one = solved([*held(1), *alone], body.pose[:1])
        assert_allclose(rotation.distance(one.rotations[0], found.rotations[frame]), 0.0, atol=1e-6)


@pytest.mark.parametrize(("limb", "after"), [("forearm L", "hand L"), ("shin R", "foot R")])
def test_a_limb_that_is_stretched_out_of_reach_keeps_a_slight_bend(limb: str, after: str) -> None:
    """Of 3°, which takes 0.03 % of its length."""
    body = figure()
    hand = BodyPosition(body("hand L"), body.place("hand L")[:1] + np.array([1.0, -1.0, 3.0]))
    found = solved([*held(1), hand], body.pose[:1])
    joint = np.array([body(limb)])
    bones = (np.asarray(body.offsets)[..., [body(name)], :] for name in (limb, after))
    bend = body.posture.take(joint).bend(*bones, found.rotations[:, joint])
    assert_allclose(bend, 0.05, atol=1e-3)


def out_and_back(count: int, softness: float) -> ik.BodySolution:
    """A hand that goes out of the reach of the whole body and comes back, over pinned feet."""
    body = figure()
    away = np.sin(np.pi * np.linspace(0.0, 1.0, count)) ** 2
    target = body.place("hand L")[0] + [0.0, -0.25, 0.3] + away[:, None] * [0.5, -0.6, 0.5]
    objectives = [*held(count), BodyPosition(body("hand L"), target)]
    soft = [
        replace(item, bones=2, softness=softness) if isinstance(item, BodyPosition) else item for item in objectives
    ]
    return solved(soft, np.repeat(body.pose[:1], count, axis=0))


def bends(found: ik.BodySolution, limb: str, after: str) -> rotation.Array:
    """The bends (m,) of a hinge."""
    body, joint = figure(), np.array([figure()(limb)])
    bones = (np.asarray(body.offsets)[..., [body(name)], :] for name in (limb, after))
    return body.posture.take(joint).bend(*bones, found.rotations[:, joint])[:, 0]


@pytest.mark.thorough
@pytest.mark.parametrize("count", [80, 200])
def test_limbs_become_straight_softly_after_the_body_has_done_its_part(count: int) -> None:
    body, soft, hard = figure(), out_and_back(count, 0.03), out_and_back(count, 0.0)
    hand, elbow = soft.errors[:, -1], bends(soft, "forearm L", "hand L")
    lengths = [np.linalg.norm(np.asarray(body.offsets)[body(name)]) for name in ("forearm L", "hand L")]
    length = sum(lengths)
    # What the body reaches is reached, and nothing but a goal out of its reach makes the arm straighter.
    least = np.arccos(((0.97 * length) ** 2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1]))
    in_reach = hard.errors[:, -1] < 1e-4
    assert 0.4 * count < in_reach.sum() < 0.9 * count
    assert np.all(hand[soft.behind[:, -1] == 0.0] < 0.006)
    assert np.all(elbow[soft.behind[:, -1] == 0.0] > 0.99 * least)
    assert np.all(soft.errors[:, [0, 2]] < 5e-6)
    assert np.all(soft.softened <= soft.behind) and np.max(soft.softened) < 0.03 * length
    assert_allclose(hand[soft.behind[:, -1] > 0.0], soft.behind[soft.behind[:, -1] > 0.0, -1], atol=1e-5)
    # Per step of the hand, at the start of the soft part: 2 / (L √(2 s)).
    step = np.linalg.norm(
        np.diff(np.sin(np.pi * np.linspace(0.0, 1.0, count)) ** 2)[:, None] * [0.5, -0.6, 0.5], axis=1
    )
    assert np.max(np.abs(np.diff(elbow))) < 1.5 * 2.0 * step.max() / (length * np.sqrt(2.0 * 0.03))
    for limb, foot in (("shin L", "foot L"), ("shin R", "foot R")):
        assert np.max(np.abs(np.diff(bends(soft, limb, foot)))) < 1.5 * step.max() / length


def test_pinned_limbs_stay_as_straight_as_they_are() -> None:
    """Legs that are almost straight: the hips do not go up, and nothing slips or bends."""
    body, count = figure(), 3
    pose = np.repeat(body.pose[:1], count, axis=0).copy()
    for name in ("shin L", "shin R", "thigh L", "thigh R"):
        pose[:, body(name)] = rotation.exp([0.02 if name.startswith("shin") else 0.0, 0.0, 0.0])
    _, places = forward(body.parents, body.offsets, pose)
    feet = [
        BodyPosition(body(f"foot {side}"), places[:, body(f"foot {side}")], bones=2, softness=0.03) for side in "LR"
    ]
    found = solved([*feet, BodyPosition(body("hand L"), places[:, body("hand L")], bones=2, softness=0.03)], pose)
    assert np.array_equal(found.rotations, pose) and not found.behind.any()
