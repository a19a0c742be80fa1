"""What the extension itself adds to a file, so that sampling and fingerprints leave it out."""

import re
from typing import Any

import bpy

KEY = "lookat_pd"
"""What all custom properties of the extension begin with."""
TEMPORARY = "lookat_pd_temporary"
"""Custom property that marks a temporary scene: frame handlers leave such a scene alone."""
CLOCK, OFFSETS = "lookat_pd_clock", "lookat_pd_offsets"
"""Custom properties that mark the clock with its action, and actions that hold offsets."""
PREFIX = "Look-at PD "
PREFIXES = {PREFIX: 0}
"""Beginnings of the names of constraints that sampling leaves out, with their order in a stack. Higher packages add
theirs."""
MARKS: set[str] = set()
"""Custom properties of actions whose constraints are sampled with the rig, but updated with the layers: fingerprints
leave these out. Higher packages add theirs."""
_NAME = re.compile(r"(\D+ )(\d+)\.(\d+)(?:\.\d{3})?")


def parts(name: str) -> tuple[str, int, int] | None:
    """Prefix, number of the layer and slot in it, from a name that constraints of layers have; None for all others."""
    match = _NAME.fullmatch(name)
    return None if match is None or match[1] not in PREFIXES else (match[1], int(match[2]), int(match[3]))


def order_of(constraint: bpy.types.Constraint) -> int:
    """Place of a layer's constraint among those of other layers."""
    name_parts = parts(constraint.name)
    assert name_parts is not None, "it is one of a layer's"
    return PREFIXES[name_parts[0]]


def is_own_constraint(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint is a layer's that sampling leaves out; early versions had Transformation constraints.

    An Action constraint that has such a name and reads only what is not the extension's is the animator's.
    """
    if constraint.type not in ("ACTION", "TRANSFORM") or parts(constraint.name) is None:
        return False
    if constraint.type == "TRANSFORM":
        return True
    target, action = constraint.target, constraint.action
    return (
        (target is None and action is None)
        or (target is not None and CLOCK in target)
        or (action is not None and OFFSETS in action)
    )


def is_live_constraint(constraint: bpy.types.Constraint) -> bool:
    """Whether the live loop keeps a constraint up to date, so that it is no input of what it is solved from."""
    if is_own_constraint(constraint):
        return True
    action = constraint.action if constraint.type == "ACTION" else None
    return action is not None and any(mark in action for mark in MARKS)


def forget_others(item: bpy.types.Object | bpy.types.PoseBone) -> None:
    """Let the extension's settings of an object or a bone point to nothing, without their being set.

    Blender evaluates all that settings point to with whatever has them, the whole rig of somebody who is looked at.
    """
    # In Blender 4.5 they are among the custom properties.
    stored = getattr(item, "bl_system_properties_get", lambda: item)()
    for name in list(stored.keys()) if stored is not None else ():
        if name.startswith(KEY):
            _forget(stored, name)


def _forget(group: Any, name: str) -> None:
    value = group[name]
    if isinstance(value, bpy.types.ID):
        del group[name]
        return
    for inner in value if isinstance(value, list) else [value]:
        for key in list(inner.keys()) if hasattr(inner, "keys") else ():
            _forget(inner, key)
