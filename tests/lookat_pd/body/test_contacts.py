"""The laws of detected contacts that a limb does not reach: the effector leaves while it is on its way, and no more."""

import numpy as np
import pytest

from lookat_pd.body import contacts
from lookat_pd.rotation import Array

REACH = 0.86


def leaving(rate: float, speed: float = 0.3) -> tuple[Array, Array, list[contacts.Interval]]:
    """A foot that stands for 1 s and leaves backwards with 2 m/s^2, the hip above it that walks on, and its contact."""
    time = np.arange(round(1.6 * rate)) / rate
    foot, hip = np.zeros((2, len(time), 3))
    foot[:, 0] = -(np.maximum(time - 1.0, 0.0) ** 2)
    hip[:, 0], hip[:, 2] = -0.8 * (time - 0.75), 0.85
    return foot, hip, contacts.intervals(contacts.touching(foot, 1.0 / rate, speed, np.inf, 0.0), 1.0 / rate)


@pytest.mark.parametrize("rate", [24, 60, 120])
def test_a_foot_leaves_where_its_leg_does_not_reach(rate: int) -> None:
    """As soon as it is on its way: it moved at less than the given speed until then, and slipped less."""
    foot, hip, found = leaving(rate)
    ((first, last),) = contacts.within_reach(found, foot, hip, REACH, 1.0 / rate, 0.15)
    speed = np.linalg.norm(np.gradient(foot, 1.0 / rate, axis=0), axis=-1)
    assert first == found[0][0] and last < found[0][1]
    assert speed[last] <= 0.15 < speed[last + 1]


def test_a_foot_in_reach_stays_as_long_as_it_is_at_rest() -> None:
    foot, hip, found = leaving(60)
    assert contacts.within_reach(found, foot, hip, 2.0, 1.0 / 60.0, 0.15) == found
    # Out of reach, but not on its way.
    assert contacts.within_reach(found, foot, hip, REACH, 1.0 / 60.0, 0.3) == found
    # The animation stretches the leg as far.
    assert contacts.within_reach(found, foot, foot + np.array([1.0, 0.0, 0.0]), REACH, 1.0 / 60.0, 0.15) == found
    assert contacts.within_reach([], foot, hip, REACH, 1.0 / 60.0, 0.15) == []


def test_arriving_is_leaving_backwards() -> None:
    foot, hip, found = leaving(60)
    there = contacts.within_reach(found, foot, hip, REACH, 1.0 / 60.0, 0.15)
    last = len(foot) - 1
    turned = [(last - b, last - a) for a, b in found]
    back = contacts.within_reach(turned, foot[::-1], hip[::-1], REACH, 1.0 / 60.0, 0.15)
    assert [(last - b, last - a) for a, b in back] == there


def test_contacts_stay_long_enough_and_reach_to_the_ends_of_the_range() -> None:
    """A foot that slides on all the time, which cannot hold it: only the inner ends move, to a tenth of a second."""
    foot = np.zeros((60, 3))
    foot[:, 0] = np.arange(60) / 60.0
    hip = foot + np.array([0.0, 0.0, 5.0])
    found = contacts.within_reach([(0, 20), (25, 40), (45, 59)], foot, hip, REACH, 1.0 / 60.0, 0.15)
    assert [b - a for a, b in found] == [6, 7, 6]
    assert found[0][0] == 0 and found[2][1] == 59
