"""Actions that are cycles: marked as such, or with ends that meet."""

from collections.abc import Sequence

import bpy
import numpy as np

from . import actions

_ALIKE, _LEAST = 0.02, 1e-4
"""How far the ends of a cyclic curve may be apart, of its range and at least."""
_TURNS = ("quaternion", "euler", "axis_angle")


def is_marked(action: bpy.types.Action, slot: bpy.types.ActionSlot | None) -> bool:
    """Whether an action repeats: it is set to, or all of its curves do."""
    if action.use_frame_range and action.use_cyclic:
        return True
    curves = _playing(action, slot)
    return bool(curves) and all(any(modifier.type == "CYCLES" for modifier in curve.modifiers) for curve in curves)


def ends_meet(action: bpy.types.Action, slot: bpy.types.ActionSlot | None, first: int, last: int) -> bool:
    """Whether rotations move, and end where they begin; their speed may change there, and what travels goes on."""
    turning = [curve for curve in _playing(action, slot) if curve.data_path.endswith(_TURNS)]
    values = np.array([[curve.evaluate(frame) for frame in range(first, last + 1)] for curve in turning])
    if not len(values):
        return False
    ranges = np.ptp(values, axis=1)
    return bool(ranges.any() and np.all(np.abs(values[:, -1] - values[:, 0]) <= _LEAST + _ALIKE * ranges))


def _playing(action: bpy.types.Action, slot: bpy.types.ActionSlot | None) -> Sequence[bpy.types.FCurve]:
    return [curve for curve in actions.curves(action, slot) if actions.plays(curve)]
