"""For the panel: how the solver gets nearer to the target, iteration by iteration, from the pose that is shown."""

from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from . import setup
from .chain_solve import Objectives, solve
from .pose import evaluated

_SHOWN = 60
"""Most iterations that are shown."""
_LEAST = 1e-6
"""Part of the chain's length that is shown as nothing: its logarithm is the bottom of the plot."""


class Convergence:
    """The solve that is shown. key: what it depends on. in_reach: whether the chain is long enough."""

    def __init__(self, scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> None:
        """Raises LookAtError where there is nothing to show."""
        self.settings = scene.lookat_pd_ik
        self.chain = setup.chain(armature, bone, self.settings)
        self.seen = evaluated(self.chain, armature.pose.bones)
        self.world = np.array(armature.matrix_world)
        target = _place(self.settings.target, self.settings.subtarget)
        self.pole = None if self.settings.pole is None else _place(self.settings.pole, "")
        self.target = self._local(target)
        far = np.linalg.norm(self.target - self.seen.positions[0, 0])
        self.in_reach = bool(far <= self.seen.reach[0])
        numbers = (self.seen.rotations, self.seen.positions, self.seen.end, target, self.world)
        # To a thousandth: below that nothing can be seen.
        rounded = tuple(np.round(part, 3).tobytes() for part in numbers)
        s = self.settings
        self.key = (bone, s.point, s.length, s.orientation, s.method, s.iterations, str(self.chain.limits), rounded)

    def _local(self, point: Array) -> Array:
        return (np.linalg.inv(self.world) @ (*point, 1.0))[:3]

    def solve(self) -> Array:
        """Distance from the target (1 + iterations,) as a part of the chain's length."""
        pole = None if self.pole is None else self._local(self.pole)[None]
        tuning = setup.tuning(self.settings)
        found = solve(
            self.chain, self.seen, Objectives(self.target[None], self._orientation(), pole), tuning, history=True
        )
        assert found.history is not None
        return found.history[: _SHOWN + 1, 0] / float(self.seen.reach[0])

    def _orientation(self) -> Array | None:
        return self.seen.effector_rotation if self.settings.orientation == "KEEP" and self.chain.at_tip else None


def convergence(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> Convergence | None:
    """What can be shown; None where there is no target, or no chain."""
    settings: Any = scene.lookat_pd_ik
    if settings.follow != "TARGET" or settings.target is None:
        return None
    try:
        return Convergence(scene, armature, bone)
    except LookAtError:
        return None


def heights(errors: Array) -> Array:
    """Errors as a plot shows them, by their logarithm: 1 for the chain's length, 0 for nothing that could be seen."""
    return np.clip(1.0 - np.log10(np.clip(errors, _LEAST, 1.0)) / np.log10(_LEAST), 0.0, 1.0)


def _place(item: bpy.types.Object, bone: str) -> Array:
    matrix = item.matrix_world
    if bone and item.type == "ARMATURE" and bone in item.pose.bones:
        return np.array(matrix @ item.pose.bones[bone].head)
    return np.array(matrix.translation)
