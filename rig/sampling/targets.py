"""What may be looked at: something that exists and that the look-at itself does not move."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ..animation import actions

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


def check(armature: bpy.types.Object, bones: Sequence[str], target: Target) -> None:
    """Raise RigError where there is nothing to look at, or where looking would move what is looked at."""
    if target.point is not None:
        if not np.all(np.isfinite(target.point)):
            raise RigError("The target point {point} is not finite; enter three numbers.", point=target.point)
        return
    if target.object is None:
        raise RigError("There is no target; choose an object or a point.")
    check_exists(armature, target.object, target.bone)
    if rides_on(target.object, target.bone, armature, bones):
        raise RigError(
            "The target '{target}' moves with the chain of the look-at; choose a target outside the chain.",
            target=target.label,
        )


def listed(settings) -> list[Target]:
    """What a look-at may look at by its settings, by number; an empty line of the list is no target."""
    found = [(settings.target, settings.subtarget), *((item.object, item.bone) for item in settings.targets)]
    return [Target(item, bone) if item is not None else Target() for item, bone in found]


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


def rides_on(
    item: bpy.types.Object,
    bone: str,
    armature: bpy.types.Object,
    bones: Sequence[str],
    *,
    below: bool = False,
    frame: float | None = None,
) -> bool:
    """Whether an object, or a bone of it, moves with the chain or the head: by parents or constraints.

    below: whether it does below any of the bones, rather than the first one. frame: with the influences that object
    constraints have there, rather than now.
    """
    tops = {armature.pose.bones[name] for name in (bones if below else bones[:1])}
    seen: set[tuple[bpy.types.Object, str]] = set()
    waiting = [(item, bone)]
    while waiting:
        here = item, bone = waiting.pop()
        if item is None or here in seen:
            continue
        seen.add(here)
        place = item.pose.bones.get(bone) if item.pose and bone else None
        if place is not None and item == armature:
            if bone in bones or tops.intersection(place.parent_recursive):
                return True
            continue
        waiting.append((item.parent, item.parent_bone if item.parent_type == "BONE" else ""))
        for constraint in item.constraints:
            if not constraint.mute and _influence(item, constraint, frame) > 0.0:
                for found in (constraint, *getattr(constraint, "targets", ())):
                    waiting.append((getattr(found, "target", None), getattr(found, "subtarget", "")))
    return False


def _moves_alone(item: bpy.types.Object) -> bool:
    """Whether an object depends on nothing but its own keys, as far as that is seen at once."""
    if item.parent is not None or item.pose is not None or len(item.constraints) or len(item.modifiers):
        return False
    if item.rigid_body is not None or item.library is not None or item.override_library is not None:
        return False
    data = item.animation_data
    return data is None or not (len(data.drivers) or len(data.nla_tracks))


def _influence(item: bpy.types.Object, constraint: bpy.types.Constraint, frame: float | None) -> float:
    """The influence of a constraint of an object, at a frame or now."""
    data, curve = item.animation_data, None
    if frame is not None and data is not None and data.action is not None:
        path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].influence'
        curve = actions.curves_at(data.action, data.action_slot, path, 1)[0]
    return constraint.influence if curve is None or not actions.plays(curve) else curve.evaluate(frame)


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
