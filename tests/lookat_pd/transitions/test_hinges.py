"""Joints that bend to one side are found, and do not swing beyond the straight pose."""

import numpy as np
import pytest

from extension import load

hinges = load("lookat_pd.transitions.hinges")
inertialization = load("lookat_pd.transitions.inertialization")
rotation = load("lookat_pd.rotation")
DT = 1.0 / 30.0
X, Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def bent(degrees, axis=X):
    """Poses (F, 1, 4) that are bent by so much about an axis."""
    return rotation.exp(np.radians(np.asarray(degrees, dtype=float))[:, None, None] * axis)


def bends(poses):
    return np.degrees(rotation.log(poses)[:, 0, 0])


FAST, STANDS = bent(np.linspace(90.0, 2.0, 12)), bent(np.linspace(20.0, 22.0, 30))


def test_a_knee_has_its_end_where_it_is_straight() -> None:
    found = hinges.find([FAST, STANDS], Y[None], Y[None])
    assert list(found.which) == [0] and np.isinf(found.high[0]) != np.isinf(found.low[0])
    assert found.contain(bent([0.0, 150.0]))[0] and not found.contain(bent([50.0, -8.0]))[0]
    backwards = hinges.find([bent([-90.0, -5.0]), bent([-20.0, -21.0])], Y[None], Y[None])
    assert backwards.contain(bent([-150.0, 0.0]))[0] and not backwards.contain(bent([8.0]))[0]


@pytest.mark.parametrize(
    ("poses", "above"),
    [
        (bent(np.linspace(-40.0, 40.0, 9)), Y),
        (bent(np.linspace(10.0, 25.0, 9)), Y),
        (bent(np.linspace(10.0, 90.0, 9), Y), Y),
        (bent(np.linspace(10.0, 90.0, 9)), np.zeros(3)),
        (np.concatenate((bent([10.0, 80.0]), bent([20.0, 70.0], np.array([0.0, 0.0, 1.0])))), Y),
    ],
    ids=["both sides", "too little", "twists", "no bone above", "two axes"],
)
def test_others_have_no_end(poses, above) -> None:
    assert not len(hinges.find([poses], above[None], Y[None]).which)


def test_a_knee_does_not_swing_backwards() -> None:
    found = hinges.find([FAST, STANDS], Y[None], Y[None])
    plain = inertialization.swing_transition(FAST[-2:], STANDS, DT, 0.5)
    held = inertialization.swing_transition(FAST[-2:], STANDS, DT, 0.5, hinges=found)
    assert bends(plain).min() < -10.0 and bends(held).min() > -6.1
    np.testing.assert_array_equal(held[-10:], plain[-10:])


def test_a_knee_with_room_swings_as_before() -> None:
    slow = bent(np.linspace(90.0, 60.0, 12))
    found = hinges.find([slow, STANDS], Y[None], Y[None])
    plain = inertialization.swing_transition(slow[-2:], STANDS, DT, 0.5)
    np.testing.assert_array_equal(inertialization.swing_transition(slow[-2:], STANDS, DT, 0.5, hinges=found), plain)
