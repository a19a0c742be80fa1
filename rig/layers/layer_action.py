"""The action that holds what layers add, as keys at whole frames, with a slot for each row of them.

No slot animates anything by itself: constraints read them, each that of its own row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import actions, data_paths
from ..sampling.own_data import OFFSETS

_NAME = ".Look-at PD Offsets"
"""Blender offers no data to choose whose name begins with a dot. Files of earlier versions keep theirs."""
_LINEAR = 1
"""Blender's number for linear interpolation."""


_CONSTANT = 0
"""And for constant one."""
_CONSTANTS = "delta_"
"""Beginning of the names of channels that are the same at all frames."""


@dataclass(frozen=True)
class PlaceKeys:
    """What is keyed for one channel of a bone, or of an object itself."""

    bone: str
    """Name of the bone, "" for a channel of the object."""
    channel: str
    """Name of the property, such as `location`."""
    first: int
    """Frame of the first row of values; there is one for each frame."""
    values: Array
    """(F, n) numbers."""
    index: int = 0
    """Place of the first of the n numbers in the channel. Those before it have no keys, and are at rest."""
    constants: tuple[tuple[str, float], ...] = ()
    """Further channels of the object, and the number that each of their first curves has at all frames."""
    step: bool | None = None
    """None for samples, else for keys; whether the first of them holds until the next."""

    def same_as(self, other: "PlaceKeys | None", tolerance: float = 0.0) -> bool:
        if other is None or (self.bone, self.channel, self.first) != (other.bone, other.channel, other.first):
            return False
        others = (other.index, other.constants, bool(other.step))
        if (self.index, self.constants, bool(self.step)) != others or self.values.shape != other.values.shape:
            return False
        return bool(np.abs(self.values - other.values).max(initial=0.0) <= tolerance)


def new(name: str = _NAME) -> bpy.types.Action:
    action = bpy.data.actions.new(name)
    action[OFFSETS] = True
    return action


def is_layer(action: bpy.types.Action | None) -> bool:
    """Whether an action is one that holds offsets, and may be written."""
    return action is not None and OFFSETS in action and action.library is None


def is_any() -> bool:
    """Whether the file has an action that holds offsets, its own or of a library."""
    return any(OFFSETS in action for action in bpy.data.actions)


def slot_of(action: bpy.types.Action, place: str, *, ensure: bool = False) -> bpy.types.ActionSlot | None:
    existing = next((slot for slot in action.slots if slot.name_display == place), None)
    return action.slots.new(id_type="OBJECT", name=place) if existing is None and ensure else existing


def write(action: bpy.types.Action, slot: bpy.types.ActionSlot, *channels: PlaceKeys) -> None:
    """Let F-curves of a slot hold these numbers. Samples are smaller than keys, and faster to write and to read."""
    bag = actions.channelbag(action, slot, ensure=True)
    wanted = [kind for keys in channels for kind in _kinds(keys)]
    if [_kind(curve) for curve in bag.fcurves] != wanted or not all(_is_plain(curve) for curve in bag.fcurves):
        bag.fcurves.clear()
        for group in list(bag.groups):
            bag.groups.remove(group)
        for keys in channels:
            _make_curves(bag, keys)
    curves = iter(list(bag.fcurves))
    for keys in channels:
        points = np.empty((len(keys.values), 2), dtype=np.float32)
        points[:, 0] = np.arange(keys.first, keys.first + len(points))
        for column in keys.values.T:
            points[:, 1] = column
            _points(next(curves)).foreach_set("co", points.ravel())
        for _ in keys.constants:
            next(curves)


