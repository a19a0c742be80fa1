"""Reaching: the goal is hit, little changes of torque, and time runs both ways where nothing rubs."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookat_pd import dynamics, ik, rotation
from lookat_pd.curves import smooth_step
from lookat_pd.dynamics import METHODS, Reach, effort, mass, reach
from lookat_pd.dynamics.arm import Arm
from lookat_pd.dynamics.paths import minimum_jerk
from lookat_pd.errors import InvalidArgument
from lookat_pd.rotation import Array

from . import trees

trees.mujoco()

both = pytest.mark.parametrize("method", METHODS)
HAND = (1, (0.0, 0.3, 0.0))
START = rotation.exp([[0.0, 0.0, -0.4], [0.0, 0.0, 1.2]])
GOAL = (0.3, 0.3, 0.0)
SPATIAL = rotation.exp([[0.3, 0.0, -0.4], [0.0, 0.2, 1.2], [0.1, 0.0, 0.3]])


def planar(goal: object = GOAL, start: Array = START, **given: object) -> Reach:
    """A two-link arm in the plane of X and Y."""
    settings = {"effector": HAND, "method": "optimal", "gravity": (0.0, 0.0, 0.0), **given}
    return reach(trees.rods([0.3, 0.3], [2.0, 1.5]), start, goal, 0.6, 1.0 / 60.0, **settings)  # type: ignore[arg-type]


def spatial(goal: object = (0.3, 0.3, 0.2), **given: object) -> Reach:
    body = trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5])
    settings = {"effector": (2, (0.0, 0.2, 0.0)), **given}
    return reach(body, SPATIAL, goal, 1.0, 1.0 / 30.0, **settings)  # type: ignore[arg-type]


def arm_in_space(seed: int, n: int, turn: float) -> tuple[dynamics.Body, Array, Array, tuple[int, Array]]:
    """A chain of n rods, its pose at the start, a goal and the effector. turn: [rad], about how far the joints rotate
    to a pose with the hand at the goal."""
    random = np.random.default_rng(seed)
    body = trees.rods(random.uniform(0.1, 0.5, n).tolist(), random.uniform(0.2, 3.0, n).tolist())
    start = rotation.exp(random.normal(0.0, 0.6, (n, 3)))
    hand = n - 1, np.array([0.0, random.uniform(0.05, 0.4), 0.0])
    end = rotation.multiply(start, rotation.exp(random.normal(0.0, turn, (n, 3))))
    return body, start, hand_of(body, end, hand), hand


def hand_of(body: dynamics.Body, pose: Array, hand: tuple[int, Array]) -> Array:
    turned, places = body.forward(pose)
    return places[hand[0]] + rotation.rotate(turned[hand[0]], hand[1])


@pytest.mark.thorough
@both
@settings(max_examples=6)
@given(st.integers(0, 1000), st.booleans())
def test_the_goal_is_hit_and_the_cost_is_no_higher_than_that_of_minimum_jerk(
    method: str, seed: int, heavy: bool
) -> None:
    random = np.random.default_rng(seed)
    goal = rotation.normalize(random.normal(size=3)) * random.uniform(0.3, 0.7)
    gravity = (0.0, 0.0, -9.81 if heavy else 0.0)
    found = spatial(goal, method=method, gravity=gravity, passes=15)
    assert np.linalg.norm(found.path[-1] - goal) < 1e-4
    assert found.cost <= found.costs[0]
    assert found.cost == found.costs.min()
    assert_allclose(rotation.distance(found.rotations[0], SPATIAL), 0.0, atol=1e-9)


@both
def test_the_path_is_that_of_the_hand(method: str) -> None:
    found, body = spatial(method=method, passes=5), trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5])
    turned, places = body.forward(found.rotations)
    assert_allclose(places[:, 2] + rotation.rotate(turned[:, 2], [0.0, 0.2, 0.0]), found.path, atol=1e-9)


@pytest.mark.parametrize("steps", [20, 24, 30, 40])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_the_cost_is_the_integral_of_the_squared_rate_of_torque(steps: int, damping: float) -> None:
    """By quadrature of the torques of a motion that is known with all its derivatives: joints about one axis, with
    minimum jerk."""
    body, axis, turn = trees.rods([0.3, 0.3], [2.0, 1.5]), np.array([0.0, 0.0, 1.0]), np.array([0.6, -1.1])
    start, gravity = rotation.exp(np.array([0.2, 0.9])[:, None] * axis), np.array([0.0, -9.81, 0.0])

    def poses(place: Array) -> Array:
        return rotation.multiply(start, rotation.exp(place[:, None, None] * turn[:, None] * axis))

    t = np.linspace(0.0, 1.0, 8001)
    place, speed, rise = smooth_step(t)
    w, dw = (part[:, None, None] * turn[:, None] * axis for part in (speed, rise))
    torques = body.inverse(poses(place), w, dw, gravity) + damping * w
    rates = np.diff(torques, axis=0) / t[1]
    integral = 0.5 * float(np.sum(rates**2)) * t[1]
    arm = Arm(body, start, 1, np.array([0.0, 0.3, 0.0]), gravity, np.full(2, damping), np.ones(2))
    found = effort.cost(arm, poses(smooth_step(np.linspace(0.0, 1.0, steps + 1))[0]), 1.0 / steps)
    assert_allclose(found, integral, rtol=0.005)


def quadrature(found: Reach, body: dynamics.Body, gravity: Array, damping: float) -> float:
    """The cost by MuJoCo's inverse dynamics at the frames, of velocities and accelerations by finite differences."""
    engine, alone, dt = trees.mujoco(), trees.model(body), float(found.times[1])
    alone.opt.gravity = gravity
    data, order = engine.MjData(alone), trees.order(body)
    steps = rotation.log(rotation.multiply(rotation.inverse(found.rotations[:-1]), found.rotations[1:])) / dt
    still = np.zeros((1, *steps.shape[1:]))
    w = np.concatenate((still, 0.5 * (steps[:-1] + steps[1:]), still))
    dw = np.concatenate((still, np.diff(steps, axis=0) / dt, still))
    torques = np.empty((len(w), alone.nv))
    for frame, (pose, spin, rise) in enumerate(zip(found.rotations, w, dw, strict=True)):
        data.qpos.reshape(-1, 4)[order] = pose
        data.qvel.reshape(-1, 3)[order], data.qacc.reshape(-1, 3)[order] = spin, rise
        engine.mj_inverse(alone, data)
        torques[frame] = data.qfrc_inverse + damping * data.qvel
    return 0.5 * float(np.sum(np.diff(torques, axis=0) ** 2)) / dt


