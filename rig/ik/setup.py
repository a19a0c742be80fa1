"""From the settings of inverse kinematics to what is solved, with every complaint worded for the animator."""

from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ..sample import Target
from .chain import Chain, resolve
from .goals import Goal
from .solving import Tuning


def chain(armature: bpy.types.Object, bone: str, settings: Any) -> Chain:
    """The chain that ends with `bone`. Raises LookAtError."""
    return resolve(
        armature,
        bone,
        length=settings.length,
        at_tip=settings.point == "TIP",
        hand=settings.point == "HEAD" and settings.orientation != "FREE",
    )


def contact_chain(armature: bpy.types.Object, bone: str, settings: Any) -> Chain:
    """The chain that keeps the head of `bone`, and how it lies, where they are. Raises LookAtError."""
    # Of a chain that ends with a tip, the last bone is the one that is held.
    length = settings.length - 1 if settings.point == "TIP" and settings.length else settings.length
    return resolve(armature, bone, length=length, at_tip=False, hand=True)


def tuning(settings: Any) -> Tuning:
    """How to solve."""
    return Tuning(settings.method.lower(), settings.iterations, smoothness=settings.smoothness)


def goal(found: Chain, settings: Any) -> Goal:
    """What the effector of a chain follows. Raises RigError."""
    pole = None if settings.pole is None else Target(settings.pole)
    if settings.follow == "PATH":
        path = _motion_path(found)
        return Goal(path=path, offset=settings.use_offset, orientation=settings.orientation, pole=pole)
    if settings.target is None:
        raise RigError("The effector has no target; choose an object for it to follow.")
    target = Target(settings.target, settings.subtarget if settings.target.type == "ARMATURE" else "")
    return Goal(target, offset=settings.use_offset, orientation=settings.orientation, pole=pole)


def _motion_path(found: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Frames (F,) and points of the world (F, 3) of the path that Blender calculated for the effector."""
    path = found.armature.pose.bones[found.effector].motion_path
    if path is None or not len(path.points):
        raise RigError(f"Bone '{found.effector}' has no motion path; calculate it first (Pose > Motion Paths).")
    if path.use_bone_head == found.at_tip:
        raise RigError(
            f"The motion path of '{found.effector}' is that of the bone's other end; calculate it for the end that is "
            "to follow it, or change Point."
        )
    points = np.empty(3 * len(path.points))
    path.points.foreach_get("co", points)
    return np.arange(path.frame_start, path.frame_start + len(path.points)), points.reshape(-1, 3)
