"""The turn of a clip in place, from its feet: a person who walks along a path whose heading is known."""

from collections.abc import Callable

import numpy as np
import pytest

from lookat_pd.errors import InvalidArgument
from lookat_pd.transitions.ground_turn import ground_turn

DT = 1.0 / 30.0
FRAMES = 90
DOWN, LIFT = 0.6, 0.1
"""Part of a cycle of one second for which a foot is on the ground, and height of a step [m]."""
SPEED = 1.2


def quarter(t):
    """A quarter of a turn within 1.4 s, with constant speed before and after it."""
    share = np.clip((t - 0.6) / 1.4, 0.0, 1.0)
    return 0.5 * np.pi * share**2 * (3.0 - 2.0 * share)


HEADINGS = {
    "straight": lambda t: 0.0 * t,
    "circle": lambda t: -0.8 * t,
    "to and fro": lambda t: 0.5 * np.sin(0.5 * np.pi * t),
    "quarter turn": quarter,
}


def walk(heading: Callable, *, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two feet (F, 2, 3) in the frame of a body that goes where it faces, along X, and its heading (F,) [rad]."""
    fine = np.arange(-600, 10 * FRAMES + 600) * 0.1 * DT
    ways = SPEED * np.stack((np.cos(heading(fine)), np.sin(heading(fine))), axis=-1)
    path = np.cumsum(0.1 * DT * ways, axis=0)

    def body(t):
        return np.stack([np.interp(t, fine, path[:, k]) for k in range(2)], axis=-1), heading(t)

    feet = np.empty((FRAMES, 2, 3))
    for foot in range(2):
        for frame in range(FRAMES):
            cycle = frame * DT - 0.5 * foot
            number, phase = np.floor(cycle), cycle % 1.0
            swing = np.clip((phase - DOWN) / (1.0 - DOWN), 0.0, 1.0)
            prints = []
            for step in (number, number + 1.0):
                place, angle = body(step + 0.5 * foot + 0.5 * DOWN)
                prints.append(place + (0.1 if foot else -0.1) * np.array((-np.sin(angle), np.cos(angle))))
            place = prints[0] + swing**2 * (3.0 - 2.0 * swing) * (prints[1] - prints[0])
            origin, angle = body(frame * DT)
            cos, sin = np.cos(angle), np.sin(angle)
            feet[frame, foot, :2] = np.array(((cos, sin), (-sin, cos))) @ (place - origin)
            feet[frame, foot, 2] = LIFT * np.sin(np.pi * swing) ** 2
    feet += noise * np.random.default_rng(0).normal(size=feet.shape)
    return feet, heading(np.arange(FRAMES) * DT)


@pytest.mark.parametrize("noise", [0.0, 0.001])
@pytest.mark.parametrize("name", HEADINGS)
def test_the_heading_is_found_without_jitter(name, noise) -> None:
    feet, true = walk(HEADINGS[name], noise=noise)
    velocity, turns = ground_turn(feet, DT, 0.9)
    found = np.concatenate(([0.0], np.cumsum(0.5 * DT * (turns[1:] + turns[:-1]))))
    assert np.degrees(np.abs(found - (true - true[0])).max()) < 2.0
    shaken, least = (np.abs(np.diff(angles, 2)).max() / DT**2 for angles in (found, true))
    assert shaken < 1.2 * least + 0.05
    np.testing.assert_allclose(velocity, (SPEED, 0.0), atol=0.02)


def test_it_does_not_depend_on_scale_and_frame_rate() -> None:
    feet, _ = walk(quarter)
    velocity, turns = ground_turn(feet, DT, 0.9)
    large = ground_turn(100.0 * feet, DT, 90.0)
    np.testing.assert_allclose(large[0], 100.0 * velocity, rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(large[1], turns, atol=1e-3)


def test_feet_that_stand_do_not_turn() -> None:
    velocity, turns = ground_turn(np.tile([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]], (10, 1, 1)), DT, 0.9)
    assert np.allclose(velocity, 0.0) and turns == pytest.approx(0.0)


@pytest.mark.parametrize("change", [{"feet": np.ones((2, 1, 3))}, {"feet": np.ones((9, 3))}, {"dt": 0.0}, {"size": 0}])
def test_wrong_input(change) -> None:
    with pytest.raises(InvalidArgument):
        ground_turn(**{"feet": walk(quarter)[0], "dt": DT, "size": 0.9, **change})


@pytest.mark.parametrize("frames", [3, 4, 9])
def test_short_clips(frames) -> None:
    _, turns = ground_turn(walk(quarter)[0][:frames], DT, 0.9)
    assert turns.shape == (frames,) and np.isfinite(turns).all()
