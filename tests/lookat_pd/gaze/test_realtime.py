"""One step at a time, the controller is the one that `gaze.solve` runs over all frames."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparison import largest_angle
from lookat_pd import gaze, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.gaze.realtime import RealtimeLookAt, forward_kinematics, offsets_between, unturned
from lookat_pd.gaze.solver import BEHIND_MARGIN, Chain, Event, Tuning
from lookat_pd.rotation import Array

RATE = 120
BONES = 5


def chain(bones: int = BONES, **changes) -> Chain:
    values = {
        "shares": np.linspace(0.4, 0.1, bones),
        "settle_factors": np.linspace(1.0, 2.2, bones),
        "yaw_limits": np.full(bones, np.radians(160.0 / bones)),
        "pitch_up_limits": np.full(bones, np.radians(100.0 / bones)),
        "pitch_down_limits": np.full(bones, np.radians(100.0 / bones)),
        "compensates_lag": np.arange(bones) < 2,
        "forward": np.tile([0.0, -1.0, 0.0], (bones, 1)),
        "up": np.tile([0.0, 0.0, 1.0], (bones, 1)),
        "near": 0.1,
    }
    return Chain(**(values | changes))


def body(times: Array, bones: int = BONES) -> tuple[Array, Array]:
    """A spine that sways, orientations (F, b, 4) and positions (F, b, 3)."""
    phase = np.arange(bones)
    sway = 0.1 * np.sin(1.3 * times[:, None, None] + phase[:, None] + np.array([0.0, 1.0, 2.0]))
    positions = np.zeros((len(times), bones, 3))
    positions[..., 2] = 1.6 - 0.6 * phase / bones
    positions[..., 0] = 0.02 * np.sin(times)[:, None]
    return rotation.exp(sway), positions


def at(yaw: Array, pitch: Array | float = 0.0) -> Array:
    """Points (F, 3) at yaw to the left and pitch up [rad] of a head that faces -Y."""
    yaw, pitch = np.broadcast_arrays(np.asarray(yaw, float), np.asarray(pitch, float))
    way = np.stack((np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), np.sin(pitch)), axis=-1)
    return 3.0 * way + (0.0, 0.0, 1.6)


def play(
    stepper: RealtimeLookAt, pose: tuple[Array, Array], targets: Array, dt: float, on: Array | None = None
) -> Array:
    """Offsets (F, b, 4), the first sample at once."""
    found = []
    for k, target in enumerate(targets):
        goal = target if on is None or on[k] else None
        found.append(stepper.step(pose[0][k], pose[1][k], goal, dt if k else 0.0))
    return np.array(found)


TUNINGS = {
    "critical": Tuning(),
    "responsive": Tuning(damping_ratio=2.0**-0.5),
    "component": Tuning(method="component"),
    "ahead": Tuning(feed_forward=0.6),
    "limited speed": Tuning(max_speed=np.radians(80.0)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_steps_are_the_solve(tuning) -> None:
    times = np.arange(1.5 * RATE) / RATE
    pose, targets = body(times), at(1.2 * np.sin(1.5 * times + 0.4), 0.4 * np.sin(2.0 * times))
    solved = gaze.solve(chain(), tuning, *pose, targets[None], 1 / RATE, [Event(0.0, 0)])
    stepped = play(RealtimeLookAt(chain(), tuning), pose, targets, 1 / RATE)
    # Between samples the solve runs on a curve and the steps run on straight lines.
    assert largest_angle(stepped, solved.offsets) < (2e-3 if tuning.feed_forward else 1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["critical", "responsive", "component", "limited speed"])
def test_how_time_is_cut_does_not_matter(name) -> None:
    coarse = np.arange(0, RATE + 1, 4) / RATE
    pose, targets = body(coarse), at(np.sin(1.5 * coarse))
    whole = play(RealtimeLookAt(chain(), TUNINGS[name]), pose, targets, 4 / RATE)
    stepper, halves = RealtimeLookAt(chain(), TUNINGS[name]), []
    for k in range(len(coarse)):
        if k:
            turn = rotation.slerp(pose[0][k - 1], pose[0][k], 0.5)
            middle = turn, 0.5 * (pose[1][k - 1] + pose[1][k]), 0.5 * (targets[k - 1] + targets[k])
            stepper.step(*middle, 2 / RATE)
        halves.append(stepper.step(pose[0][k], pose[1][k], targets[k], 2 / RATE if k else 0.0))
    assert largest_angle(whole, np.array(halves)) < 1e-4


@pytest.mark.parametrize("dt", [0.0, 5e-324, 1e-300, 1e-12])
def test_in_no_time_nothing_moves(dt) -> None:
    times = np.arange(10) / RATE
    pose, targets = body(times), at(np.sin(4.0 * times))
    stepper = RealtimeLookAt(chain(), Tuning())
    before = play(stepper, pose, targets, 1 / RATE)[-1]
    for target in (targets[-1], targets[0]):
        now = stepper.step(pose[0][-1], pose[1][-1], target, dt)
        assert largest_angle(now, before) < 1e-9


def test_switching_off_is_the_solve_and_ends_at_exactly_nothing() -> None:
    times = np.arange(5 * RATE) / RATE
    pose, targets = body(times), at(np.full(len(times), 0.8))
    solved = gaze.solve(chain(), Tuning(), *pose, targets[None], 1 / RATE, [Event(0.0, 0), Event(1.0, None)])
    stepped = play(RealtimeLookAt(chain(), Tuning()), pose, targets, 1 / RATE, on=times <= 1.0)
    assert largest_angle(stepped, solved.offsets) < 1e-3
    assert np.all(stepped[-1] == rotation.IDENTITY)
    still = np.flatnonzero(np.all(stepped[RATE + 1 :] == rotation.IDENTITY, axis=(1, 2)))
    assert np.all(stepped[RATE + 1 + still[0] :] == rotation.IDENTITY)


@pytest.mark.thorough
def test_switched_on_again_in_the_middle_of_the_fade_nothing_leaps() -> None:
    times = np.arange(6 * RATE) / RATE
    pose, targets = body(times), at(np.full(len(times), 0.9))
    alone = play(RealtimeLookAt(chain(), Tuning()), pose, targets, 1 / RATE, on=times < 1.0)
    last = int(np.flatnonzero(np.any(alone != rotation.IDENTITY, axis=(1, 2)))[-1]) - 8
    again = (times < 1.0) | (np.arange(len(times)) > last)
    stepped = play(RealtimeLookAt(chain(), Tuning()), pose, targets, 1 / RATE, on=again)
    turns = rotation.log(rotation.multiply(rotation.inverse(stepped[:-1]), stepped[1:]))
    # It speeds up as it does from rest, and no more.
    sudden = np.linalg.norm(np.diff(turns, axis=0), axis=-1).max(axis=-1)
    assert sudden[last - 2 : last + 20].max() < 1.1 * sudden[:20].max()
    assert not np.all(stepped[-1] == rotation.IDENTITY)


def yaw_of_all(offsets: Array) -> Array:
    """How far all bones together turn to the left [rad]."""
    return rotation.log(offsets)[..., 2].sum(axis=-1)


@pytest.mark.thorough
def test_a_target_that_passes_behind_is_held_on_its_side_and_then_met_on_the_other() -> None:
    rate = RATE // 2
    times = np.arange(8 * rate) / rate
    pose = rotation.identity(len(times), BONES), np.tile(body(times[:1])[1], (len(times), 1, 1))
    past = np.pi + np.linspace(-np.pi / 2, 0.8 * BEHIND_MARGIN, len(times))
    held = yaw_of_all(play(RealtimeLookAt(chain(), Tuning()), pose, at(past), 1 / rate))
    assert held[rate:].min() > np.radians(70.0)
    beyond = np.minimum(np.pi + np.linspace(-np.pi / 2, 4.0 * BEHIND_MARGIN, len(times)), np.pi + 2.0 * BEHIND_MARGIN)
    stepped = play(RealtimeLookAt(chain(), Tuning()), pose, at(beyond), 1 / rate)
    assert yaw_of_all(stepped)[-1] < np.radians(-100.0)
    solved = gaze.solve(chain(), Tuning(), *pose, at(beyond)[None], 1 / rate, [Event(0.0, 0)])
    assert largest_angle(stepped, solved.offsets) < 1e-3


@pytest.mark.thorough
def test_limits_and_speed_are_kept_whatever_the_target_does() -> None:
    random, speed = np.random.default_rng(3), np.radians(120.0)
    limits, stepper = chain(), RealtimeLookAt(chain(), Tuning(settle_time=0.2, damping_ratio=0.6, max_speed=speed))
    pose = body(np.zeros(1))
    before = stepper.offsets
    for _ in range(300):
        dt = random.uniform(0.002, 0.1)
        now = stepper.step(pose[0][0], pose[1][0], random.uniform(-3.0, 3.0, 3), dt)
        turn = rotation.distance(before, now)
        assert np.all(turn <= speed * dt * 1.02 + 1e-6)
        assert np.all(np.abs(rotation.log(now)[:, 2]) <= limits.yaw_limits + 0.1)
        before = now


@pytest.mark.thorough
def test_settled_the_head_aims_at_the_target() -> None:
    pose, target = body(np.zeros(1)), at(np.array([0.7]), 0.3)[0]
    stepper = RealtimeLookAt(chain(), Tuning())
    for _ in range(400):
        offsets = stepper.step(pose[0][0], pose[1][0], target, 1 / 60)
    turned, head = forward_kinematics(pose[0][0], pose[1][0], offsets)
    aim = rotation.rotate(turned[0], chain().forward[0])
    assert rotation.angle_between(aim, target - head) < np.radians(0.01)


@pytest.mark.parametrize("damping", [1.0, 0.7])
def test_begins_at_given_offsets(damping) -> None:
    angles = np.radians([[0.0, 0.0, 31.0], [5.0, 0.0, 10.0], [-3.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, -4.0]])
    stepper = RealtimeLookAt(chain(), Tuning(damping_ratio=damping))
    stepper.start(rotation.exp(angles))
    assert largest_angle(stepper.offsets, rotation.exp(angles)) < np.radians(0.2)


def test_settings_change_on_the_way_without_a_leap() -> None:
    pose, target = body(np.zeros(1)), at(np.array([1.0]))[0]
    stepper = RealtimeLookAt(chain(), Tuning())
    for _ in range(20):
        before = stepper.step(pose[0][0], pose[1][0], target, 1 / 60)
    for tuning in (Tuning(settle_time=2.0), Tuning(method="component"), Tuning(damping_ratio=0.5)):
        stepper.retune(chain(), tuning)
        assert largest_angle(stepper.offsets, before) < 1e-3
        assert largest_angle(stepper.step(pose[0][0], pose[1][0], target, 1 / 60), before) < np.radians(4.0)
        before = stepper.offsets
    with pytest.raises(InvalidArgument, match="4 bones instead of 5"):
        stepper.retune(chain(4), Tuning())


def test_offsets_are_read_from_a_turned_chain() -> None:
    pose = body(np.zeros(1))
    offsets = rotation.exp(np.random.default_rng(1).uniform(-0.4, 0.4, (BONES, 3)))
    turned, _ = forward_kinematics(pose[0][0], pose[1][0], offsets)
    assert_allclose(offsets_between(pose[0][0], turned), offsets, atol=1e-12)


def test_a_turned_chain_is_turned_back() -> None:
    rotations, positions = (a[0] for a in body(np.zeros(1)))
    offsets = rotation.exp(np.random.default_rng(2).uniform(-0.4, 0.4, (BONES, 3)))
    chains = [forward_kinematics(rotations[n:], positions[n:], offsets[n:]) for n in range(BONES)]
    turned, places = chains[0][0], np.array([head for _, head in chains])
    back, at_rest = unturned(turned, places, offsets)
    assert largest_angle(back, rotations) < 1e-9
    assert_allclose(at_rest, positions, atol=1e-12)


@pytest.mark.parametrize(
    ("rotations", "positions", "target", "dt"),
    [
        (rotation.identity(4), np.zeros((5, 3)), np.ones(3), 0.1),
        (rotation.identity(5), np.zeros((5, 2)), np.ones(3), 0.1),
        (rotation.identity(5), np.zeros((5, 3)), np.ones(2), 0.1),
        (rotation.identity(5), np.zeros((5, 3)), np.array([1.0, np.nan, 0.0]), 0.1),
        (rotation.identity(5), np.full((5, 3), np.inf), np.ones(3), 0.1),
        (rotation.identity(5), np.zeros((5, 3)), np.ones(3), -0.1),
        (rotation.identity(5), np.zeros((5, 3)), np.ones(3), np.nan),
    ],
)
def test_what_does_not_fit_is_refused(rotations, positions, target, dt) -> None:
    with pytest.raises(InvalidArgument):
        RealtimeLookAt(chain(), Tuning()).step(rotations, positions, target, dt)


def test_a_step_is_quick() -> None:
    stepper, pose = RealtimeLookAt(chain(10), Tuning()), body(np.zeros(1), 10)
    taken = []
    for k in range(200):
        begin = time.perf_counter()
        stepper.step(pose[0][0], pose[1][0], at(np.array([0.004 * k]))[0], 1 / 60)
        taken.append(time.perf_counter() - begin)
    assert min(taken) < 0.5 * (1 / 60)


@pytest.mark.thorough
@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("moving", [False, True])
def test_what_stands_in_the_world_or_rides_along_is_held_while_the_space_moves(moving, rides) -> None:
    """On a carriage that turns and runs neither a still target nor a passenger is lagged behind."""
    seconds, rate = 2.0, 60
    stepper, still = RealtimeLookAt(chain(stabilize=1.0), Tuning()), []
    for k in range(int(seconds * rate) + 1):
        t = k / rate if moving else 0.0
        world = np.eye(4)
        world[:3, :3] = rotation.to_matrix(rotation.exp(np.array([0.0, 0.0, 0.5 * np.sin(2.0 * t)])))
        world[:3, 3] = (0.8 * t, 0.1 * t, 0.0)
        rotations, positions = (part[0] for part in body(np.zeros(1)))
        local = positions[0] + np.array([0.3, -3.0, 0.1])
        if not rides:
            local = (np.linalg.inv(world) @ (*local, 1.0))[:3]
        offsets = stepper.step(rotations, positions, local, 1.0 / rate, world=world)
        turned, place = forward_kinematics(rotations, positions, offsets)
        still.append(stepper.chain.aim_error(turned[0], place, local))
    assert np.degrees(max(still[rate:])) < 0.6


@pytest.mark.thorough
@pytest.mark.parametrize("turns", [0.0, 0.4])
def test_who_runs_along_is_held_though_only_bones_travel(turns) -> None:
    """Within a space that stands, once they have run for a while: as a root bone travels, and a partner with it; both
    may run a bend. A moving target is 3 to 6 degrees ahead there."""
    rate, missed = 60, []
    stepper = RealtimeLookAt(chain(stabilize=1.0), Tuning())
    for k in range(3 * rate + 1):
        t = k / rate
        turn = rotation.exp(np.array([0.0, 0.0, turns * t]))
        rotations, positions = (part[0] for part in body(np.zeros(1)))
        place = np.array([1.2 * t, -0.3 * t, 0.0])
        rotations = rotation.multiply(turn, rotations)
        positions, target = (rotation.rotate(turn, at) + place for at in (positions, np.array([1.5, -2.5, 1.7])))
        turned, head = forward_kinematics(rotations, positions, stepper.step(rotations, positions, target, 1.0 / rate))
        missed.append(stepper.chain.aim_error(turned[0], head, target))
    assert np.degrees(max(missed[2 * rate :])) < 0.2


@pytest.mark.thorough
def test_what_moves_of_its_own_is_followed_by_who_sways() -> None:
    """As without anything that carries it: nobody sways along with a bird."""
    times = np.arange(3 * RATE) / RATE
    pose, targets = body(4.0 * times), at(0.5 * np.sin(1.1 * times), 0.2 * np.sin(1.7 * times))
    solved = gaze.solve(chain(stabilize=1.0), Tuning(), *pose, targets[None], 1 / RATE, [Event(0.0, 0)])
    stepped = play(RealtimeLookAt(chain(stabilize=1.0), Tuning()), pose, targets, 1 / RATE)
    assert largest_angle(stepped, solved.offsets) < np.radians(1.0)
