"""A whole body with several objectives: what is reached, what gives way, and how the result moves in time."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import Balance, BodyAim, BodyOrientation, BodyPole, BodyPosition, Limits, Posture, body_iteration
from lookat_pd.ik.body_objectives import BALANCE, HIGH, LOW, NORMAL
from lookat_pd.rotation import Array
from lookat_pd.skeleton import forward

FRAMES = 40


class Figure:
    """A standing human of 31 joints, facing -Y, with slightly bent knees and arms that hang down."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        offsets: list[tuple[float, float, float]] = []

        def add(name: str, parent: str, *offset: float) -> None:
            self.names.append(name)
            self.parents.append(self.names.index(parent) if parent else -1)
            offsets.append((offset[0], offset[1], offset[2]))

        add("hips", "", 0.0, 0.0, 1.0)
        for n in range(3):
            add(f"spine {n}", f"spine {n - 1}" if n else "hips", 0.0, 0.0, 0.15)
        add("head", "spine 2", 0.0, 0.0, 0.25)
        for side, x in (("L", 1.0), ("R", -1.0)):
            add(f"thigh {side}", "hips", 0.1 * x, 0.0, -0.05)
            add(f"shin {side}", f"thigh {side}", 0.0, -0.01, -0.45)
            add(f"foot {side}", f"shin {side}", 0.0, 0.01, -0.42)
            add(f"toe {side}", f"foot {side}", 0.0, -0.15, -0.06)
            add(f"upper arm {side}", "spine 2", 0.17 * x, 0.0, 0.1)
            add(f"forearm {side}", f"upper arm {side}", 0.28 * x, 0.01, 0.0)
            add(f"hand {side}", f"forearm {side}", 0.26 * x, -0.01, 0.0)
            for finger in range(3):
                add(f"finger {finger} {side}", f"hand {side}", 0.09 * x, 0.02 * finger - 0.04, 0.0)
                add(f"finger tip {finger} {side}", f"finger {finger} {side}", 0.03 * x, 0.0, 0.0)
        self.offsets = np.array(offsets)
        n = len(self.names)
        stiffness, hinges = np.zeros(n), np.zeros((n, 3))
        minimum, maximum = np.full(n, -np.pi), np.full(n, np.pi)
        self.pose = rotation.identity(FRAMES, n).copy()
        for name, k in zip(self.names, range(n), strict=True):
            x = 1.0 if name.endswith("L") else -1.0
            stiffness[k] = 0.7 if name.startswith(("hips", "spine")) else 0.0
            if name.startswith("shin"):
                hinges[k], minimum[k], maximum[k] = (1.0, 0.0, 0.0), 0.0, 2.7
                self.pose[:, k] = rotation.exp([0.2, 0.0, 0.0])
            if name.startswith("thigh"):
                self.pose[:, k] = rotation.exp([-0.1, 0.0, 0.0])
            if name.startswith("forearm"):
                hinges[k], minimum[k], maximum[k] = (0.0, 0.0, -x), 0.0, 2.6
                self.pose[:, k] = rotation.exp([0.0, 0.0, -0.6 * x])
            if name.startswith("upper arm"):
                self.pose[:, k] = rotation.exp([0.0, 1.1 * x, 0.0])
        self.posture = Posture(stiffness, hinges, minimum, maximum)
        self.orientations, self.places = forward(self.parents, self.offsets, self.pose)

    def __call__(self, name: str) -> int:
        return self.names.index(name)

    def place(self, name: str) -> Array:
        return self.places[:, self(name)]

    def orientation(self, name: str) -> Array:
        return self.orientations[:, self(name)]

    def feet(self) -> list[ik.BodyObjective]:
        """Both feet stay where they are."""
        found: list[ik.BodyObjective] = []
        for name in ("foot L", "foot R"):
            found.append(BodyPosition(self(name), self.place(name), priority=HIGH))
            found.append(BodyOrientation(self(name), self.orientation(name), priority=HIGH))
        return found

    def hand(self, side: str, *away: float) -> BodyPosition:
        """A hand moves on a circle about a point at this distance from where it is."""
        t = np.linspace(0.0, 2.0 * np.pi, FRAMES)
        circle = 0.1 * np.stack((np.sin(t), np.cos(t), np.sin(t)), axis=-1)
        name = f"hand {side}"
        return BodyPosition(self(name), self.place(name) + np.array(away) + circle)

    def solve(self, objectives: list[ik.BodyObjective], **settings) -> ik.BodySolution:
        settings = {"posture": self.posture, "move_root": True} | settings
        return ik.solve_body(self.parents, self.offsets, self.pose, objectives, **settings)

    def solved_places(self, found: ik.BodySolution) -> Array:
        places = forward(self.parents, self.offsets, found.rotations)[1]
        return places + found.displacement[:, None]


