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
    moves = False
    for curve in _playing(action, slot):
        if not curve.data_path.endswith(_TURNS):
            continue
        values = np.array([curve.evaluate(frame) for frame in range(first, last + 1)])
        extent = np.ptp(values)
        if not abs(values[-1] - values[0]) <= _LEAST + _ALIKE * extent:
            # As a rule the first curve says so.
            return False
        moves = moves or bool(extent)
    return moves


def _playing(action: bpy.types.Action, slot: bpy.types.ActionSlot | None) -> Sequence[bpy.types.FCurve]:
    return [curve for curve in actions.curves(action, slot) if actions.plays(curve)]