@pytest.mark.thorough
@both
@settings(max_examples=5)
@given(st.integers(0, 1000), st.integers(2, 4), st.sampled_from([0.0, 0.3]), st.booleans())
def test_the_cost_is_that_of_the_motion_that_is_returned(
    method: str, seed: int, joints: int, damping: float, passes_a_waypoint: bool
) -> None:
    body, start, goal, hand = arm_in_space(seed, joints, 0.5)
    gravity = np.array([0.0, 0.0, -9.81])
    via = [(0.5, 0.5 * (hand_of(body, start, hand) + goal) * 0.95)] if passes_a_waypoint else []
    given = {"effector": hand, "gravity": gravity, "damping": damping, "method": method, "via": via, "passes": 12}
    found = reach(body, start, goal, 1.0, 1.0 / 960.0, **given)
    assert_allclose(found.cost, quadrature(found, body, gravity, damping), rtol=0.005)
    rates = np.diff(found.torques, axis=0) * 960.0
    assert_allclose(found.cost, 0.5 * np.sum(rates**2) / 960.0, rtol=0.005)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.integers(0, 1000), st.integers(1, 4), st.sampled_from([0.0, 0.3]), st.sampled_from([0.15, 0.5, 1.0]))
def test_the_optimum_costs_no_more_than_smoothing_with_any_arm(
    seed: int, joints: int, damping: float, turn: float
) -> None:
    body, start, goal, hand = arm_in_space(seed, joints, turn)
    given = {"effector": hand, "damping": damping}
    smooth = reach(body, start, goal, 1.0, 1.0 / 24.0, method="smoothing", passes=30, **given)
    found = reach(body, start, goal, 1.0, 1.0 / 24.0, **given)
    assert found.cost <= smooth.cost <= smooth.costs[0]