@cache
def figure() -> Figure:
    return Figure()


def both_hands() -> list[ik.BodyObjective]:
    body = figure()
    return [*body.feet(), body.hand("L", 0.1, -0.2, 0.2), body.hand("R", 0.0, -0.25, 0.3)]


def test_reaches_all_that_can_be_reached_together() -> None:
    body = figure()
    turn = rotation.exp([0.3, 0.1, -0.2])
    held = BodyOrientation(body("hand L"), rotation.multiply(turn, body.orientation("hand L")))
    looks = BodyAim(body("head"), [1.0, -2.0, 1.2], [0.0, -1.0, 0.0])
    objectives = [*both_hands(), held, looks]
    found = body.solve(objectives)
    assert np.max(found.errors) < 1e-4
    # The errors are those of the pose, not of a model of it.
    places = body.solved_places(found)
    for objective, error in zip(objectives, found.errors.T, strict=True):
        if isinstance(objective, BodyPosition):
            away = np.linalg.norm(places[:, objective.joint] - objective.target, axis=-1)
            assert_allclose(error, away, atol=1e-9)
    orientations = forward(body.parents, body.offsets, found.rotations)[0]
    gaze = rotation.rotate(orientations[:, body("head")], [0.0, -1.0, 0.0])
    assert np.max(rotation.angle_between(gaze, [1.0, -2.0, 1.2] - places[:, body("head")])) < 1e-4


def test_a_pose_that_meets_all_objectives_stays_to_the_bit() -> None:
    body = figure()
    hand = BodyPosition(body("hand L"), body.place("hand L"))
    found = body.solve([*body.feet(), hand])
    assert_array_equal(found.rotations, body.pose)
    assert_array_equal(found.displacement, 0.0)


def rows(body: Figure, objectives: list[ik.BodyObjective], pose: Array, displacement: Array) -> Array:
    """What the objectives measure in poses (m, n, 4): points, and rotations from the first pose, (m, r)."""
    orientations, places = forward(body.parents, body.offsets, pose)
    found = []
    for objective in objectives:
        k = objective.joint
        if isinstance(objective, BodyPosition):
            found.append(places[:, k] + displacement)
        else:
            found.append(rotation.log(rotation.multiply(orientations[:, k], rotation.inverse(orientations[0, k]))))
    return np.concatenate(found, axis=-1)


def away_from_nearest(
    body: Figure,
    objectives: list[ik.BodyObjective],
    found: ik.BodySolution,
    frame: int,
    held: Callable[[Array], Array] | None = None,
) -> float:
    """The part of the rotations from the initial pose [rad] that no objective needs, with the Jacobian by differences;
    without a posture. held: what else is kept, (m, r) of places (m, n, 3)."""
    # The head matters to the centre of mass only.
    idle = ("toe", "finger") if held else ("head", "toe", "finger")
    n, moving = len(body.parents), [body(name) for name in body.names if not name.startswith(idle)]
    bone = np.linalg.norm(body.offsets[moving[1:]], axis=-1).mean()
    # The root costs as much for each root of a tenth of a bone's length as a joint for a radian.
    root = 0.1**0.5 * bone
    step, count = 1e-5, 3 * n + 3
    changes = step * np.concatenate((np.zeros((1, count)), np.eye(count), -np.eye(count)))
    turns = changes[:, :-3].reshape(-1, n, 3)
    pose = rotation.multiply(found.rotations[frame], rotation.exp(turns))
    displacement = found.displacement[frame] + root * changes[:, -3:]
    values = rows(body, objectives, pose, displacement)
    if held is not None:
        places = forward(body.parents, body.offsets, pose)[1] + displacement[:, None]
        values = np.concatenate((values, held(places)), axis=-1)
    jacobian = (values[1 : count + 1] - values[count + 1 :]).T / (2.0 * step)
    z = rotation.log(rotation.multiply(rotation.inverse(body.pose[frame]), found.rotations[frame]))
    z = np.concatenate((z.ravel(), found.displacement[frame] / root))
    needed = jacobian.T @ np.linalg.lstsq(jacobian.T, z, rcond=1e-8)[0]
    return float(np.abs(z - needed).max())


