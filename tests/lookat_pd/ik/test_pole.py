"""Chains with a pole follow smooth targets without snaps, also where these leave their reach and come back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookat_pd import ik, rotation
from lookat_pd.rotation import Array

TWO_BONES = ("ccd", "ccd_root", "particle", "jacobian_quaternion", "nearest_pose")
"""Methods whose steps do not depend on fixed axes, and do not pass over the target."""


class Arm:
    """An animated arm, a smooth path that leaves its reach and comes back, and a pole aside."""

    def __init__(self, joints: int, seed: int, fps: int = 24) -> None:
        random = np.random.default_rng(seed)
        t = 2.0 * np.pi * np.linspace(0.0, 1.0, 5 * fps)
        lengths = np.array([*random.uniform(0.8, 1.2, size=2), 0.3])[:joints]
        self.offsets = lengths[:, None] * [0.0, 1.0, 0.0]
        hinges = np.zeros((joints, 3))
        hinges[1, 0] = 1.0
        low = np.where(hinges[:, 0] > 0.0, 0.0, -np.pi)
        self.posture = ik.Posture([0.0, 0.0, 0.8][:joints], hinges, low, np.full(joints, 2.6))
        rests = np.zeros((joints, 3))
        # The animation bends the elbow about another axis than the hinge of its posture.
        rests[0], rests[1] = random.normal(size=3), [random.choice([0.02, 0.4, 0.9]), 0.0, 0.1]
        sway = 0.05 * np.sin(t[:, None, None] + random.uniform(0.0, 6.0, size=rests.shape))
        self.start = rotation.multiply(rotation.exp(rests), rotation.exp(sway))
        first = rotation.rotate(self.start[0, 0], np.array([0.0, 1.0, 0.0]))
        self.line = rotation.rotate(rotation.exp(0.4 * np.sin(t[:, None] + random.uniform(0.0, 6.0, size=3))), first)
        reach = lengths.sum()
        self.target = reach * (0.85 + 0.3 * np.sin(t + random.uniform(0.0, 6.0)))[:, None] * self.line
        self.pole = reach * random.uniform(1.0, 3.0) * rotation.normalize(np.cross(first, random.normal(size=3)))

    def solved(self, method: str, frames: slice = slice(None)) -> Array:
        """Rotations (F, n, 4) of these frames."""
        return ik.solve(
            self.offsets,
            self.start[frames],
            self.target[frames],
            method=method,
            tolerance=1e-5,
            posture=self.posture,
            objectives=[ik.Pole(self.pole)],
        ).rotations

    @property
    def needed(self) -> float:
        """The largest rotation from frame to frame that animation, target and pole need."""
        aside = rotation.normalize(self.pole - self.line * (self.line @ self.pole)[:, None])
        frame = rotation.from_matrix(np.stack((self.line, aside, np.cross(self.line, aside)), axis=-1))
        upper, lower = self.offsets[0, 1], self.offsets[1:, 1].sum()
        cosine = (upper**2 + lower**2 - np.sum(self.target**2, axis=-1)) / (2.0 * upper * lower)
        bent = np.abs(np.diff(np.arccos(np.clip(cosine, -1.0, 1.0))))
        return float((steps(self.start).max(axis=-1) + steps(frame) + bent).max())


def steps(rotations: Array) -> Array:
    """Rotations (F - 1, ...) [rad] from each frame to the next."""
    return rotation.distance(rotations[1:], rotations[:-1])


@pytest.mark.thorough
def test_the_default_method_never_snaps_with_a_pole() -> None:
    for joints in [2, 3]:
        for fps in [24, 60]:
            for seed in range(4):
                arm = Arm(joints, seed, fps)
                found = arm.solved("nearest_pose")
                assert steps(found).max() <= 1.5 * arm.needed


@pytest.mark.thorough
@pytest.mark.parametrize("method", TWO_BONES)
def test_two_bones_never_snap_with_a_pole(method: str) -> None:
    for seed in range(4):
        arm = Arm(2, seed)
        assert steps(arm.solved(method)).max() <= 1.5 * arm.needed


@pytest.mark.parametrize("method", ik.METHODS)
def test_two_bones_out_of_reach_bend_to_the_pole_as_they_come_back(method: str) -> None:
    """The elbow of the frame that comes back is on the side of the frame before."""
    arm = Arm(2, 1)
    far = np.linalg.norm(arm.target, axis=-1) > arm.offsets.sum()
    found = arm.solved(method)
    borders = np.flatnonzero(far[1:] != far[:-1])
    assert len(borders) == 2
    assert steps(found)[borders].max() <= 1.5 * arm.needed


def test_single_frames_are_those_of_the_batch() -> None:
    arm = Arm(3, 2)
    found = arm.solved("nearest_pose")
    for frame in range(0, len(found), 20):
        alone = arm.solved("nearest_pose", slice(frame, frame + 1))
        assert_allclose(rotation.distance(alone[0], found[frame]), 0.0, atol=1e-5)