@pytest.mark.thorough
@both
def test_the_cost_hardly_depends_on_the_frame_rate(method: str) -> None:
    body = trees.rods([0.3, 0.3], [2.0, 1.5])
    costs = [
        reach(body, START, GOAL, 0.6, dt, effector=HAND, method=method, gravity=(0.0, 0.0, 0.0)).cost
        for dt in (1.0 / 30.0, 1.0 / 60.0, 1.0 / 200.0)
    ]
    assert_allclose(costs, costs[1], rtol=0.02)


@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_the_optimum_there_and_back_are_one_another_in_reverse_where_nothing_rubs(gravity: float) -> None:
    there = planar(gravity=(0.0, gravity, 0.0))
    back = planar(there.path[0], there.rotations[-1], gravity=(0.0, gravity, 0.0))
    assert_allclose(back.path[::-1], there.path, atol=1e-3 * np.linalg.norm(there.path[-1] - there.path[0]))
    assert_allclose(there.cost, back.cost, rtol=1e-3)


def speed_peak(found: Reach) -> float:
    """When the hand is fastest."""
    return float(found.times[np.argmax(np.linalg.norm(np.diff(found.path, axis=0), axis=1))])


def test_up_and_down_differ_under_gravity() -> None:
    """From one side to points above and below that mirror each other, the paths are not mirror images."""
    start = rotation.exp([[0.0, 0.0, -0.5 * np.pi - 0.6], [0.0, 0.0, 1.2]])
    gravity = (0.0, -9.81, 0.0)
    level = planar((0.35, 0.3, 0.0), start, gravity=(0.0, 0.0, 0.0))
    up, down = (
        planar((0.35, 0.3, 0.0), start, gravity=gravity),
        planar((0.35, 0.3, 0.0), start, gravity=(0.0, 9.81, 0.0)),
    )
    assert np.abs(up.path - down.path).max() > 0.01
    assert up.cost > level.cost
    assert not np.allclose(up.cost, down.cost, rtol=0.05)


def test_friction_makes_there_and_back_differ() -> None:
    there = planar(damping=1.0)
    back = planar(there.path[0], there.rotations[-1], damping=1.0)
    assert np.abs(back.path[::-1] - there.path).max() > 0.002


@settings(max_examples=5)
@given(st.integers(0, 100))
def test_a_planar_reach_stays_in_its_plane(seed: int) -> None:
    random = np.random.default_rng(seed)
    angle, size = random.uniform(-0.5, 2.0), random.uniform(0.25, 0.55)
    found = planar((size * np.cos(angle), size * np.sin(angle), 0.0))
    assert_allclose(found.path[:, 2], 0.0, atol=1e-9)


@pytest.mark.thorough
@settings(max_examples=8)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3]))
def test_the_cost_decreases_over_the_passes_of_any_arm(seed: int, damping: float) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 5))
    body = trees.rods(random.uniform(0.1, 0.5, n).tolist(), random.uniform(0.2, 3.0, n).tolist())
    start, tip = rotation.exp(random.normal(0.0, 0.6, (n, 3))), np.array([0.0, random.uniform(0.05, 0.4), 0.0])
    turned, places = body.forward(rotation.multiply(start, rotation.exp(random.normal(0.0, 0.5, (n, 3)))))
    goal = places[n - 1] + rotation.rotate(turned[n - 1], tip)
    found = reach(body, start, goal, 1.0, 1.0 / 24.0, effector=(n - 1, tip), damping=damping)
    assert np.all(np.diff(found.costs[1:]) < 0.0)
    assert found.cost == found.costs[-1] or found.cost == found.costs[0]
    assert_allclose(found.path[-1], goal, atol=1e-5)


