"""The end of the reach of a whole body: limbs that are stretched there let go smoothly."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import ik, rotation
from lookat_pd.ik import BodyPosition

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
