"""What docs/methods.md says of the accuracy of simulated motion between keys, as a table.

    python docs/dynamics_accuracy.py

Random trees of 2 to 8 bones pass five keys in two seconds; a chain of 20 rods is far too weak for its keys. The motion
is compared with that in steps an eighth as long.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import rotation  # noqa: E402
from lookat_pd.dynamics import Body, interpolate  # noqa: E402
from lookat_pd.dynamics.limited import Limited  # noqa: E402
from lookat_pd.dynamics.simulation import Simulation  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402

TREES = 12
TIMES = np.array([0.0, 0.5, 1.0, 1.4, 2.0])
FRAME = 1.0 / 60.0
FINE = 1.0 / 8.0


def tree(n: int, random: np.random.Generator) -> Body:
    """Bones of random shapes, each on one of those before it, of 0.5 to 2 kg."""
    parents = [int(random.integers(-1, joint)) if joint else -1 for joint in range(n)]
    masses = 2.0 ** random.uniform(-1.0, 1.0, n)
    axes = rotation.to_matrix(rotation.normalize(random.normal(size=(n, 4))))
    square = random.uniform(0.02, 0.2, (n, 3)) ** 2
    moments = masses[:, None] * (square.sum(axis=1, keepdims=True) - square) / 5.0
    inertias = (axes * moments[:, None]) @ np.swapaxes(axes, 1, 2)
    return Body(parents, random.normal(scale=0.3, size=(n, 3)), masses, random.normal(scale=0.1, size=(n, 3)), inertias)


def trees() -> Iterator[tuple[Body, Array, np.random.Generator]]:
    """Bodies and their keys (5, n, 4)."""
    for seed in range(TREES):
        random, n = np.random.default_rng(seed), 2 + seed % 7
        yield tree(n, random), rotation.exp(random.normal(scale=0.6, size=(len(TIMES), n, 3))), random


def referenced(body: Body, keys: Array, random: np.random.Generator) -> dict[str, Any]:
    """Torques for bones of a fifth to five times their masses."""
    factor = 5.0 ** random.uniform(-1.0, 1.0, len(body))
    heavier = np.asarray(body.inertias) * factor[:, None, None]
    reference = replace(body, masses=np.asarray(body.masses) * factor, inertias=heavier)
    return {"inertia": "reference", "reference": reference}


def rubbing(body: Body, keys: Array, random: np.random.Generator) -> dict[str, Any]:
    return {"damping": random.uniform(0.0, 0.5, len(body))}


def loose(body: Body, keys: Array, random: np.random.Generator) -> dict[str, Any]:
    """The last bone of the list, with friction."""
    last = np.arange(len(body)) == len(body) - 1
    return {"passive": last, "damping": 0.2 * last, "gravity": (0.0, 0.0, -9.81)}


def weak(body: Body, keys: Array, random: np.random.Generator) -> dict[str, Any]:
    """Half of the torques that the motion needs."""
    strong = interpolate(body, keys, TIMES, FRAME)
    return {"torque_limit": 0.5 * np.linalg.norm(strong.torques, axis=-1).max(axis=0)}


def off(motion: Callable[[], Array]) -> float:
    """The largest angle [rad] between a motion and the same in much shorter steps."""
    usual, own = motion(), (Simulation.longest, Limited.longest)
    Simulation.longest, Limited.longest = (FINE * step for step in own)
    try:
        return float(rotation.distance(usual, motion()).max())
    finally:
        Simulation.longest, Limited.longest = own


def line(name: str, motions: list[Callable[[], Array]]) -> str:
    errors = [off(motion) for motion in motions]
    return f"| {name} | {len(errors)} | {np.median(errors):.4f} | {max(errors):.4f} |"


def main() -> None:
    print("| | motions | median [rad] | largest [rad] |\n|---|---|---|---|")
    kinds = {
        "torques for another body": referenced,
        "friction": rubbing,
        "a loose bone": loose,
        "half of the torques": weak,
    }
    for name, kind in kinds.items():
        motions = []
        for body, keys, random in trees():
            given = kind(body, keys, random)
            motions.append(lambda b=body, k=keys, g=given: interpolate(b, k, TIMES, FRAME, **g).rotations)
        print(line(name, motions), flush=True)
    n, random = 20, np.random.default_rng(1)
    inertias = np.tile(np.diag([3.4e-3, 2e-4, 3.4e-3]), (n, 1, 1))
    chain = Body(
        np.arange(n) - 1, np.tile([0.0, 0.2, 0.0], (n, 1)), np.ones(n), np.tile([0.0, 0.1, 0.0], (n, 1)), inertias
    )
    keys = rotation.exp(random.normal(scale=0.3, size=(len(TIMES), n, 3)))
    print(
        line(
            "a chain that is far too weak",
            [lambda: interpolate(chain, keys, TIMES, FRAME, torque_limit=20.0).rotations],
        )
    )


if __name__ == "__main__":
    main()
