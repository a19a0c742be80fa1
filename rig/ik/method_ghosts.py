"""The same chain solved by several methods side by side, to compare them: where each puts it, how near and how fast."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from ...lookat_pd import rotation, skeleton
from ...lookat_pd.ik import methods
from ...lookat_pd.rotation import Array
from ..detection.joint_chain import JointChain
from .chain_solve import IKTuning, Objectives, solve
from .pose import Seen

MOST = 4
"""Largest number of methods that are compared at once."""


@dataclass(frozen=True)
class MethodGhost:
    """A chain as a method solves it."""

    method: str
    points: Array
    """(n + 1, 3), joints and effector in the world."""
    error: float
    """Distance of the effector from its target in the world."""
    share: float
    """The same as a fraction of the chain's length."""
    iterations: int
    seconds: float
    """Time [s] that the solver took."""

    @property
    def lines(self) -> Array:
        """The bones (n, 2, 3)."""
        return np.stack((self.points[:-1], self.points[1:]), axis=1)


def chosen(settings: Any) -> tuple[str, ...]:
    """The methods that are compared, in the order of their keys; none if there is no comparison."""
    if not settings.compare:
        return ()
    names = [name for name, use in zip(methods.METHODS, settings.compared, strict=True) if use]
    return tuple(sorted(names, key=lambda name: methods.METHODS[name].key)[:MOST])


def solved(
    chain: JointChain, seen: Seen, objectives: Objectives, tuning: IKTuning, world: Array, names: Sequence[str]
) -> list[MethodGhost]:
    """A chain at one frame as these methods solve it from the same pose. world: (4, 4) of the armature."""
    ghosts, reach = [], float(seen.reachable_distance[0])
    size = float(abs(np.linalg.det(world[:3, :3])) ** (1.0 / 3.0))
    parents = list(range(-1, len(chain.joints) - 1))
    offsets = np.concatenate((np.zeros((1, 3)), seen.offsets[0, :-1]))
    for name in names:
        began = perf_counter()
        turns = solve(chain, seen, objectives, replace(tuning, method=name))
        seconds = perf_counter() - began
        base = seen.positions[0, 0], seen.parent[0]
        orientations, places = skeleton.forward(parents, offsets, turns.rotations[0], base)
        end = places[-1] + rotation.rotate(orientations[-1], seen.offsets[0, -1])
        points = np.concatenate((places, end[None])) @ world[:3, :3].T + world[:3, 3]
        error = float(turns.missed[0])
        ghosts.append(MethodGhost(name, points, error * size, error / reach, int(turns.iterations[0]), seconds))
    return ghosts
