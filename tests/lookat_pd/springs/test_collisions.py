"""The laws of springs among colliders."""

import numpy as np
import pytest

from comparison import largest_degrees
from lookat_pd import rotation, springs
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array
from lookat_pd.springs import Colliders, SpringMotion

from . import any_motion

SETTINGS = {"settle_time": 0.6, "damping_ratio": 0.5}
FALL = (0.0, 0.0, -9.81)
RADIUS = 0.02
ASIDE, UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


def still(frames: int, bones: int, along: tuple[float, ...] = (0.0, 0.1, 0.0)) -> tuple[Array, ...]:
    """A chain that stands still: positions, rotations, tips and parents."""
    places = np.tile(np.arange(bones)[:, None] * np.array(along), (frames, 1, 1))
    return places, rotation.identity(frames, bones), np.tile(along, (bones, 1)), np.arange(bones) - 1


def swaying(rate: int, bones: int = 4, seconds: float = 3.0) -> tuple[Array, ...]:
    """A tail of an animal that sways."""
    t = np.arange(int(seconds * rate) + 1) / rate
    turned = rotation.about([0.0, 0.0, 1.0], 0.6 * np.sin(4.0 * np.pi * t / seconds) * np.sin(2.0 * t))[:, None]
    places, _, tips, parents = still(len(t), bones)
    return rotation.rotate(turned, places), np.repeat(turned, bones, axis=1), tips, parents


def floor(height: float, friction: float = 0.0) -> Colliders:
    return Colliders.made([[0.0, 0.0, height]], [[0.0, 0.0, height + 1.0]], 0.0, friction, True)


def sphere(center: Array, radius: float = 0.1, friction: float = 0.0) -> Colliders:
    return Colliders.made(center, center, radius, friction)


def joints(places: Array, found: SpringMotion) -> Array:
    return np.concatenate((places[:, :1], found.tips[:, :-1]), axis=1)


def test_a_tail_that_hangs_down_lies_on_the_floor() -> None:
    places, turned, tips, parents = still(96, 6)
    free = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, gravity=FALL)
    assert free.tips[-1, -1, 2] < -0.1
    found = springs.solve(
        places, turned, tips, parents, 1 / 24, **SETTINGS, gravity=FALL, colliders=floor(-0.06), radius=RADIUS
    )
    assert found.stepped.all()
    low = found.tips[:, :, 2].min(axis=1) - RADIUS + 0.06
    assert np.abs(low[-24:]).max() < 0.02 * RADIUS
    # It lies there from the first frame on.
    assert largest_degrees(found.offsets, found.offsets[:1]) < 0.05


def test_the_report_says_how_deep_and_in_what() -> None:
    # The floor comes up past the root, and higher than the tail can bend.
    places, turned, tips, parents = still(10, 3)
    heights = np.linspace(-0.5, 0.5, 10)[:, None, None] * [0.0, 0.0, 1.0]
    rising = Colliders.made(heights, heights + UP, 0.0, 0.0, True)
    found = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, colliders=rising, radius=RADIUS)
    assert np.all(found.depth[:4] == 0.0)
    assert np.all(found.collider[:4] == -1)
    assert np.all(found.collider[-1] == 0)
    assert np.allclose(found.depth[-1], 0.5 + RADIUS - found.tips[-1, :, 2])


def test_a_collider_out_of_reach_changes_nothing() -> None:
    motion = swaying(24)
    plain = springs.solve(*motion, 1 / 24, **SETTINGS)
    far = springs.solve(*motion, 1 / 24, **SETTINGS, colliders=sphere([[0.0, 0.2, -0.9]]), radius=RADIUS)
    assert np.array_equal(plain.offsets, far.offsets)
    assert not far.stepped.any()


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, 0.0, -4.0)])
def test_a_collider_that_is_near_but_not_touched_changes_next_to_nothing(gravity) -> None:
    motion = swaying(24)
    plain = springs.solve(*motion, 1 / 24, **SETTINGS, gravity=gravity)
    low = plain.tips[..., 2].min()
    near = springs.solve(*motion, 1 / 24, **SETTINGS, gravity=gravity, colliders=floor(low - 0.03), radius=RADIUS)
    assert near.stepped.all()
    assert largest_degrees(near.offsets, plain.offsets) < 0.3


