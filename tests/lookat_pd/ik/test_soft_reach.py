"""Soft reach: limbs become straight, and bend again, without a snap, on any path out of reach and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookat_pd import ik, rotation
from lookat_pd.errors import InvalidArgument
from lookat_pd.ik import soft_reach
from lookat_pd.rotation import Array

SMALLEST = "ccd_root", "jacobian_quaternion", "nearest_pose"
"""Methods that turn no joint more than they have to."""
SOFT = soft_reach.SOFTNESS
FPS = 24, 60
softnesses = st.floats(0.005, 0.2)


def reached(far: Array, own: float | None = None, softness: float = SOFT, length: float = 1.0) -> Array:
    """How far (m,) goals at distances (m,) are solved for, of a limb whose end is animated at a distance `own`."""
    aside = np.array([0.6, 0.0, 0.8])
    initial = None if own is None else own * aside
    goals = ik.soft_goal(far[:, None] * aside, np.zeros(3), length, softness=softness, initial=initial)
    assert_allclose(np.cross(goals, aside), 0.0, atol=1e-12)
    return goals @ aside


@given(softnesses, st.floats(0.1, 30.0))
def test_the_distance_is_the_closed_form_and_never_the_whole_length(softness: float, length: float) -> None:
    far = length * np.linspace(0.1, 1.3, 400)
    start = length * (1.0 - softness)
    zone = length - start
    wanted = np.where(far > start, length - zone * np.exp(-np.maximum(far - start, 0.0) / zone), far)
    soft = reached(far, None, softness, length)
    assert_allclose(soft, wanted, rtol=1e-12)
    assert np.all(np.diff(soft) >= -1e-14 * length)
    assert np.all((soft < length) | (far > length + 10.0 * zone))
    # Of what is in reach, the same part of the soft part is missing for all limbs.
    assert np.max((far - soft)[far <= length]) <= zone / np.e + 1e-12


def test_no_softness_and_nearer_goals_are_the_target_to_the_bit() -> None:
    goals = np.random.default_rng(1).normal(size=(50, 3))
    far = np.linalg.norm(goals, axis=-1)
    assert_array_equal(ik.soft_goal(goals, np.zeros(3), 1.0, softness=0.0), goals)
    assert_array_equal(ik.soft_goal(goals, np.zeros(3), 1.0, softness=0.0, initial=goals[::-1]), goals)
    near = far <= 1.0 - SOFT
    assert near.any() and not near.all()
    soft = ik.soft_goal(goals, np.zeros(3), 1.0, initial=[0.9, 0.0, 0.0])
    assert_array_equal(soft[near], goals[near])
    assert np.all(soft[~near] != goals[~near])


@given(st.floats(0.7, 1.0), softnesses)
def test_a_goal_that_has_not_moved_stays(own: float, softness: float) -> None:
    """However straight the animation has the limb."""
    place = own * np.array([0.6, 0.0, 0.8])
    assert_array_equal(ik.soft_goal(place, np.zeros(3), 1.0, softness=softness, initial=place), place)
    near = reached(own + np.array([-1e-7, 1e-7]), own, softness)
    assert_allclose(near, own, atol=1e-6)


@given(st.floats(0.5, 1.1), softnesses)
def test_what_was_solved_once_stays(far: float, softness: float) -> None:
    """From the pose that a goal led to, the same goal leads there again: nothing drifts to straight."""
    aside = np.array([0.6, 0.0, 0.8])
    once = ik.soft_goal(far * aside, np.zeros(3), 1.0, softness=softness, initial=[0.3, 0.0, 0.2])
    again = ik.soft_goal(far * aside, np.zeros(3), 1.0, softness=softness, initial=once)
    assert_allclose(again, once, atol=1e-12)


@given(st.floats(0.6, 1.0), softnesses)
def test_the_goal_is_continuous_around_the_animated_place(own: float, softness: float) -> None:
    """Elbows of any animation turn with a finite speed, whichever way the goal goes."""
    far = np.linspace(0.55, 1.2, 4001)
    bend = 2.0 * np.arccos(np.clip(reached(far, own, softness), 0.0, 1.0))
    # At most twice as fast as where the soft part begins.
    begin = 2.0 / np.sqrt(1.0 - (1.0 - softness) ** 2)
    assert np.max(np.abs(np.diff(bend))) <= 2.0 * begin * (far[1] - far[0])


@pytest.mark.parametrize("wrong", [-0.01, 0.6, np.nan])
def test_other_softnesses_are_refused(wrong: float) -> None:
    with pytest.raises(InvalidArgument, match=r"softness"):
        ik.soft_goal(np.ones(3), np.zeros(3), 1.0, softness=wrong)


class Limb:
    """A limb of some kind, with a path of its goal that leaves its reach, stays out of it, and comes back."""

    def __init__(self, kind: str, seed: int, fps: int) -> None:
        random = np.random.default_rng(seed)
        joints = 3 if kind == "three bones" else 2
        lengths, self.limits = random.uniform(0.7, 1.3, size=joints), None
        along = [1.0, 0.0, 0.0] if kind == "along X" else [0.0, 1.0, 0.0]
        axis = [0.0, 0.0, 1.0] if kind == "along X" else [1.0, 0.0, 0.0]
        scale = random.choice([0.01, 100.0]) if kind == "scaled" else 1.0
        self.offsets = scale * lengths[:, None] * np.array(along)
        hinges = np.zeros((joints, 3))
        hinges[1] = axis
        low = np.where(np.any(hinges, axis=-1), 0.0, -np.pi)
        self.posture = ik.Posture([0.0, 0.0, 0.8][:joints], hinges, low, np.full(joints, 2.6))
        if kind == "hinge limits":
            most = np.full((joints, 3), np.inf)
            locks = np.zeros((joints, 3), dtype=bool)
            most[1, 0], locks[1, 1:] = 2.6, True
            self.limits = ik.Limits(locks=locks, minimum=np.where(np.isinf(most), -np.inf, 0.0), maximum=most)
        bend = random.uniform(0.4, 1.2)
        rests = np.zeros((joints, 3))
        rests[0], rests[1] = 0.3 * random.normal(size=3), bend * np.array(axis)
        self.start = rotation.exp(rests)
        self.length = float(np.linalg.norm(self.offsets, axis=-1).sum())
        t = np.linspace(0.0, 1.0, 2 * fps + 1)
        first = rotation.normalize(self.end(self.start[None])[0])
        side = rotation.normalize(np.cross(first, random.normal(size=3)))
        line = rotation.rotate(rotation.exp(0.5 * np.sin(np.pi * t)[:, None] * side), first)
        far = random.uniform(0.7, 0.85) + random.uniform(0.3, 0.6) * np.sin(np.pi * t) ** 2
        self.target = self.length * far[:, None] * line

    def end(self, pose: Array) -> Array:
        """The end (m, 3) of poses (m, n, 4)."""
        turn, place = rotation.identity(len(pose)), np.zeros((len(pose), 3))
        for n, offset in enumerate(self.offsets):
            turn = rotation.multiply(turn, pose[:, n])
            place = place + rotation.rotate(turn, offset)
        return place

    def solved(self, method: str, softness: float) -> Array:
        """Poses (m, n, 4) for the path."""
        goals = ik.soft_goal(
            self.target, np.zeros(3), self.length, softness=softness, initial=self.end(self.start[None])[0]
        )
        return ik.solve(
            self.offsets,
            self.start,
            goals,
            method=method,
            tolerance=1e-5 * self.length,
            posture=self.posture,
            limits=self.limits,
        ).rotations

    @property
    def needed(self) -> float:
        """The largest rotation of a joint from frame to frame that the path needs: that of its direction, and the bend
        at a constant share of its speed up to where the soft part begins."""
        line = rotation.normalize(self.target)
        turned = rotation.angle_between(line[1:], line[:-1])
        far = np.linalg.norm(self.target, axis=-1) / self.length
        away = np.abs(np.diff(far))
        parts = np.linalg.norm(self.offsets, axis=-1)
        upper, lower = parts[0] / self.length, parts[1:].sum() / self.length
        at = 1.0 - SOFT
        # By the law of cosines: d sin(bend) · d(bend) = far · d(far).
        cosine = (at**2 - upper**2 - lower**2) / (2.0 * upper * lower)
        fastest = at / (upper * lower * np.sqrt(1.0 - cosine**2))
        return float(np.max(turned + fastest * away))


def largest(poses: Array) -> float:
    """The largest rotation [rad] of a joint from one pose to the next."""
    return float(rotation.distance(poses[1:], poses[:-1]).max())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["two bones", "three bones", "hinge limits", "along X", "scaled"])
def test_no_joint_turns_much_faster_than_the_path_needs(kind: str, subtests: pytest.Subtests) -> None:
    for seed in range(3):
        for fps in FPS:
            limb = Limb(kind, seed, fps)
            for method in SMALLEST:
                with subtests.test(seed=seed, fps=fps, method=method):
                    assert largest(limb.solved(method, SOFT)) <= 1.5 * limb.needed


@pytest.mark.parametrize("method", sorted(ik.METHODS))
def test_the_elbow_of_every_method_bends_no_faster_than_the_path_needs(method: str) -> None:
    for seed, fps in enumerate(FPS):
        limb = Limb("two bones", seed, fps)
        ends = np.linalg.norm(limb.end(limb.solved(method, SOFT)), axis=-1)
        upper, lower = np.linalg.norm(limb.offsets, axis=-1)
        bend = np.arccos(np.clip((upper**2 + lower**2 - ends**2) / (2.0 * upper * lower), -1.0, 1.0))
        assert np.max(np.abs(np.diff(bend))) <= limb.needed


def test_without_softness_elbows_snap() -> None:
    """The published form stays: it needs more the finer the steps are."""
    for fps, least in ((240, 1.5), (2400, 4.0)):
        limb = Limb("two bones", 0, fps)
        assert largest(limb.solved("nearest_pose", 0.0)) > least * limb.needed


def test_an_almost_straight_arm_comes_to_rest_in_few_iterations_and_does_not_turn_by_leaps() -> None:
    """Whose elbow is bent a little to the side as well: the damping of the singular pose held it from its target."""
    random, count = np.random.default_rng(3), 200
    elbow = np.stack((random.uniform(0.1, 1.2, count), *random.normal(scale=0.05, size=(2, count))), axis=-1)
    start = rotation.exp(np.stack((random.normal(scale=0.3, size=(count, 3)), elbow), axis=1))
    posture = ik.Posture([0.0, 0.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [0.0, 0.0], [2.6, 2.6])
    offsets = np.array([[0.0, 1.0, 0.0], [0.0, 0.9, 0.0]])
    line = rotation.normalize(random.normal(size=(count, 3)) + np.array([0.0, 2.0, 0.0]))
    for slack in (3e-4, 1e-4):
        first, second = (
            ik.solve(offsets, start, 1.9 * (1.0 - slack) * goal, method="nearest_pose", tolerance=2e-6, posture=posture)
            for goal in (line, rotation.normalize(line + np.array([1e-4, 0.0, 0.0])))
        )
        assert np.median(first.iterations) <= 8
        assert np.max(rotation.distance(first.rotations, second.rotations)) < 5e-3


def test_which_of_two_hinges_bends_does_not_depend_on_the_other_poses_of_a_batch() -> None:
    random, count = np.random.default_rng(1), 24
    turns = random.normal(scale=0.3, size=(count, 3, 3))
    turns[:, 1:] = random.uniform(0.1, 2.5, size=(count, 2, 1)) * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    hinges = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    posture = ik.Posture(np.zeros(3), hinges, np.zeros(3), np.full(3, 2.6))
    offsets, start = np.array([[0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 1.2, 0.0]]), rotation.exp(turns)
    target = rotation.normalize(random.normal(size=(count, 3))) * random.uniform(1.0, 2.7, size=(count, 1))
    together = ik.solve(offsets, start, target, method="nearest_pose", posture=posture).rotations
    for k in range(count):
        alone = ik.solve(offsets, start[k], target[k], method="nearest_pose", posture=posture).rotations
        assert rotation.distance(alone, together[k]).max() < 1e-9