def test_the_rotations_are_the_smallest_that_reach_the_objectives() -> None:
    """Also where they are large, without overshooting from one iteration to the next."""
    for away in [(0.05, -0.1, 0.1), (0.1, -0.2, 0.2), (0.0, -0.2, -0.5), (0.2, -0.5, 0.3)]:
        body = figure()
        objectives = [*body.feet(), body.hand("L", *away), body.hand("R", 0.0, -0.25, 0.3)]
        found = body.solve(objectives, posture=None)
        assert np.max(found.errors) < 1e-5
        assert np.max(found.iterations) < 40
        for frame in range(0, FRAMES, 13):
            assert away_from_nearest(body, objectives, found, frame) < 3e-4


def test_the_order_of_the_objectives_does_not_matter() -> None:
    body = figure()
    objectives = [
        *both_hands(),
        BodyAim(body("head"), [1.0, -2.0, 1.2], [0.0, -1.0, 0.0], weight=0.8),
        BodyPole(body("hand L"), np.array([0.6, 0.3, 2.5]), priority=LOW),
        BodyOrientation(body("hand R"), body.orientation("hand R"), weight=0.5, priority=LOW),
    ]
    found = body.solve(objectives, balance=balance())
    order = np.random.default_rng(0).permutation(len(objectives))
    other = body.solve([objectives[k] for k in order], balance=balance())
    assert_allclose(other.rotations, found.rotations, atol=1e-6)
    assert_allclose(other.errors, found.errors[:, order], atol=1e-6)


def test_an_objective_may_have_the_priority_of_the_balance() -> None:
    body = figure()
    hand = replace(body.hand("L", 0.1, -0.4, 0.0), priority=BALANCE)
    found = body.solve([*body.feet(), hand, body.hand("R", 0.0, -0.25, 0.3)], balance=balance())
    assert np.max(found.unbalanced) < 2e-3
    assert np.max(found.errors) < 5e-3


def test_bodies_of_any_shape() -> None:
    """Several roots, branches at any depth, joints listed in any order after their parents."""
    for seed in range(3):
        random = np.random.default_rng(seed)
        n = 30
        parents = [-1, *(int(random.integers(-1, k) if random.random() < 0.3 else k - 1) for k in range(1, n))]
        offsets, start = 0.2 * random.normal(size=(n, 3)), rotation.exp(0.4 * random.normal(size=(4, n, 3)))
        wanted = rotation.multiply(start, rotation.exp(0.15 * random.normal(size=(4, n, 3))))
        orientations, places = forward(parents, offsets, wanted)
        ends = random.choice(n, size=3, replace=False).tolist()
        objectives: list[ik.BodyObjective] = [BodyPosition(k, places[:, k]) for k in ends]
        objectives.append(BodyOrientation(ends[0], orientations[:, ends[0]], priority=HIGH))
        found = ik.solve_body(parents, offsets, start, objectives)
        assert np.max(found.errors) < 1e-4
        orientations, places = forward(parents, offsets, found.rotations)
        for k, error in zip(ends, found.errors.T[:3], strict=True):
            assert_allclose(error, np.linalg.norm(places[:, k] - wanted_place(objectives, k), axis=-1), atol=1e-9)
        assert_allclose(
            found.errors[:, 3], rotation.distance(orientations[:, ends[0]], objectives[3].orientation), atol=1e-9
        )


def wanted_place(objectives: list[ik.BodyObjective], joint: int) -> Array:
    return next(np.asarray(o.target) for o in objectives if isinstance(o, BodyPosition) and o.joint == joint)


