"""From the settings of inverse kinematics to chain, goal and tuning, with all errors about settings."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.body.contacts import Detection, Interval
from ...lookat_pd.errors import RigError
from ..detection.joint_chain import UNDETECTED, JointChain, limb, resolve
from ..feet.contact_plan import Contact
from ..sampling.targets import Target
from ..settings import values
from .chain_solve import IKTuning
from .effector_goal import Goal, no_target
from .settings import ChainSolving, GoalFollowing


def chain(armature: bpy.types.Object, bone: str, settings: Any) -> JointChain:
    """The chain that ends with `bone`. Raises LookAtError."""
    at_tip = settings.point == "TIP"
    return resolve(
        armature,
        bone,
        **extent(armature, bone, settings, at_tip=at_tip),
        at_tip=at_tip,
        turn_effector=settings.point == "HEAD" and settings.orientation != "FREE",
    )


def contact_chain(armature: bpy.types.Object, bone: str, settings: Any) -> JointChain:
    """The chain that keeps the position and orientation of `bone`. Raises LookAtError."""
    bones = extent(armature, bone, settings, at_tip=False)
    if settings.point == "TIP" and settings.length and settings.extent == "LENGTH":
        # The last bone of a chain with a tip is the one that is fixed.
        bones = {"length": settings.length - 1}
    return resolve(armature, bone, **bones, at_tip=False, turn_effector=True)


def contact_surface(settings: Any) -> Target | None:
    """What is touched; None for the world."""
    item = settings.contact_surface
    if item is None:
        return None
    return Target(item, settings.contact_bone if item.type == "ARMATURE" else "")


def contact(settings: Any, marked: Sequence[Interval] = ()) -> Contact:
    """The contacts of an effector: in the frames that are marked, or as they are detected where none are."""
    return Contact(marked or Detection(settings.contact_speed, settings.contact_height), settings.contact_blend)


def extent(armature: bpy.types.Object, bone: str, settings: Any, *, at_tip: bool) -> dict[str, Any]:
    """The arguments of `resolve` for the bones that turn: the detected limb, or their number."""
    if settings.extent == "LENGTH":
        return {"length": settings.length}
    base = limb(armature, bone, at_tip=at_tip)
    return {"base": base} if base else {"length": UNDETECTED}


def tuning(settings: Any) -> IKTuning:
    """The solver settings."""
    return IKTuning(**values(settings, ChainSolving))


def goal(chain: JointChain, settings: Any) -> Goal:
    """What the effector of a chain follows. Raises RigError."""
    pole, chosen = None if settings.pole is None else Target(settings.pole), values(settings, GoalFollowing)
    if settings.follow == "PATH":
        return Goal(None, _motion_path(chain), pole, **chosen)
    if settings.target is None:
        raise no_target()
    target = Target(settings.target, settings.subtarget if settings.target.type == "ARMATURE" else "")
    return Goal(target, None, pole, **chosen)


def _motion_path(chain: JointChain) -> tuple[np.ndarray, np.ndarray]:
    """Frames (F,) and points of the world (F, 3) of the path that Blender calculated for the effector."""
    path = chain.armature.pose.bones[chain.effector].motion_path
    if path is None or not len(path.points):
        raise RigError(
            "Bone '{effector}' has no motion path; calculate it first (Pose > Motion Paths).", effector=chain.effector
        )
    if path.use_bone_head == chain.at_tip:
        raise RigError(
            "The motion path of '{effector}' was calculated for the other end of the bone; "
            "calculate it again, or change Point.",
            effector=chain.effector,
        )
    points = np.empty(3 * len(path.points))
    path.points.foreach_get("co", points)
    return np.arange(path.frame_start, path.frame_start + len(path.points)), points.reshape(-1, 3)
