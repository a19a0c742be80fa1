"""What follows: objects and pose bones with PD Follow, and what moves them."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ...lookat_pd.errors import RigError
from ..animation import data_paths
from ..animation.channels import LOCATION
from ..animation.editable import check_bones, check_local
from ..animation.stored_settings import read, stored
from ..layers import bone_chains
from ..layers.layer import ROTATION
from ..sampling import posed_bones, targets
from ..sampling.targets import Target
from .settings import PDFollowSettings

Node = tuple[bpy.types.Object, str]
"""An object, or one of its bones."""
_Place = tuple[bpy.types.Object | None, str]


@dataclass(frozen=True)
class Owner(data_paths.Place):
    """An object or a pose bone that may have PD Follow."""

    @property
    def settings(self) -> PDFollowSettings:
        return self.item.lookat_pd_follow

    @property
    def follows(self) -> bool:
        """Whether it has PD Follow."""
        return read(self.item, "lookat_pd_follow").exists

    @property
    def label(self) -> str:
        return f"{self.object.name}:{self.bone}" if self.bone else self.object.name

    @property
    def settings_path(self) -> str:
        """Data path from the object to the settings, with the dot behind it."""
        return f"{data_paths.bone_path(self.bone)}.lookat_pd_follow." if self.bone else "lookat_pd_follow."

    @property
    def key(self) -> tuple[int, str]:
        return self.object.session_uid, self.bone

    @property
    def node(self) -> Node:
        return self.object, self.bone

    @property
    def used(self) -> tuple[str, ...]:
        """In what it follows."""
        s = self.settings
        return (*((LOCATION,) if s.use_location else ()), *((ROTATION,) if s.turn != "NONE" else ()))

    @property
    def target(self) -> Target | None:
        """What it follows, None for its own motion."""
        s = self.settings
        return Target(s.target, s.subtarget, (0.0, 0.0, 0.0)) if s.target is not None else None


def on(item: bpy.types.Object) -> Iterator[Owner]:
    """What of an object has PD Follow: itself, and its bones."""
    if read(item, "lookat_pd_follow").exists:
        yield Owner(item)
    for bone in item.pose.bones if item.pose else ():
        if bone.is_property_set("lookat_pd_follow") and bone.lookat_pd_follow.exists:
            yield Owner(item, bone.name)


def moves_with(item: bpy.types.Object | None, bone: str) -> set[Node]:
    """Objects and bones that move an object, or a bone of it: itself, parents, targets of constraints, those of IK that
    poses it, what drivers of it measure, and what these follow."""
    seen: set[Node] = set()
    beside: dict[bpy.types.Object, dict[str, list[_Place]]] = {}
    waiting: list[_Place] = [(item, bone)]
    while waiting:
        item, bone = waiting.pop()
        if item is None or (item, bone) in seen:
            continue
        seen.add((item, bone))
        place = item.pose.bones.get(bone) if item.pose and bone else None
        if item not in beside:
            beside[item] = _posing(item)
        waiting += beside[item].get(bone, ())
        if place is not None:
            waiting.append((item, place.parent.name if place.parent else ""))
        else:
            waiting.append((item.parent, item.parent_bone if item.parent_type == "BONE" else ""))
        waiting += (target for constraint in (place or item).constraints for target in _targets(constraint))
        follow = _follow_of(item, bone)
        if follow is not None and follow.exists and not follow.mute:
            waiting.append((follow.target, follow.subtarget))
    return seen


def _targets(constraint: bpy.types.Constraint) -> Iterator[_Place]:
    for holder in (constraint, *getattr(constraint, "targets", ())):
        yield getattr(holder, "target", None), getattr(holder, "subtarget", "")
    yield getattr(constraint, "pole_target", None), getattr(constraint, "pole_subtarget", "")


def _posing(item: bpy.types.Object) -> dict[str, list[_Place]]:
    """What moves an object, "", and each of its bones by IK constraints elsewhere and by drivers."""
    result: dict[str, list[_Place]] = {}
    for bone in item.pose.bones if item.pose else ():
        for constraint in bone.constraints:
            for name in posed_bones.posed_bones(bone, constraint) if constraint.type in posed_bones.TYPES else ():
                result.setdefault(name, []).extend(_targets(constraint))
    for curve in item.animation_data.drivers if item.animation_data else ():
        measuring = [variable for variable in curve.driver.variables if variable.type != "SINGLE_PROP"]
        measured = [target for variable in measuring for target in variable.targets]
        places = [(target.id, target.bone_target) for target in measured if isinstance(target.id, bpy.types.Object)]
        result.setdefault(data_paths.split_bone(curve.data_path)[0], []).extend(places)
    return result


def _follow_of(item: bpy.types.Object, bone: str) -> PDFollowSettings | None:
    if not bone:
        return stored(item, "lookat_pd_follow")
    place = item.pose.bones.get(bone) if item.pose else None
    return stored(place, "lookat_pd_follow") if place is not None else None


def check(owner: Owner) -> None:
    """Raise RigError where an owner cannot follow what it is set to follow."""
    check_owner(owner)
    s = owner.settings
    if s.target is None:
        if s.turn == "AIM":
            raise RigError(
                "'{name}' has no target to aim at; choose a target, or set Rotation to Follow.", name=owner.label
            )
    else:
        check_target(owner, s.target, s.subtarget)
    if s.use_location and is_connected(owner):
        raise RigError(
            "Bone '{name}' is connected to its parent and cannot be moved; disable Location, or disconnect the bone.",
            name=owner.bone,
        )
    if not owner.used:
        raise RigError("'{name}' follows neither in location nor in rotation; enable one of them.", name=owner.label)


def check_owner(owner: Owner) -> None:
    """Raise RigError where an owner cannot be moved at all."""
    check_local(owner.object)
    if owner.bone:
        check_bones(owner.object, [owner.bone])


def check_target(owner: Owner, item: bpy.types.Object, bone: str) -> None:
    """Raise RigError where a target is not there, or moves with what shall follow it."""
    if item != owner.object or bone:
        targets.check_exists(owner.object, item, bone)
    if owner.node in moves_with(item, bone):
        raise RigError(
            "The target '{target}' moves with '{name}', which would follow itself; choose another target.",
            target=Target(item, bone).label,
            name=owner.label,
        )


def is_connected(owner: Owner) -> bool:
    """Whether it is a bone that Blender keeps at the tail of its parent."""
    return bool(owner.bone) and owner.item.bone.use_connect and owner.item.parent is not None


def is_joint(owner: Owner) -> bool:
    """Whether it is a bone that would be torn off what it hangs on if it followed in location."""
    return bool(owner.bone) and bone_chains.is_joint(owner.item)


def aim_axis(owner: Owner) -> str:
    """The axis that aims at the target."""
    if owner.settings.aim_axis != "AUTO":
        return owner.settings.aim_axis
    if owner.bone:
        return "POS_Y"
    return "NEG_Z" if owner.object.type in ("CAMERA", "LIGHT") else "NEG_Y"