def test_joints_that_change_no_objective_stay_to_the_bit() -> None:
    body = figure()
    found = body.solve(both_hands())
    idle = [k for k, name in enumerate(body.names) if name.startswith(("finger", "toe", "head"))]
    assert_array_equal(found.rotations[:, idle], body.pose[:, idle])


def test_feet_stay_where_a_hand_reaches_too_far() -> None:
    body = figure()
    found = body.solve([*body.feet(), body.hand("L", 1.0, -1.5, 0.4)])
    assert np.max(found.errors[:, :4]) < 1e-4
    assert np.min(found.errors[:, 4]) > 0.3


def test_the_lower_priority_gives_way() -> None:
    body = figure()
    near, far = body.hand("L", 0.2, -0.2, 0.3), body.hand("L", -0.2, -0.2, 0.3)
    found = body.solve([*body.feet(), near, replace(far, priority=LOW)])
    assert np.max(found.errors[:, 4]) < 1e-3
    assert_allclose(found.errors[:, 5], 0.4, atol=2e-3)


def test_a_weight_below_one_is_between_the_pose_and_the_target() -> None:
    body = figure()
    hand = body.hand("L", 0.1, -0.2, 0.2)
    first = np.linalg.norm(body.place("hand L") - hand.target, axis=-1)
    remaining = [
        body.solve([*body.feet(), replace(hand, weight=weight)]).errors[:, 4] / first
        for weight in (0.0, 0.1, 0.3, 0.6, 0.9, 0.99, 1.0)
    ]
    assert_allclose(remaining[0], 1.0, atol=1e-3)
    assert np.all(np.diff(remaining, axis=0) < 0.0)
    assert np.all((remaining[2] < 0.95) & (remaining[3] > 0.05))
    assert np.max(remaining[-2]) < 1e-3


def test_a_weight_below_one_gives_way_to_the_feet() -> None:
    body = figure()
    hand = replace(body.hand("L", 0.8, -0.9, 0.2), weight=0.5)
    found = body.solve([*body.feet(), hand])
    assert np.max(found.errors[:, :4]) < 1e-3


def test_a_weight_in_time_fades_without_jumps() -> None:
    body = figure()
    hand = body.hand("L", 0.1, -0.2, 0.2)
    fade = replace(hand, weight=np.linspace(0.0, 1.0, FRAMES))
    found = body.solve([*body.feet(), fade])
    plain = body.solve([*body.feet(), hand])
    assert_array_equal(found.rotations[0], body.pose[0])
    assert rotation.distance(found.rotations[-1], plain.rotations[-1]).max() < 1e-3
    speed = rotation.distance(found.rotations[1:], found.rotations[:-1]).max()
    needed = rotation.distance(plain.rotations, body.pose).max()
    assert speed < 0.25 * needed


def test_a_smooth_target_gives_a_smooth_motion() -> None:
    """In reach, at its end, and beyond it."""
    for away in [(0.1, -0.2, 0.2), (0.0, -0.2, -0.5), (0.8, -1.2, 0.3)]:
        body = figure()
        found = body.solve([*body.feet(), body.hand("L", *away)])
        speed = rotation.distance(found.rotations[1:], found.rotations[:-1])
        # The target moves 0.02 from frame to frame, the forearm is 0.26 long.
        assert np.max(speed) < 0.2
        assert np.max(np.abs(np.diff(speed, axis=0))) < 0.1


def test_out_of_reach_half_of_the_iterations_end_near_the_result() -> None:
    """The rest of the way is extrapolated: the joints would be up to 2 cm away."""
    body = figure()
    objectives = [*body.feet(), body.hand("L", 1.0, -1.5, 0.4)]
    whole, part = body.solve(objectives), body.solve(objectives, iterations=30)
    assert np.min(whole.iterations) > 50
    assert np.linalg.norm(body.solved_places(part) - body.solved_places(whole), axis=-1).max() < 0.012