def test_smoothing_gains_and_the_optimum_is_better_still() -> None:
    smooth, optimal = planar(method="smoothing"), planar()
    assert optimal.cost < smooth.cost < 0.99 * smooth.costs[0]


@pytest.mark.thorough
@settings(max_examples=8)
@given(st.floats(-1.5, 0.5), st.floats(0.4, 2.0), st.floats(-1.0, 1.0), st.floats(-0.3, 0.6))
def test_no_smoothing_beats_the_optimum(shoulder: float, elbow: float, turn: float, bend: float) -> None:
    start = rotation.exp([[0.0, 0.0, shoulder], [0.0, 0.0, elbow]])
    end = rotation.exp([[0.0, 0.0, shoulder + turn], [0.0, 0.0, elbow + bend]])
    turned, places = trees.rods([0.3, 0.3], [2.0, 1.5]).forward(end)
    goal = places[1] + rotation.rotate(turned[1], [0.0, 0.3, 0.0])
    here = trees.rods([0.3, 0.3], [2.0, 1.5]).forward(start)
    begin = here[1][1] + rotation.rotate(here[0][1], [0.0, 0.3, 0.0])
    assume(np.linalg.norm(goal - begin) > 0.02)
    assert planar(goal, start).cost < 1.001 * planar(goal, start, method="smoothing", passes=20).cost


@both
def test_what_is_passed_on_the_way_is_passed_in_time(method: str) -> None:
    found = spatial(method=method, via=[(0.5, (0.2, 0.5, 0.3))], passes=8)
    assert np.linalg.norm(found.path[15] - (0.2, 0.5, 0.3)) < 1e-4
    assert np.linalg.norm(found.path[-1] - (0.3, 0.3, 0.2)) < 1e-4


@both
def test_joints_stay_within_their_limits(method: str) -> None:
    highest = np.full((3, 3), np.inf)
    highest[1, 2] = 1.3
    limits = ik.Limits(maximum=highest)
    free, bound = spatial(method=method, passes=8), spatial(method=method, passes=8, limits=limits)
    assert limits.excess(free.rotations).max() > 0.1
    assert limits.excess(bound.rotations).max() < 1e-3
    assert np.linalg.norm(bound.path[-1] - (0.3, 0.3, 0.2)) < 1e-4


HINGE, FIXED = (True, True, False), (True, True, True)
NO_LINE = {
    "one ball joint": (None, [0.1], [1.3]),
    "one ball joint, stretched out": (None, [0.0], [3.0]),
    "one hinge": (ik.Limits(locks=[HINGE]), [0.1], [1.3]),
    "one hinge, far round": (ik.Limits(locks=[HINGE]), [-1.0], [1.9]),
    "from limit to limit": (ik.Limits(minimum=[(-0.1, -0.1, -2.5)], maximum=[(0.1, 0.1, 2.5)]), [-2.2], [2.2]),
    "the elbow alone": (ik.Limits(locks=[FIXED, HINGE]), [0.2, 0.5], [0.2, 1.8]),
    "the shoulder alone": (ik.Limits(locks=[HINGE, FIXED]), [0.2, 0.5], [1.9, 0.5]),
    "tight limits": (ik.Limits(minimum=np.full((2, 3), -0.3), maximum=np.full((2, 3), 0.3)), [-0.3, 0.3], [0.3, 0.3]),
}
"""Arms whose hand cannot go straight to what they reach: limits, and angles about Z at the start and the end."""


