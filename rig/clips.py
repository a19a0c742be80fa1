"""Clips: everything that an action animates on an armature, as arrays, and back to keys.

A clip is read from the F-curves, not from the evaluated rig: what is cut, blended and written again are the animator's
own channels, whatever constraints make of them later.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import bpy
import numpy as np

from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import actions, channels, keys

_BONE = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.|(?=\[))(.+)$')
_ROTATIONS = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
_VECTORS = {"location": 3, "scale": 3}
_REST = {"location": 0.0, "scale": 1.0, "rotation_euler": 0.0}
_REST_TURN = {"rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0)}


@dataclass(frozen=True)
class Channel:
    """One animated property. kind: "rotation", "vector" (location, scale), "scalar" (any other number), or "switch"
    (on or off, a choice, a whole number: something that has no values in between).

    index: of a scalar or switch within its property, -1 where all numbers of the property go together.
    bone: "" for the object's own properties. mode: how a rotation is stored ("QUATERNION", "AXIS_ANGLE", "XYZ" …).
    """

    path: str
    index: int
    size: int
    kind: str
    bone: str = ""
    mode: str = ""

    def __hash__(self) -> int:
        # A string remembers its hash: channels are looked up far more often than any other use is made of them.
        return hash(self.path)

    @property
    def name(self) -> str:
        """The property alone, without its bone."""
        return self.path.rpartition(".")[2]

    @property
    def is_transform(self) -> bool:
        return self.kind in ("rotation", "vector")


@dataclass
class Clip:
    """Channels of an armature over F frames.

    raw: numbers as stored in F-curves (F, size), so that what is not changed is written back to the last bit.
    """

    armature: bpy.types.Object
    frames: Array
    raw: dict[Channel, Array] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[Channel, Array]:
        """What can be blended: rotations as unit quaternions (F, 4), vectors (F, 3), scalars and switches (F, 1)."""
        return {channel: to_values(channel, raw) for channel, raw in self.raw.items()}

    def bones(self) -> set[str]:
        return {channel.bone for channel in self.raw if channel.bone}

    def part(self, chosen: slice) -> "Clip":
        """Some of the frames."""
        return Clip(self.armature, self.frames[chosen], {channel: raw[chosen] for channel, raw in self.raw.items()})

    def then(self, other: "Clip") -> "Clip":
        """This clip and after it another with the same channels."""
        raw = {channel: np.concatenate((mine, other.raw[channel])) for channel, mine in self.raw.items()}
        return Clip(self.armature, np.concatenate((self.frames, other.frames)), raw)


def find_slot(armature: bpy.types.Object, action: bpy.types.Action) -> bpy.types.ActionSlot:
    """The slot of an action that moves this armature: the one in use, the one of its name, or the first for objects.

    Raises RigError where there is none.
    """
    data = armature.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    slots = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    if not slots:
        raise RigError(
            f"Action '{action.name}' has no slot for objects, so it cannot move '{armature.name}'; choose another."
        )
    mine = [slot for slot in slots if slot.identifier[2:] == armature.name]
    keyed = [slot for slot in slots if actions.channelbag(action, slot) is not None]
    return (mine or keyed or slots)[0]


@dataclass(frozen=True)
class Contents:
    """What an action animates on an armature: rotations in the mode in use, vectors and single numbers.

    F-curves of bones that the armature lacks, and of rotation modes not in use, are left out. fitting, missing: names
    of the bones animated that the armature has and does not have.
    """

    channels: list[Channel]
    fitting: list[str]
    missing: list[str]


def contents(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> Contents:
    bag = actions.channelbag(action, slot)
    seen: set[tuple[str, int]] = set()
    found: dict[Channel, None] = {}
    bones: dict[str, bool] = {}
    for curve in bag.fcurves if bag is not None else []:
        path = curve.data_path
        bone, name = _bone_of(path)
        index = -1 if name in _ROTATIONS or name in _VECTORS else curve.array_index
        if (path, index) in seen:
            continue
        seen.add((path, index))
        if bone and bone not in bones:
            bones[bone] = bone in armature.pose.bones
        channel = _channel(armature, path, index) if bones.get(bone, True) else None
        if channel is not None:
            found[channel] = None
    fitting, missing = [n for n, has in bones.items() if has], [n for n, has in bones.items() if not has]
    return Contents(list(found), fitting, missing)


def channels_of(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> list[Channel]:
    """The channels of `contents`."""
    return contents(armature, action, slot).channels


@lru_cache(maxsize=8192)
def _bone_of(path: str) -> tuple[str, str]:
    match = _BONE.match(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else ("", path)


def _channel(armature: bpy.types.Object, path: str, index: int) -> Channel | None:
    bone, name = _bone_of(path)
    owner = armature.pose.bones[bone] if bone else armature
    if name in _ROTATIONS:
        mode = owner.rotation_mode
        if actions.channel(mode)[0] != name:
            return None
        return Channel(path, -1, _ROTATIONS[name], "rotation", bone, mode)
    if name in _VECTORS:
        return Channel(path, -1, 3, "vector", bone)
    switch = isinstance(_held(armature, path, index), bool | int | str)
    return Channel(path, index, 1, "switch" if switch else "scalar", bone)


def transform(armature: bpy.types.Object, bone: str, kind: str) -> Channel:
    """The channel of a bone's, or with "" the object's, "rotation" in its mode, or "location"."""
    owner = armature.pose.bones[bone] if bone else armature
    name = actions.channel(owner.rotation_mode)[0] if kind == "rotation" else "location"
    path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{name}' if bone else name
    channel = _channel(armature, path, 0)
    assert channel is not None, "made for the mode in use"
    return channel


def read(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frames: Sequence[float] | Array,
    wanted: Iterable[Channel] | None = None,
    *,
    otherwise: Callable[[bpy.types.Object, Channel], Array] | None = None,
) -> Clip:
    """The `wanted` channels (default: all the action animates) at `frames`, modifiers included.

    A channel without an F-curve has the value it has on the rig now, which is what plays, or the one that `otherwise`
    gives. Raises RigError where a value is not a number.
    """
    otherwise = otherwise or current
    bag = actions.channelbag(action, slot)
    clip = Clip(armature, np.asarray(frames, dtype=float))
    times = clip.frames.tolist()
    for channel in channels_of(armature, action, slot) if wanted is None else wanted:
        raw = np.empty((len(times), channel.size))
        still = None
        for n in range(channel.size):
            index = n if channel.index < 0 else channel.index
            curve = bag.fcurves.find(channel.path, index=index) if bag is not None else None
            if curve is None or curve.mute or (curve.group is not None and curve.group.mute):
                still = otherwise(armature, channel) if still is None else still
                raw[:, n] = still[n]
            else:
                evaluate = curve.evaluate
                raw[:, n] = [evaluate(time) for time in times]
        if not np.isfinite(raw).all():
            frame = clip.frames[int(np.argmin(np.isfinite(raw).all(axis=1)))]
            raise RigError(
                f"Action '{action.name}' has a value that is not a number in {channel.path} at frame {frame:g}; "
                "mend or delete that key."
            )
        clip.raw[channel] = raw
    return clip


def _held(armature: bpy.types.Object, path: str, index: int) -> Any:
    """What a property holds on the rig now; None where it does not exist (any more)."""
    try:
        value = armature.path_resolve(path)
    except ValueError:
        return None
    if hasattr(value, "__len__") and not isinstance(value, str):
        return value[index] if 0 <= index < len(value) else None
    return value


def current(armature: bpy.types.Object, channel: Channel) -> Array:
    """The numbers (size,) a channel has on the rig now; zeros where the property does not exist (any more)."""
    if channel.is_transform:
        try:
            return np.array(armature.path_resolve(channel.path), dtype=float)
        except ValueError:
            return np.zeros(channel.size)
    value = _held(armature, channel.path, channel.index)
    if isinstance(value, str):
        owner, _, name = channel.path.rpartition(".")
        chosen = (armature.path_resolve(owner) if owner else armature).bl_rna.properties[name].enum_items.get(value)
        value = chosen.value if chosen is not None else 0
    return np.array([float(value)]) if isinstance(value, int | float) else np.zeros(1)


def at_rest(armature: bpy.types.Object, channel: Channel) -> Array:
    """The numbers (size,) that stand for no transform; for anything else what the rig has now."""
    if channel.name in _REST_TURN:
        return np.array(_REST_TURN[channel.name])
    if channel.is_transform:
        return np.full(channel.size, _REST[channel.name])
    return current(armature, channel)


def to_values(channel: Channel, raw: Array) -> Array:
    """Stored numbers (F, size) to what is blended: rotations become unit quaternions."""
    return channels.to_quaternion(raw, channel.mode) if channel.kind == "rotation" else raw


def write(
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    clip: Clip,
    *,
    group: Callable[[Channel], str] = lambda channel: channel.bone or "Object Transforms",
) -> None:
    """Give an action without F-curves a key at each frame for each channel: lines between, steps for switches."""
    bag: Any = actions.channelbag(action, slot, ensure=True)
    groups: dict[str, Any] = {}
    co = np.empty((len(clip.frames), 2), dtype=np.float32)
    co[:, 0] = clip.frames
    handles = np.full(len(co), keys.AUTO_CLAMPED, dtype=np.int32)
    for channel, values in clip.raw.items():
        name = group(channel)
        if name not in groups:
            groups[name] = bag.groups.new(name)
        between = np.full(len(co), keys.CONSTANT if channel.kind == "switch" else keys.LINEAR, dtype=np.int32)
        for n in range(channel.size):
            curve = bag.fcurves.new(channel.path, index=n if channel.index < 0 else channel.index)
            curve.group = groups[name]
            points = curve.keyframe_points
            points.add(len(co))
            co[:, 1] = values[:, n]
            points.foreach_set("co", co.reshape(-1))
            points.foreach_set("interpolation", between)
            points.foreach_set("handle_left_type", handles)
            points.foreach_set("handle_right_type", handles)
            curve.update()


def replace(action: bpy.types.Action, slot: bpy.types.ActionSlot, frames: Array, raw: Mapping[Channel, Array]) -> None:
    """Give existing F-curves a key at each of `frames`, in place of those they have there; elsewhere nothing moves."""
    bag: Any = actions.channelbag(action, slot)
    for channel, values in raw.items():
        for n in range(channel.size):
            curve = bag.fcurves.find(channel.path, index=n if channel.index < 0 else channel.index)
            if curve is not None:
                keys.replace(keys.Keys.read(curve), frames, values[:, n], curve.evaluate).write(curve)