def test_what_is_extrapolated_is_no_farther_from_the_targets(monkeypatch) -> None:
    """Of a target that goes beyond the end of the reach, and comes back."""
    body = figure()
    turn = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    objectives = [*body.feet(), body.hand("R", 0.0, 0.0, 0.0)]

    def misses(size: float) -> Array:
        path = size * np.stack((np.zeros(FRAMES), -0.5 * np.sin(turn), 1.0 - np.cos(turn)), axis=-1)
        hand = BodyPosition(body("hand L"), body.place("hand L") + path)
        return np.sum(body.solve([*objectives, hand], iterations=12).errors ** 2, axis=-1)

    sizes = 0.3, 0.45, 0.6, 0.8
    found = [misses(size) for size in sizes]
    monkeypatch.setattr(body_iteration, "_at_the_end", lambda problem, pose, displacement, *_: (pose, displacement))
    for size, miss in zip(sizes, found, strict=True):
        assert np.all(miss <= misses(size) + 1e-12)


def test_hinges_bend_within_their_range() -> None:
    body = figure()
    found = body.solve([*body.feet(), body.hand("L", 0.0, -0.2, -0.6), body.hand("R", 0.3, -0.1, 0.5)])
    for name in ("shin L", "shin R", "forearm L", "forearm R"):
        child = {"shin": "foot", "forearm": "hand"}[name[:-2]] + name[-2:]
        after = np.broadcast_to(body.offsets[body(child)], (FRAMES, 3))
        one = body.posture.take(np.array([body(name)]))
        bend = one.bend(
            np.broadcast_to(body.offsets[body(name)], (FRAMES, 1, 3)), after[:, None], found.rotations[:, [body(name)]]
        )
        assert bend.min() > -1e-6 and bend.max() < 2.7


def bend_off(body: Figure, found: ik.BodySolution, side: str, pole: Array, bones: int = 2) -> Array:
    """The angle (F,) about the line from shoulder to hand between the elbow and the pole."""
    places = body.solved_places(found)
    end = body(f"hand {side}")
    line = [end]
    for _ in range(bones):
        line.append(body.parents[line[-1]])
    base = places[:, line[-1]]
    along = rotation.normalize(places[:, end] - base)

    def beside(point: Array) -> Array:
        return point - base - np.sum((point - base) * along, axis=-1, keepdims=True) * along

    return rotation.angle_between(beside(places[:, line[1]]), beside(pole))


def test_limbs_bend_towards_their_poles() -> None:
    """Without moving what the effectors reach, and as smoothly as the pole."""
    body = figure()
    for pole in (np.array([0.6, 0.3, 2.5]), np.array([0.5, 1.0, 0.2]) + 0.1 * np.arange(FRAMES)[:, None] / FRAMES):
        bends = BodyPole(body("hand L"), pole, priority=LOW)
        found = body.solve([*both_hands(), bends])
        assert np.max(found.errors[:, [0, 2, 4, 5]]) < 1e-3
        assert np.max(bend_off(body, found, "L", np.broadcast_to(pole, (FRAMES, 3)))) < 0.02
        assert np.max(found.errors[:, 6]) < 0.02
        assert np.max(rotation.distance(found.rotations[1:], found.rotations[:-1])) < 0.3


def test_limits_are_never_exceeded() -> None:
    body = figure()
    n = len(body.names)
    locks = np.zeros((n, 3), dtype=bool)
    locks[body("spine 0")] = True
    minimum, maximum = np.full((n, 3), -np.inf), np.full((n, 3), np.inf)
    minimum[body("upper arm R")], maximum[body("upper arm R")] = -1.3, 1.3
    limits = Limits(locks=locks, minimum=minimum, maximum=maximum)
    found = body.solve(both_hands(), limits=limits)
    assert np.max(limits.excess(found.rotations)) < 1e-6
    assert rotation.distance(found.rotations, body.pose)[:, body("spine 0")].max() < 1e-6
    assert np.max(found.errors) < 1e-3


