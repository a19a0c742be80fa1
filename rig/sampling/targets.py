"""What may be looked at: something that exists and that the look-at itself does not move."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, data_paths

Place = tuple[bpy.types.Object | None, str]
"""An object and a bone of it, "" for the object itself."""
FARTHEST = 1e12
"""Coordinates that are not less are not finite or a slip."""
_CARRIERS = ("CHILD_OF", "ARMATURE", "COPY_TRANSFORMS", "COPY_LOCATION")
"""Constraints with which a bone moves with their target."""
_PLACE_PATHS = ("location", "delta_location", "matrix", "head", "tail")
"""What data paths of objects and pose bones begin with that lead to their places."""

_HOLDERS = (bpy.types.Scene, bpy.types.Collection, bpy.types.WindowManager, bpy.types.Screen, bpy.types.WorkSpace)
"""What uses an object without being moved by it."""


@dataclass(frozen=True)
class Target:
    """Something to look at: an object, a bone of an armature, or a fixed point of the world or of an object."""

    object: bpy.types.Object | None = None
    bone: str = ""
    point: tuple[float, float, float] | None = None

    @property
    def label(self) -> str:
        if self.object is None:
            return f"point {self.point}" if self.point is not None else ""
        return f"{self.object.name}:{self.bone}" if self.bone else self.object.name


def world_matrix(seen: bpy.types.Object, bone: str) -> Matrix:
    """The pose in the world of an evaluated object, or of a bone of it."""
    return seen.matrix_world @ seen.pose.bones[bone].matrix if bone else seen.matrix_world


def check(armature: bpy.types.Object, bones: Sequence[str], target: Target) -> None:
    """Raise RigError where there is nothing to look at, or where looking would move what is looked at."""
    if target.point is not None:
        if not np.all(np.isfinite(target.point)):
            raise RigError("The target point {point} is not finite; enter three numbers.", point=target.point)
        return
    if target.object is None:
        raise RigError("There is no target; choose an object or a point.", code="target-missing")
    check_exists(armature, target.object, target.bone)
    if rides_on(target.object, target.bone, armature, bones):
        raise RigError(
            "The target '{target}' moves with the chain of the look-at; choose a target outside the chain.",
            target=target.label,
        )


def listed(settings) -> list[Target]:
    """What a look-at may look at by its settings, by number; an empty line of the list is no target."""
    given = [(settings.target, settings.subtarget), *((item.object, item.bone) for item in settings.targets)]
    return [Target(item, bone) if item is not None else Target() for item, bone in given]


def has_any(settings) -> bool:
    """Whether a look-at has any target."""
    return any(target != Target() for target in listed(settings))


def check_exists(armature: bpy.types.Object, item: bpy.types.Object, bone: str) -> None:
    """Raise RigError where an object, or the bone of it, is no place that a chain of the armature can turn to."""
    if not item.users_scene and not item.library:
        raise RigError("The target '{item}' is not in any scene; choose another target.", item=item.name)
    if bone:
        if item.type != "ARMATURE" or bone not in item.pose.bones:
            raise RigError("The target '{item}' has no bone '{bone}'; choose another bone.", item=item.name, bone=bone)
    elif item == armature:
        raise RigError(
            "The target is the armature '{item}' itself; choose one of its bones or another object.", item=item.name
        )


def rides_on(item: bpy.types.Object, bone: str, armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether an object, or a bone of it, moves with the chain or the head: by parents or constraints of objects."""
    return _rides(item, bone, armature, bones[:1], bones, _own_carriers)


def rides_at(
    item: bpy.types.Object, bone: str, armature: bpy.types.Object, bones: Sequence[str], frames: Array
) -> NDArray[np.bool_]:
    """The frames (F,) at which an object, or a bone of it, moves with one of the bones or what is below them.

    By parents, by constraints of objects and of bones, with the influences that these have there, or by drivers of all
    three channels of a location.
    """
    if not _rides(item, bone, armature, bones, bones, partial(_carriers, None)):
        return np.zeros(len(frames), dtype=bool)
    return np.array(
        [_rides(item, bone, armature, bones, bones, partial(_carriers, frame)) for frame in frames.tolist()]
    )


def _rides(
    item: bpy.types.Object,
    bone: str,
    armature: bpy.types.Object,
    above: Sequence[str],
    bones: Sequence[str],
    carriers: Callable[[bpy.types.Object, str, bool], Iterator[Place]],
) -> bool:
    """Whether an object or a bone of it is one of the bones of an armature, or moves with one of those above."""
    tops = {armature.pose.bones[name] for name in above}
    seen: set[Place] = set()
    waiting = [(item, bone)]
    while waiting:
        here = item, bone = waiting.pop()
        if item is None or here in seen:
            continue
        seen.add(here)
        place = item.pose.bones.get(bone) if item.pose and bone else None
        inside = place is not None and item == armature
        if inside and (bone in bones or tops.intersection(place.parent_recursive)):
            return True
        waiting.extend(carriers(item, bone if place is not None else "", inside))
    return False


def _own_carriers(item: bpy.types.Object, bone: str, inside: bool) -> Iterator[Place]:
    """What moves an object by its parents and constraints, now; nothing for a bone of the armature."""
    if not inside:
        yield item.parent, item.parent_bone if item.parent_type == "BONE" else ""
        for constraint in item.constraints:
            if not constraint.mute and constraint.influence > 0.0:
                for found in (constraint, *getattr(constraint, "targets", ())):
                    yield getattr(found, "target", None), getattr(found, "subtarget", "")


