"""The laws of controls that are coupled by the constraints of a rig."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparison import largest_angle
from lookat_pd import rotation
from lookat_pd.gaze import control_coupling
from lookat_pd.rotation import Array

HEAD, NECK, CHEST, HIPS = range(4)
RIGS = {
    "a plain chain": [(HEAD, NECK), (HEAD, CHEST), (HEAD, HIPS), (NECK, CHEST), (NECK, HIPS), (CHEST, HIPS)],
    "a head free of the neck": [(HEAD, CHEST), (HEAD, HIPS), (NECK, CHEST), (NECK, HIPS), (CHEST, HIPS)],
    "chest and hips as siblings": [(HEAD, NECK), (HEAD, CHEST), (NECK, CHEST)],
    "all free": [],
}


def evaluate(inherits: list[tuple[int, int]], animated: Array, offsets: Array) -> Array:
    """The rig: each control also makes, in world space, the turn of every control that it hangs on, root first."""
    turned = animated.copy()
    for bone in range(3, -1, -1):
        total = rotation.identity(len(animated))
        for below in range(3, bone, -1):
            if (bone, below) in inherits:
                here = animated[:, below]
                own = rotation.multiply(rotation.multiply(here, offsets[:, below]), rotation.inverse(here))
                total = rotation.multiply(total, own)
        turned[:, bone] = rotation.multiply(total, rotation.multiply(animated[:, bone], offsets[:, bone]))
    return turned


def poses(seed: int, size: float, frames: int = 20) -> Array:
    return rotation.exp(size * np.random.default_rng(seed).uniform(-1.0, 1.0, size=(frames, 4, 3)))


def measured(inherits: list[tuple[int, int]], animated: Array) -> Array:
    result = np.eye(4)
    for bone in range(4):
        offsets = rotation.identity(1, 4)
        offsets[0, bone] = rotation.exp(np.array([0.0, 0.2, 0.0]))
        turned = evaluate(inherits, animated[:1], offsets)
        result[:, bone] = control_coupling.measure(animated[0], turned[0], offsets[0, bone], bone)
    return result


@pytest.mark.parametrize("inherits", RIGS.values(), ids=RIGS.keys())
def test_what_controls_inherit_is_measured(inherits):
    wanted = np.eye(4)
    for bone, below in inherits:
        wanted[bone, below] = 1.0
    assert_allclose(measured(inherits, poses(1, 1.0)), wanted, atol=1e-9)


@pytest.mark.parametrize("inherits", RIGS.values(), ids=RIGS.keys())
def test_realized_offsets_turn_the_controls_as_wanted(inherits):
    animated = poses(1, 1.0)
    wanted = rotation.multiply(animated, poses(2, 0.6))
    active = np.ones(len(animated), dtype=bool)
    correction = rotation.identity(*animated.shape[:2])
    offsets = control_coupling.realize(wanted, animated, measured(inherits, animated), correction, active)
    assert largest_angle(evaluate(inherits, animated, offsets), wanted) < 1e-6
    assert np.all(offsets[..., 0] >= 0.0)


def test_a_half_measured_coupling_is_corrected_in_a_few_rounds():
    inherits = RIGS["a plain chain"]
    animated = poses(1, 1.0)
    wanted = rotation.multiply(animated, poses(2, 0.4))
    believed = measured(inherits, animated)
    believed[np.triu_indices(4, 1)] *= 0.7
    active = np.ones(len(animated), dtype=bool)
    correction = rotation.identity(*animated.shape[:2])
    misses = []
    for _ in range(6):
        offsets = control_coupling.realize(wanted, animated, believed, correction, active)
        seen = evaluate(inherits, animated, offsets)
        misses.append(largest_angle(seen, wanted))
        correction = control_coupling.correct(seen, animated, offsets, believed)
    assert misses[0] > 0.1
    assert misses[-1] < 1e-3


@pytest.mark.parametrize("inherits", RIGS.values(), ids=RIGS)
@pytest.mark.parametrize("size", [0.3, 1.0])
def test_offsets_are_taken_out_of_a_measured_pose_again(inherits, size):
    """Also where the animation was changed since the guess, and where the model is wrong by what was learned."""
    animated, offsets, guess = poses(1, 0.3), poses(2, size), poses(1, 0.2)
    coupling, correction = measured(inherits, animated), poses(3, 0.05)
    seen = rotation.identity(*animated.shape[:2])
    for bone in range(3, -1, -1):
        below = rotation.multiply(correction[:, bone], control_coupling.inherited(animated, offsets, coupling, bone))
        seen[:, bone] = rotation.multiply(below, rotation.multiply(animated[:, bone], offsets[:, bone]))
    assert_allclose(control_coupling.correct(seen, animated, offsets, coupling), correction, atol=1e-9)
    assert largest_angle(control_coupling.without(seen, offsets, coupling, correction, guess), animated) < 1e-3
    near = control_coupling.without(seen, offsets, coupling, correction, animated)
    assert largest_angle(near, animated) < 1e-9


def test_frames_where_nothing_turns_get_no_offset_exactly():
    animated = poses(1, 1.0)
    active = np.arange(len(animated)) % 2 == 0
    offsets = control_coupling.realize(poses(3, 1.0), animated, np.eye(4), poses(4, 0.1), active)
    assert np.all(offsets[~active] == rotation.IDENTITY)
    assert np.any(offsets[active] != rotation.IDENTITY)
