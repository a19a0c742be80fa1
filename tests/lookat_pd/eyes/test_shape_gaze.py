"""Values of shape keys that turn an eye."""

import numpy as np
import pytest

from lookat_pd import errors, rotation
from lookat_pd.eyes import shape_gaze

FORWARD, UP, LEFT = np.eye(3)[[2, 1, 0]]
ANGLES = np.radians([35.0, 42.0, 25.0, 30.0])


@pytest.fixture
def shifts() -> np.ndarray:
    axes = (UP, -UP, -LEFT, LEFT)
    return np.stack([shape_gaze.shift(FORWARD, axis, angle) for axis, angle in zip(axes, ANGLES, strict=True)])


def test_one_shape_key_at_1_turns_by_its_angle(shifts) -> None:
    looking = shape_gaze.direction(np.eye(4), FORWARD, shifts)
    assert rotation.angle_between(looking, FORWARD) == pytest.approx(ANGLES, abs=1e-12)
    assert looking[0] @ LEFT > 0.5 and looking[1] @ LEFT < -0.5 and looking[2] @ UP > 0.4 and looking[3] @ UP < -0.4


def test_values_look_in_the_direction(shifts) -> None:
    """Round trip, on a grid within reach."""
    yaw, pitch = np.meshgrid(np.radians(np.linspace(-30, 30, 13)), np.radians(np.linspace(-20, 20, 9)))
    wanted = np.stack((np.cos(pitch) * np.sin(yaw), np.sin(pitch), np.cos(pitch) * np.cos(yaw)), axis=-1)
    found = shape_gaze.weights(wanted, FORWARD, shifts)
    assert np.all((found >= 0.0) & (found <= 1.0))
    assert np.all(np.minimum(found[..., 0], found[..., 1]) == 0.0), "never left and right at once"
    assert np.all(np.minimum(found[..., 2], found[..., 3]) == 0.0)
    assert rotation.angle_between(shape_gaze.direction(found, FORWARD, shifts), wanted).max() < 1e-7


def test_values_are_continuous(shifts) -> None:
    yaw = np.radians(np.linspace(-40.0, 40.0, 4001))
    wanted = np.stack((np.sin(yaw), 0.1 * np.sin(3.0 * yaw), np.cos(yaw)), axis=-1)
    found = shape_gaze.weights(rotation.normalize(wanted), FORWARD, shifts)
    assert np.abs(np.diff(found, axis=0)).max() < 2e-3


def test_beyond_their_reach_values_stay_at_1(shifts) -> None:
    found = shape_gaze.weights(np.array([[0.99, 0.1, 0.1], [0.0, 1.0, 0.0]]), FORWARD, shifts)
    assert found[0, 0] == 1.0 and found[1, 2] == 1.0 and np.all(np.isfinite(found)) and found.max() <= 1.0


def test_shape_keys_about_one_axis_are_refused(shifts) -> None:
    shifts[2] = shifts[0]
    with pytest.raises(errors.InvalidArgument, match="one axis only"):
        shape_gaze.weights(FORWARD[None], FORWARD, shifts)
    shifts[2] = np.nan
    with pytest.raises(errors.InvalidArgument, match="finite"):
        shape_gaze.weights(FORWARD[None], FORWARD, shifts)
