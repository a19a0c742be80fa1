"""Gestures of a head: along a quintic from one keyed angle to the next, whatever the settle time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookat_pd import pd
from lookat_pd.gaze import glances
from lookat_pd.pd.followers import Tuning

FRAMES = 96


def followed(keys: np.ndarray, fps: int, settle_time: float, damping_ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """The angles (F, 2) and rates of a head that follows the goal of keyed angles, at whole frames."""
    count = max(1, 480 // fps)
    goal = glances.gesturing(keys, 1 / fps, count, Tuning(settle_time, damping_ratio))
    x, v = pd.track(goal, 1 / fps / count, settle_time, damping_ratio)
    return x[::count], v[::count]


@st.composite
def gestures(draw) -> np.ndarray:
    """Keyed angles [rad] at 24 frames a second, some of them before the last motion is over."""
    keys = np.zeros((FRAMES, 2))
    for frame in draw(st.lists(st.integers(1, 70), min_size=1, max_size=8)):
        keys[frame:] = np.radians([draw(st.floats(-8.0, 8.0)), draw(st.floats(-8.0, 8.0))])
    return keys


@given(gestures(), st.floats(0.2, 1.0), st.floats(0.5, 2.0))
def test_the_head_goes_along_a_quintic_whatever_its_settle_time(keys, settle_time, damping_ratio) -> None:
    x, v = followed(keys, 24, settle_time, damping_ratio)
    wanted = np.zeros_like(keys)
    t = np.arange(FRAMES) / 24
    for frame in np.flatnonzero(np.any(np.diff(keys, axis=0) != 0.0, axis=1)) + 1:
        step = keys[frame] - keys[frame - 1]
        u = np.clip((t - t[frame]) / (0.25 + 2.0 * np.hypot(*step)), 0.0, 1.0)[:, None]
        wanted += step * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    assert np.degrees(np.abs(x - wanted)).max() < 0.05
    assert np.degrees(np.abs(v[-1])).max() < 0.5


@given(gestures(), st.sampled_from((30, 60, 120)))
def test_it_is_the_same_at_any_frame_rate(keys, fps) -> None:
    """Keys of times that both rates have; and between them the velocity has no jump."""
    kept = np.repeat(keys[:: 24 // 6], 24 // 6, axis=0)[:FRAMES]
    fine = np.repeat(keys[:: 24 // 6], fps // 6, axis=0)[: FRAMES * fps // 24]
    one, other = followed(kept, 24, 0.6, 1.0), followed(fine, fps, 0.6, 1.0)
    for few, many in zip(one, other, strict=True):
        assert np.degrees(np.abs(few[::4] - many[:: fps // 6])).max() < 0.05


@given(gestures())
def test_velocity_never_jumps(keys) -> None:
    """The step from one sample to the next shrinks with the time between them."""
    steps = []
    for fps in (48, 480):
        fine = np.repeat(keys, fps // 24, axis=0)
        steps.append(np.abs(np.diff(followed(fine, fps, 0.6, 1.0)[1], axis=0)).max())
    assert steps[1] < 0.2 * steps[0] + np.radians(0.05)


def test_slow_heads_gesture_less_rather_than_having_a_goal_far_away() -> None:
    keys = np.zeros((FRAMES, 2))
    keys[30:] = np.radians(8.0)
    goals = [np.abs(glances.gesturing(keys, 1 / 24, 4, Tuning(settle))).max() for settle in (0.6, 1.0, 4.0)]
    assert goals[0] < goals[1] == goals[2] < np.radians(30.0)
