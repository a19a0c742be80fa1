"""The action of an armature that holds what its look-ats add, as keys at whole frames, with a slot for each place.

A place is a look-at's number and the place of a bone in its chain. No slot animates anything by itself: constraints
read them, each that of its own place.
"""

import re
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import actions
from ..sampling import fingerprint

_NAME = "Look-at PD Offsets"
_MARK = "lookat_pd_offsets"
_PATH = re.compile(r'(?:pose\.bones\["((?:[^"\\]|\\.)*)"\]\.)?(\w+)')
_LINEAR = 1
"""Blender's number for linear interpolation."""


@dataclass(frozen=True)
class PlaceKeys:
    """What is keyed for one place: the numbers (F, n) of a `channel` of a bone, from frame `first` on, a frame each.

    bone: "" for a channel of the object itself. constants: further channels of the object with the number that each of
    their first curves has at all frames.
    """

    bone: str
    channel: str
    first: int
    values: Array
    constants: tuple[tuple[str, float], ...] = ()

    def same_as(self, other: "PlaceKeys | None") -> bool:
        if other is None or (self.bone, self.channel, self.first) != (other.bone, other.channel, other.first):
            return False
        return np.array_equal(self.values, other.values)


def new(name: str = _NAME) -> bpy.types.Action:
    action = bpy.data.actions.new(name)
    action[_MARK] = True
    return action


def is_layer(action: bpy.types.Action | None) -> bool:
    """Whether an action is one that holds offsets, and may be written."""
    return action is not None and _MARK in action and action.library is None


def is_any() -> bool:
    """Whether the file has an action that holds offsets, its own or of a library."""
    return any(_MARK in action for action in bpy.data.actions)


def slot_of(action: bpy.types.Action, place: str, *, ensure: bool = False) -> bpy.types.ActionSlot | None:
    found = next((slot for slot in action.slots if slot.name_display == place), None)
    return action.slots.new(id_type="OBJECT", name=place) if found is None and ensure else found


def write(action: bpy.types.Action, slot: bpy.types.ActionSlot, keys: PlaceKeys) -> None:
    """Let F-curves of a slot hold these numbers, as samples: smaller than keys, and faster to write and to read."""
    bag = actions.channelbag(action, slot, ensure=True)
    path = f"{fingerprint.bone_path(keys.bone)}.{keys.channel}" if keys.bone else keys.channel
    frames, count = keys.values.shape
    # Blender takes the wrong samples between frames below 0.
    sampled = keys.first >= 0
    wanted = [(path, n, sampled, frames) for n in range(count)] + [(name, 0, False, 1) for name, _ in keys.constants]
    if [_kind(curve) for curve in bag.fcurves] != wanted:
        bag.fcurves.clear()
        for group in list(bag.groups):
            bag.groups.remove(group)
        # Of a group with the bone's name Blender evaluates nothing else.
        group = bag.groups.new(keys.bone) if keys.bone else None
        for n in range(count):
            curve = bag.fcurves.new(path, index=n)
            if group is not None:
                curve.group = group
            curve.keyframe_points.add(1 if sampled else frames)
            if sampled:
                curve.convert_to_samples(keys.first, keys.first + frames)
            else:
                curve.keyframe_points.foreach_set("interpolation", np.full(frames, _LINEAR, dtype=np.int32))
        for name, value in keys.constants:
            bag.fcurves.new(name, index=0).keyframe_points.insert(keys.first, value)
    points = np.empty((frames, 2), dtype=np.float32)
    points[:, 0] = np.arange(keys.first, keys.first + frames)
    for n, curve in enumerate(list(bag.fcurves)[:count]):
        points[:, 1] = keys.values[:, n]
        _points(curve).foreach_set("co", points.ravel())


def _points(curve: bpy.types.FCurve) -> bpy.types.bpy_prop_collection:
    """What a curve holds: samples or keyframes."""
    return curve.sampled_points if len(curve.sampled_points) else curve.keyframe_points


def _kind(curve: bpy.types.FCurve) -> tuple[str, int, bool, int]:
    """What a curve moves, whether it is sampled, and for how many frames."""
    return curve.data_path, curve.array_index, bool(len(curve.sampled_points)), len(_points(curve))


def read(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> PlaceKeys | None:
    """What is keyed for a place, None where nothing is."""
    curves = list(actions.curves(action, slot))
    curves = [curve for curve in curves if curve.data_path == curves[0].data_path]
    count = len(_points(curves[0])) if curves else 0
    if not count or any(len(_points(curve)) != count for curve in curves):
        return None
    found = _PATH.fullmatch(curves[0].data_path)
    if found is None:
        return None
    points = np.empty((len(curves), count, 2), dtype=np.float32)
    for curve, row in zip(curves, points, strict=True):
        _points(curve).foreach_get("co", row.reshape(-1))
    return PlaceKeys(
        bpy.utils.unescape_identifier(found[1] or ""), found[2], int(points[0, 0, 0]), points[:, :, 1].T.copy()
    )


def at(action: bpy.types.Action, slot: bpy.types.ActionSlot, frame: float) -> Array:
    """The numbers (n,) that are keyed for a place, at a frame; none where nothing is."""
    return np.array([curve.evaluate(frame) for curve in actions.curves(action, slot)])


def remove_unused(action: bpy.types.Action | None) -> None:
    """Take an action out of the file where no constraint reads it any more."""
    if is_layer(action) and action.users == 0:
        bpy.data.actions.remove(action)
