"""The displacements of feet: points that touch stay, and displacements come and go smoothly."""

import numpy as np
import pytest

from extension import load

foot_lock = load("lookat_pd.body.foot_lock")
errors = load("lookat_pd.errors")
DT, FRAMES = 1.0 / 50.0, 200


@pytest.fixture(scope="module")
def points():
    """Ball and heel (F, 2, 3) that slide everywhere."""
    t = np.arange(FRAMES)[:, None] * DT
    ball = 0.05 * np.sin(t * np.array([2.0, 3.0, 0.5]))
    return np.stack((ball, ball + 0.02 * np.cos(t * np.array([3.0, 1.0, 2.0]))), axis=1)


PLANTED = foot_lock.stances([[(60, 80), (150, 199)], [(50, 70)]], FRAMES)


def test_stances_are_joined_over_points_and_the_first_point_stays() -> None:
    assert [(item.first, item.last) for item in PLANTED] == [(50, 80), (150, 199)]
    assert PLANTED[0].touching.tolist() == [1] * 10 + [0] * 21


def test_what_touches_stays(points) -> None:
    moved = foot_lock.displacements(points, PLANTED, DT)
    ball, heel = (points[:, n] + moved for n in range(2))
    assert np.ptp(ball[60:81], axis=0).max() < 1e-12 and np.ptp(heel[50:60], axis=0).max() < 1e-12
    assert np.ptp(ball[150:], axis=0).max() < 1e-12


def test_displacements_come_and_go_smoothly(points) -> None:
    moved = foot_lock.displacements(points, PLANTED, DT, release=0.3)
    far = np.ones(FRAMES, dtype=bool)
    far[50 - 15 : 80 + 16] = far[150 - 15 :] = False
    assert np.all(moved[far] == 0.0) and np.any(moved[40:50])
    steps = np.linalg.norm(np.diff(moved, 2, axis=0), axis=-1)
    assert steps.max() < 0.1 * np.linalg.norm(moved, axis=-1).max()


def test_an_anchor_is_not_moved(points) -> None:
    stance = PLANTED[0].cut(60, 80, 80)
    moved = foot_lock.displacements(points, [stance], DT, begin=60)
    assert np.all(moved[80] == 0.0) and np.all(moved[:60] == 0.0)


def test_the_body_stays_until_it_may_move(points) -> None:
    moved = np.stack([foot_lock.displacements(points, PLANTED, DT)] * 2, axis=1)
    supports = np.stack([foot_lock.support(PLANTED, FRAMES, DT)] * 2, axis=1)
    body = foot_lock.body_displacement(moved, supports, DT, begin=60)
    assert np.all(body[:60] == 0.0) and np.any(body[70:])
    assert np.linalg.norm(body, axis=-1).max() <= np.linalg.norm(moved[:, 0], axis=-1).max()
    assert supports.max() == 1.0 and np.all(supports[50:81] == 1.0) and np.all(supports[110:120] == 0.0)


def test_the_body_follows_as_slowly_as_it_is_calm(points) -> None:
    moved = np.stack([foot_lock.displacements(points, PLANTED, DT)] * 2, axis=1)
    supports = np.stack([foot_lock.support(PLANTED, FRAMES, DT)] * 2, axis=1)
    hips = np.zeros((FRAMES, 3))

    def calm(least: float):
        return foot_lock.calm_body_displacement(hips, moved, supports, DT, begin=40, least=least)

    plain = foot_lock.body_displacement(moved, supports, DT, begin=40)
    hardest = np.linalg.norm(np.diff(plain, 2, axis=0), axis=-1).max() / DT**2
    np.testing.assert_array_equal(calm(1.01 * hardest), plain)
    body = calm(0.4 * hardest)
    assert 0.0 < np.linalg.norm(np.diff(body, 2, axis=0), axis=-1).max() / DT**2 < 0.4 * hardest
    assert np.all(body[:40] == 0.0)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(errors.InvalidArgument, match="points of a foot"):
        foot_lock.displacements(np.zeros((10, 3)), [], DT)