@pytest.mark.parametrize("shape", ["sphere", "capsule", "plane"])
def test_what_moves_into_a_tail_pushes_it_aside(shape) -> None:
    places, turned, tips, parents = still(73, 4)
    away = np.array([-0.4, 0.25, 0.0]) + np.linspace(0.0, 0.35, 49).repeat([1] * 48 + [25])[:, None] * [1.0, 0.0, 0.0]
    ahead = {"sphere": 0.0, "capsule": np.array([0.0, 0.0, 0.3]), "plane": np.array([1.0, 0.0, 0.0])}[shape]
    begins, ends = away[:, None] - (ahead if shape == "capsule" else 0.0), away[:, None] + ahead
    if shape == "plane":
        begins, ends = begins + 0.1 * ASIDE, ends + 0.1 * ASIDE
    colliders = Colliders.made(begins, ends, 0.1, 0.0, shape == "plane")
    found = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, colliders=colliders, radius=RADIUS)
    assert largest_degrees(found.offsets[:5], rotation.identity(5, 4)) < 1e-6
    assert found.tips[-1, -1, 0] > 0.05
    assert found.depth.max() < 0.02 * RADIUS
    # All of the chain gives way, not just the bone that is touched.
    bends = np.degrees(rotation.angle(found.swings[-1]))
    assert bends.min() > 3.0
    assert largest_degrees(found.offsets[-1:], found.offsets[-2:-1]) < 0.05


