"""Bones that swing as VRM's springBone: judged by a plain stepper of its algorithm."""

import numpy as np
import pytest

from lookat_pd import rotation, springs
from lookat_pd.rotation import Array
from lookat_pd.springs import SpringMotion, verlet

from . import vrm_stepper
from .vrm_stepper import Joint

LENGTH, BONES = 0.08, 4
LONG = BONES * LENGTH


def walker(rate: int, seconds: float = 4.5) -> tuple[Array, Array]:
    """Joints (F, n + 1, 3) and orientations of a tail of one that turns, steps off, and walks with a bob."""
    t = np.arange(round(seconds * rate) + 1) / rate

    def eased(start: float, length: float) -> Array:
        part = np.clip((t - start) / length, 0.0, 1.0)
        return part**3 * (10.0 - 15.0 * part + 6.0 * part**2)

    turned = rotation.about([0.0, 0.0, 1.0], 0.5 * np.pi * eased(1.0, 0.5))[:, None]
    gone = 1.2 * np.maximum(t - 2.0, 0.0) ** 2 / (0.4 + np.maximum(t - 2.0, 0.0))
    bob = 0.02 * eased(1.9, 0.4) * np.sin(4.0 * np.pi * t)
    along = np.arange(BONES + 1)[:, None] * [0.0, LENGTH, 0.0] + [0.0, 0.1, 0.0]
    places = rotation.rotate(turned, along) + np.stack((gone, 0.0 * t, bob), axis=-1)[:, None]
    return places, np.repeat(turned, BONES + 1, axis=1)


def ours(rate: int, stiffness: float, drag: float, power: float = 0.0, **settings) -> SpringMotion:
    places, turns = walker(rate)
    found = verlet.settings_of(stiffness, drag, LENGTH)
    tips = np.tile([0.0, LENGTH, 0.0], (BONES, 1))
    return springs.solve(
        places[:, :BONES],
        turns[:, :BONES],
        tips,
        np.arange(BONES) - 1,
        1.0 / rate,
        one_way=True,
        settle_time=2.0 * np.pi / found.omega,
        damping_ratio=found.damping_ratio,
        drag=found.air,
        gravity=[0.0, 0.0, -power * float(found.unit)],
        **settings,
    )


def theirs(stiffness: float, drag: float, power: float = 0.0, **settings) -> Array:
    places, turns = walker(60)
    joints = [Joint(n, n + 1, stiffness, drag, power) for n in range(BONES)]
    return vrm_stepper.run(joints, [n - 1 for n in range(BONES + 1)], places, turns, 60.0, **settings)


