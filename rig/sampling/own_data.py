"""What the extension itself adds to a file, so that sampling and fingerprints leave it out."""

import re

import bpy

TEMPORARY = "lookat_pd_temporary"
"""Custom property that marks a temporary scene: frame handlers leave such a scene alone."""
PREFIX = "Look-at PD "
NAME = re.compile(r"Look-at PD (\d+)\.(\d+)(?:\.\d{3})?")


def is_own_constraint(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint is a look-at's, not the animator's; early versions had Transformation constraints."""
    return constraint.type in ("ACTION", "TRANSFORM") and NAME.fullmatch(constraint.name) is not None
