"""Continuous rotations: limbs that follow smooth paths without snaps, and averages over time."""

import tracemalloc

import numpy as np
import pytest
from attack import attack
from hypothesis import given, strategies

from extension import load

chain_solve = load("rig.ik.chain_solve")
continuation = load("rig.ik.continuation")
ik = load("lookat_pd.ik")
joint_chain = load("rig.detection.joint_chain")
pose = load("rig.ik.pose")
rotation = load("lookat_pd.rotation")


@pytest.mark.parametrize("width", [0.3, 4.0, 60.0, 500.0])
def test_averaged_is_the_weighted_mean_with_the_ends_going_on(width) -> None:
    turns = np.random.default_rng(1).normal(size=(40, 2, 4))
    half = int(np.ceil(1.5 * width))
    offsets = np.arange(-half, half + 1)
    weights = np.exp(-0.5 * (offsets / (0.5 * width)) ** 2)
    rows = np.clip(np.arange(40)[:, None] + offsets, 0, 39)
    wanted = np.einsum("k,fkbc->fbc", weights / weights.sum(), turns[rows])
    np.testing.assert_allclose(continuation.averaged(turns, width), wanted, atol=1e-12)


def test_the_widest_smoothing_needs_little_room() -> None:
    """It once took 23.8 GB."""
    turns = np.random.default_rng(2).normal(size=(250, 3, 4))
    tracemalloc.start()
    try:
        found = continuation.averaged(turns, 2.4e7)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert np.ptp(found, axis=0).max() < 0.05


# Limbs of any shape


FRAMES = 72
KINDS = ("arm to the wrist", "arm to the tip", "leg to the tip", "tail")


