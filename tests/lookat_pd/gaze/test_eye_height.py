"""Laws of an aim that starts above the origin of the head: between the eyes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import gaze, rotation
from lookat_pd.gaze.solver import Chain, Tuning, solve, solve_samples
from lookat_pd.rotation import Array

RATE = 60


def chain(bones: int, **changes) -> Chain:
    values = {
        "shares": np.linspace(0.5, 0.2, bones),
        "settle_factors": np.linspace(1.0, 1.5, bones),
        **dict.fromkeys(("yaw_limits", "pitch_up_limits", "pitch_down_limits"), np.radians([70.0] * bones)),
        "compensates_lag": np.arange(bones) < 2,
        "forward": np.tile([0.0, -1.0, 0.0], (bones, 1)),
        "up": np.tile([0.0, 0.0, 1.0], (bones, 1)),
        "near": 0.3,
    }
    return Chain(**(values | changes))


def standing(bones: int, seconds: float, lean: Array) -> tuple[Array, Array]:
    frames = round(seconds * RATE) + 1
    turn = rotation.exp(lean)
    places = np.array([[0.0, 0.0, 1.6 - 0.1 * n] for n in range(bones)])
    return np.tile(turn, (frames, bones, 1)), np.tile(rotation.rotate(turn, places), (frames, 1, 1))


def hits(found: gaze.Solution, of: Chain, target: Array, size: float = 1.0) -> Array:
    """How far (F,) the target is from the line of sight."""
    eye = found.position + rotation.rotate(found.wanted[:, 0], np.array([0.0, 0.0, size * of.eye_height]))
    way = target - eye
    ahead = rotation.rotate(found.wanted[:, 0], of.forward[0])
    return np.linalg.norm(way - np.sum(way * ahead, axis=-1, keepdims=True) * ahead, axis=-1)


small = st.floats(-0.4, 0.4)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 4),
    st.floats(-0.1, 0.15),
    st.tuples(small, small, small),
    st.floats(-0.8, 0.8),
    st.floats(0.6, 5.0),
    st.sampled_from([0.0, 0.6, 1.0]),
    st.floats(-0.3, 0.3),
    st.floats(0.7, 1.4),
)
def test_the_line_of_sight_hits_the_target(bones, height, lean, yaw, away, level, tilt, size) -> None:
    """However the head is leveled, tilted and scaled."""
    wanted = chain(bones, eye_height=height, level=level, stabilize=0.9)
    rotations, positions = standing(bones, 6.0, np.array(lean))
    target = positions[0, 0] + away * np.array([np.sin(yaw), -np.cos(yaw), 0.1])
    targets = np.tile(target, (1, len(rotations), 1))
    samples = gaze.prepare(Tuning(), rotations, positions, targets, 1.0 / RATE)
    samples = samples.standing((0.0, 0.0, 1.0)).tilted(tilt).sized(size)
    found = solve_samples(wanted, Tuning(), samples)
    if found.reachable[-1]:
        assert hits(found, wanted, target, size)[-1] < 1e-4
        assert found.error[-1] < 1e-3


def test_people_of_one_height_look_level_in_each_others_eyes() -> None:
    wanted = chain(3, eye_height=0.11)
    rotations, positions = standing(3, 4.0, np.zeros(3))
    found = solve(wanted, Tuning(), rotations, positions, np.tile([0.0, -0.8, 1.71], (1, len(rotations), 1)), 1 / RATE)
    ahead = rotation.rotate(found.wanted[-1, 0], wanted.forward[0])
    assert abs(ahead[2]) < 1e-9
    published = solve(
        chain(3), Tuning(), rotations, positions, np.tile([0.0, -0.8, 1.71], (1, len(rotations), 1)), 1 / RATE
    )
    assert rotation.rotate(published.wanted[-1, 0], wanted.forward[0])[2] > np.sin(np.radians(6.0))


@pytest.mark.parametrize("distance", np.geomspace(1e-3, 1.0, 12))
def test_a_target_at_the_nose_is_let_go_smoothly(distance) -> None:
    """Nothing jumps as a target comes as near as the eyes are to the origin of the head."""
    wanted = chain(1, eye_height=0.15)
    rotations, positions = standing(1, 1.0, np.zeros(3))

    def turned(away: float) -> Array:
        target = positions[0, 0] + np.array([0.0, -away, 0.3 * away])
        return solve(wanted, Tuning(), rotations, positions, np.tile(target, (1, len(rotations), 1)), 1 / RATE).offsets[
            -1, 0
        ]

    apart = rotation.distance(turned(distance), turned(distance + 1e-4))
    assert apart < 0.02


@given(st.floats(0.3, 9.0), st.floats(-0.2, 0.2))
def test_what_is_ahead_of_the_eyes_has_no_error(distance, height) -> None:
    wanted = chain(1, eye_height=height)
    there = distance * wanted.ahead(distance)
    assert np.linalg.norm(there) == pytest.approx(distance)
    assert wanted.aim_error(rotation.identity(1), np.zeros((1, 3)), there[None]) == pytest.approx(0.0, abs=1e-6)
    assert_allclose(chain(1).ahead(distance), wanted.forward[0], atol=1e-12)
