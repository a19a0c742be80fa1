"""Plain chains: bones connected only as parents and children, so that forward kinematics predicts their pose.

A bone with any constraint, even one that is off, goes through world space and back when Blender evaluates it. That
rounds its pose, and changes nothing else.
"""

from collections.abc import Callable, Collection, Iterable

import bpy

from ..animation import data_paths
from . import fingerprint
from .own_data import is_own_constraint


def line(armature: bpy.types.Object, bone: str, ancestors: Collection[str] = ()) -> list[str]:
    """Names of a bone and of its parents, up to the first of `ancestors`, which is left out; else up to the root."""
    pose_bone = armature.pose.bones[bone]
    names: list[str] = []
    for link in (pose_bone, *pose_bone.parent_recursive):
        if link.name in ancestors:
            break
        names.append(link.name)
    return names


def is_plain(
    armature: bpy.types.Object,
    bones: Iterable[str],
    *,
    inheriting: Iterable[str] = (),
    harmless: Callable[[bpy.types.Constraint], bool] = lambda constraint: False,
) -> bool:
    """Whether no constraint acts on any of `bones` at any frame, and all `inheriting` inherit their parent's rotation.

    harmless: says which constraints the caller can do with. What look-ats add never counts, nor does a constraint that
    is muted or has no influence, unless keys or a driver may change that.
    """
    pose, doubtful = armature.pose.bones, []
    for name in inheriting:
        if pose[name].parent is not None and not pose[name].bone.use_inherit_rotation:
            return False
    for name in dict.fromkeys(bones):
        for constraint in pose[name].constraints:
            if is_own_constraint(constraint) or harmless(constraint):
                continue
            if not constraint.mute and constraint.influence != 0.0:
                return False
            doubtful.append((name, constraint))
    moving = fingerprint.animated_paths(armature) if doubtful else ()
    return not any(_may_act(name, constraint, moving) for name, constraint in doubtful)


def _may_act(bone: str, constraint: bpy.types.Constraint, moving: Collection[str]) -> bool:
    """Whether a constraint that is off acts at another frame. moving: data paths that change with the frame."""
    path = data_paths.constraint_path(bone, constraint.name)
    if constraint.mute and f"{path}.mute" not in moving and f"{path}.enabled" not in moving:
        return False
    return constraint.influence != 0.0 or f"{path}.influence" in moving