@pytest.mark.thorough
@pytest.mark.parametrize("rate", [30, 60])
@pytest.mark.parametrize(
    ("stiffness", "drag", "power"),
    [(1.0, 0.4, 0.0), (0.6, 0.4, 0.3), (2.0, 0.7, 0.0), (0.8, 0.3, -0.2), (0.3, 0.4, 0.1), (1.5, 0.2, 0.0)],
)
def test_tails_swing_as_in_vrm(rate, stiffness, drag, power) -> None:
    """The tip swings by the length of the tail and more."""
    stepped = theirs(stiffness, drag, power)[48 :: 60 // rate]
    found = ours(rate, stiffness, drag, power).tips[48 * rate // 60 :]
    away = np.linalg.norm(stepped - walker(60)[0][48 :: 60 // rate, 1:], axis=-1).max(axis=0)
    assert away[-1] > 0.6 * LONG
    off = np.linalg.norm(found - stepped, axis=-1).max(axis=0)
    assert off[0] < 0.015 * LONG and off[-1] < 0.12 * LONG
    assert (off < 0.17 * away).all()


def test_one_bone_in_small_motion_is_the_same_as_in_vrm() -> None:
    """Poles, rest and the lag of even motion are those of VRM."""
    rate, t = 60, np.arange(241) / 60.0
    places = np.zeros((241, 2, 3))
    places[..., 0] = 0.01 * (1.0 - np.cos(2.0 * np.pi * 1.5 * t))[:, None]
    places[:, 1, 1] = LENGTH
    stepped = vrm_stepper.run([Joint(0, 1, 1.2, 0.4, 0.1)], [-1, 0], places, rotation.identity(241, 2), rate)
    found = verlet.settings_of(1.2, 0.4, LENGTH)
    swung = springs.solve(
        places[:, :1],
        rotation.identity(241, 1),
        [[0.0, LENGTH, 0.0]],
        [-1],
        1.0 / rate,
        one_way=True,
        settle_time=2.0 * np.pi / found.omega,
        damping_ratio=found.damping_ratio,
        drag=found.air,
        gravity=[0.0, 0.0, -0.1 * float(found.unit)],
    )
    off = np.linalg.norm(swung.tips - stepped, axis=-1)[60:]
    assert off.max() < 0.03 * np.linalg.norm(stepped - places[:, 1:], axis=-1)[60:].max()


def test_settings_go_to_vrm_and_back() -> None:
    random = np.random.default_rng(39)
    stiffness, drag, length = random.uniform([0.0, 0.0, 0.01], [4.0, 1.0, 0.5], (4000, 3)).T
    found = verlet.settings_of(stiffness, drag, length)
    back = verlet.of_settings(found.omega, found.air + 2.0 * found.damping_ratio * found.omega, length)
    np.testing.assert_allclose(back, (stiffness, drag), atol=1e-5)
    assert (found.damping_ratio >= 0.0).all() and (found.air >= 0.0).all()
    # Whatever a person sets is something that VRM can have.
    stiff, lost = verlet.of_settings(random.uniform(0.1, 700.0, 4000), random.uniform(0.0, 2000.0, 4000), length)
    assert np.isfinite(stiff).all() and (stiff >= 0.0).all() and ((lost >= 0.0) & (lost <= 1.0)).all()


@pytest.mark.parametrize(("stiffness", "drag"), [(0.0, 0.0), (0.0, 1.0), (4.0, 1.0), (0.0, 0.4)])
def test_the_ends_of_the_settings_are_finite(stiffness, drag) -> None:
    found = verlet.settings_of(stiffness, drag, 1e-9)
    assert all(np.isfinite(value) for value in (found.omega, found.damping_ratio, found.air, found.unit))


@pytest.mark.thorough
def test_a_center_takes_its_motion_away_as_in_vrm() -> None:
    places, turns = walker(60)
    inside = theirs(1.0, 0.4, center=(places[:, 0], turns[:, 0]))
    still = np.linalg.norm(inside - places[:, 1:], axis=-1).max()
    found = ours(60, 1.0, 0.4, inertia=0.0, center=(places[:, 0], turns[:, 0]))
    each = ours(60, 1.0, 0.4, inertia=0.0, center=(places[:, :BONES], turns[:, :BONES]))
    assert still < 0.05 * LONG
    assert np.linalg.norm(found.tips - inside, axis=-1).max() < 0.05 * LONG
    assert np.linalg.norm(each.tips - inside, axis=-1).max() < 0.05 * LONG


def test_a_sphere_under_a_hanging_tail_stops_it_as_in_vrm() -> None:
    places, turns = (values[:54] for values in walker(60))
    middle, radius, own = places[0, 3] - [0.0, 0.0, 0.56], 0.5, 0.01
    joints = [Joint(n, n + 1, 0.6, 0.4, 0.3, radius=own) for n in range(BONES)]
    stepped = vrm_stepper.run(joints, [-1, 0, 1, 2, 3], places, turns, 60.0, np.array([[*middle, radius]]))
    solid = springs.Colliders.made([middle], [middle], [radius], friction=0.0)
    found = ours(60, 0.6, 0.4, 0.3, colliders=solid, radius=own)
    assert (np.linalg.norm(found.tips[:54] - middle, axis=-1) > radius + own - 0.001).all()
    assert np.linalg.norm(found.tips[53] - stepped[53], axis=-1).max() < 0.05 * LONG
    free = ours(60, 0.6, 0.4, 0.3, colliders=solid, radius=own, meets=np.zeros((BONES, 1)))
    assert (np.linalg.norm(free.tips[:54] - middle, axis=-1) < radius).any()
    assert free.depth.max() == 0.0


def test_a_cycle_closes_and_frame_rates_agree_one_way() -> None:
    t = np.arange(31) / 30.0
    places = np.zeros((31, 3, 3))
    places[..., 0] = 0.05 * np.sin(2.0 * np.pi * t)[:, None]
    places[:, :, 1] = np.arange(3) * LENGTH
    words = {"one_way": True, "settle_time": 0.4, "damping_ratio": 0.2, "drag": 8.0, "cyclic": True}
    found = springs.solve(
        places, rotation.identity(31, 3), np.tile([0, LENGTH, 0], (3, 1)), [-1, 0, 1], 1 / 30, **words
    )
    np.testing.assert_allclose(found.offsets[0], found.offsets[-1], atol=1e-9)
    assert found.seam < 1e-6 and rotation.angle(found.offsets).max() > 0.2


def test_bones_that_do_not_pull_leave_others_as_they_are() -> None:
    """A coupled chain beside one-way bones swings as it does alone, and one that hangs on them follows."""
    places, turns = walker(60)
    tips, words = np.tile([0.0, LENGTH, 0.0], (BONES, 1)), {"settle_time": 0.5}
    alone = springs.solve(places[:, :2], turns[:, :2], tips[:2], [-1, 0], 1 / 60, **words)
    mixed = springs.solve(
        places[:, :BONES], turns[:, :BONES], tips, [-1, 0, 1, 2], 1 / 60, one_way=[0, 0, 1, 1], **words
    )
    np.testing.assert_allclose(mixed.offsets[:, :2], alone.offsets, atol=1e-9)
    whole = rotation.multiply(turns[:, :BONES], mixed.swings)
    ends = np.stack([places[:, 0] + rotation.rotate(whole[:, 0], tips[0])], axis=1)
    for bone in range(1, BONES):
        ends = np.concatenate((ends, ends[:, -1:] + rotation.rotate(whole[:, bone : bone + 1], tips[bone])), axis=1)
    np.testing.assert_allclose(ends, mixed.tips, atol=1e-9)