def locked_body(locks: list[list[int]], seed: int) -> tuple[list[int], Array, Array, Limits, list[ik.BodyObjective]]:
    """A swung tree of joints with these locked angles, taking turns, and places that its two ends have when only the
    free angles change."""
    random, count = np.random.default_rng(seed), 60
    parents = [-1, 0, 1, 2, 3, 2, 5, 6]
    offsets = np.tile([0.0, 1.0, 0.0], (len(parents), 1))
    locked = np.zeros((len(parents), 3), dtype=bool)
    for n, row in enumerate(locked):
        row[locks[n % len(locks)]] = True
    first = random.uniform(-0.8, 0.8, size=(count, len(parents), 3))
    other = first + np.where(locked, 0.0, random.uniform(-0.3, 0.3, size=first.shape))

    def pose(angles: Array) -> Array:
        """For angles about x, y, z as Blender counts them."""
        x, z = np.sin(0.5 * angles[..., 0]), np.sin(0.5 * angles[..., 2])
        swing = np.stack((np.sqrt(1.0 - x * x - z * z), x, np.zeros(x.shape), z), axis=-1)
        return rotation.multiply(swing, rotation.about([0.0, 1.0, 0.0], angles[..., 1]))

    places = forward(parents, offsets, pose(other))[1]
    return parents, offsets, pose(first), Limits(locks=locked), [BodyPosition(k, places[:, k]) for k in (4, 7)]


@pytest.mark.thorough
def test_targets_that_locked_angles_allow_are_reached() -> None:
    for locks in [[[1]], [[0]], [[2]], [[0, 1]], [[0, 2]], [[1, 2]], [[1], [0], [2], []], [[0, 1], [], [1, 2], [0]]]:
        parents, offsets, start, limits, objectives = locked_body(locks, 0)
        found = ik.solve_body(parents, offsets, start, objectives, limits=limits)
        assert np.mean(found.errors.max(axis=-1) < 1e-3) > 0.98
        assert_allclose((limits.angles(found.rotations) - limits.angles(start))[:, limits.locks], 0.0, atol=1e-6)


def balance() -> Balance:
    body = figure()
    masses = np.zeros(len(body.names))
    for name, mass in {
        "hips": 20,
        "spine 1": 25,
        "head": 6,
        "thigh": 8,
        "shin": 4,
        "upper arm": 2,
        "forearm": 2,
    }.items():
        masses[[k for k, found in enumerate(body.names) if found.startswith(name)]] = mass
    feet = [body("foot L"), body("foot R"), body("toe L"), body("toe R")]
    soles = np.concatenate((body.places[:, feet], body.places[:, feet[:2]] + [0.0, 0.06, 0.0]), axis=1)
    return Balance(masses, np.zeros((len(masses), 3)), soles)


@pytest.mark.thorough
def test_the_centre_of_mass_stays_above_the_feet() -> None:
    for away in [(0.1, -0.7, 0.0), (0.4, -0.4, -0.3), (0.0, 0.5, 0.2), (0.8, -1.5, 0.2)]:
        body = figure()
        objectives = [*body.feet(), body.hand("L", *away)]
        found = body.solve(objectives, balance=balance())
        assert np.max(found.unbalanced) < 2e-3
        assert np.max(found.errors[:, :4]) < 1e-3
        speed = rotation.distance(found.rotations[1:], found.rotations[:-1])
        assert np.max(speed) < 0.25


@pytest.mark.thorough
def test_balance_takes_nothing_from_a_hand_in_reach() -> None:
    for away in [(0.1, -0.7, 0.0), (0.2, -0.45, -0.2), (0.0, -0.5, -0.3), (0.3, -0.3, 0.5)]:
        body = figure()
        objectives = [*body.feet(), body.hand("L", *away)]
        assert np.max(body.solve(objectives).errors) < 1e-4
        found = body.solve(objectives, balance=balance())
        assert np.max(found.errors) < 5e-4
        assert np.max(found.unbalanced) < 1e-4