@pytest.mark.thorough
@both
@pytest.mark.parametrize("case", NO_LINE)
def test_where_the_hand_cannot_go_straight_the_joints_do(method: str, case: str) -> None:
    limits, begin, end = NO_LINE[case]
    start, goal_pose = (rotation.exp([[0.0, 0.0, angle] for angle in angles]) for angles in (begin, end))
    count = len(begin)
    body, last = trees.rods([0.3] * count, [2.0, 1.5][:count]), count - 1
    turned, places = body.forward(goal_pose)
    goal = places[last] + rotation.rotate(turned[last], [0.0, 0.3, 0.0])
    effector = (last, (0.0, 0.3, 0.0))
    found = reach(body, start, goal, 0.6, 1.0 / 30.0, effector=effector, method=method, passes=5, limits=limits)
    assert np.linalg.norm(found.path[-1] - goal) < 2e-5
    if limits is not None:
        allowed = limits.clamp(found.rotations, np.broadcast_to(start, found.rotations.shape))
        assert rotation.distance(allowed, found.rotations).max() < 1e-6
    steps = rotation.distance(found.rotations[:-1], found.rotations[1:])
    assert steps.max() < 0.6
    assert found.cost <= found.costs[0]


@both
def test_a_goal_that_a_hinge_passes_by_is_refused(method: str) -> None:
    body, limits = trees.rods([0.3], [2.0]), ik.Limits(locks=[HINGE])
    for goal in ((0.1, 0.2, 0.0), (0.1, 0.2, 0.15)):
        with pytest.raises(InvalidArgument, match=r"misses its goal"):
            reach(body, START[:1], goal, 0.6, 0.05, effector=(0, (0.0, 0.3, 0.0)), method=method, limits=limits)


def test_joints_that_do_not_move_the_hand_are_held() -> None:
    body = trees.rods([0.3, 0.3, 0.2, 0.1], [2.0, 1.5, 0.5, 0.2])
    start = rotation.exp([[0.0, 0.0, -0.4], [0.0, 0.0, 1.2], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0]])
    found = reach(body, start, GOAL, 0.6, 0.02, effector=2, passes=3)
    held = rotation.distance(start[2:], found.rotations[:, 2:])
    assert_allclose(held, 0.0, atol=1e-9)
    assert np.abs(found.torques[:, 3]).max() > 0.0


def test_a_strong_joint_does_more() -> None:
    even, uneven = planar(), planar(strength=[10.0, 1.0])

    def changes(found: Reach, joint: int) -> float:
        return float(np.sum(np.diff(found.torques[:, joint], axis=0) ** 2))

    assert changes(uneven, 1) < changes(even, 1)
    assert changes(uneven, 0) > changes(even, 0)


@both
def test_frame_rates_show_the_same_motion(method: str) -> None:
    body = trees.rods([0.3, 0.3], [2.0, 1.5])
    fine, finer = (
        reach(body, START, GOAL, 1.0, dt, effector=HAND, method=method, passes=10, gravity=(0.0, 0.0, 0.0))
        for dt in (1.0 / 60.0, 1.0 / 240.0)
    )
    assert_allclose(finer.path[::4], fine.path, atol=1e-6)