def key_all(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> None:
    """Key all numbers of quaternions of which a slot leaves one out."""
    keys = read(action, slot)
    if len(keys) == 1 and keys[0].index == 1 and keys[0].values.shape[1] == 3:
        values = np.insert(keys[0].values, 0, 1.0, axis=1)
        write(action, slot, replace(keys[0], values=values, index=0))


def _kinds(keys: PlaceKeys) -> list[tuple[str, int, bool, int, str, bool]]:
    """What `_kind` returns for the curves of a channel."""
    frames, count = keys.values.shape
    indices = range(keys.index, keys.index + count)
    made = [(_path(keys), n, _is_sampled(keys), frames, keys.bone, bool(keys.step)) for n in indices]
    return made + [(name, 0, False, 1, "", False) for name, _ in keys.constants]


def _path(keys: PlaceKeys) -> str:
    return f"{data_paths.bone_path(keys.bone)}.{keys.channel}" if keys.bone else keys.channel


def _is_sampled(keys: PlaceKeys) -> bool:
    # Blender takes the wrong samples between frames below 0.
    return keys.step is None and keys.first >= 0


def _make_curves(bag: Any, keys: PlaceKeys) -> None:
    frames, count = keys.values.shape
    # Of a group with the bone's name Blender evaluates nothing else.
    group = (bag.groups.get(keys.bone) or bag.groups.new(keys.bone)) if keys.bone else None
    for n in range(keys.index, keys.index + count):
        curve = bag.fcurves.new(_path(keys), index=n)
        if group is not None:
            curve.group = group
        curve.keyframe_points.add(1 if _is_sampled(keys) else frames)
        if _is_sampled(keys):
            curve.convert_to_samples(keys.first, keys.first + frames)
        else:
            kinds = np.full(frames, _LINEAR, dtype=np.int32)
            kinds[0] = _CONSTANT if keys.step else _LINEAR
            curve.keyframe_points.foreach_set("interpolation", kinds)
    for name, value in keys.constants:
        bag.fcurves.new(name, index=0).keyframe_points.insert(keys.first, value).interpolation = "LINEAR"


def _points(curve: bpy.types.FCurve) -> bpy.types.bpy_prop_collection:
    """What a curve holds: samples or keyframes."""
    return curve.sampled_points if len(curve.sampled_points) else curve.keyframe_points


def _kind(curve: bpy.types.FCurve) -> tuple[str, int, bool, int, str, bool]:
    """What a curve moves, whether it is sampled, for how many frames, its group, and whether it begins with a step."""
    group = curve.group.name if curve.group is not None else ""
    is_sampled = bool(len(curve.sampled_points))
    return curve.data_path, curve.array_index, is_sampled, len(_points(curve)), group, _is_step(curve)


def _is_step(curve: bpy.types.FCurve) -> bool:
    """Whether the first key of a curve holds until the next."""
    points = curve.keyframe_points
    return bool(len(points)) and points[0].interpolation == "CONSTANT"


def _is_plain(curve: bpy.types.FCurve) -> bool:
    """Whether nobody has changed what a curve makes of its points."""
    if curve.mute or len(curve.modifiers) or curve.extrapolation != "CONSTANT":
        return False
    if not len(curve.keyframe_points):
        return True
    kinds = np.full(len(curve.keyframe_points), _LINEAR, dtype=np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    return bool(np.all(kinds[1:] == _LINEAR)) and kinds[0] in (_LINEAR, _CONSTANT)


def read(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> list[PlaceKeys]:
    """What is keyed for a place, by channels; nothing where somebody has changed the curves."""
    channels: list[list[bpy.types.FCurve]] = []
    for curve in actions.curves(action, slot):
        is_new = not channels or curve.data_path != channels[-1][0].data_path
        if is_new and not curve.data_path.startswith(_CONSTANTS):
            channels.append([])
        if channels:
            channels[-1].append(curve)
    found = [_read(curves) for curves in channels]
    whole = [keys for keys in found if keys is not None]
    return whole if len(whole) == len(found) else []


def begins_otherwise(
    action: bpy.types.Action, slot: bpy.types.ActionSlot, keys: PlaceKeys, tolerance: float = 0.0
) -> bool:
    """Whether the first curve of a place alone shows that it holds other numbers, which is quicker than to read all."""
    curve = next(iter(actions.curves(action, slot)), None)
    points = None if curve is None else _points(curve)
    if points is None or len(points) != len(keys.values):
        return True
    known = np.empty((len(points), 2), dtype=np.float32)
    points.foreach_get("co", known.reshape(-1))
    return not np.abs(known[:, 1] - keys.values[:, 0]).max(initial=0.0) <= tolerance


def _read(every: Sequence[bpy.types.FCurve]) -> PlaceKeys | None:
    """What the curves of a channel hold, with those of its constants; None where somebody has changed them."""
    curves = [curve for curve in every if curve.data_path == every[0].data_path]
    constants = tuple((curve.data_path, float(_points(curve)[0].co[1])) for curve in every[len(curves) :])
    held = [_points(curve) for curve in curves]
    count = len(held[0])
    if not count or any(len(points) != count for points in held) or not all(map(_is_plain, curves)):
        return None
    bone, channel = data_paths.split_bone(curves[0].data_path)
    if not channel.isidentifier():
        return None
    points = np.empty((len(curves), count, 2), dtype=np.float32)
    for there, row in zip(held, points, strict=True):
        there.foreach_get("co", row.reshape(-1))
    first = int(points[0, 0, 0])
    step = None if len(curves[0].sampled_points) else _is_step(curves[0])
    return PlaceKeys(bone, channel, first, points[:, :, 1].T.copy(), curves[0].array_index, constants, step)


def numbers(action: bpy.types.Action) -> list[bytes]:
    """All frames and numbers that an action holds, to detect whether somebody has changed them."""
    found = []
    for slot in action.slots:
        for curve in actions.curves(action, slot):
            points = _points(curve)
            values = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get("co", values)
            found.append(values.tobytes() + bytes((curve.mute, len(curve.modifiers) > 0)))
    return found


def at(action: bpy.types.Action, slot: bpy.types.ActionSlot, frame: float) -> Array:
    """The numbers (n,) that are keyed for a place, at a frame; none where nothing is."""
    return np.array([curve.evaluate(frame) for curve in actions.curves(action, slot)])


def remove_unused(action: bpy.types.Action | None) -> None:
    """Take an action out of the file where no constraint reads it any more."""
    if is_layer(action) and action.users == 0:
        bpy.data.actions.remove(action)
