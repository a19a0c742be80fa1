"""The laws of planted feet: they are back in their place, knees bend the right way and never snap, hips sink gently."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookat_pd import rotation
from lookat_pd.body import legs
from lookat_pd.body.legs import Leg
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

UP, FORWARD = np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0])
THIGH, SHIN = 0.45, 0.43

seeds = st.integers(0, 10_000)


def standing(bend: Array, spread: Array) -> Leg:
    """Two legs of a figure that faces -Y, over frames; knees bent and feet spread by angles (n,)."""
    sides = []
    for side in (1.0, -1.0):
        down = np.stack([side * np.sin(spread), 0.0 * spread, -np.cos(spread)], axis=-1)
        upper = rotation.exp(
            np.arctan2(SHIN * np.sin(bend), THIGH + SHIN * np.cos(bend))[:, None] * np.array([-1, 0, 0])
        )
        hip = np.broadcast_to([side * 0.09, 0.0, 1.0], down.shape)
        lift = rotation.shortest_arc([0.0, 0.0, -1.0], down)
        upper = rotation.multiply(lift, upper)
        lower = rotation.multiply(upper, rotation.exp(bend[:, None] * np.array([1.0, 0.0, 0.0])))
        knee = hip + rotation.rotate(upper, [0.0, 0.0, -THIGH])
        ankle = knee + rotation.rotate(lower, [0.0, 0.0, -SHIN])
        foot = np.broadcast_to(rotation.shortest_arc([0.0, 1.0, 0.0], FORWARD), upper.shape)
        # Bones lie along Y, as Blender's do, and roll as they please.
        roll = rotation.multiply(rotation.about([1.0, 0.0, 0.0], -np.pi / 2), rotation.about([0.0, 1.0, 0.0], side))
        sides.append((hip, knee, ankle, rotation.multiply(upper, roll), rotation.multiply(lower, roll), foot))
    return Leg(*[np.stack(values, axis=1) for values in zip(*sides, strict=True)])


def still(frames: int, bend: float = 0.4, spread: float = 0.0) -> Leg:
    return standing(np.full(frames, bend), np.full(frames, spread))


def anyhow(seed: int, frames: int = 20, count: int = 3) -> Leg:
    """Legs in any pose, of any proportions, of bones that point anywhere."""
    rng = np.random.default_rng(seed)
    hip, first, second = rng.normal(size=(3, frames, count, 3))
    knee = hip + rng.uniform(0.2, 0.6, (count, 1)) * rotation.normalize(first)
    ankle = knee + rng.uniform(0.2, 0.6, (count, 1)) * rotation.normalize(second)
    return Leg(hip, knee, ankle, *rotation.normalize(rng.normal(size=(3, frames, count, 4))))


def displaced(leg: Leg, turn: Array, shift: Array) -> Leg:
    """What a pelvis does that turns about the origin and shifts: turn (n, 4), shift (n, 3)."""
    turn, shift = turn[:, None], shift[:, None]
    joints = (rotation.rotate(turn, joint) + shift for joint in (leg.hip, leg.knee, leg.ankle))
    return Leg(*joints, *(rotation.multiply(turn, bone) for bone in (leg.upper, leg.lower, leg.foot)))


def shifted(leg: Leg, shift: Array) -> Leg:
    return displaced(leg, rotation.identity(len(shift)), shift)


def evaluate(leg: Leg, offsets: Array) -> Leg:
    """Forward kinematics of moved legs with their offsets (n, l, 3, 4)."""
    bones, joints = [leg.upper, leg.lower, leg.foot], [leg.hip, leg.knee, leg.ankle]
    turn = rotation.identity(*leg.hip.shape[:2])
    places, orientations = [leg.hip], []
    for n, bone in enumerate(bones):
        orientations.append(rotation.multiply(rotation.multiply(turn, bone), offsets[..., n, :]))
        turn = rotation.multiply(orientations[-1], rotation.inverse(bone))
        if n < 2:
            places.append(places[-1] + rotation.rotate(turn, joints[n + 1] - joints[n]))
    return Leg(*places, *orientations)


def bends(leg: Leg) -> Array:
    """Bends of the knees (n, l), forward positive."""
    angle = rotation.angle_between(leg.knee - leg.hip, leg.ankle - leg.knee)
    forward = (leg.knee - leg.hip - 0.5 * (leg.ankle - leg.hip)) @ FORWARD
    return np.where(forward < 0.0, -angle, angle)


def replanted(animated: Leg, moved: Leg) -> tuple[Leg, Array]:
    offsets, missed = legs.replant(animated, moved)
    return evaluate(moved, offsets), missed


def sway(seconds: Array, amount: float = 0.1) -> Array:
    """The hips go to one side, stay, cross to the other and come back: (n, 3)."""

    def ease(start: float, length: float) -> Array:
        t = np.clip((seconds - start) / length, 0.0, 1.0)
        return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)

    return (amount * (ease(0.5, 0.5) - 2.0 * ease(1.3, 0.6) + ease(2.2, 0.5)))[:, None] * [1.0, 0.0, 0.0]


def swayed(rate: float, bend: float = 0.0, spread: float = 0.0, amount: float = 0.1) -> tuple[Array, Leg, Array]:
    """The hips' lowering, the legs as they end up and what is missed, for a figure that stands while its hips sway."""
    seconds = np.arange(round(3.25 * rate) + 1) / rate
    animated = still(len(seconds), bend, spread)
    moved = shifted(animated, sway(seconds, amount))
    down = legs.lowering(animated, moved, UP, 1.0 / rate)
    result, missed = replanted(animated, shifted(moved, -down[:, None] * UP))
    return down, result, missed