def test_in_balance_the_rotations_are_the_smallest() -> None:
    """The centre of mass stays behind the toes, and moves freely to both sides."""
    body, scales = figure(), balance()
    for away in [(0.1, -0.7, 0.0), (0.0, -0.75, 0.1)]:
        objectives = [*body.feet(), body.hand("L", *away)]
        found = body.solve(objectives, balance=scales, posture=None)
        centers = np.einsum("n,fnc->fc", np.asarray(scales.masses), body.solved_places(found))
        toes = np.asarray(scales.polygon)[:, :, 1].min(axis=1)
        frames = np.flatnonzero(np.abs(centers[:, 1] - toes) < 1e-5)
        assert len(frames) > FRAMES // 4

        def front(places: Array) -> Array:
            return (places @ [0.0, 1.0, 0.0]) @ np.asarray(scales.masses)[:, None]

        for frame in frames[::5].tolist():
            assert away_from_nearest(body, objectives, found, frame) > 1e-2
            assert away_from_nearest(body, objectives, found, frame, front) < 5e-4


def test_straight_knees_and_a_balance_take_few_iterations() -> None:
    """The way back to the initial pose does not swing from one side to the other while a hinge is at its end."""
    for away in [(0.3, -0.4, -0.5), (0.1, -0.7, 0.0)]:
        body = figure()
        found = body.solve([*body.feet(), body.hand("L", *away)], balance=balance())
        assert np.max(found.errors) < 1e-4
        assert np.max(found.unbalanced) < 1e-4
        assert np.mean(found.iterations) < 30


def balanced_poses(seed: int) -> tuple[list[ik.BodyObjective], Balance]:
    """Places of hands and feet at which a body in balance has them: those of random poses, each above a polygon around
    its own centre of mass."""
    body, scales, random = figure(), balance(), np.random.default_rng(seed)
    bends = random.uniform(-0.35, 0.35, size=(FRAMES, len(body.names), 3))
    axes = np.asarray(body.posture.hinges)
    hinged = random.uniform(0.0, 0.9, size=(FRAMES, len(axes), 1)) * axes
    bends = np.where(axes.any(axis=-1)[:, None], hinged, bends)
    pose = rotation.multiply(body.pose, rotation.exp(bends))
    turns, places = forward(body.parents, body.offsets, pose)
    center = np.asarray(scales.masses) @ places
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    middle = center + random.uniform(-0.04, 0.04, size=(FRAMES, 3))
    wanted: list[ik.BodyObjective] = []
    for name, priority in (("foot L", HIGH), ("foot R", HIGH), ("hand L", NORMAL), ("hand R", NORMAL)):
        wanted.append(BodyPosition(body(name), places[:, body(name)], priority=priority))
        if priority == HIGH:
            wanted.append(BodyOrientation(body(name), turns[:, body(name)], priority=priority))
    return wanted, replace(scales, polygon=middle[:, None] + 0.05 * corners)


def test_a_pose_in_balance_is_found_where_there_is_one() -> None:
    for seed in range(4):
        wanted, scales = balanced_poses(seed)
        found = figure().solve(wanted, balance=scales)
        assert np.max(found.unbalanced) < 1e-3
        assert np.max(found.errors[:, :4]) < 5e-3
        # The objectives alone do not lead there.
        assert np.max(figure().solve(wanted, balance=replace(scales, weight=0.0)).unbalanced) > 5e-3


def test_balance_alone_moves_the_body_and_without_weight_nothing() -> None:
    body = figure()
    objectives = [*body.feet(), replace(body.hand("L", 0.1, -0.2, 0.2), weight=0.0)]
    shift = np.array([0.0, -0.12, 0.0])
    beside = replace(balance(), polygon=balance().polygon + shift)
    found = body.solve(objectives, balance=beside)
    assert np.max(found.unbalanced) < 1e-3
    assert np.max(found.errors[:, :4]) < 1e-3
    found = body.solve(objectives, balance=replace(beside, weight=0.0))
    assert_array_equal(found.rotations, body.pose)
    assert np.min(found.unbalanced) > 0.01


def test_balance_changes_nothing_inside_the_polygon() -> None:
    body = figure()
    wide = balance()
    wide = replace(wide, polygon=10.0 * np.asarray(wide.polygon))
    found = body.solve(both_hands(), balance=wide)
    assert np.max(found.unbalanced) == 0.0
    assert_allclose(found.rotations, body.solve(both_hands()).rotations, atol=1e-3)