class Limb:
    """An animated limb at random, and a smooth path in its reach."""

    def __init__(self, kind: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.kind, self.t = kind, 2.0 * np.pi * np.arange(FRAMES) / FRAMES
        n = {"arm to the wrist": 2, "tail": int(random.integers(3, 7))}.get(kind, 3)
        lengths = random.uniform(0.9, 1.1, size=n) if kind == "tail" else random.uniform(0.5, 1.5, size=n)
        if n == 3 and kind != "tail":
            lengths[2] = random.uniform(0.15, 0.5)
        hinges = np.zeros((n, 3))
        if kind != "tail":
            hinges[1, 0] = 1.0
        stiffness = [0.0, 0.0, 0.6 if kind == "leg to the tip" else 0.8][:n] if kind != "tail" else np.zeros(n)
        self.most = np.radians(150.0)
        self.posture = ik.Posture(stiffness, hinges, np.where(hinges[:, 0] > 0.0, 0.0, -np.pi), [self.most] * n)
        self.local = self._animated(random, hinges)
        self.seen = self._seen(np.array([0.0, 1.0, 0.0]) * lengths[:, None], random)
        self.path = self._path(random)

    def _animated(self, random: np.random.Generator, hinges: np.ndarray) -> np.ndarray:
        sway = random.choice([0.0, 0.15])
        vectors = sway * np.sin(self.t[:, None, None] + random.uniform(0.0, 6.0, size=(1, *hinges.shape)))
        vectors = np.where(hinges.any(axis=-1)[:, None], vectors * [1.0, 0.0, 0.0], vectors)
        rests = np.zeros(hinges.shape)
        rests[:, 0] = random.uniform(-0.2, 0.2, size=len(rests)) if self.kind == "tail" else 0.0
        if self.kind != "tail":
            rests[1, 0] = sway + random.uniform(0.0, 1.0)
        if self.kind == "leg to the tip":
            rests[2, 0] = -random.uniform(0.5, 1.6)
        rests[0] = random.normal(scale=1.5, size=3)
        return rotation.multiply(rotation.exp(rests), rotation.exp(vectors))

    def _seen(self, offsets: np.ndarray, random: np.random.Generator):
        parent = rotation.exp(random.normal(size=3) + 0.1 * np.sin(self.t)[:, None] * random.normal(size=3))
        turn, place, turns, places = parent, np.zeros((FRAMES, 3)), [], []
        for n, offset in enumerate(offsets):
            turn = rotation.multiply(turn, self.local[:, n])
            turns.append(turn)
            places.append(place)
            place = place + rotation.rotate(turn, np.broadcast_to(offset, place.shape))
        return pose.Seen(parent, np.stack(turns, 1), np.stack(places, 1), place, turn, {})

    @property
    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        middle = (len(self.posture) + 1) // 2 if self.kind == "tail" else 1
        middle = self.seen.positions[:, middle]
        return np.linalg.norm(middle, axis=-1), np.linalg.norm(self.seen.end - middle, axis=-1)

    def _path(self, random: np.random.Generator) -> np.ndarray:
        upper, lower = self.halves
        end = rotation.rotate(rotation.inverse(self.seen.parent), self.seen.end)
        inner = np.pi - self.most
        if self.kind != "tail":
            # The bend of the line from the elbow to the effector, beyond that of the bone.
            back = rotation.inverse(self.seen.rotations[:, 1])
            bone = rotation.rotate(back, self.seen.end - self.seen.positions[:, 1])
            inner = np.clip(inner - np.arctan2(bone[:, 2], bone[:, 1]), 0.0, np.pi)
        folded = np.sqrt(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(inner))
        nearest = max(0.4, 1.1 * np.max(folded / (upper + lower)))
        waves = np.sin(self.t[:, None, None] * [1.0, 2.0] + random.uniform(0.0, 6.0, size=(4, 2)))
        turn = np.sum(waves[:, :3] * random.normal(size=(3, 2)) * [1.0, 0.4], axis=-1)
        turn *= random.choice([0.5, 1.2, 2.2]) / np.linalg.norm(turn, axis=-1).max()
        far = (upper + lower).min() * (nearest + (0.93 - nearest) * (0.5 + 0.5 * waves[:, 3, 0]))
        self.around = far[:, None] * rotation.rotate(rotation.exp(turn), rotation.normalize(end[0]))
        return rotation.rotate(self.seen.parent, self.around)

    @property
    def needed(self) -> float:
        """The largest rotation of a joint that animation and path need from a frame to the next."""
        upper, lower = self.halves
        turned = rotation.angle_between(self.around[1:], self.around[:-1])
        cosine = (upper**2 + lower**2 - np.sum(self.around**2, axis=-1)) / (2.0 * upper * lower)
        bent = np.abs(np.diff(np.arccos(np.clip(cosine, -1.0, 1.0))))
        return float((rotation.distance(self.local[1:], self.local[:-1]).max(axis=-1) + turned + bent).max())

    def solved(self):
        names = tuple(map(str, range(len(self.posture))))
        self.seen.raw.update({name: ("QUATERNION", self.local[:, n]) for n, name in enumerate(names)})
        rests = rotation.identity(len(names))
        chain = joint_chain.JointChain(None, names, names[-1], True, False, "", None, None, True, rests, self.posture)
        return chain_solve.solve(chain, self.seen, chain_solve.Objectives(self.path), chain_solve.IKTuning(), dt=0.04)


def check(kind: str, seed: int) -> None:
    """The laws of a limb that follows a smooth path."""
    limb = Limb(kind, seed)
    found = limb.solved()
    assert (found.error <= 1e-3 * limb.seen.reachable_distance).all()
    steps = rotation.distance(found.rotations[1:], found.rotations[:-1])
    assert steps.max() <= 1.5 * limb.needed
    if kind in ("arm to the tip", "leg to the tip"):
        assert rotation.distance(found.rotations[:, 2], limb.local[:, 2]).max() < np.radians(60.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [2, 3])
def test_limbs_of_any_shape_follow_without_snaps(kind, seed) -> None:
    check(kind, seed)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "seed"), [("leg to the tip", 40), ("tail", 0), ("tail", 42)])
def test_limbs_that_snapped_or_folded(kind, seed) -> None:
    """Averages of far poses kept snaps of tails, and steps that swung around the result folded wrists and ankles."""
    check(kind, seed)


@pytest.mark.slow
@attack(40)
@given(kind=strategies.sampled_from(KINDS), seed=strategies.integers(0, 2**32 - 1))
def test_limbs_of_many_shapes_follow_without_snaps(kind, seed) -> None:
    check(kind, seed)