def test_an_arm_that_is_straight_bends() -> None:
    body = trees.rods([0.3, 0.3], [2.0, 1.5])
    found = reach(body, rotation.identity(2), (0.0, 0.4, 0.0), 0.6, 0.02, effector=HAND, passes=5)
    assert np.linalg.norm(found.path[-1] - (0.0, 0.4, 0.0)) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("bend", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("goal", [(0.0, 0.4, 0.0), (0.4, 0.1, 0.0), (0.0, 0.3, 0.3), (0.0, 0.55, 0.05)])
def test_a_straight_or_almost_straight_elbow_is_left_smoothly(bend: float, goal: tuple[float, ...]) -> None:
    """A hand that goes straight would need an elbow that leaps; the optimum of a nearly straight arm is near that of an
    arm that is bent a little."""
    body = trees.rods([0.3, 0.3], [2.0, 1.5])
    given = {"effector": (1, (0.0, 0.3, 0.0)), "gravity": (0.0, 0.0, -9.81), "damping": 0.3}

    def found(angle: float) -> dynamics.Reach:
        return reach(body, rotation.exp(np.array([[0.0, 0.0, 0.0], [angle, 0.0, 0.0]])), goal, 1.0, 1.0 / 24.0, **given)

    assert found(bend).cost < 2.0 * found(0.1).cost
    assert rotation.angle(found(bend).rotations[-1, 1]) > 0.3


SPINS = np.array([[0.4, 0.2, 1.0], [0.0, 0.3, -1.0], [0.0, 0.0, 0.3]])
"""Velocities of the joints of the arm in space."""


def ends(found: Reach, dt: float) -> tuple[Array, Array]:
    """The velocities of the joints at the start and of the hand at the end, by differences of third order."""
    q = rotation.log(rotation.multiply(rotation.inverse(found.rotations[0]), found.rotations[1:4]))
    last = found.path[-1:-5:-1]
    return (
        (18.0 * q[0] - 9.0 * q[1] + 2.0 * q[2]) / (6.0 * dt),
        (11.0 * last[0] - 18.0 * last[1] + 9.0 * last[2] - 2.0 * last[3]) / (6.0 * dt),
    )


@pytest.mark.parametrize("velocities", [None, SPINS, 3.0 * SPINS])
@pytest.mark.parametrize("goal_velocity", [None, (0.2, -0.1, 0.1)])
def test_velocities_at_both_ends_are_kept(velocities: Array | None, goal_velocity: tuple | None) -> None:
    body, dt = trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5]), 1.0 / 240.0
    given = {"effector": (2, (0.0, 0.2, 0.0)), "velocities": velocities, "goal_velocity": goal_velocity}
    found = reach(body, SPATIAL, (0.3, 0.3, 0.2), 1.0, dt, **given)  # type: ignore[arg-type]
    begin, end = ends(found, dt)
    assert_allclose(begin, np.zeros((3, 3)) if velocities is None else velocities, atol=0.02)
    assert_allclose(end, np.zeros(3) if goal_velocity is None else goal_velocity, atol=2e-3)
    assert_allclose(found.path[-1], (0.3, 0.3, 0.2), atol=1e-6)
    assert found.cost <= found.costs[0]


def test_a_start_at_rest_is_one_without_velocity() -> None:
    moving, still = spatial(velocities=np.zeros((3, 3)), goal_velocity=np.zeros(3)), spatial()
    assert_allclose(moving.rotations, still.rotations, atol=1e-12)


TURNED = rotation.exp([0.3, -0.2, 1.5])
"""An orientation of the hand on arrival."""
NEARER = (0.2, 0.3, 0.2)


@pytest.mark.parametrize("goal_velocity", [None, (0.2, -0.1, 0.1)])
def test_the_hand_takes_an_orientation(goal_velocity: tuple | None) -> None:
    body = trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5])
    for point in ((0.0, 0.2, 0.0), (0.0, 0.0, 0.0)):
        found = spatial(NEARER, effector=(2, point), orientation=TURNED, goal_velocity=goal_velocity)
        turned, places = body.forward(found.rotations)
        assert rotation.distance(turned[-1, 2], TURNED) < 1e-6
        assert_allclose(places[-1, 2] + rotation.rotate(TURNED, point), NEARER, atol=1e-6)
        assert_allclose(found.rotations[0], SPATIAL, atol=1e-9)
        assert found.cost <= found.costs[0]
    with pytest.raises(InvalidArgument, match=r"the effector misses it by"):
        spatial((0.35, 0.35, 0.2), effector=(2, (0.0, 0.2, 0.0)), orientation=TURNED)