def test_repeats_to_the_bit_and_does_not_depend_on_the_other_poses() -> None:
    body = figure()
    found = body.solve(both_hands())
    assert_array_equal(body.solve(both_hands()).rotations, found.rotations)
    some = slice(5, 9)
    few = [
        replace(o, **{name: np.asarray(getattr(o, name))[some] for name in o.sizes if np.ndim(getattr(o, name)) == 2})
        for o in both_hands()
    ]
    part = ik.solve_body(body.parents, body.offsets, body.pose[some], few, posture=body.posture, move_root=True)
    assert_allclose(part.rotations, found.rotations[some], atol=1e-9)


def test_the_space_of_the_base_does_not_matter() -> None:
    body = figure()
    turn, move = rotation.exp([0.4, -0.7, 1.1]), np.array([1.0, 2.0, -3.0])
    moved = []
    for objective in both_hands():
        if isinstance(objective, BodyPosition):
            moved.append(replace(objective, target=move + rotation.rotate(turn, objective.target)))
        else:
            moved.append(replace(objective, orientation=rotation.multiply(turn, objective.orientation)))
    scales = balance()
    turned = replace(scales, polygon=move + rotation.rotate(turn, scales.polygon), up=rotation.rotate(turn, scales.up))
    found = body.solve(both_hands(), balance=scales)
    other = body.solve(moved, balance=turned, base=np.concatenate((move, turn)))
    assert_allclose(other.rotations, found.rotations, atol=1e-6)
    assert_allclose(other.errors, found.errors, atol=1e-6)


def test_size_does_not_matter() -> None:
    body = figure()
    large = [replace(o, target=100.0 * o.target) if isinstance(o, BodyPosition) else o for o in both_hands()]
    found = body.solve(both_hands())
    other = ik.solve_body(body.parents, 100.0 * body.offsets, body.pose, large, posture=body.posture, move_root=True)
    assert_allclose(other.rotations, found.rotations, atol=1e-6)
    assert_allclose(other.displacement, 100.0 * found.displacement, atol=1e-4)


def test_a_knee_bent_backwards_folds_forwards() -> None:
    """Captured knees go beyond straight by some degrees; the foot rises, and no knee may stay behind."""
    body, frames = figure(), np.linspace(0.1, -0.2, FRAMES)
    knee, foot, pose = body("shin L"), body("foot L"), body.pose.copy()
    hinge = np.asarray(body.posture.hinges)[knee]
    pose[:, knee] = rotation.exp(frames[:, None] * hinge)
    target = forward(body.parents, body.offsets, pose)[1][:, foot] + [0.0, 0.0, 0.03]
    found = ik.solve_body(body.parents, body.offsets, pose, [BodyPosition(foot, target)], posture=body.posture)
    bend = rotation.log(found.rotations[:, knee]) @ hinge
    assert np.max(found.errors) < 1e-4
    assert np.min(bend) > 0.2
    assert np.abs(np.diff(bend)).max() < 0.05


def test_a_straight_limb_folds() -> None:
    """Towards its own base, which is a singular pose."""
    for root in [False, True]:
        parents, offsets = [-1, 0, 1], np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
        objective = BodyPosition(2, [0.0, 1.2, 0.0])
        hold = BodyPosition(0, np.zeros(3), priority=HIGH)
        found = ik.solve_body(parents, offsets, rotation.identity(3), [hold, objective], move_root=root)
        assert np.max(found.errors) < 1e-3


def test_bad_input_names_the_thing() -> None:
    body = figure()
    with pytest.raises(InvalidArgument, match="weight of joint 3"):
        BodyPosition(3, np.zeros(3), weight=1.5)
    with pytest.raises(InvalidArgument, match="priority"):
        BodyPosition(3, np.zeros(3), priority=9)
    with pytest.raises(InvalidArgument, match="no effector"):
        body.solve([])
    with pytest.raises(InvalidArgument, match="There is no joint 99"):
        body.solve([BodyPosition(99, np.zeros(3))])
    with pytest.raises(InvalidArgument, match="2 masses, but the body has"):
        body.solve(body.feet(), balance=Balance([1.0, 1.0], np.zeros((2, 3)), np.zeros((1, 3))))
    with pytest.raises(InvalidArgument, match="no points"):
        Balance([1.0], np.zeros((1, 3)), np.zeros((0, 3)))
