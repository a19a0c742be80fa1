"""The convergence of the solver from the current pose, for the panel."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from . import method_ghosts, setup, soft_goals
from .chain_solve import Objectives, solve
from .method_ghosts import MethodGhost
from .pose import evaluated

_SHOWN = 60
"""Largest number of iterations in the plot."""
_LEAST = 1e-6
"""Fraction of the chain's length at the bottom of the logarithmic plot."""


class Convergence:
    """The displayed solve. key: the values it depends on. in_reach: whether the chain is long enough."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> None:
        """Raises LookAtError if there is nothing to show."""
        self.settings = scene.lookat_pd_ik
        self.chain = setup.chain(armature, bone, self.settings)
        self.seen = evaluated(self.chain, armature.pose.bones)
        self.world = np.array(armature.matrix_world)
        target = _place(self.settings.target, self.settings.subtarget)
        self.pole = None if self.settings.pole is None else _place(self.settings.pole, "")
        self.target = self._local(target)
        far = np.linalg.norm(self.target - self.seen.positions[0, 0])
        self.in_reach = bool(far <= self.seen.reachable_distance[0])
        numbers = (self.seen.rotations, self.seen.positions, self.seen.end, target, self.world)
        # Rounded to a thousandth, which is not visible.
        rounded = tuple(np.round(part, 3).tobytes() for part in numbers)
        s = self.settings
        self.key = (
            bone,
            s.point,
            s.length,
            s.orientation,
            s.method,
            s.iterations,
            s.as_published,
            s.soft_reach,
            str(self.chain.limits),
            str(self.chain.posture),
            rounded,
        )

    def _local(self, point: Array) -> Array:
        return (np.linalg.inv(self.world) @ (*point, 1.0))[:3]

    def solve(self) -> Array:
        """Distance from the target (1 + iterations,) as a fraction of the chain's length."""
        turns = solve(self.chain, self.seen, self._objectives(), setup.tuning(self.settings), history=True)
        assert turns.history is not None
        return turns.history[: _SHOWN + 1, 0] / float(self.seen.reachable_distance[0])

    @property
    def softened(self) -> float:
        """By which fraction of its length a soft reach leaves the chain before its target, besides these distances."""
        return float(soft_goals.missing(self._objectives())[0] / self.seen.reachable_distance[0])

    def ghosts(self, names: Sequence[str]) -> list[MethodGhost]:
        """The chain as these methods solve it."""
        tuning = setup.tuning(self.settings)
        return method_ghosts.solved(self.chain, self.seen, self._objectives(), tuning, self.world, names)

    def _objectives(self) -> Objectives:
        keeps = self.settings.orientation == "KEEP" and self.chain.at_tip
        pole = None if self.pole is None else self._local(self.pole)[None]
        objectives = Objectives(self.target[None], self.seen.effector_rotation if keeps else None, pole)
        return soft_goals.softened(self.chain, self.seen, objectives, self.seen, self.settings.soft_reach)


def convergence(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> Convergence | None:
    """The convergence to show; None without a target or chain."""
    settings: Any = scene.lookat_pd_ik
    if settings.follow != "TARGET" or settings.target is None:
        return None
    try:
        return Convergence(scene, armature, bone)
    except LookAtError:
        return None


def heights(errors: Array) -> Array:
    """Errors on the logarithmic scale of the plot: 1 for the chain's length, 0 for errors that are not visible."""
    return np.clip(1.0 - np.log10(np.clip(errors, _LEAST, 1.0)) / np.log10(_LEAST), 0.0, 1.0)


def _place(item: bpy.types.Object, bone: str) -> Array:
    matrix = item.matrix_world
    if bone and item.type == "ARMATURE" and bone in item.pose.bones:
        return np.array(matrix @ item.pose.bones[bone].head)
    return np.array(matrix.translation)
