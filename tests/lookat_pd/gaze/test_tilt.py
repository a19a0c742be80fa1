"""A tilt of the head: about the line of sight, shared by neck and head, with the motion of any other turn."""

import numpy as np
import pytest

from lookat_pd import errors, rotation
from lookat_pd.gaze import chain as chains
from lookat_pd.gaze.solver import Tuning, prepare, solve_samples

from .test_solver import ON, body, hold, make_chain

CHAIN = make_chain()
T = np.arange(6 * 24 + 1) / 24.0
STEP = 48


def solved(tilt: np.ndarray | float, yaw: float = 30.0, events=ON, influence: float = 1.0) -> chains.Solution:
    samples = prepare(Tuning(), *body(T, sway=0.0), hold(yaw, 10.0)(T)[None], 1 / 24).tilted(tilt)
    return solve_samples(CHAIN, Tuning(), samples, events, influence)


def step(angle: float) -> np.ndarray:
    """A tilt [rad] from two seconds on."""
    return np.where(np.arange(len(T)) >= STEP, np.radians(angle), 0.0)


def leaned(tilted: chains.Solution, upright: chains.Solution) -> np.ndarray:
    """Angles [deg] by which the head leans to its left beside another solution."""
    left, up = -CHAIN.right[0], CHAIN.up[0]
    above = rotation.rotate(tilted.wanted[:, 0], up)
    side, straight = (rotation.rotate(upright.wanted[:, 0], axis) for axis in (left, up))
    return np.degrees(np.arctan2(rotation.dot(above, side), rotation.dot(above, straight)))


@pytest.mark.parametrize("angle", [-12.0, 7.0])
@pytest.mark.parametrize("yaw", [-40.0, 0.0, 30.0])
def test_the_head_leans_by_the_angle_and_keeps_its_aim(angle: float, yaw: float) -> None:
    upright, tilted = solved(0.0, yaw), solved(step(angle), yaw)
    lean = leaned(tilted, upright)
    assert np.abs(lean[:STEP]).max() < 1e-6
    assert abs(lean[-1] - angle) < 0.1 * abs(angle)
    assert np.degrees(tilted.error[-1]) < 0.05
    # Neck and head share it.
    others = np.degrees(rotation.angle(rotation.multiply(rotation.inverse(upright.offsets), tilted.offsets))[-1])
    assert 0.1 * abs(angle) < others[1] < abs(angle)


def test_a_tilt_is_no_jump() -> None:
    lean = leaned(solved(step(10.0)), solved(0.0))
    assert np.abs(np.diff(lean)).max() < 2.0
    arrived = STEP + int(0.6 * 24)
    assert abs(lean[arrived] - lean[-1]) < 1.0


def test_without_target_or_influence_there_is_no_tilt() -> None:
    off = solved(np.radians(10.0), events=[chains.Event(-1.0, None)])
    none = solved(np.radians(10.0), influence=0.0)
    for found in (off, none):
        assert np.all(found.offsets == rotation.IDENTITY)


def test_no_tilt_changes_nothing() -> None:
    samples = prepare(Tuning(), *body(T, sway=0.0), hold(30.0, 10.0)(T)[None], 1 / 24)
    assert samples.tilted(0.0) is samples


def test_a_tilt_that_is_no_number() -> None:
    with pytest.raises(errors.InvalidArgument):
        solved(np.nan)
