"""Laws of lids that are several points: on the eyeball, down to the lower lid, and never open what is closed."""

import numpy as np
import pytest

from lookat_pd.eyes import lid_points

AXES = np.array([[[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]])
RADIUS = 0.025


def edge(azimuths, heights) -> np.ndarray:
    """Points (1, n, 3) of an eyeball at degrees to the side and above the line of sight."""
    side, up = np.radians(azimuths), np.radians(heights)
    width = np.cos(side)
    return RADIUS * np.stack([np.sin(side), -width * np.cos(up), width * np.sin(up)], axis=-1)[None]


UPPER = edge((-60.0, -25.0, 0.0, 25.0), (0.0, 18.0, 25.0, 20.0))
LOWER = edge((60.0, 30.0, 5.0, -28.0), (-2.0, -12.0, -14.0, -10.0))


def test_points_turn_down_until_they_are_on_the_edge_of_the_lower_lid() -> None:
    gaps = lid_points.gaps(UPPER, LOWER, AXES)
    closed = UPPER + lid_points.turned(UPPER, -gaps, AXES)
    assert lid_points.gaps(closed, LOWER, AXES) == pytest.approx(0.0, abs=1e-9)
    assert np.degrees(gaps[0, 2]) == pytest.approx(39.0, abs=1.5)
    assert np.linalg.norm(closed, axis=-1) == pytest.approx(RADIUS), "on the eyeball"


def test_a_corner_of_the_eye_stays() -> None:
    gaps = lid_points.gaps(UPPER, LOWER, AXES)
    assert gaps[0, 0] == 0.0 and np.all(gaps[0, 1:] > 0.3)


def test_what_is_closed_is_not_opened() -> None:
    below = edge((-20.0, 0.0, 20.0), (-30.0, -30.0, -30.0))
    assert np.all(lid_points.gaps(below, LOWER, AXES) == 0.0)


def test_the_order_of_the_points_does_not_matter() -> None:
    order = [2, 0, 3, 1]
    gaps = lid_points.gaps(UPPER, LOWER, AXES)
    assert lid_points.gaps(UPPER[:, order], LOWER[:, ::-1], AXES) == pytest.approx(gaps[:, order])


def test_no_angle_is_no_displacement_at_all() -> None:
    assert np.all(lid_points.turned(UPPER, np.zeros((1, 4)), AXES) == 0.0)


def test_one_point_for_each_lid() -> None:
    upper, lower = edge((0.0,), (20.0,)), edge((0.0,), (-15.0,))
    assert np.degrees(lid_points.gaps(upper, lower, AXES)) == pytest.approx(35.0)
