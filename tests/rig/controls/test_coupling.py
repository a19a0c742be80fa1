"""What controls move, measured."""

from collections.abc import Generator, Sequence

import numpy as np
import pytest

from extension import load

coupling = load("rig.controls.coupling")
rotation = load("lookat_pd.rotation")
errors = load("lookat_pd.errors")
drain = load("lookat_pd.progress").drain

BONES = ("head", "neck", "chest", "hips")
PASSED_ON = np.array(
    [
        [1.0, 0.4, 0.0, 1.0],
        [0.0, 1.0, 0.5, 1.0],
        [0.0, 0.0, 0.8, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.3, 1.0],
    ]
)
"""The last row is of a bone that is no control."""


class Rig:
    """Controls that pass a part of their turns on, at F frames in different poses."""

    def __init__(self, frames: int, passed_on: np.ndarray = PASSED_ON) -> None:
        random = np.random.default_rng(3)
        self.animated = rotation.exp(random.uniform(-1.0, 1.0, (frames, len(passed_on), 3)))
        self.passed_on, self.turns, self.evaluated = passed_on, rotation.identity(frames, len(BONES)), 0

    def show(self, turns: np.ndarray) -> None:
        assert np.count_nonzero(rotation.angle(turns)) == len(turns), "each probe is shown alone"
        self.turns = turns

    def evaluate(self, count: int) -> Generator[float, None, np.ndarray]:
        self.evaluated += count
        yield 1.0
        seen = self.animated[:count].copy()
        for control in range(len(BONES)):
            own = self.animated[:count, control]
            turned = rotation.multiply(own, rotation.multiply(self.turns[:, control], rotation.inverse(own)))
            part = rotation.exp(self.passed_on[None, :, control, None] * rotation.log(turned)[:, None])
            seen = rotation.multiply(part, seen)
        return seen

    def measured(self, axes: np.ndarray, **options: Sequence[int]) -> np.ndarray:
        return drain(coupling.measure(BONES, self.animated, axes, self.show, self.evaluate, **options))


@pytest.mark.every_blender
@pytest.mark.parametrize("frames", [1, 2, 3, 30])
def test_measures_what_each_control_passes_on(frames: int) -> None:
    """With any number of frames, at which each control is evaluated once."""
    rig = Rig(frames)
    axes = np.random.default_rng(4).normal(size=(4, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    assert np.allclose(rig.measured(axes), PASSED_ON, atol=1e-9)
    assert rig.evaluated == len(BONES)


def test_controls_do_not_turn_those_below_them() -> None:
    passed_on = PASSED_ON.copy()
    passed_on[3, 0] = 0.7
    assert np.allclose(Rig(5, passed_on).measured(np.tile([0.0, 0.0, 1.0], (4, 1))), PASSED_ON, atol=1e-9)


def test_some_are_left_out() -> None:
    rig = Rig(5)
    found = rig.measured(np.tile([1.0, 0.0, 0.0], (4, 1)), but=[2])
    assert np.allclose(found[:, 2], np.eye(5, 4)[:, 2]) and rig.evaluated == 3


def test_one_that_does_not_respond_is_an_error() -> None:
    passed_on = PASSED_ON.copy()
    passed_on[1, 1] = 0.01
    with pytest.raises(errors.RigError, match="'neck' does not respond"):
        Rig(4, passed_on).measured(np.tile([1.0, 0.0, 0.0], (4, 1)))


def test_a_pose_that_is_shown_at_once() -> None:
    rig = Rig(1)

    def seen(turns: np.ndarray) -> np.ndarray:
        rig.show(turns[None])
        return drain(rig.evaluate(1))[0]

    found = coupling.measure_now(BONES, rig.animated[0], np.tile([0.0, 1.0, 0.0], (4, 1)), seen)
    assert np.allclose(found, PASSED_ON, atol=1e-9)
