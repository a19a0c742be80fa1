"""Why the visual pose jumps: what changes at that frame among all that the bone depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ....lookat_pd.errors import LookAtError
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ...animation import data_paths
from ...sampling import cut_down_rig
from .. import pops
from .evaluated_pose import OBJECT, PoseReader

_LEAST = 0.01
"""Smallest change of an influence or weight that counts."""
_ALONE = 3.0
"""Smallest ratio of a jump to the changes of the frames before and after it."""
_NEAR = 15
"""Frames before and after in which keys are compared."""
Value = tuple[str, str, str]
"""Bone, constraint, and what of it: "influence", or the bone that is followed with a weight."""


@dataclass
class _State:
    """What may switch, at one frame."""

    values: dict[Value, float] = field(default_factory=dict)
    objects: dict[str, Array] = field(default_factory=dict)
    """The places of objects that constraints follow, by name."""
    properties: dict[tuple[str, str], float] = field(default_factory=dict)


def cause(scene: bpy.types.Scene, reader: PoseReader, frame: int, bone: str) -> Message:
    """Why a bone jumps from the frame before to `frame`, as a sentence. bone: `OBJECT` for the object."""
    armature = reader.armature
    needed = _needed(armature, bone)
    states = [_state(reader.step(at), needed) for at in range(frame - 2, frame + 2)]
    sentence = _switched(armature, states) or _strip(armature, frame) or _keys(armature, frame, needed)
    return sentence or _object(states) or Message("The cause was not found.")


def _needed(armature: bpy.types.Object, bone: str) -> set[str]:
    """The bones that a bone depends on; none for the object."""
    if bone == OBJECT:
        return set()
    try:
        return cut_down_rig.needed_bones(armature, [bone])
    except cut_down_rig.CannotCutDown:
        return set(armature.pose.bones.keys())


def _state(item: bpy.types.Object, needed: set[str]) -> _State:
    state = _State()
    owners: list[tuple[str, Any]] = [(name, item.pose.bones[name]) for name in sorted(needed)]
    for name, owner in [(OBJECT, item), *owners]:
        for constraint in owner.constraints:
            acts = not constraint.mute and constraint.enabled
            state.values[name, constraint.name, "influence"] = constraint.influence if acts else 0.0
            for n, target in enumerate(getattr(constraint, "targets", ())):
                if hasattr(target, "weight"):
                    state.values[name, constraint.name, target.subtarget or f"{n}"] = target.weight
            for target in _followed(constraint):
                if target.original != item.original:
                    state.objects[target.name] = np.array(target.matrix_world)
        for key, value in owner.items():
            if isinstance(value, int | float):
                state.properties[name, key] = float(value)
    if item.parent is not None:
        state.objects[item.parent.name] = np.array(item.parent.matrix_world)
    return state


def _followed(constraint: bpy.types.Constraint) -> Iterator[bpy.types.Object]:
    """The objects that a constraint follows."""
    for item in (constraint, *getattr(constraint, "targets", ())):
        target = getattr(item, "target", None)
        if target is not None:
            yield target
    if getattr(constraint, "pole_target", None) is not None:
        yield constraint.pole_target


def _jumps(series: list[float]) -> float:
    """How far a number jumps between the second and third of four frames; 0 if it also changes beside them."""
    before, jump, after = np.abs(np.diff(series))
    return float(jump) if jump > _LEAST and jump > _ALONE * max(before, after) else 0.0


def _switched(armature: bpy.types.Object, states: list[_State]) -> Message | None:
    """The constraint whose influence or weight jumps most, and the property that drives it."""
    best, most = None, 0.0
    for key in states[1].values:
        size = _jumps([state.values.get(key, 0.0) for state in states])
        if size > most:
            best, most = key, size
    if best is None:
        return None
    bone, constraint, what = best
    before, after = (state.values.get(best, 0.0) for state in states[1:3])
    owner = bone or armature.name
    switch = _property(armature, states, best)
    if switch is not None:
        return Message(
            "Property '{property}' of '{owner}' jumps from {before:g} to {after:g} and switches constraint "
            "'{constraint}' of '{bone}'.",
            property=switch[1],
            owner=switch[0] or armature.name,
            before=states[1].properties[switch],
            after=states[2].properties[switch],
            constraint=constraint,
            bone=owner,
        )
    if what != "influence":
        return Message(
            "The weight of '{target}' in constraint '{constraint}' of '{bone}' jumps from {before:g} to {after:g}.",
            target=what,
            constraint=constraint,
            bone=owner,
            before=before,
            after=after,
        )
    return Message(
        "The influence of constraint '{constraint}' of '{bone}' jumps from {before:g} to {after:g}.",
        constraint=constraint,
        bone=owner,
        before=before,
        after=after,
    )


def _property(armature: bpy.types.Object, states: list[_State], value: Value) -> tuple[str, str] | None:
    """The custom property that jumps and drives a constraint, with its bone."""
    bone, constraint, _ = value
    path = f'constraints["{bpy.utils.escape_identifier(constraint)}"]'
    if bone:
        path = data_paths.constraint_path(bone, constraint)
    data = armature.animation_data
    for curve in data.drivers if data else ():
        if not curve.data_path.startswith(path):
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                owner, key = _property_at(target.data_path) if target.id == armature else ("", "")
                series = [state.properties.get((owner, key)) for state in states]
                if key and None not in series and _jumps([float(number or 0.0) for number in series]):
                    return owner, key
    return None


def _property_at(path: str) -> tuple[str, str]:
    """Bone and name of the custom property at a data path; empty names if it leads to none."""
    owner, name = data_paths.split_key(path)
    return (data_paths.split_bone(owner)[0], name) if name else ("", "")


def _strip(armature: bpy.types.Object, frame: int) -> Message | None:
    """The NLA strip that begins or ends at a frame."""
    data = armature.animation_data
    for track in data.nla_tracks if data else ():
        for strip in track.strips if not track.mute else ():
            if strip.mute:
                continue
            if frame - 1 < strip.frame_start <= frame:
                return Message("NLA strip '{strip}' begins.", strip=strip.name)
            if frame - 1 <= strip.frame_end < frame:
                return Message("NLA strip '{strip}' ends.", strip=strip.name)
    return None


def _keys(armature: bpy.types.Object, frame: int, needed: set[str]) -> Message | None:
    """The keys that jump in the current action."""
    data = armature.animation_data
    action = data.action if data else None
    if action is None or data.action_slot is None:
        return None
    try:
        keyed_pops = pops.find(armature, action, frame - _NEAR, frame + _NEAR, slot=data.action_slot)
    except LookAtError:
        return None
    bones = [pop.bone for pop in keyed_pops if pop.frame == frame and (pop.bone in needed or not pop.bone)]
    if not bones:
        return None
    return Message("The keys of '{bone}' in '{action}' jump.", bone=bones[0] or armature.name, action=action.name)


def _object(states: list[_State]) -> Message | None:
    """The object that jumps, which constraints follow or to which the armature is parented."""
    best, most = None, 0.0
    for name in states[1].objects:
        places = [state.objects.get(name, np.eye(4)) for state in states]
        steps = [float(np.abs(b - a).max()) for a, b in pairwise(places)]
        if steps[1] > max(most, 1e-4) and steps[1] > _ALONE * max(steps[0], steps[2]):
            best, most = name, steps[1]
    return None if best is None else Message("Object '{object}' jumps.", object=best)
