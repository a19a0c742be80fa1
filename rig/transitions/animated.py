"""The channels that an action animates on an armature, and their values without it."""

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import actions, channels, data_paths

_ROTATIONS = {"rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
_VECTORS = {"location": 3, "scale": 3}


@dataclass(frozen=True)
class Channel:
    """One animated property."""

    path: str
    index: int
    """Index of a scalar or switch within its property, -1 if the numbers of the property are used together."""
    size: int
    kind: str
    """"rotation", "vector" (location, scale), "scalar" (any other number), or "switch" (on or off, a choice, a whole
    number: something that has no values in between)."""
    bone: str = ""
    """Name of the bone, "" for properties of the object."""
    mode: str = ""
    """How a rotation is stored ("QUATERNION", "AXIS_ANGLE", "XYZ" …)."""

    def __hash__(self) -> int:
        # A string caches its hash: channels are mainly used as keys.
        return hash(self.path)

    @property
    def name(self) -> str:
        """The property without its bone."""
        return self.path.rpartition(".")[2]

    @property
    def is_setting(self) -> bool:
        """Whether it is a setting of a look-at, whose keys of type *Generated* are those of a conversation."""
        return ".lookat_pd." in self.path

    @property
    def is_transform(self) -> bool:
        return self.kind in ("rotation", "vector")


@dataclass(frozen=True)
class Contents:
    """What an action animates on an armature: rotations in the current mode, vectors and single numbers.

    F-curves of bones that the armature lacks are omitted.
    """

    channels: list[Channel]
    fitting: list[str]
    """Names of the animated bones that the armature has."""
    missing: list[str]
    """Names of the animated bones that the armature lacks."""
    converted: list[str]
    """Names of the bones whose rotation is keyed in another mode only."""


def contents(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> Contents:
    seen: set[tuple[str, int]] = set()
    animated: dict[Channel, None] = {}
    bones: dict[str, bool] = {}
    otherwise: dict[str, None] = {}
    for curve in actions.curves(action, slot):
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
            animated[channel] = None
        elif name in _ROTATIONS and bones.get(bone, True):
            otherwise[bone] = None
    fitting, missing = [n for n, has in bones.items() if has], [n for n, has in bones.items() if not has]
    converted = [bone for bone in otherwise if transform(armature, bone, "rotation") not in animated]
    return Contents(list(animated), fitting, missing, converted)


def channels_of(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> list[Channel]:
    """The channels of `contents`, with rotations only in the current modes."""
    return contents(armature, action, slot).channels


@lru_cache(maxsize=8192)
def _bone_of(path: str) -> tuple[str, str]:
    return data_paths.split_bone(path)


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
    """The channel "rotation", in its mode, or "location" of a bone or, with "", of the object."""
    owner = armature.pose.bones[bone] if bone else armature
    name = actions.channel(owner.rotation_mode)[0] if kind == "rotation" else "location"
    path = f"{data_paths.bone_path(bone)}.{name}" if bone else name
    channel = _channel(armature, path, 0)
    assert channel is not None, "made for the mode in use"
    return channel


def in_mode(channel: Channel, mode: str) -> Channel:
    """The channel of the same rotation in another mode."""
    name = actions.channel(mode)[0]
    path = channel.path.removesuffix(channel.name) + name
    return replace(channel, path=path, size=_ROTATIONS[name], mode=mode)


def _held(armature: bpy.types.Object, path: str, index: int) -> Any:
    """The current value of a property of the rig; None if it does not exist."""
    try:
        value = armature.path_resolve(path)
    except ValueError:
        return None
    if hasattr(value, "__len__") and not isinstance(value, str):
        return value[index] if 0 <= index < len(value) else None
    return value


def unkeyed(armature: bpy.types.Object, channel: Channel, played: Container[str]) -> Array:
    """The numbers (size,) of a channel that a clip does not key: as the rig has them, or at rest where that would
    depend on the playhead.

    played: the data paths of what is animated now, as `playing.animated_paths` finds them.
    """
    if channel.path not in played:
        return current(armature, channel)
    if channel.is_transform:
        kind = {"location": channels.LOCATION, "scale": channels.SCALE}.get(channel.name, channel.mode)
        return channels.at_rest(kind)
    return np.array([_default(armature, channel)])


def _default(armature: bpy.types.Object, channel: Channel) -> float:
    """The default of a custom property, or of a setting of Blender; 0 where there is none."""
    custom = channel.path.endswith('"]')
    owner, _, name = channel.path.rpartition('["' if custom else ".")
    try:
        place = armature.path_resolve(owner) if owner else armature
        if custom:
            value = place.id_properties_ui(name.removesuffix('"]')).as_dict().get("default")
        else:
            setting = place.bl_rna.properties[name]
            value = setting.default_array if getattr(setting, "is_array", False) else setting.default
            value = setting.enum_items[value].value if isinstance(value, str) else value
    except (KeyError, TypeError, ValueError):
        return 0.0
    value = value[channel.index] if hasattr(value, "__len__") else value
    return float(value) if isinstance(value, int | float) else 0.0


def current(armature: bpy.types.Object, channel: Channel) -> Array:
    """The current numbers (size,) of a channel of the rig; zeros if the property does not exist."""
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