@pytest.mark.thorough
@pytest.mark.parametrize(
    "solids",
    [
        floor(-0.05, friction=0.3),
        sphere([[0.15, 0.3, -0.05]], friction=0.3),
        sphere([[-0.15, 0.3, 0.0]]),
        Colliders.made([[-0.15, 0.3, -0.3]], [[-0.05, 0.3, 0.3]], 0.05),
    ],
    ids=["floor", "sphere", "smooth sphere", "smooth capsule"],
)
def test_frame_rates_agree_among_colliders(solids) -> None:
    def at(rate: int, **among) -> Array:
        return springs.solve(*swaying(rate), 1 / rate, **SETTINGS, gravity=FALL, **among).offsets

    among = {"colliders": solids, "radius": RADIUS}
    finest = at(120, **among)
    assert largest_degrees(finest, at(120)) > 5.0
    for rate in (24, 30, 60):
        assert largest_degrees(at(rate, **among), finest[:: 120 // rate]) < 0.2


def test_friction_takes_along_what_lies_on_it() -> None:
    places, turned, tips, parents = still(49, 2, (0.0, 0.15, 0.0))
    shift = 0.1 * np.linspace(0.0, 1.0, 49)[:, None, None] * ASIDE
    moved = []
    for friction in (0.0, 0.2, 2.0):
        begins = shift - 0.03 * UP
        under = Colliders.made(begins, begins + UP, 0.0, friction, True)
        found = springs.solve(
            places, turned, tips, parents, 1 / 24, **SETTINGS, gravity=FALL, colliders=under, radius=RADIUS
        )
        moved.append(float(found.tips[-1, -1, 0]))
    assert abs(moved[0]) < 1e-4
    assert moved[0] < moved[1] < moved[2] < 0.1
    assert moved[2] > 0.03


def test_a_cycle_among_colliders_returns_to_its_beginning() -> None:
    motion = swaying(24, seconds=2.0)
    motion = [values[:-1] if n < 2 else values for n, values in enumerate(motion)]
    t = np.arange(49) / 24
    turned = rotation.about([0.0, 0.0, 1.0], 0.6 * np.sin(np.pi * t))[:, None]
    places = rotation.rotate(turned, still(49, 4)[0])
    found = springs.solve(
        places,
        np.repeat(turned, 4, axis=1),
        *motion[2:],
        1 / 24,
        **SETTINGS,
        gravity=FALL,
        cyclic=True,
        colliders=sphere([[0.15, 0.3, -0.05]], friction=0.3),
        radius=RADIUS,
    )
    assert found.stepped.all()
    assert found.seam < 1e-6
    assert found.depth.max() < 0.02 * RADIUS


def test_bones_that_are_animated_inside_a_collider_are_left_there() -> None:
    places, turned, tips, parents = still(24, 4)
    head = sphere([[0.0, 0.0, 0.0]], radius=0.13)
    found = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, colliders=head, radius=RADIUS)
    assert largest_degrees(found.offsets, rotation.identity(24, 4)) < 1e-6
    assert found.depth.max() == 0.0


def test_what_collides_does_not_change_with_other_chains_beside_it() -> None:
    one = swaying(24)
    both = [np.concatenate((values, values), axis=1) for values in one[:2]]
    tips, parents = np.concatenate((one[2], one[2])), np.concatenate((one[3], np.where(one[3] < 0, -1, one[3] + 4)))
    ball = sphere([[-0.15, 0.3, 0.0]])
    found = springs.solve(*both, tips, parents, 1 / 24, **SETTINGS, colliders=ball, radius=RADIUS)
    alone = springs.solve(*one, 1 / 24, **SETTINGS, colliders=ball, radius=RADIUS)
    assert largest_degrees(found.offsets[:, :4], alone.offsets) < 1e-4
    assert largest_degrees(found.offsets[:, 4:], alone.offsets) < 1e-4


@pytest.mark.thorough
def test_in_settled_contact_nothing_is_deeper_than_two_percent_of_the_radius() -> None:
    """Chains that are pressed onto a solid each by gravity in any direction."""
    random, count, links, frames = np.random.default_rng(3), 6, 3, 49
    deep = []
    for kind in ("sphere", "capsule", "plane"):
        for _ in range(count):
            pull = random.normal(size=3)
            pull *= random.uniform(2.0, 15.0) / np.linalg.norm(pull)
            places, turned, tips, parents = still(frames, links)
            middle = np.array([0.0, random.uniform(0.1, 0.3), 0.0]) + pull / np.linalg.norm(pull) * 0.13
            line = {"sphere": np.zeros(3), "capsule": random.normal(size=3) * 0.1, "plane": -pull}[kind]
            size = random.uniform(0.05, 0.1)
            solids = Colliders.made([middle], [middle + line], size, random.choice([0.0, 0.5]), kind == "plane")
            found = springs.solve(
                places,
                turned,
                tips,
                parents,
                1 / 24,
                settle_time=random.uniform(0.2, 1.5),
                damping_ratio=random.uniform(0.2, 1.0),
                gravity=pull,
                colliders=solids,
                radius=RADIUS,
                limit=random.choice([np.pi, 0.8]) if kind == "sphere" else np.pi,
            )
            deep.append(found.depth[24:].max())
    assert max(deep) < 0.02 * RADIUS


@pytest.mark.parametrize(
    ("dt", "count", "frames"),
    [
        (1.0, 6, 3),
        (1 / 24, 24, 5),
        (1 / 120, 24, 5),
        # 10,000 bones in all.
        pytest.param(1.0, 600, 3, marks=pytest.mark.slow),
        pytest.param(1 / 24, 4800, 5, marks=pytest.mark.slow),
        pytest.param(1 / 120, 4800, 5, marks=pytest.mark.slow),
    ],
)
def test_whatever_the_settings_it_stays_finite_and_bounded(dt, count, frames) -> None:
    """Spins, jumps, zero lengths, pushes of any strength, solids anywhere."""
    random, links = np.random.default_rng(11), any_motion.LINKS
    places, turned, tips, parents = any_motion.chains(random, count, frames)
    begins = np.cumsum(random.normal(size=(frames, 6, 3)), axis=0)
    ends = begins + random.normal(size=(frames, 6, 3)) * [[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]]
    solids = Colliders.made(begins, ends, random.uniform(0.0, 2.0, 6), random.uniform(0.0, 2.0, 6), np.arange(6) > 3)
    found = springs.solve(
        places,
        turned,
        tips,
        parents,
        dt,
        settle_time=10.0 ** random.uniform(-1.5, 1.0, count),
        damping_ratio=random.choice([0.0, 0.1, 0.5, 1.0, 5.0], count),
        inertia=np.repeat(random.random(count // links), links),
        center=(places[:, 0], turned[:, 0]),
        gravity=random.normal(size=(count, 3)) * 10.0,
        drag=random.choice([0.0, 1.0, 20.0], count),
        limit=random.choice([0.02, 0.5, np.pi], count),
        colliders=solids,
        radius=random.uniform(0.0, 0.1, count),
        stretch=random.random(count),
    )
    assert found.longer.min() >= -0.5 and found.longer.max() <= 1.0
    assert found.stepped.mean() > 0.2
    assert np.isfinite(found.offsets).all()
    assert np.isfinite(found.tips).all()
    assert np.isfinite(found.depth).all()
    assert np.abs(np.linalg.norm(found.offsets, axis=-1) - 1.0).max() < 1e-9


def test_what_is_wrong_with_colliders_is_said() -> None:
    with pytest.raises(InvalidArgument, match="radius of a collider"):
        sphere([[0.0, 0.0, 0.0]], radius=-1.0)
    motion = still(5, 1)
    with pytest.raises(InvalidArgument, match="colliders"):
        springs.solve(*motion, 1 / 24, **SETTINGS, colliders=sphere(np.zeros((3, 1, 3))))
    with pytest.raises(InvalidArgument, match="radius of a bone"):
        springs.solve(*motion, 1 / 24, **SETTINGS, colliders=floor(0.0), radius=-0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("degrees", [10.0, 25.0])
def test_no_bone_bends_further_than_its_cone(degrees) -> None:
    places, turned, tips, parents = still(72, 5)
    limit = np.radians(degrees)
    free = springs.solve(places, turned, tips, parents, 1 / 24, settle_time=2.0, gravity=FALL)
    assert np.degrees(rotation.angle(free.offsets)).max() > degrees + 2.0
    found = springs.solve(places, turned, tips, parents, 1 / 24, settle_time=2.0, gravity=FALL, limit=limit)
    bends = np.degrees(rotation.angle(found.offsets))
    assert bends.max() < degrees + 0.2
    assert bends[-1].max() > degrees - 0.2
    assert largest_degrees(found.offsets, found.offsets[:1]) < 0.05


def test_a_cone_that_is_wide_enough_changes_nothing_and_one_may_touch_as_well() -> None:
    motion = swaying(24)
    plain = springs.solve(*motion, 1 / 24, **SETTINGS)
    widest = rotation.angle(plain.offsets).max()
    wide = springs.solve(*motion, 1 / 24, **SETTINGS, limit=min(1.3 * widest, np.pi))
    assert np.array_equal(wide.offsets, plain.offsets)
    narrow = springs.solve(*motion, 1 / 24, **SETTINGS, limit=0.5 * widest)
    assert rotation.angle(narrow.offsets).max() < 0.5 * widest + 0.01
    both = springs.solve(
        *motion, 1 / 24, **SETTINGS, limit=0.5 * widest, gravity=FALL, colliders=floor(-0.05), radius=RADIUS
    )
    assert rotation.angle(both.offsets).max() < 0.5 * widest + 0.01
    assert both.depth.max() < 0.02 * RADIUS
    with pytest.raises(InvalidArgument, match="at most 180 degrees"):
        springs.solve(*motion, 1 / 24, **SETTINGS, limit=0.0)


@pytest.mark.thorough
def test_a_cone_gives_way_to_a_collider_without_flipping_to_and_fro() -> None:
    motion = still(49, 3)
    begin, end = [[0.035, 0.1386, -0.1241]], [[-0.0205, 0.1359, 0.0337]]
    found = springs.solve(
        *motion,
        1 / 24,
        settle_time=0.41,
        damping_ratio=0.29,
        gravity=(1.32, -0.63, -4.68),
        limit=np.radians(40.0),
        colliders=Colliders.made(begin, end, 0.0794, 0.5),
        radius=RADIUS,
    )
    assert found.depth.max() < 0.02 * RADIUS
    # It is out of the collider at 43.3 degrees without a cone, too.
    assert 3.0 < np.degrees(found.beyond).max() < 3.4
    assert largest_degrees(found.offsets[25:], found.offsets[24:-1]) < 0.1


def at_random(random: np.random.Generator, frames: int) -> SpringMotion:
    """A chain that is pulled in any direction, within cones and onto one to three solids."""
    links, pull = int(random.integers(1, 6)), random.normal(size=3)
    down = pull / np.linalg.norm(pull)
    kinds = random.choice(["sphere", "capsule", "plane"], int(random.integers(1, 4)))
    begins, ends = [], []
    for kind in kinds:
        middle = np.array([0.0, random.uniform(0.05, 0.1 * links), 0.0]) + down * random.uniform(0.08, 0.14)
        line = {"sphere": 0.0 * down, "capsule": random.normal(size=3) * 0.1, "plane": -down}[kind]
        begins.append(middle + random.normal(size=3) * 0.01)
        ends.append(begins[-1] + line)
    sizes, friction = random.uniform(0.05, 0.1, len(kinds)), random.choice([0.0, 0.3])
    return springs.solve(
        *still(frames, links),
        1 / 24,
        settle_time=random.uniform(0.2, 2.0),
        damping_ratio=random.uniform(0.2, 1.0),
        gravity=down * random.uniform(2.0, 15.0),
        limit=np.radians(random.uniform(5.0, 60.0)),
        colliders=Colliders.made(begins, ends, sizes, friction, kinds == "plane"),
        radius=RADIUS,
    )


@pytest.mark.thorough
def test_what_its_cone_and_a_collider_hold_does_not_shiver() -> None:
    random = np.random.default_rng(7)
    every = [at_random(random, 25) for _ in range(24)]
    found = [one for one in every if one.stepped.any()]
    assert len(found) > 15
    assert max(one.depth.max() for one in found) < 0.02 * RADIUS
    assert max(one.beyond.max() for one in found) > 0.03
    steps = np.array([largest_degrees(one.offsets[1:], one.offsets[:-1]) for one in found])
    assert steps.max() < 0.2
    assert np.median(steps) < 0.01


def test_what_a_ball_holds_up_bends_as_by_a_force_at_its_tip() -> None:
    places, turned, tips, parents = still(24, 6)
    ball = sphere([[0.0, 0.602, 0.004 - RADIUS - 0.02]], radius=0.02)
    held = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, colliders=ball, radius=RADIUS).tips[..., 2]
    pushed = np.zeros((1, 6, 3))
    pushed[0, -1, 2] = 0.1
    blown = springs.solve(places, turned, tips, parents, 1 / 24, **SETTINGS, wind=pushed).tips[0, :, 2]
    assert held[0, -1] > 0.003
    assert np.abs(held - blown * held[0, -1] / blown[-1]).max() < 0.01 * held[0, -1]


def test_how_a_chain_lies_on_something_does_not_depend_on_its_damping() -> None:
    places, turned, tips, parents = still(48, 9)
    ball = sphere([[0.01, 0.4, -0.05]])
    lie = [
        springs.solve(
            places,
            turned,
            tips,
            parents,
            1 / 24,
            settle_time=0.6,
            damping_ratio=ratio,
            gravity=(0.0, 0.0, -3.0),
            colliders=ball,
            radius=RADIUS,
        ).offsets
        for ratio in (0.2, 1.0)
    ]
    assert largest_degrees(lie[0], lie[0][:1]) < 0.02
    assert largest_degrees(lie[0][0], lie[1][0]) < 0.01


def test_under_a_pull_much_stronger_than_the_springs_chains_begin_at_rest() -> None:
    random = np.random.default_rng(5)
    for _ in range(12):
        pull = random.normal(size=3)
        pull *= random.uniform(8.0, 15.0) / np.linalg.norm(pull)
        motion = still(12, int(random.integers(1, 6)))
        found = springs.solve(*motion, 1 / 24, settle_time=random.uniform(1.0, 2.0), gravity=pull)
        if np.abs(rotation.angle(found.swings)).max() < 2.3:
            assert largest_degrees(found.offsets, found.offsets[:1]) < 0.01


@pytest.mark.thorough
def test_chains_that_a_wind_blows_over_begin_where_they_stay() -> None:
    random = np.random.default_rng(10)
    wide = 0
    for _ in range(8):
        against = np.array([random.normal() * 0.05, -1.0, random.normal() * 0.05]) * random.uniform(10.0, 30.0)
        motion = still(24, int(random.integers(2, 6)))
        found = springs.solve(*motion, 1 / 24, settle_time=random.uniform(1.0, 2.0), wind=against)
        wide += int(rotation.angle(found.swings).max() > 2.3)
        assert largest_degrees(found.offsets, found.offsets[:1]) < 0.1
    assert wide > 4


@pytest.mark.parametrize("frames", [1, 3])
def test_chains_that_start_anew_at_each_frame_collide(frames) -> None:
    joints = np.tile([[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]], (frames, 1, 1))
    below = springs.Colliders.made([[0.0, 0.12, -0.1]], [[0.0, 0.12, -0.1]], [0.09])
    found = springs.solve(
        joints,
        rotation.identity(frames, 2),
        [[0.0, 0.1, 0.0]] * 2,
        [-1, 0],
        1.0 / 24.0,
        settle_time=0.5,
        gravity=[0.0, 0.0, -98.1],
        restarts=np.ones(frames),
        colliders=below,
        radius=0.02,
    )
    assert found.stepped.all() and np.isfinite(found.offsets).all()


def test_friction_does_not_shake_what_is_pressed_against_something_along_the_bone() -> None:
    motion = still(60, 1)
    ball = sphere([[-0.027, 0.182, -0.075]], radius=0.0831, friction=0.5)
    pull = (-0.865, 4.021, -2.437)
    found = springs.solve(
        *motion, 1 / 24, settle_time=1.25, damping_ratio=0.22, gravity=pull, colliders=ball, radius=RADIUS
    )
    assert found.stepped.all()
    assert largest_degrees(found.offsets[1:], found.offsets[:-1]) < 0.01
    assert found.depth.max() < 0.02 * RADIUS


@pytest.mark.parametrize(("friction", "limit"), [(0.0, np.pi), (0.3, 0.9)])
def test_what_nothing_can_bring_out_of_a_collider_comes_to_rest_all_the_same(friction, limit) -> None:
    """A floor that has risen far above the root."""
    heights = np.minimum(np.linspace(-0.3, 1.0, 73), 0.15)[:, None, None] * UP
    found = springs.solve(
        *still(73, 4),
        1 / 24,
        settle_time=0.2,
        gravity=FALL,
        limit=limit,
        colliders=Colliders.made(heights, heights + UP, 0.0, friction, True),
        radius=RADIUS,
    )
    assert found.depth[-1, 0] > RADIUS
    assert largest_degrees(found.offsets[49:], found.offsets[48:-1]) < 0.05


def test_what_rocks_on_a_round_collider_comes_to_rest() -> None:
    begin, end = [[-0.00899, 0.14917, 0.10696]], [[-0.00537, 0.30756, 0.00325]]
    found = springs.solve(
        *still(73, 4),
        1 / 24,
        settle_time=0.286,
        damping_ratio=0.22,
        gravity=(-0.605, 2.234, 7.202),
        colliders=Colliders.made(begin, end, 0.09628, 1.0),
        radius=RADIUS,
    )
    assert found.stepped.all()
    assert found.depth.max() < 0.02 * RADIUS
    assert largest_degrees(found.offsets[49:], found.offsets[48:-1]) < 0.05
