"""From the settings of dynamics to requests, with all errors about settings."""

from collections.abc import Iterable

import bpy

from ...lookat_pd.errors import RigError
from ..animation.stored_settings import read
from ..detection.joint_chain import JointChain
from ..sampling.scene_time import key_range
from ..sampling.targets import Target
from ..settings import values
from . import body_obstacles, reach_hands
from .hit_request import HitRequest, HitSpec
from .hit_settings import HitItem, HitMotion
from .interpolation import InterpolationRequest as Interpolation
from .reach_request import ReachRequest as Reach
from .reach_request import Waypoint
from .settings import SIDED, InterpolationSettings, ReachSettings


def key_frame(scene: bpy.types.Scene) -> int:
    """The current frame of the scene, in frames of keys."""
    return key_range(scene, scene.frame_current, scene.frame_current)[0]


def interpolation(scene: bpy.types.Scene, bones: Iterable[bpy.types.PoseBone], first: int, last: int) -> Interpolation:
    """The request for the keys of these bones from `first` to `last`."""
    s = scene.lookat_pd_dynamics
    chosen = values(s, InterpolationSettings)
    if s.between == "TORQUE_CHANGE":
        chosen |= {"settle": 0.0, "swing_past": 0.0}
    names = tuple(bone.name for bone in bones)
    return Interpolation(names, first, last, selected=s.keys == "SELECTED", **chosen)


def chain(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> JointChain:
    """The chain that reaches with `bone`. Raises LookAtError."""
    s = scene.lookat_pd_dynamics
    turns = (s.match_orientation or s.point == "PALM") and s.method == "OPTIMAL"
    return reach_hands.chain(armature, bone, length=s.length, at_tip=s.point == "TIP", turn_effector=turns)


def other_hand(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, selected: Iterable[str]) -> str:
    """The bone that reaches together with `bone`, "" if only one does: the other one of the selected, if there is just
    one, or else its counterpart. Raises RigError."""
    if not scene.lookat_pd_dynamics.both_hands:
        return ""
    others = [name for name in selected if name != bone]
    hand = others[0] if len(others) == 1 else reach_hands.counterpart(armature, bone)
    if not hand:
        raise RigError("Bone '{bone}' has no counterpart on the other side; select the other hand as well.", bone=bone)
    return hand


def reach(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, first: int, other: str = "") -> Reach:
    """The request for a reach with `bone`, and another one, that starts at frame `first`. Raises RigError."""
    s = scene.lookat_pd_dynamics
    bones, goals = [reach_hands.hand_of(armature, bone)], [_goal(scene)]
    if other:
        bones.append(reach_hands.hand_of(armature, other))
        goals.append(Target(s.other_target, s.other_subtarget if _is_armature(s.other_target) else ""))
    is_palm = s.method == "OPTIMAL" and (
        s.point == "PALM" or (s.point in SIDED and reach_hands.have_palms(armature, bones, goals))
    )
    faces = reach_hands.faces(armature, bones, goals, s.palm_gap if is_palm else None)
    chosen = values(s, ReachSettings)
    if s.method != "OPTIMAL":
        chosen |= {"match_orientation": False, "approach": "FREE"}
    passing = {"BOTH": None, "ACTIVE": 0, "OTHER": 1}
    return Reach(
        bones[0],
        faces[0].goal,
        first,
        at_tip=s.point == "TIP",
        point=s.point if s.point in ("HAND", "FINGERTIPS") else "HEAD",
        vias=tuple(
            Waypoint(via.time, Target(via.target), passing[via.hand] if other else 0)
            for via in sorted(s.vias, key=lambda via: via.time)
            if via.target
        ),
        obstacles=body_obstacles.of_objects(s.obstacles.all_objects) if s.obstacles else (),
        others=tuple((name, face.goal) for name, face in zip(bones[1:], faces[1:], strict=True)),
        normals=tuple(face.normal for face in faces) if is_palm else (),
        **chosen,
    )


def hits(armature: bpy.types.Object) -> HitRequest:
    """The request for all hits of an armature."""
    settings = read(armature, "lookat_pd_hits")
    return HitRequest(tuple(_spec(item) for item in settings.hits), **values(settings, HitMotion))


def _spec(item: HitItem) -> HitSpec:
    x, y, z = item.direction
    source = None if item.source is None else Target(item.source)
    return HitSpec(item.frame, item.bone, item.impulse, (x, y, z), source)


def _goal(scene: bpy.types.Scene) -> Target:
    s = scene.lookat_pd_dynamics
    if s.goal == "CURSOR":
        x, y, z = scene.cursor.location
        return Target(point=(x, y, z))
    if s.target is None:
        raise RigError("The reach has no goal; choose an object.")
    return Target(s.target, s.subtarget if _is_armature(s.target) else "")


def _is_armature(item: bpy.types.Object | None) -> bool:
    return item is not None and item.type == "ARMATURE"


def add_vias(scene: bpy.types.Scene, armature: bpy.types.Object | None, items: Iterable[bpy.types.Object]) -> None:
    """Add waypoints, or an empty one, and distribute all evenly over the time."""
    vias = scene.lookat_pd_dynamics.vias
    chosen = [item for item in items if item not in (armature, scene.lookat_pd_dynamics.target)] or [None]
    for item in chosen:
        vias.add().target = item
    for n, via in enumerate(vias, 1):
        via.time = n / (len(vias) + 1)
