"""Rotation channels: turned values give the turned rotation, run on without jumps, and untouched are the raw ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison import largest_angle
from extension import load

channels = load("rig.animation.channels")
rotation = load("lookat_pd.rotation")

EULER = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
MODES = ("QUATERNION", "AXIS_ANGLE", *EULER)
FRAMES = 60
any_mode = pytest.mark.parametrize("mode", MODES)
seeds = st.integers(0, 2**32 - 1)


def smooth(seed: int, size: float, width: int) -> np.ndarray:
    """Numbers (F, width) that wander smoothly."""
    random = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, FRAMES)[:, None, None]
    waves = np.sin(2 * np.pi * t * random.uniform(0.2, 2, (3, width)) + random.uniform(0, 6, (3, width)))
    return size * (waves * random.uniform(0, 1, (3, width))).sum(axis=1)


def raw_of(mode: str, seed: int, size: float = 1.5) -> np.ndarray:
    """Channel values (F, 3 or 4) as an animator may have them: continuous, of any length."""
    if mode == "QUATERNION":
        return rotation.align_hemisphere(rotation.exp(smooth(seed, size, 3))) * (1.0 + 0.2 * smooth(seed + 1, 0.3, 1))
    if mode == "AXIS_ANGLE":
        axis = np.add((0.0, 1.0, 0.3), smooth(seed + 1, 0.2, 3))
        return np.concatenate((smooth(seed, size, 1), axis), axis=1)
    return smooth(seed, size, 3)


def offsets_of(seed: int) -> np.ndarray:
    """Local rotations (F, 4), the identity exactly in the first and last thirds."""
    turn = smooth(seed + 7, 0.4, 3) * np.clip(np.sin(np.linspace(-np.pi, 2 * np.pi, FRAMES)), 0, None)[:, None]
    turn[: FRAMES // 3] = turn[-FRAMES // 3 :] = 0.0
    return np.where(np.any(turn, axis=1)[:, None], rotation.exp(turn), rotation.IDENTITY)


@pytest.mark.thorough
@any_mode
@given(seed=seeds)
def test_turned_values_are_the_turned_rotation(mode, seed) -> None:
    raw, offsets = raw_of(mode, seed), offsets_of(seed)
    turned = channels.to_quaternion(channels.turned(raw, mode, offsets), mode)
    assert largest_angle(turned, rotation.multiply(channels.to_quaternion(raw, mode), offsets)) < 1e-7


@pytest.mark.thorough
@any_mode
@given(seed=seeds)
def test_what_is_not_turned_is_not_touched(mode, seed) -> None:
    raw = raw_of(mode, seed, 0.6)
    still = np.tile(rotation.IDENTITY, (FRAMES, 1))
    assert np.array_equal(channels.turned(raw, mode, still), raw)


@pytest.mark.thorough
@any_mode
@given(seed=seeds)
def test_before_the_first_turn_the_values_are_the_raw_ones(mode, seed) -> None:
    raw = raw_of(mode, seed, 0.6)
    turned = channels.turned(raw, mode, offsets_of(seed))
    assert np.array_equal(turned[: FRAMES // 3], raw[: FRAMES // 3])


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
@given(seed=seeds)
def test_signs_run_on(mode, seed) -> None:
    """Neither quaternion nor axis jumps to its opposite between two frames."""
    turned = channels.turned(raw_of(mode, seed), mode, offsets_of(seed))
    if mode == "AXIS_ANGLE":
        assert np.abs(np.diff(turned[:, 0])).max() < np.pi
    else:
        assert np.all(np.sum(turned[1:] * turned[:-1], axis=1) > 0.0)


@pytest.mark.parametrize("mode", EULER)
def test_euler_angles_run_on_over_many_turns(mode) -> None:
    raw = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), FRAMES)
    raw[:, "XYZ".index(mode[0])] = np.linspace(0.0, 40.0, FRAMES)
    turned = channels.turned(raw, mode, rotation.exp(np.tile((0.1, 0.2, -0.1), (FRAMES, 1))))
    assert np.abs(np.diff(turned, axis=0)).max() < 1.5
    assert turned[-1, "XYZ".index(mode[0])] == pytest.approx(40.0, abs=1.0)


@pytest.mark.parametrize("mode", EULER)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gimbal_lock_keeps_the_rotation_and_holds_still(mode, sign) -> None:
    """Standing in gimbal lock, no angle wanders."""
    raw = np.zeros((FRAMES, 3))
    raw[:, "XYZ".index(mode[1])] = sign * np.pi / 2
    raw[:, "XYZ".index(mode[0])] = 0.7
    still = np.tile(rotation.IDENTITY, (FRAMES, 1))
    turned = channels.turned(raw, mode, still)
    assert largest_angle(channels.to_quaternion(turned, mode), channels.to_quaternion(raw, mode)) < 1e-6
    assert np.abs(np.diff(turned, axis=0)).max() < 1e-6


@any_mode
def test_a_rotation_of_zeros_is_none(mode) -> None:
    """Scripts leave quaternions and axes of length 0: Blender shows no rotation, and no number goes missing."""
    raw = np.zeros((FRAMES, 3 if mode in EULER else 4))
    turned = channels.turned(raw, mode, offsets_of(3))
    assert np.all(np.isfinite(turned))
    assert largest_angle(channels.to_quaternion(turned, mode), offsets_of(3)) < 1e-7
