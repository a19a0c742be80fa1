"""How far Blender lets bones turn: locks, ranges and stiffness of inverse kinematics, and Limit Rotation."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.rotation import Array

RANGES = ("minimum", "maximum", "euler_minimum", "euler_maximum")
_AXES = "xyz"


def read(armature: bpy.types.Object, bones: Sequence[str], rests: Array) -> ik.Limits | None:
    """What Blender stores of how far bones may turn; None where all are free. Raises InvalidArgument.

    rests: (n, 4), each bone's rest rotation relative to its parent.
    """
    n = len(bones)
    locks, stiffness = np.zeros((n, 3), dtype=bool), np.zeros((n, 3))
    ranges = {name: np.full((n, 3), np.inf if "maximum" in name else -np.inf) for name in RANGES}
    orders = ["XYZ"] * n
    for k, name in enumerate(bones):
        bone = armature.pose.bones[name]
        for axis, letter in enumerate(_AXES):
            locks[k, axis] = getattr(bone, f"lock_ik_{letter}") or _is_locked(bone)
            stiffness[k, axis] = getattr(bone, f"ik_stiffness_{letter}")
            if getattr(bone, f"use_ik_limit_{letter}"):
                ranges["minimum"][k, axis] = getattr(bone, f"ik_min_{letter}")
                ranges["maximum"][k, axis] = getattr(bone, f"ik_max_{letter}")
        orders[k] = _add_constraints(bone, ranges["euler_minimum"][k], ranges["euler_maximum"][k])
    free = not (locks.any() or stiffness.any() or any(np.isfinite(values).any() for values in ranges.values()))
    if free:
        return None
    return ik.Limits(locks, stiffness=stiffness, rest=rests, euler_order=orders, names=list(bones), **ranges)


def is_local(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint limits a bone's rotation as the solver can. In other spaces Blender alone keeps to it, which
    is seen when the result is verified."""
    return constraint.type == "LIMIT_ROTATION" and constraint.owner_space == "LOCAL"


def _is_locked(bone: bpy.types.PoseBone) -> bool:
    """Whether the animator has locked a bone's rotation as a whole."""
    return all(bone.lock_rotation)


def _add_constraints(bone: bpy.types.PoseBone, low: Array, high: Array) -> str:
    """Narrow a bone's Euler ranges (3,) to what its Limit Rotation constraints allow; their order of axes."""
    order = bone.rotation_mode if bone.rotation_mode in rotation.EULER_ORDERS else "XYZ"
    for constraint in bone.constraints:
        if not is_local(constraint) or constraint.mute or constraint.influence < 1.0:
            continue
        if constraint.euler_order != "AUTO":
            order = constraint.euler_order
        for axis, letter in enumerate(_AXES):
            if getattr(constraint, f"use_limit_{letter}"):
                low[axis] = max(low[axis], getattr(constraint, f"min_{letter}"))
                high[axis] = min(high[axis], getattr(constraint, f"max_{letter}"))
    return order
