"""Prints the table of docs/ik/reach.md of how suddenly methods of IK turn joints where a target leaves the reach.

python docs/ik_leaps.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import ik, rotation  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402
from standalone import load  # noqa: E402
from tools.figures.pages import head  # noqa: E402

continuation = load("rig.ik.continuation")
PATHS, FPS = 6, 24


class Limb:
    """A limb of three bones, and a path of 2 s that leaves its reach and comes back."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.offsets = random.uniform(0.7, 1.3, size=3)[:, None] * np.array([0.0, 1.0, 0.0])
        self.posture = ik.Posture([0.0, 0.0, 0.8], [[0, 0, 0], [1, 0, 0], [0, 0, 0]], [-np.pi, 0.0, -np.pi], [2.6] * 3)
        start = rotation.exp([0.3 * random.normal(size=3), [random.uniform(0.4, 1.2), 0.0, 0.0], [0.0, 0.0, 0.0]])
        t = np.linspace(0.0, 1.0, 2 * FPS + 1)
        self.start = np.repeat(start[None], len(t), axis=0)
        place, turn = np.zeros(3), rotation.IDENTITY
        for own, offset in zip(start, self.offsets, strict=True):
            turn = rotation.multiply(turn, own)
            place = place + rotation.rotate(turn, offset)
        first = rotation.normalize(place)
        side = rotation.normalize(np.cross(first, random.normal(size=3)))
        line = rotation.rotate(rotation.exp(0.5 * np.sin(np.pi * t)[:, None] * side), first)
        length = float(self.offsets.sum())
        far = random.uniform(0.7, 0.85) + random.uniform(0.3, 0.6) * np.sin(np.pi * t) ** 2
        self.target = ik.soft_goal(length * far[:, None] * line, np.zeros(3), length, initial=place)
        self.tolerance = 1e-5 * length

    def solved(self, method: str, start: Array, frames: Array) -> ik.IKSolution:
        given = {"method": method, "tolerance": self.tolerance, "posture": self.posture}
        return ik.solve(self.offsets, start, self.target[frames], **given)

    def steps(self, method: str) -> tuple[float, float]:
        """The largest rotation of a joint between two frames, as the method leaves it and without leaps, in multiples
        of what the path needs."""
        upper, lower = np.full(len(self.start), self.offsets[0].sum()), np.full(len(self.start), self.offsets[1:].sum())
        needed = continuation.needed(self.start, self.target, upper, lower)
        alone = self.solved(method, self.start, np.arange(len(self.start)))
        course = continuation.Course(
            self.start, needed, lambda start, frames: self.solved(method, start, frames), lambda pose, _: pose
        )
        is_continuous = ik.METHODS[method].leaps or ik.METHODS[method].settles
        found = alone, continuation.without_snaps(course, alone) if is_continuous else alone
        largest = [float(rotation.distance(one.rotations[1:], one.rotations[:-1]).max()) for one in found]
        return largest[0] / needed, largest[1] / needed


def main() -> None:
    print(head("method", "each frame by itself", "with *Soft Reach*").rstrip())
    limbs = [Limb(seed) for seed in range(PATHS)]
    for name, method in ik.METHODS.items():
        alone, continuous = np.max([limb.steps(name) for limb in limbs], axis=0)
        print(f"| {method.label} | {alone:.1f} | {continuous:.1f} |")


if __name__ == "__main__":
    main()
