"""The speed over the ground that planted feet give a clip in place."""

import numpy as np
import pytest

from lookat_pd.errors import InvalidArgument
from lookat_pd.transitions.ground_speed import ground_speed

DT = 1.0 / 30.0
FRAMES = 60


def walk(velocity=(0.0, -1.2), turn: float = 0.0, down: float = 0.6, lift: float = 0.1) -> np.ndarray:
    """Two feet (F, 2, 3) in a frame that moves with a velocity [m/s] and turns about its origin [rad/s]. Each stays on
    the ground for a part of a cycle of one second, and is swung low and fast for the rest."""
    t = np.arange(FRAMES) * DT
    feet = np.empty((FRAMES, 2, 3))
    for n in range(2):
        phase = (t + 0.5 * n) % 1.0
        swing = np.clip((phase - down) / (1.0 - down), 0.0, 1.0)
        # The time for which it has been on the ground, back again during the swing.
        since = np.where(phase < down, phase, down * (1.0 - swing)) - 0.5 * down
        angle = -turn * since
        begin = np.array([0.1 if n else -0.1, 0.0])
        cos, sin = np.cos(angle), np.sin(angle)
        # Planted in the world: p' = -v - turn x p, whose solution is about the pole of the motion.
        pole = np.array([-velocity[1], velocity[0]]) / turn if turn else np.zeros(2)
        off = begin - pole
        if turn:
            feet[:, n, 0] = pole[0] + cos * off[0] - sin * off[1]
            feet[:, n, 1] = pole[1] + sin * off[0] + cos * off[1]
        else:
            feet[:, n, :2] = begin - since[:, None] * np.asarray(velocity)
        feet[:, n, 2] = lift * np.sin(np.pi * swing) ** 2
    return feet


@pytest.mark.parametrize("velocity", [(0.0, -1.2), (0.8, 0.3), (0.0, 0.0)])
@pytest.mark.parametrize("lift", [0.1, 0.02])
def test_a_walk_gives_its_speed(velocity, lift) -> None:
    found, turn = ground_speed(walk(velocity, lift=lift), DT, 0.9)
    np.testing.assert_allclose(found, velocity, atol=0.02)
    assert turn == 0.0


def test_a_run_whose_feet_are_mostly_in_the_air() -> None:
    found, _ = ground_speed(walk((0.0, -4.0), down=0.25, lift=0.3), DT, 0.9)
    np.testing.assert_allclose(found, (0.0, -4.0), atol=0.05)


@pytest.mark.parametrize("turn", [-0.8, 0.5])
def test_a_turn_is_found_too(turn) -> None:
    found, measured = ground_speed(walk((0.0, -1.2), turn), DT, 0.9, turns=True)
    assert measured == pytest.approx(turn, abs=0.03)
    np.testing.assert_allclose(found, (0.0, -1.2), atol=0.03)


def test_it_does_not_depend_on_scale_and_frame_rate() -> None:
    feet = walk()
    found, _ = ground_speed(feet, DT, 0.9)
    np.testing.assert_allclose(ground_speed(100.0 * feet, DT, 90.0)[0], 100.0 * found, rtol=1e-9)
    np.testing.assert_allclose(ground_speed(feet, 0.5 * DT, 0.9)[0], 2.0 * found, rtol=0.02)


def test_feet_that_stand_do_not_move() -> None:
    found, turn = ground_speed(np.tile([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0]], (10, 1, 1)), DT, 0.9, turns=True)
    assert np.allclose(found, 0.0) and turn == pytest.approx(0.0)


@pytest.mark.parametrize(
    "change", [{"feet": np.ones((2, 1, 3))}, {"feet": np.ones((9, 3))}, {"dt": 0.0}, {"size": 0.0}]
)
def test_wrong_input(change) -> None:
    with pytest.raises(InvalidArgument):
        ground_speed(**{"feet": walk(), "dt": DT, "size": 0.9, **change})
