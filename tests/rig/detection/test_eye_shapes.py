"""Which shape keys turn the eyes, by name, and how far, by the mesh."""

import numpy as np
import pytest

from extension import load

eye_shapes = load("rig.detection.eye_shapes")
rotation = load("lookat_pd.rotation")
ARKIT = [f"eyeLook{where}{side}" for side in ("Left", "Right") for where in ("In", "Out", "Up", "Down")]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("eyeLookInLeft", ("L", "RIGHT")),
        ("eyeLookOutLeft", ("L", "LEFT")),
        ("eyeLookInRight", ("R", "LEFT")),
        ("EyeLookOut_R", ("R", "RIGHT")),
        ("eyeLookDown_L", ("L", "DOWN")),
        ("eyelookinleft", ("L", "RIGHT")),
        ("CTRL_expressions_eyeLookLeftR", ("R", "LEFT")),
        ("eyeLookLeftRight", ("R", "LEFT")),
        ("leftEyeLookUp", ("L", "UP")),
        ("lookLeft", ("", "LEFT")),
        ("LookDown", ("", "DOWN")),
    ],
)
def test_names(name, role) -> None:
    assert eye_shapes.looking([name]) == {role: name}


@pytest.mark.parametrize(
    "name", ["browLookUp", "eyeBlinkLeft", "lookIn", "Look", "eyelidLookDown", "headLookLeft", "Up"]
)
def test_other_shape_keys(name) -> None:
    assert not eye_shapes.looking([name])


def test_arkit_is_whole() -> None:
    assert len(eye_shapes.looking(ARKIT)) == 8


def ball(center, count=60, seed=0) -> tuple[np.ndarray, np.ndarray]:
    """Vertices on a sphere about a center, and edges that join them all."""
    points = rotation.normalize(np.random.default_rng(seed).normal(size=(count, 3))) * 0.012 + center
    return points, np.stack((np.arange(count - 1), np.arange(1, count)), axis=1)


def test_an_eyeball_shows_axis_angle_and_center() -> None:
    center, axis, angle = np.array([0.03, -0.08, 1.7]), np.array([0.0, 0.0, 1.0]), 0.6
    points, edges = ball(center)
    skin = points[:20] + np.array((0.0, 0.5, 0.0))
    turned = center + rotation.rotate(rotation.exp(angle * axis), points - center)
    # The skin moves, too, but not as a whole.
    moved = np.concatenate((turned, skin + 0.002 * np.random.default_rng(1).normal(size=skin.shape)))
    found = eye_shapes.measured(np.concatenate((points, skin)), moved, edges)
    assert found.angle == pytest.approx(angle, abs=1e-9)
    assert found.axis == pytest.approx(axis, abs=1e-9)
    assert np.linalg.norm((np.array(found.place) - center)[:2]) < 1e-9, "along the axis nothing shows it"


def test_what_does_not_turn_as_a_whole_shows_nothing() -> None:
    points, edges = ball((0.0, 0.0, 0.0))
    moved = points + 0.01 * np.random.default_rng(1).normal(size=points.shape)
    assert eye_shapes.measured(points, moved, edges) is None
    assert eye_shapes.measured(points, points, edges) is None and eye_shapes.place(points, points) is None
    assert eye_shapes.measured(points, points + np.array((0.01, 0.0, 0.0)), edges) is None, "moved and not turned"