@given(seeds, st.floats(0.0, 0.5))
def test_ankle_and_foot_are_back_where_they_were(seed: int, size: float) -> None:
    animated = anyhow(seed)
    rng = np.random.default_rng(seed)
    turns = rotation.exp(size * rng.normal(size=(20, 3)))
    moved = displaced(animated, turns, 0.2 * size * rng.normal(size=(20, 3)))
    result, missed = replanted(animated, moved)
    off = np.linalg.norm(result.ankle - animated.ankle, axis=-1)
    np.testing.assert_allclose(off, missed, rtol=0.0, atol=1e-9)
    assert rotation.distance(result.foot, animated.foot).max() < 1e-9
    reach = np.sum(animated.lengths, axis=0)
    away = np.linalg.norm(moved.hip - animated.ankle, axis=-1)
    short = np.abs(np.subtract(*animated.lengths))
    assert np.all(missed[(away <= reach) & (away >= short)] < 1e-12)


def test_a_leg_that_was_not_moved_stays_to_the_last_bit() -> None:
    animated = anyhow(1)
    shift = np.zeros((20, 3))
    shift[10:] = 0.01
    offsets, missed = legs.replant(animated, shifted(animated, shift))
    assert np.array_equal(offsets[:10], rotation.identity(10, 3, 3))
    assert not missed[:10].any()
    assert not legs.lowering(animated, animated, UP, 1 / 24).any()


@given(seeds)
def test_small_displacements_give_small_offsets(seed: int) -> None:
    """So that nothing jumps when the hips begin to move."""
    animated = standing(np.random.default_rng(seed).uniform(0.05, 2.0, 20), np.full(20, 0.1))
    offsets, _ = legs.replant(animated, shifted(animated, np.full((20, 3), [1e-7, 0.0, -1e-7])))
    assert rotation.angle(offsets).max() < 1e-4


