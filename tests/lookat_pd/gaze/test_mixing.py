"""Weighted targets, and targets that are let go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.gaze.mixing import let_go, mixed
from lookat_pd.gaze.solver import Tuning, solve

from .test_solver import HEAD, at, body, make_chain


def mix_of(a, b, w: float, viewer) -> np.ndarray:
    return mixed(np.array([[a], [b]]), [[w], [1.0 - w]], np.array([viewer]))[0][0]


@given(st.floats(0, 1), st.floats(-60, 60), st.floats(-60, 60), st.floats(0.5, 20), st.floats(0.5, 20))
def test_the_direction_is_on_the_arc_and_the_weighted_sum(w, one, other, near, far) -> None:
    viewer = np.array([0.0, 0.0, HEAD])
    a, b = at(one, 20.0, near), at(other, -10.0, far)
    found = mix_of(a, b, w, viewer)
    wanted = w * rotation.normalize(a - viewer) + (1.0 - w) * rotation.normalize(b - viewer)
    assert_allclose(rotation.normalize(found - viewer), rotation.normalize(wanted), atol=1e-9)
    for aside in (0.0, 0.2):
        place = viewer + aside * np.array([1.0, 0.5, -0.5])
        to_a, to_b, here = (rotation.normalize(point - place) for point in (a, b, found))
        normal = np.cross(to_a, to_b)
        if np.linalg.norm(normal) > 0.05:
            assert abs(here @ rotation.normalize(normal)) < 1e-7
        whole = rotation.angle_between(to_a, to_b)
        assert rotation.angle_between(to_a, here) + rotation.angle_between(here, to_b) < whole + 1e-6


def test_the_settled_head_is_on_the_arc() -> None:
    t = np.arange(120) / 24.0
    pose = body(t, sway=0.0)
    a, b = (np.tile(at(yaw, pitch), (120, 1)) for yaw, pitch in ((-40, 10), (35, -15)))
    for w in (0.0, 0.3, 0.5, 1.0):
        point, _ = mixed([a, b], np.broadcast_to([[w], [1.0 - w]], (2, 120)), pose[1][:, 0])
        found = solve(make_chain(), Tuning(), *pose, point[None], 1 / 24)
        aim = rotation.rotate(found.wanted[-1, 0], make_chain().forward[0])
        to_a, to_b = (rotation.normalize(place[-1] - found.position[-1]) for place in (a, b))
        assert abs(aim @ rotation.normalize(np.cross(to_a, to_b))) < np.sin(np.radians(0.05))


def test_a_switch_of_the_weights_leaves_the_speed_continuous() -> None:
    """C1: the change of the speed from frame to frame goes to zero with the length of the frames."""
    leaps = []
    for fps in (240, 960):
        t = np.arange(2 * fps) / fps
        pose = body(t, sway=0.0)
        a, b = (np.tile(at(yaw, pitch), (len(t), 1)) for yaw, pitch in ((-40, 10), (35, -15)))
        late = t >= 0.5
        point, _ = mixed([a, b], np.stack((~late, late)).astype(float), pose[1][:, 0])
        found = solve(make_chain(), Tuning(), *pose, point[None], 1 / fps)
        velocity = np.diff(rotation.rotate(found.wanted[:, 0], make_chain().forward[0]), axis=0) * fps
        assert np.linalg.norm(velocity, axis=-1).max() > 2.0
        leaps.append(np.linalg.norm(np.diff(velocity, axis=0), axis=-1).max())
    assert leaps[1] < 0.3 * leaps[0]


def test_weights_of_zero_are_none() -> None:
    point, there = mixed(np.ones((2, 3, 3)), [[0, 1, 0], [0, 0, 2]], np.zeros((3, 3)))
    assert there.tolist() == [False, True, True] and np.all(np.isfinite(point))
    with pytest.raises(InvalidArgument, match="0 or more"):
        mixed(np.ones((1, 1, 3)), [[-1.0]], np.zeros((1, 3)))


def test_letting_go_has_hysteresis() -> None:
    there = np.zeros(9, dtype=int)
    values = np.array([9.0, 10.1, 9.9, 9.1, 8.9, 9.5, 10.0, 11.0, 9.5])
    assert let_go(values, 10.0, there).astype(int).tolist() == [0, 1, 1, 1, 0, 0, 0, 1, 1]


def test_another_target_is_judged_anew() -> None:
    assert let_go(np.array([11.0, 9.5, 9.5]), 10.0, np.array([0, 0, 1])).tolist() == [True, True, False]
