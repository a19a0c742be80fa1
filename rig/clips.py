"""Clips: everything that an action animates on an armature, as arrays, and back to keys.

A clip is read from the F-curves, not from the evaluated rig: what is cut, blended and written again are the animator's
own channels, whatever constraints make of them later.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import actions, channels, keys

_BONE = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)$')
_ROTATIONS = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
_VECTORS = {"location": 3, "scale": 3}


@dataclass(frozen=True)
class Channel:
    """One animated property. kind: "rotation", "vector" (location, scale) or "scalar" (anything else, one number).

    bone: "" for the object's own properties. mode: how a rotation is stored ("QUATERNION", "AXIS_ANGLE", "XYZ" …).
    """

    path: str
    index: int
    size: int
    kind: str
    bone: str = ""
    mode: str = ""


@dataclass
class Clip:
    """Values of channels over F frames; rotations as unit quaternions (F, 4), vectors (F, 3), scalars (F, 1).

    raw: the same as stored in F-curves, before any conversion (F, size), so that what is not changed is written back to
    the last bit.
    """

    armature: bpy.types.Object
    frames: Array
    values: dict[Channel, Array] = field(default_factory=dict)
    raw: dict[Channel, Array] = field(default_factory=dict)

    def bones(self) -> set[str]:
        return {channel.bone for channel in self.values if channel.bone}


def channels_of(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> list[Channel]:
    """What the action animates on this armature: rotations in the mode in use, vectors and single numbers.

    F-curves of bones that the armature lacks, and of rotation modes not in use, are left out.
    """
    bag = actions.channelbag(action, slot)
    found: dict[Channel, None] = {}
    for curve in bag.fcurves if bag is not None else []:
        channel = _channel(armature, curve.data_path, curve.array_index)
        if channel is not None:
            found[channel] = None
    return list(found)


def missing_bones(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> set[str]:
    """Bones that the action animates and the armature does not have."""
    bag = actions.channelbag(action, slot)
    named = {_bone_of(curve.data_path)[0] for curve in (bag.fcurves if bag is not None else [])}
    return {name for name in named if name and name not in armature.pose.bones}


def _bone_of(path: str) -> tuple[str, str]:
    match = _BONE.match(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else ("", path)


def _channel(armature: bpy.types.Object, path: str, index: int) -> Channel | None:
    bone, name = _bone_of(path)
    if bone and bone not in armature.pose.bones:
        return None
    owner = armature.pose.bones[bone] if bone else armature
    if name in _ROTATIONS:
        mode = owner.rotation_mode
        if actions.channel(mode)[0] != name:
            return None
        return Channel(path, -1, _ROTATIONS[name], "rotation", bone, mode)
    if name in _VECTORS:
        return Channel(path, -1, 3, "vector", bone)
    return Channel(path, index, 1, "scalar", bone)


def read(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frames: Sequence[float] | Array,
    wanted: Sequence[Channel] | None = None,
) -> Clip:
    """Values of the `wanted` channels (default: all the action animates) at `frames`, modifiers included.

    A channel without an F-curve has the value it has on the rig now, which is what plays. Raises RigError where a
    value is not a number.
    """
    bag = actions.channelbag(action, slot)
    clip = Clip(armature, np.asarray(frames, dtype=float))
    for channel in channels_of(armature, action, slot) if wanted is None else wanted:
        raw = np.empty((len(clip.frames), channel.size))
        still = current(armature, channel)
        for n in range(channel.size):
            index = n if channel.index < 0 else channel.index
            curve = bag.fcurves.find(channel.path, index=index) if bag is not None else None
            raw[:, n] = still[n] if curve is None or curve.mute else [curve.evaluate(f) for f in clip.frames.tolist()]
        if not np.all(np.isfinite(raw)):
            frame = clip.frames[int(np.argmin(np.isfinite(raw).all(axis=1)))]
            raise RigError(
                f"Action '{action.name}' has a value that is not a number in {channel.path} at frame {frame:g}; mend it."
            )
        clip.raw[channel] = raw
        clip.values[channel] = to_values(channel, raw)
    return clip


def current(armature: bpy.types.Object, channel: Channel) -> Array:
    """The numbers (size,) a channel has on the rig now; zeros where the property does not exist (any more)."""
    try:
        value = armature.path_resolve(channel.path)
    except ValueError:
        return np.zeros(channel.size)
    if channel.kind == "scalar":
        value = value if np.isscalar(value) else value[channel.index]
        return np.array([float(value)]) if np.isscalar(value) else np.zeros(1)
    return np.array(value, dtype=float)


def to_values(channel: Channel, raw: Array) -> Array:
    """Stored numbers (F, size) to what is blended: rotations become unit quaternions."""
    return channels.to_quaternion(raw, channel.mode) if channel.kind == "rotation" else raw


def to_raw(channel: Channel, values: Array, start: Array) -> Array:
    """Blended values back to stored numbers (F, size) that run on without jumps from near `start` (size,)."""
    if channel.kind != "rotation":
        return values
    if channel.mode == "QUATERNION":
        return rotation.align_hemisphere(np.concatenate((start[None], values)))[1:]
    if channel.mode == "AXIS_ANGLE":
        return channels.continuous_axis_angle(values, start)
    return rotation.continuous_euler(rotation.to_euler(values, channel.mode), channel.mode, start=start)


def write(
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frames: Array,
    raw: Mapping[Channel, Array],
    *,
    group: Callable[[Channel], str] = lambda channel: channel.bone or "Object Transforms",
) -> None:
    """Give the action a key at each frame for each channel, replacing what F-curves these channels have there."""
    bag = actions.channelbag(action, slot, ensure=True)
    for channel, values in raw.items():
        for n in range(channel.size):
            index = n if channel.index < 0 else channel.index
            curve = bag.fcurves.find(channel.path, index=index)
            if curve is None:
                curve = actions.new_curve(bag, channel.path, index, group(channel))
            keys.Keys.dense(frames, values[:, n]).write(curve)