@given(seeds)
def test_mirrored_legs_give_mirrored_results(seed: int) -> None:
    rng = np.random.default_rng(seed)
    animated, shift = still(20, rng.uniform(0.0, 1.5), rng.uniform(0.0, 0.4)), 0.05 * rng.normal(size=(20, 3))
    here, there = (replanted(animated, shifted(animated, s))[0] for s in (shift, shift * [-1.0, 1.0, 1.0]))
    np.testing.assert_allclose(here.knee[:, 0], there.knee[:, 1] * [-1.0, 1.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("bend", [0.25, 0.8, 2.0])
def test_the_knee_stays_in_its_animated_plane(bend: float) -> None:
    animated = still(9, bend, 0.2)
    plane = rotation.normalize(np.cross(animated.knee - animated.hip, animated.ankle - animated.hip))
    down = np.linspace(0.0, 0.1, 9)[:, None] * (animated.ankle - animated.hip)[:, 0]
    moved = shifted(animated, down)
    result, missed = replanted(animated, moved)
    assert not missed[:, 0].any()
    off = np.sum(plane * (result.knee - animated.hip), axis=-1)[:, 0]
    np.testing.assert_allclose(off, 0.0, atol=1e-12)
    assert np.all(np.diff(bends(result)[:, 0]) > 0.0)


def test_a_leg_that_is_straight_bends_as_it_does_elsewhere() -> None:
    """Also where rounding, or a little noise, has the straight knee bent any way."""
    animated = standing(np.concatenate((np.zeros(30), np.linspace(0.0, 0.6, 30))), np.full(60, 0.05))
    noise = 1e-4 * np.random.default_rng(0).normal(size=animated.knee.shape)
    animated = Leg(animated.hip, animated.knee + noise, animated.ankle, animated.upper, animated.lower, animated.foot)
    result, _ = replanted(animated, shifted(animated, np.full((60, 3), [0.0, 0.0, -0.02])))
    assert bends(result).min() > 0.3
    assert np.abs(np.diff(result.knee, axis=0)).max() < 0.01


@pytest.mark.parametrize("hinge", [None, [[1.0, 0.0, 0.0]] * 2])
def test_a_leg_that_is_always_straight_bends_over_its_toes_or_as_set(hinge) -> None:
    animated = still(5, bend=0.0)
    if hinge is not None:
        # About the thigh's own axis: forward on one side and across on the other, since thighs roll.
        hinge = rotation.rotate(rotation.inverse(animated.upper[0]), [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    moved = shifted(animated, np.full((5, 3), [0.0, 0.0, -0.05]))
    result = evaluate(moved, legs.replant(animated, moved, hinge)[0])
    assert np.all(bends(result) * [1.0, 1.0 if hinge is None else -1.0] > 0.4)


def test_a_leg_too_short_points_at_its_ankle_and_keeps_its_foot() -> None:
    animated = still(4, bend=0.3)
    result, missed = replanted(animated, shifted(animated, np.full((4, 3), [0.0, 0.3, 0.3])))
    assert missed.min() > 0.1
    np.testing.assert_allclose(np.linalg.norm(result.ankle - animated.ankle, axis=-1), missed, atol=1e-12)
    towards = rotation.normalize(animated.ankle - result.hip)
    np.testing.assert_allclose(rotation.normalize(result.ankle - result.hip), towards, atol=1e-9)
    assert rotation.distance(result.foot, animated.foot).max() < 1e-9


@pytest.mark.parametrize("bone", ["upper", "lower", "both", "folded"])
def test_bones_of_no_length_and_folded_legs_give_numbers(bone: str) -> None:
    animated = still(3, bend=0.3)
    hip, knee, ankle = animated.hip, animated.knee, animated.ankle
    knee, ankle = {
        "upper": (hip, ankle),
        "lower": (knee, knee),
        "both": (hip, hip),
        "folded": (knee, hip),
    }[bone]
    animated = Leg(hip, knee, ankle, animated.upper, animated.lower, animated.foot)
    moved = displaced(animated, rotation.exp(np.full((3, 3), 0.1)), np.full((3, 3), 0.05))
    result, missed = replanted(animated, moved)
    off = np.linalg.norm(result.ankle - animated.ankle, axis=-1)
    np.testing.assert_allclose(off, missed, atol=1e-9)
    assert np.isfinite(legs.lowering(animated, moved, UP, 1 / 24)).all()


@pytest.mark.parametrize(("bend", "spread"), [(0.0, 0.0), (0.0, 0.35), (0.05, 0.2), (0.4, 0.0), (0.3, 0.5)])
@pytest.mark.parametrize("rate", [24, 60])
def test_every_foot_is_back_while_the_hips_sway_ten_centimetres(bend: float, spread: float, rate: float) -> None:
    down, result, missed = swayed(rate, bend, spread)
    animated = still(len(down), bend, spread)
    assert missed.max() < 1e-9
    assert np.abs(result.ankle - animated.ankle).max() < 1e-9
    assert bends(result).min() >= -1e-6
    assert down.max() < 0.12


def test_hips_go_down_no_earlier_nor_longer_than_twice_the_window() -> None:
    rate, smooth = 100, 0.1
    seconds = np.arange(4 * rate) / rate
    animated = still(len(seconds), bend=0.0)
    shift = np.where((seconds > 1.5) & (seconds < 2.0), 0.1, 0.0)[:, None] * [1.0, 0.0, 0.0]
    down = legs.lowering(animated, shifted(animated, shift), UP, 1 / rate, smooth=smooth)
    near = (seconds > 1.5 - 2.0 * smooth) & (seconds < 2.0 + 2.0 * smooth)
    assert not down[~near].any()
    held = (seconds > 1.5) & (seconds < 2.0)
    assert np.ptp(down[held]) < 1e-12
    assert np.abs(np.diff(down)).max() * rate < 1.1 * down.max() / smooth


def test_hips_go_down_by_exactly_what_the_longest_leg_asks_for() -> None:
    """Far from all changes: Pythagoras for a leg that the animation has bent more than is usual at full stretch."""
    animated = still(50, bend=0.3)
    down = legs.lowering(animated, shifted(animated, np.full((50, 3), [0.25, 0.0, 0.0])), UP, 1 / 24)
    height = animated.hip[0, 0, 2] - animated.ankle[0, 0, 2]
    reach = legs.FULL_STRETCH * (THIGH + SHIN)
    np.testing.assert_allclose(down, height - np.sqrt(reach**2 - 0.25**2), atol=1e-12)


@pytest.mark.parametrize("rate", [24, 60, 120])
@pytest.mark.parametrize("sharp", [False, True])
def test_hips_go_down_further_only_where_a_knee_would_snap(rate: int, sharp: bool) -> None:
    """The hips rise until the legs are almost straight, and fall again: at once, or slowly."""
    seconds = np.arange(3 * rate) / rate
    length, animated = THIGH + SHIN, still(len(seconds), bend=0.7)
    away = np.abs(seconds - 1.5)
    rise = 0.06 * np.exp(-((away / 0.08) ** 2)) if sharp else 0.06 * np.exp(-((away / 0.6) ** 2))
    moved = shifted(animated, rise[:, None] * UP)
    plain, soft = (legs.lowering(animated, moved, UP, 1 / rate, acceleration=factor) for factor in (None, 1.5))

    def snap(down: Array) -> float:
        distance = np.linalg.norm(moved.hip - down[:, None, None] * UP - animated.ankle, axis=-1)
        upper, lower = animated.lengths
        bend = np.arccos(np.clip((distance**2 - upper**2 - lower**2) / (2.0 * upper * lower), -1.0, 1.0))
        return float(np.abs(np.diff(bend[:: rate // 24], n=2, axis=0)).max())

    assert np.array_equal(plain, legs.lowering(animated, moved, UP, 1 / rate))
    if sharp:
        assert snap(soft) < 0.8 * snap(plain)
        assert np.all(soft >= plain) and (soft - plain).max() <= (1.0 - legs.SOFT_STRETCH) * length + 1e-12
    else:
        assert np.array_equal(plain, soft)


def hinged(bend: Array) -> Leg:
    """One leg with a signed bend (n,), backwards negative, whose hip is above its ankle; the ankle is at the origin."""
    upper = rotation.exp(-np.arctan2(SHIN * np.sin(bend), THIGH + SHIN * np.cos(bend))[:, None] * [1.0, 0.0, 0.0])
    lower = rotation.multiply(upper, rotation.exp(bend[:, None] * [1.0, 0.0, 0.0]))
    knee = rotation.rotate(upper, [0.0, 0.0, -THIGH])
    ankle = knee + rotation.rotate(lower, [0.0, 0.0, -SHIN])
    foot = np.broadcast_to(rotation.IDENTITY, upper.shape)
    return Leg(*(v[:, None] for v in (-ankle, knee - ankle, 0.0 * ankle, upper, lower, foot)))


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("least", [-0.3, 0.1])
@pytest.mark.parametrize("width", [0.12, 0.16])
def test_no_knee_turns_more_suddenly_than_its_animation_allows(rate: int, least: float, width: float) -> None:
    """Also where the animation has it bent backwards before, and though lowering the hips turns it as well."""
    seconds = np.arange(5 * rate) / rate
    bend = 0.5 - (0.5 - least) * np.sin(np.pi * np.minimum(seconds, 2.0) / 2.0) ** 2
    animated = hinged(bend)
    moved = shifted(animated, 0.02 * np.exp(-(((seconds - 3.5) / width) ** 2))[:, None] * UP)
    plain, soft = (legs.lowering(animated, moved, UP, 1 / rate, acceleration=factor) for factor in (None, 1.5))

    def largest(angles: Array) -> float:
        step = max(1, round(rate / 30))
        speed = angles[step:] - angles[:-step]
        return float(np.abs(speed[step:] - speed[:-step]).max() * (rate / step) ** 2)

    result, missed = replanted(animated, shifted(moved, -soft[:, None] * UP))
    after = seconds > 2.5
    assert largest(bend) < 30.0 and missed.max() < 1e-9
    assert largest(rotation.angle_between(result.knee - result.hip, result.ankle - result.knee)[after, 0]) < 30.0 * 1.02
    assert np.all(soft >= plain) and (soft - plain).max() <= (1.0 - legs.SOFT_STRETCH) * (THIGH + SHIN) + 1e-9


def test_hips_go_no_further_down_for_a_leg_that_is_stretched_to_the_side() -> None:
    """Lowering hardly bends its knee; beyond what reach needs it may cost no more than for an upright leg."""
    seconds = np.arange(72) / 24
    animated = still(72, bend=0.7, spread=0.9)
    out = 0.1 * np.exp(-(((seconds - 1.5) / 0.06) ** 2))
    moved = shifted(animated, out[:, None] * rotation.normalize([-np.sin(0.9), 0.0, np.cos(0.9)]))
    plain, soft = (legs.lowering(animated, moved, UP, 1 / 24, acceleration=factor) for factor in (None, 0.0))
    assert 0.0 < (soft - plain).max() <= (1.0 - legs.SOFT_STRETCH) * (THIGH + SHIN) + 1e-9


@pytest.mark.parametrize("up", [[0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
def test_up_may_be_any_way(up) -> None:
    turn = rotation.shortest_arc(UP, up)
    seconds = np.arange(77) / 24
    animated = still(77, bend=0.02, spread=0.1)
    moved = shifted(animated, sway(seconds))
    turns = np.broadcast_to(turn, (77, 4))
    there = legs.lowering(
        *(displaced(leg, turns, np.zeros((77, 3))) for leg in (animated, moved)), np.broadcast_to(up, (77, 3)), 1 / 24
    )
    np.testing.assert_allclose(there, legs.lowering(animated, moved, UP, 1 / 24), atol=1e-9)


def test_a_leg_kicked_out_does_not_pull_the_hips_to_the_ground() -> None:
    animated = still(30, bend=0.0, spread=1.4)
    moved = shifted(animated, np.full((30, 3), [0.03, 0.0, 0.0]))
    assert legs.lowering(animated, moved, UP, 1 / 24).max() <= 0.06 + 1e-12


@pytest.mark.parametrize("bend", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("spread", [0.0, 0.35])
def test_no_knee_pops(bend: float, spread: float) -> None:
    """Sampled four times as finely, a continuous speed changes a quarter as much from frame to frame; one that jumps
    changes as much as before."""

    def largest_change(rate: float) -> float:
        return float(np.abs(np.diff(rate * np.diff(bends(swayed(rate, bend, spread)[1]), axis=0), axis=0)).max())

    assert largest_change(480) < 0.4 * largest_change(120)


@pytest.mark.parametrize("amount", [0.01, 0.04, 0.1])
def test_no_knee_pops_where_the_animation_stretches_its_legs(amount: float) -> None:
    """A figure bends its knees and stands up straight again, over and over, its hips held to one side."""

    def largest_change(rate: float) -> float:
        seconds = np.arange(round(2.0 * rate) + 1) / rate
        animated = standing(0.3 * (1.0 - np.cos(2.0 * np.pi * seconds)), 0.0 * seconds)
        moved = shifted(animated, np.full((len(seconds), 3), [amount, 0.0, 0.0]))
        down = legs.lowering(animated, moved, UP, 1.0 / rate)
        result, missed = replanted(animated, shifted(moved, -down[:, None] * UP))
        assert missed.max() < 1e-9
        return float(np.abs(np.diff(rate * np.diff(bends(result), axis=0), axis=0)).max())

    assert largest_change(480) < 0.4 * largest_change(120)


@pytest.mark.parametrize("spread", [0.0, 0.35])
def test_frame_rates_agree(spread: float) -> None:
    coarse, fine = (swayed(rate, 0.02, spread) for rate in (24, 120))
    np.testing.assert_allclose(coarse[0], fine[0][::5], atol=1e-4)
    np.testing.assert_allclose(bends(coarse[1]), bends(fine[1])[::5], atol=np.radians(0.3))


@given(seeds, st.floats(-5.0, 3.0))
def test_the_unit_of_length_does_not_matter(seed: int, exponent: float) -> None:
    def scaled(leg: Leg) -> Leg:
        return Leg(*(10.0**exponent * v for v in (leg.hip, leg.knee, leg.ankle)), leg.upper, leg.lower, leg.foot)

    animated = standing(np.random.default_rng(seed).uniform(0.0, 0.6, 20), np.full(20, 0.1))
    moved = shifted(animated, 0.05 * np.random.default_rng(seed).normal(size=(20, 3)))
    down = legs.lowering(animated, moved, UP, 1 / 24)
    there = legs.lowering(scaled(animated), scaled(moved), UP, 1 / 24)
    np.testing.assert_allclose(there / 10.0**exponent, down, atol=1e-9)
    offsets, there = (legs.replant(*pair)[0] for pair in ((animated, moved), (scaled(animated), scaled(moved))))
    assert rotation.distance(offsets, there).max() < 1e-6


@pytest.mark.parametrize("frames", [0, 1, 2])
def test_shots_of_hardly_any_frames(frames: int) -> None:
    animated = still(frames, bend=0.0)
    moved = shifted(animated, np.full((frames, 3), [0.1, 0.0, 0.0]))
    assert legs.lowering(animated, moved, UP, 1 / 24).shape == (frames,)
    assert legs.replant(animated, moved)[0].shape == (frames, 2, 3, 4)


def test_a_character_without_legs() -> None:
    none = Leg(*(getattr(still(4), field.name)[:, :0] for field in fields(Leg)))
    assert not legs.lowering(none, none, UP, 1 / 24).any()
    assert legs.replant(none, none)[0].shape == (4, 0, 3, 4)


def test_arrays_that_do_not_fit_are_named() -> None:
    good = still(3)
    with pytest.raises(InvalidArgument, match="knee"):
        Leg(good.hip, good.knee[:2], good.ankle, good.upper, good.lower, good.foot)
    with pytest.raises(InvalidArgument, match="foot"):
        Leg(good.hip, good.knee, good.ankle, good.upper, good.lower, good.foot[..., :3])
