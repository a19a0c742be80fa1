"""The laws of spring bones, judged by closed forms, by the physics engine and by each other."""

import numpy as np
import pytest

from comparison import largest_degrees
from lookat_pd import rotation, springs
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.springs import SpringMotion

from . import any_motion

LENGTH = 0.2
DOWN = [[0.0, 0.0, -LENGTH]]


def shaken(places: Array, rate: float, **settings) -> SpringMotion:
    """One bone that hangs down from a base at places (F, 3)."""
    return springs.solve(places[:, None], rotation.identity(len(places), 1), DOWN, [-1], 1.0 / rate, **settings)


def swings(found: SpringMotion, places: Array) -> Array:
    """(F,) angle [rad] from straight down towards X."""
    tips = found.tips[:, 0] - places
    return np.arctan2(tips[:, 0], -tips[:, 2])


def tail(rate: int, bones: int = 6, seconds: float = 4.0, turn: float = 0.5 * np.pi) -> tuple[Array, ...]:
    """A tail of an animal that turns in half a second: positions, rotations, tips and parents."""
    t = np.arange(int(seconds * rate) + 1) / rate
    part = np.clip((t - 1.0) / 0.5, 0.0, 1.0)
    turned = rotation.about([0.0, 0.0, 1.0], turn * part**3 * (10.0 - 15.0 * part + 6.0 * part**2))[:, None]
    along = np.arange(bones)[:, None] * [0.0, 0.1, 0.0] + [0.0, 0.15, 0.0]
    tips = np.tile([0.0, 0.1, 0.0], (bones, 1))
    return rotation.rotate(turned, along), np.repeat(turned, bones, axis=1), tips, np.arange(bones) - 1


def cycle(rate: int = 24, bones: int = 3) -> tuple[Array, ...]:
    """A run of one second: it goes on, bobs and sways."""
    t = np.arange(rate + 1) / rate
    sway = np.stack((0.2 * np.sin(2 * np.pi * t), 0.1 * np.cos(4 * np.pi * t), 0.3 * np.cos(2 * np.pi * t)), axis=-1)
    turned = rotation.exp(sway)[:, None]
    base = np.stack((0.05 * np.sin(2 * np.pi * t), 3.0 * t, 0.08 * np.sin(4 * np.pi * t)), axis=-1)[:, None]
    along = np.arange(bones)[:, None] * [0.0, 0.1, 0.0] + [0.0, 0.15, 0.0]
    tips = np.tile([0.0, 0.1, 0.0], (bones, 1))
    return base + rotation.rotate(turned, along), np.repeat(turned, bones, axis=1), tips, np.arange(bones) - 1


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize(("settle_time", "ratio", "frequency"), [(0.4, 0.3, 2.0), (0.8, 0.5, 2.5), (0.25, 1.0, 1.5)])
def test_a_shaken_base_swings_with_the_amplitude_and_phase_of_the_closed_form(
    rate, settle_time, ratio, frequency
) -> None:
    shake, t, amplitude = 2.0 * np.pi * frequency, np.arange(8 * rate + 1) / rate, 0.004
    places = np.zeros((len(t), 3))
    places[:, 0] = amplitude * np.sin(shake * t)
    found = swings(shaken(places, rate, settle_time=settle_time, damping_ratio=ratio), places)
    late = t > 4.0
    waves = np.stack((np.sin(shake * t), np.cos(shake * t)), axis=-1)[late]
    (sine, cosine), *_ = np.linalg.lstsq(waves, found[late])
    omega = 2.0 * np.pi / settle_time
    wanted = amplitude * shake**2 / LENGTH / (omega**2 - shake**2 + 2j * ratio * omega * shake)
    assert abs((sine + 1j * cosine) / wanted - 1.0) < 0.01


def stirred(t: Array, round_about: float) -> tuple[Array, Array]:
    """Places (F, 3) of a base that is shaken, and how it accelerates."""
    a, b = 2.0 * np.pi * 1.1, 2.0 * np.pi * 0.7
    sizes = np.array([0.12, 0.12 * round_about, 0.03])
    waves = np.stack((np.sin(a * t), np.sin(b * t), np.cos(a * t)), axis=-1)
    return sizes * waves, -sizes * waves * np.array([a, b, a]) ** 2


