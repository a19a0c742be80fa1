"""Whether a look-at that follows in real time lets its target go, by the limits in its settings."""

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ....lookat_pd import rotation
from ....lookat_pd.gaze import mixing
from ....lookat_pd.rotation import Array

_LASTING = 0.2
"""Time [s] for which a target must be hidden, or seen again: gaps and posts do not count."""


class LiveFollowLetGo:
    """Beyond a distance, an angle or behind occluders a target is let go, and taken up again within nine tenths."""

    def __init__(self) -> None:
        self._far = self._aside = self._hidden = False
        self._since = 0.0

    def tick(
        self,
        settings: Any,
        occluders: tuple[bpy.types.Object, ...],
        depsgraph: bpy.types.Depsgraph,
        dt: float,
        head: Array,
        aim: Array,
        goal: Array,
    ) -> bool:
        """Whether the goal (3,) is let go. head: (3,) and aim: (3,) of the head as animated, all in the world."""
        away = goal - head
        distance, angle = float(np.linalg.norm(away)), float(rotation.angle_between(aim, away))
        self._far = _beyond(distance, settings.let_go_distance, gone=self._far)
        self._aside = _beyond(angle, settings.let_go_angle, gone=self._aside)
        covered = distance > 0.0 and any(_covers(item, depsgraph, head, goal) for item in occluders)
        self._since = self._since + dt if covered != self._hidden else 0.0
        if self._since >= _LASTING:
            self._hidden, self._since = covered, 0.0
        return self._far or self._aside or self._hidden


def _beyond(measure: float, limit: float, *, gone: bool) -> bool:
    return limit > 0.0 and measure > (mixing.BACK * limit if gone else limit)


def _covers(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, eye: Array, goal: Array) -> bool:
    """Whether an object is between two points of the world."""
    evaluated = item.evaluated_get(depsgraph)
    if item.type != "MESH" or not evaluated.is_evaluated or abs(evaluated.matrix_world.determinant()) < 1e-18:
        return False
    back = evaluated.matrix_world.inverted()
    start, end = back @ Vector(eye), back @ Vector(goal)
    return evaluated.ray_cast(start, (end - start).normalized(), distance=(end - start).length)[0]