def _carriers(frame: float | None, item: bpy.types.Object, bone: str, inside: bool) -> Iterator[Place]:
    """What moves an object, or a bone of it, at a frame: objects by parents, constraints and drivers, bones by
    constraints and drivers of their own and of their parents. frame: None for any."""
    if bone:
        place = item.pose.bones[bone]
        for link in (place, *place.parent_recursive):
            prefix = f'pose.bones["{bpy.utils.escape_identifier(link.name)}"].'
            carrying = [constraint for constraint in link.constraints if constraint.type in _CARRIERS]
            yield from _pulling(item, carrying, prefix, frame)
            yield from _driving(item, prefix)
    if not inside:
        yield item.parent, item.parent_bone if item.parent_type == "BONE" else ""
        yield from _pulling(item, item.constraints, "", frame)
        yield from _driving(item, "")


def _driving(item: bpy.types.Object, prefix: str) -> Iterator[Place]:
    """What drivers read for all three channels of a location of an object, or of a bone whose data path this is: where
    objects and bones are, not their custom properties."""
    data = item.animation_data
    for name in ("location", "delta_location"):
        read: list[set[Place]] = [set(), set(), set()]
        for curve in () if data is None else data.drivers:
            if curve.data_path == prefix + name and not curve.mute and curve.array_index < 3:
                read[curve.array_index].update(
                    place for variable in curve.driver.variables for place in _places(variable)
                )
        yield from read[0] & read[1] & read[2]


def _places(variable: bpy.types.DriverVariable) -> Iterator[Place]:
    """The objects and bones whose places a variable of a driver reads."""
    for target in variable.targets:
        if not isinstance(target.id, bpy.types.Object):
            continue
        if variable.type == "TRANSFORMS":
            yield target.id, target.bone_target
        elif variable.type == "SINGLE_PROP":
            bone, path = data_paths.split_bone(target.data_path)
            if path.lstrip(".").startswith(_PLACE_PATHS):
                yield target.id, bone


def _pulling(
    item: bpy.types.Object, constraints: Iterable[bpy.types.Constraint], prefix: str, frame: float | None
) -> Iterator[Place]:
    """The targets of constraints that have an influence at a frame."""
    for constraint in constraints:
        path = f'{prefix}constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
        if constraint.mute or not _value(item, f"{path}influence", constraint.influence, frame) > 0.0:
            continue
        yield getattr(constraint, "target", None), getattr(constraint, "subtarget", "")
        for n, constraint_target in enumerate(getattr(constraint, "targets", ())):
            if _value(item, f"{path}targets[{n}].weight", getattr(constraint_target, "weight", 1.0), frame) > 0.0:
                yield constraint_target.target, getattr(constraint_target, "subtarget", "")


def _value(item: bpy.types.Object, path: str, now: float, frame: float | None) -> float:
    """The value of a property at a frame: that of its F-curve if it plays one; 1 for any frame."""
    data = item.animation_data
    if data is None or data.action is None:
        return now
    curve = actions.curves_at(data.action, data.action_slot, path, 1)[0]
    if curve is None or not actions.plays(curve):
        return now
    return 1.0 if frame is None else curve.evaluate(frame)


def _moves_alone(item: bpy.types.Object) -> bool:
    """Whether an object depends on nothing but its own keys, as far as that is seen at once."""
    if item.parent is not None or item.pose is not None or len(item.constraints) or len(item.modifiers):
        return False
    if item.rigid_body is not None or item.library is not None or item.override_library is not None:
        return False
    data = item.animation_data
    return data is None or not (len(data.drivers) or len(data.nla_tracks))


def hangs_on(target: Target, armature: bpy.types.Object) -> bool:
    """Whether the target may move with the armature's own bones: as child, by constraints, drivers or modifiers."""
    if target.object is None or target.object == armature:
        return target.object is not None
    if _moves_alone(target.object):
        # A map of all users takes long in a large file.
        return False
    users = bpy.data.user_map()
    seen: set[bpy.types.ID] = set()
    waiting: list[bpy.types.ID] = [armature]
    while waiting:
        item = waiting.pop()
        if item == target.object:
            return True
        if item not in seen:
            seen.add(item)
            waiting.extend(user for user in users.get(item, ()) if not isinstance(user, _HOLDERS))
    return False


def belongs_to(item: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether an object is the armature or part of its character: a child, or deformed by it."""
    while item is not None:
        if item == armature or item.find_armature() == armature:
            return True
        item = item.parent
    return False


def moves_with(item: bpy.types.Object) -> set[bpy.types.Object]:
    """The armatures that an object is, is part of or moves with: by parents, deformation and constraints, with whatever
    influence, which may change with the frame."""
    seen: set[bpy.types.Object] = set()
    waiting: list[bpy.types.Object | None] = [item]
    while waiting:
        here = waiting.pop()
        if here is None or here in seen:
            continue
        seen.add(here)
        waiting.extend((here.parent, here.find_armature()))
        for constraint in here.constraints:
            if constraint.type in _CARRIERS:
                for found in (constraint, *getattr(constraint, "targets", ())):
                    waiting.append(getattr(found, "target", None))
    return {found for found in seen if found.type == "ARMATURE"}