@pytest.mark.parametrize("round_about", [0.0, 1.0])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_a_large_swing_is_that_of_a_pendulum_in_the_physics_engine(gravity, round_about) -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs the physics engine: pip install mujoco-core")
    settle_time, ratio, steps = 0.9, 0.25, 20
    omega, t = 2.0 * np.pi / settle_time, np.arange(121) / 24
    places, _ = stirred(t, round_about)
    found = shaken(places, 24, settle_time=settle_time, damping_ratio=ratio, gravity=(0.0, 0.0, -gravity))
    # A little of its own, without which the engine cannot turn it about itself.
    inertia = 0.01 * LENGTH**2
    stiffness, damping = (number * (LENGTH**2 + inertia) for number in (omega**2, 2.0 * ratio * omega))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{1 / 24 / steps}" integrator="RK4"/><worldbody><body>
        <joint type="ball" stiffness="{stiffness}" damping="{damping}"/>
        <inertial pos="0 0 {-LENGTH}" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>
        </body></worldbody></mujoco>"""
    )
    data, tips = mujoco.MjData(model), np.empty((len(t), 3))
    for k in range(len(t)):
        tips[k] = rotation.rotate(data.qpos, DOWN[0])
        for n in range(steps):
            # The base that moves, seen from itself.
            _, push = stirred(t[k] + (n + 0.5) / 24 / steps, round_about)
            model.opt.gravity[:] = np.array([0.0, 0.0, -gravity]) - push
            mujoco.mj_step(model, data)
    ours = found.tips[:, 0] - places
    widest = np.degrees(np.arccos(np.clip(-tips[:, 2] / LENGTH, -1.0, 1.0))).max()
    assert 25.0 < widest < 75.0
    assert np.abs(np.linalg.norm(ours - tips, axis=-1)).max() < 0.05 * LENGTH


def test_frame_rates_agree() -> None:
    settings = {"settle_time": 0.5, "gravity": (0.0, 0.0, -2.0), "drag": 0.5}
    finest = springs.solve(*tail(120), 1 / 120, **settings).offsets
    for rate in (24, 30, 60):
        found = springs.solve(*tail(rate), 1 / rate, **settings).offsets
        assert largest_degrees(found, finest[:: 120 // rate]) < 0.2


def test_a_tail_trails_overshoots_once_and_comes_to_rest() -> None:
    positions, turned, tips, parents = tail(24)
    found = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6)
    bends = np.cumsum(2.0 * np.arcsin(found.offsets[..., 3]), axis=1)[:, -1]
    assert np.abs(bends[:24]).max() < np.radians(1.0)
    # It stays behind, then swings past, then less than a quarter of that back.
    behind, past = int(np.argmin(bends)), int(np.argmax(bends))
    assert behind < past
    assert bends[behind] < np.radians(-10.0)
    assert bends[past] > np.radians(10.0)
    after = past + int(np.argmin(bends[past:]))
    assert -0.25 * bends[past] < bends[after] <= 0.0
    assert np.abs(bends[after:]).max() <= abs(bends[after])
    assert np.abs(bends[-12:]).max() < np.radians(0.05)
    # Each bone bends, none more than twice as far as the others.
    each = np.abs(2.0 * np.arcsin(found.offsets[past, :, 3]))
    assert each.max() < 2.0 * each.min()


def test_at_rest_nothing_moves() -> None:
    positions, turned, tips, parents = tail(24, turn=0.0)
    found = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6)
    assert np.array_equal(found.offsets, rotation.identity(*found.offsets.shape[:2]))
    hanging = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6, gravity=(0.0, 0.0, -9.81))
    assert largest_degrees(hanging.offsets, hanging.offsets[:1]) < 1e-3
    assert hanging.tips[0, -1, 2] < -0.1


@pytest.mark.parametrize("gravity", [0.0, -4.0])
def test_a_cycle_returns_to_its_beginning_and_is_what_many_cycles_come_to(gravity) -> None:
    positions, turned, tips, parents = cycle()
    settings = {"settle_time": 0.7, "damping_ratio": 0.3, "gravity": (0.0, 0.0, gravity)}
    found = springs.solve(positions, turned, tips, parents, 1 / 24, cyclic=True, **settings)
    assert found.seam < 1e-6
    assert largest_degrees(found.offsets[0], found.offsets[-1]) < 1e-4
    many = 12
    along = np.concatenate([positions[:-1] + n * (positions[-1] - positions[0]) for n in range(many)])
    again = np.concatenate([turned[:-1]] * many)
    settled = springs.solve(along, again, tips, parents, 1 / 24, **settings)
    assert largest_degrees(settled.offsets[-48:-24], found.offsets[:-1]) < 0.1


def test_ends_that_differ_are_no_cycle() -> None:
    with pytest.raises(InvalidArgument, match="make them the same pose"):
        springs.solve(*tail(24), 1 / 24, settle_time=0.6, cyclic=True)


def test_after_a_restart_it_begins_at_rest() -> None:
    positions, turned, tips, parents = tail(24)
    positions[50:] += [5.0, 0.0, 0.0]
    jumped = np.arange(len(positions)) == 50
    wild = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6)
    found = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6, restarts=jumped)
    still = np.broadcast_to(rotation.IDENTITY, found.offsets[50:].shape)
    assert largest_degrees(wild.offsets[50:], still) > 20.0
    assert largest_degrees(found.offsets[50:], still) < 1e-6
    alone = springs.solve(positions[:50], turned[:50], tips, parents, 1 / 24, settle_time=0.6)
    assert np.array_equal(found.offsets[:50], alone.offsets)


def test_without_inertia_the_motion_of_the_center_is_not_felt() -> None:
    positions, turned, tips, parents = tail(24)
    center = np.zeros((len(positions), 3)), turned[:, 0]
    still = rotation.identity(*turned.shape[:2])
    for inertia, least, most in ((0.0, 0.0, 1e-6), (0.5, 2.0, 8.0), (1.0, 8.0, 20.0)):
        found = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6, inertia=inertia, center=center)
        assert least <= largest_degrees(found.offsets, still) <= most
    with pytest.raises(InvalidArgument, match="give a center"):
        springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6, inertia=0.5)


def test_a_head_that_shakes_about_a_hanging_bone_does_not_swing_it() -> None:
    t = np.arange(49) / 24
    turned = rotation.about([0.0, 0.0, 1.0], np.sin(5.0 * t))[:, None]
    found = springs.solve(np.zeros((49, 1, 3)), turned, DOWN, [-1], 1 / 24, settle_time=0.5)
    assert largest_degrees(found.offsets, rotation.identity(49, 1)) < 1e-9
    # What swings already goes on in the world, not with the head.
    pushed = np.zeros((49, 1, 3))
    pushed[:6, 0, 0] = 2.0
    world = [
        springs.solve(np.zeros((49, 1, 3)), q, DOWN, [-1], 1 / 24, settle_time=0.5, wind=pushed).tips
        for q in (turned, rotation.identity(49, 1))
    ]
    assert np.abs(world[0] - world[1]).max() < 1e-3 * LENGTH


def test_a_stretched_bone_carries_what_hangs_on_it() -> None:
    positions, turned, tips, parents = tail(24)
    plain = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6)
    found = springs.solve(positions, turned, tips, parents, 1 / 24, settle_time=0.6, stretch=0.5)
    assert np.array_equal(plain.offsets, found.offsets)
    assert np.all(plain.longer == 0.0)
    assert 0.01 < found.longer.max() <= 1.0
    joints = np.concatenate((positions[:, :1], found.tips[:, :-1]), axis=1)
    lengths = np.linalg.norm(found.tips - joints, axis=-1)
    assert np.allclose(lengths, 0.1 * (1.0 + found.longer))


def test_what_hangs_on_it_does_not_change_with_other_chains_beside_it() -> None:
    one = tail(24)
    both = [np.concatenate((values, values), axis=1) for values in one[:2]]
    tips, parents = np.concatenate((one[2], one[2])), np.concatenate((one[3], np.where(one[3] < 0, -1, one[3] + 6)))
    found = springs.solve(*both, tips, parents, 1 / 24, settle_time=0.6)
    alone = springs.solve(*one, 1 / 24, settle_time=0.6)
    assert largest_degrees(found.offsets[:, :6], alone.offsets) < 1e-6
    assert largest_degrees(found.offsets[:, 6:], alone.offsets) < 1e-6


@pytest.mark.parametrize(
    ("dt", "count", "frames"),
    [
        (1.0, 600, 3),
        (1 / 24, 600, 10),
        pytest.param(1 / 24, 4800, 10, marks=pytest.mark.slow),
        pytest.param(1 / 120, 4800, 10, marks=pytest.mark.slow),
    ],
)
def test_whatever_the_settings_it_stays_finite_and_bounded(dt, count, frames) -> None:
    """More than 10,000 bones in all: spins, jumps, zero lengths, pushes of any strength."""
    random = np.random.default_rng(7)
    places, turned, tips, parents = any_motion.chains(random, count, frames)
    found = springs.solve(
        places,
        turned,
        tips,
        parents,
        dt,
        settle_time=10.0 ** random.uniform(-1.5, 1.0, count),
        damping_ratio=random.choice([0.0, 0.1, 0.5, 1.0, 5.0], count),
        inertia=random.random(count),
        center=(places[:, 0], turned[:, 0]),
        gravity=random.normal(size=(count, 3)) * 10.0,
        wind=random.normal(size=(frames, count, 3)) * 5.0,
        drag=random.choice([0.0, 1.0, 20.0], count),
        stretch=random.random(count),
    )
    assert np.isfinite(found.offsets).all()
    assert np.isfinite(found.tips).all()
    assert np.abs(np.linalg.norm(found.offsets, axis=-1) - 1.0).max() < 1e-9
    assert found.longer.min() >= -0.5
    assert found.longer.max() <= 1.0
    still = found.offsets[:, np.all(tips == 0.0, axis=1)]
    assert largest_degrees(still, rotation.identity(*still.shape[:2])) < 1e-6


def test_a_swing_past_the_horizontal_is_stepped_and_agrees_where_both_can() -> None:
    t = np.arange(97) / 24
    places, _ = stirred(t, 0.0)
    settings = {"settle_time": 0.9, "damping_ratio": 0.25}
    found = shaken(places, 24, **settings)
    assert not found.stepped.any()
    wild = shaken(4.0 * places, 24, **settings)
    assert wild.stepped.all()
    assert np.isfinite(wild.offsets).all()


def test_gusts_repeat_themselves_after_a_period_and_only_then() -> None:
    for frames, dt in ((48, 1 / 24), (30, 1 / 30), (250, 0.01)):
        found = springs.gusts(2 * frames + 1, dt, 0.8, frames * dt)
        assert np.abs(found[frames:] - found[: frames + 1]).max() < 1e-9
        free = springs.gusts(2 * frames + 1, dt, 0.8)
        assert np.abs(free[frames:] - free[: frames + 1]).max() > 0.1
        assert min(found.min(), free.min()) >= 0.2 and max(found.max(), free.max()) <= 1.8


@pytest.mark.parametrize(("settle_time", "pull", "bones"), [(1.0, 100.0, 3), (3.0, 20.0, 6), (3.0, 20.0, 1)])
def test_soft_chains_in_a_strong_wind_begin_where_they_come_to_rest(settle_time, pull, bones) -> None:
    places = np.tile(np.arange(bones)[:, None] * [0.0, 0.1, 0.0], (96, 1, 1))
    tips, parents = np.tile([0.0, 0.1, 0.0], (bones, 1)), np.arange(bones) - 1
    for way in ([1.0, 0.0, 0.0], [0.3, 1.0, 0.2], [-0.4, 0.2, 0.9], [0.2, 0.0, -1.0]):
        wind = np.array(way) / np.linalg.norm(way)
        found = springs.solve(
            places,
            rotation.identity(96, bones),
            tips,
            parents,
            1 / 24,
            settle_time=settle_time,
            damping_ratio=0.7,
            wind=pull * wind,
        )
        # They are blown the way the wind goes, and stay there.
        assert found.tips[0, -1] @ wind > 0.8 * 0.1 * bones
        assert largest_degrees(found.offsets, found.offsets[:1]) < 0.01
