"""The laws of the samples between the frames."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import curves, rotation


def test_the_curve_goes_through_the_frames_and_is_exact_for_parabolas():
    t = np.arange(6.0)
    fine = np.arange(26) / 5.0
    curve = curves.curve((t**2 - 3.0 * t)[:, None], np.zeros(5, bool), 5)
    assert_allclose(curve[:, 0], fine**2 - 3.0 * fine, atol=1e-12)


@pytest.mark.parametrize("jump", [0, 2, 4])
def test_over_a_jump_the_value_stays_until_the_next_frame(jump):
    values = np.where(np.arange(6) > jump, 7.0, 1.0)
    curve = curves.curve(values, np.arange(5) == jump, 4)
    assert_allclose(curve, np.where(np.arange(21) >= 4 * (jump + 1), 7.0, 1.0))


def test_the_motion_beside_a_jump_is_not_bent_by_it():
    t = np.arange(8.0)
    curve = curves.curve(t + 50.0 * (t > 3), np.arange(7) == 3, 4)
    fine = np.arange(29) / 4.0
    moving = (fine <= 3.0) | (fine >= 4.0)
    assert_allclose(curve[moving], (fine + 50.0 * (fine >= 4.0))[moving])


def test_keys_on_twos_stay_steps():
    values = np.repeat([0.0, 1.0, 3.0, 2.0], 2)
    assert_allclose(curves.curve(values, np.diff(values) != 0.0, 3), np.append(np.repeat(values, 3)[:21], 2.0))


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_few_frames(frames):
    values = np.arange(float(frames))
    curve = curves.curve(values, np.zeros(frames - 1, bool), 4)
    assert_allclose(curve, np.arange(4 * (frames - 1) + 1) / 4.0)


def test_a_jump_is_large_and_much_larger_than_what_is_beside_it():
    assert curves.sudden(np.radians([1.0, 1.0, 40.0, 1.0, 1.0])).tolist() == [False, False, True, False, False]
    assert not np.any(curves.sudden(np.radians([10.0, 20.0, 40.0, 60.0, 40.0])))
    assert not np.any(curves.sudden(np.radians([0.0, 0.0, 4.0, 0.0])))


def test_smooth_motion_is_not_doubtful_and_corners_are() -> None:
    t = np.arange(120) / 24.0
    sway = rotation.exp(np.stack((0.4 * np.sin(2.0 * np.pi * t), 0.0 * t, 0.0 * t), axis=-1))[:, None]
    corner = rotation.exp(np.stack((0.4 * np.abs((t % 0.5) - 0.25) / 0.25, 0.0 * t, 0.0 * t), axis=-1))[:, None]
    place, target = np.zeros((120, 1, 3)), np.tile([0.0, -3.0, 0.0], (1, 120, 1))
    assert not curves.doubtful(sway, place, target).any()
    found = curves.doubtful(corner, place, target)
    assert found.any() and not found.all()