@pytest.mark.thorough
@pytest.mark.parametrize("orientation", [None, TURNED])
@pytest.mark.parametrize("approach", [(0.0, 0.0, -0.1), (0.1, 0.0, 0.0)])
def test_the_hand_comes_in_a_straight_line(approach: tuple, orientation: Array | None) -> None:
    goal, way = np.array(NEARER), np.array(approach)
    path = spatial(goal, approach=way, orientation=orientation).path - goal
    along = path @ way / 0.1
    beside = np.linalg.norm(path - along[:, None] * way / 0.1, axis=1)
    first = int(np.flatnonzero(beside > 5e-3)[-1]) + 1
    assert along[first] < -0.05
    last = along[first + int(np.argmin(along[first:])) :]
    assert np.all(np.diff(last) > -5e-4)
    assert np.linalg.norm(path[-1]) < 1e-6


def test_an_orientation_beyond_the_limits_is_refused() -> None:
    lowest, highest = np.full((3, 3), -3.0), np.full((3, 3), 3.0)
    lowest[2], highest[2] = -0.1, 0.4
    with pytest.raises(InvalidArgument, match=r"misses the orientation of its goal by .* degrees"):
        spatial(orientation=TURNED, limits=ik.Limits(minimum=lowest, maximum=highest))


def test_locked_axes_and_limits_stop_a_velocity() -> None:
    limits = ik.Limits(locks=[HINGE, HINGE])
    found = planar(velocities=[[1.0, 1.0, 0.5], [1.0, 0.0, -0.5]], limits=limits)
    assert_allclose(found.rotations[..., 1:3], 0.0, atol=1e-6)
    assert ends(found, 1.0 / 60.0)[0][0, 2] == pytest.approx(0.5, abs=0.1)


def test_a_hand_that_follows_is_on_its_path() -> None:
    body, way = trees.rods([0.3, 0.3, 0.2], [2.0, 1.5, 0.5]), np.linspace(0.0, 1.0, 25)[:, None]
    hand = (2, (0.0, 0.2, 0.0))
    path = np.array([0.3, 0.3, 0.2]) + way * [0.1, -0.1, 0.05]
    start = spatial().rotations[-1]
    found = dynamics.track_path(body, start, path, effector=hand)
    turned, places = body.forward(found)
    assert_allclose(places[:, 2] + rotation.rotate(turned[:, 2], hand[1]), path, atol=1e-5)
    moved = rotation.distance(found[:-1], found[1:])
    assert moved.max() < 0.1
    assert dynamics.track_path(body, start, path[:0], effector=hand).shape == (0, 3, 4)
    away = dynamics.track_path(body, start, path + 5.0, effector=hand)
    assert np.isfinite(away).all()


@pytest.mark.parametrize("path", [0.3, [[0.1, 0.2, 0.3], [0.1, 0.2]], "word", None, [0.1, 0.2, 0.3]])
def test_a_path_that_is_none_is_refused_with_orientations_too(path: object) -> None:
    start, body = spatial().rotations[-1], trees.rods([0.3] * 3, [2.0] * 3)
    with pytest.raises(InvalidArgument, match="path"):
        dynamics.track_path(body, start, path, effector=2, orientations=rotation.identity(2))  # type: ignore[arg-type]


def test_work_can_be_stopped_and_keeps_its_best() -> None:
    work = dynamics.reaching(trees.rods([0.3, 0.3], [2.0, 1.5]), START, GOAL, 0.6, 0.02, effector=HAND)
    fractions = [next(work), next(work)]
    with pytest.raises(StopIteration) as end:
        work.send(True)
    found = end.value.value
    assert fractions == sorted(fractions)
    assert len(found.costs) == 3
    assert found.cost == found.costs.min()


def test_a_minimum_jerk_path_is_the_polynomial_of_the_textbook() -> None:
    t = np.linspace(0.0, 2.0, 21)
    path = minimum_jerk(np.array([0.0, 2.0]), np.array([[0.0, 1.0, 2.0], [4.0, 1.0, 0.0]]), t)
    s = t / 2.0
    assert_allclose(path[:, 0], 4.0 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5), atol=1e-9)
    assert_allclose(path[:, 1], 1.0, atol=1e-9)


