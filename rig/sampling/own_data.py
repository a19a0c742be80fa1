"""What the extension itself adds to a file, so that sampling and fingerprints leave it out."""

import re

import bpy

TEMPORARY = "lookat_pd_temporary"
"""Custom property that marks a temporary scene: frame handlers leave such a scene alone."""
CLOCK, OFFSETS = "lookat_pd_clock", "lookat_pd_offsets"
"""Custom properties that mark the clock with its action, and actions that hold offsets."""
PREFIX = "Look-at PD "
NAME = re.compile(r"Look-at PD (\d+)\.(\d+)(?:\.\d{3})?")


def is_own_constraint(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint is a look-at's, not the animator's; early versions had Transformation constraints.

    An Action constraint that has such a name and reads only what is not the extension's is the animator's.
    """
    if constraint.type not in ("ACTION", "TRANSFORM") or NAME.fullmatch(constraint.name) is None:
        return False
    if constraint.type == "TRANSFORM":
        return True
    target, action = constraint.target, constraint.action
    return (
        (target is None and action is None)
        or (target is not None and CLOCK in target)
        or (action is not None and OFFSETS in action)
    )