def test_a_point_of_the_path_that_is_passed_anyway_changes_nothing() -> None:
    t, ends = np.linspace(0.0, 1.0, 50), np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    free = minimum_jerk(np.array([0.0, 1.0]), ends, t)
    middle = minimum_jerk(np.array([0.0, 1.0]), ends, np.array([0.3]))
    bound = minimum_jerk(np.array([0.0, 0.3, 1.0]), np.stack([ends[0], middle[0], ends[1]]), t)
    assert_allclose(bound, free, atol=1e-9)


HERE = (trees.rods([0.3, 0.3], [2.0, 1.5]).forward(START)[1][1] + 0.0).tolist()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"goal": (3.0, 0.0, 0.0)}, "out of reach by 2.4 m"),
        ({"goal": (np.nan, 0.0, 0.0)}, "finite"),
        ({"goal": (1.0, 0.0)}, "goal"),
        ({"goal": HERE, "effector": 1}, "already at its goal"),
        ({"duration": 0.0}, "duration"),
        ({"duration": -1.0}, "duration"),
        ({"dt": np.inf}, "between frames"),
        ({"effector": 0}, "No joint moves the effector"),
        ({"effector": 7}, "no joint 7"),
        ({"effector": (1, (0.0, np.nan, 0.0))}, "finite"),
        ({"method": "best"}, "unknown"),
        ({"passes": -1}, "passes"),
        ({"passes": 1.5}, "passes"),
        ({"start": rotation.identity(3)}, "shape of the start"),
        ({"start": np.zeros((2, 4))}, "unit quaternions"),
        ({"damping": -1.0}, "damping"),
        ({"velocities": np.zeros((1, 3))}, "shape of the velocities"),
        ({"velocities": np.zeros((2, 3)), "method": "smoothing"}, "has no velocities"),
        ({"orientation": (1.0, 0.0, 0.0)}, "orientation"),
        ({"orientation": np.zeros(4)}, "unit quaternions"),
        ({"approach": np.zeros(3)}, "no length"),
        ({"goal_velocity": (np.inf, 0.0, 0.0)}, "velocity of the goal"),
        ({"strength": [1.0, 0.0]}, "strength of joint 1"),
        ({"via": [(2.0, (0.3, 0.3, 0.0))]}, "must be between"),
        ({"via": [(0.5, (0.3, 0.3, 0.0)), (0.2, (0.3, 0.3, 0.0))]}, "in order of time"),
        ({"via": [(0.5, (9.0, 0.3, 0.0))]}, "out of reach"),
        ({"limits": ik.Limits(maximum=np.full((2, 3), 0.1), minimum=np.full((2, 3), -0.1))}, "limits"),
    ],
)
def test_what_cannot_be_reached_is_refused(wrong: dict, says: str) -> None:
    given = {"goal": GOAL, "start": START, "duration": 1.0, "dt": 0.05, "effector": HAND, **wrong}
    body, start, goal = trees.rods([0.3, 0.3], [2.0, 1.5]), given.pop("start"), given.pop("goal")
    with pytest.raises(InvalidArgument, match=says):
        reach(body, start, goal, given.pop("duration"), given.pop("dt"), **given)


def test_capsules_make_a_body_that_reaches() -> None:
    parts = mass.scaled_to(mass.capsule([0.3, 0.25, 0.1], [0.05, 0.04, 0.03]), 4.0)
    body = dynamics.Body([-1, 0, 1], [[0.0, 0.0, 1.4], [0.0, 0.3, 0.0], [0.0, 0.25, 0.0]], *parts)
    found = reach(body, SPATIAL, (0.2, 0.3, 1.5), 1.0, 0.05, effector=2, passes=5)
    assert np.linalg.norm(found.path[-1] - (0.2, 0.3, 1.5)) < 1e-4
