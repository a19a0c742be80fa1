"""Clips: all channels that an action animates on an armature, as arrays, and back to keys.

A clip is read from the F-curves, not from the evaluated rig: the animator's channels are cut, blended and written,
independent of constraints.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained
from ...lookat_pd.rotation import Array
from ..animation import actions, channels, keys, playing
from ..animation.curve_values import CurveValues
from . import animated
from .animated import Channel
from .animated import channels_of as channels_of  # read with the clip


@dataclass
class Clip:
    """Channels of an armature over F frames."""

    armature: bpy.types.Object
    frames: Array
    raw: dict[Channel, Array] = field(default_factory=dict)
    """Numbers as stored in F-curves (F, size), so that unchanged values are written back exactly."""

    @cached_property
    def values(self) -> dict[Channel, Array]:
        """Values for blending: rotations as unit quaternions (F, 4), vectors (F, 3), scalars and switches (F, 1)."""
        return {channel: to_values(channel, raw) for channel, raw in self.raw.items()}

    def bones(self) -> set[str]:
        return {channel.bone for channel in self.raw if channel.bone}

    def part(self, chosen: slice) -> "Clip":
        """Some of the frames."""
        return Clip(self.armature, self.frames[chosen], {channel: raw[chosen] for channel, raw in self.raw.items()})

    def then(self, other: "Clip") -> "Clip":
        """This clip followed by another one with the same channels."""
        raw = {channel: np.concatenate((mine, other.raw[channel])) for channel, mine in self.raw.items()}
        return Clip(self.armature, np.concatenate((self.frames, other.frames)), raw)


def read(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frames: Sequence[float] | Array,
    wanted: Iterable[Channel] | None = None,
) -> Clip:
    """The `wanted` channels (default: all that the action animates) at `frames`, including modifiers.

    A channel without an F-curve is as `animated.unkeyed` says, a rotation that is keyed in another mode converted.
    Raises RigError if a value is not a number.
    """
    clip = Clip(armature, np.asarray(frames, dtype=float))
    channels = animated.channels_of(armature, action, slot) if wanted is None else list(wanted)
    with CurveValues(action, slot, clip.frames, sum(channel.size for channel in channels)) as values:
        curves = _Curves(armature, actions.channelbag(action, slot), values, clip.frames.tolist())
        clip.raw = {channel: curves.read(channel) for channel in channels}
    for channel, raw in clip.raw.items():
        if not np.isfinite(raw).all():
            frame = clip.frames[int(np.argmin(np.isfinite(raw).all(axis=1)))]
            raise RigError(
                "Action '{action}' has a value that is not a number in {path} at frame {frame:g}; fix "
                "or delete that key.",
                action=action.name,
                path=channel.path,
                frame=frame,
            )
    return clip


class _Curves:
    """The F-curves of a channelbag at some frames, as channels of an armature."""

    def __init__(self, armature: bpy.types.Object, bag: Any, values: CurveValues, times: Sequence[float]) -> None:
        self.armature, self.values, self.times = armature, values, times
        self.by_place = {} if bag is None else {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}

    @cached_property
    def _played(self) -> set[str]:
        return playing.animated_paths(self.armature)

    def read(self, channel: Channel) -> Array:
        """The numbers (F, size) of a channel."""
        keyed = self._keyed(channel)
        if not keyed and (other := self._in_other_mode(channel)) is not None:
            turns = channels.to_quaternion(self.read(other), other.mode)
            return channels.of_rotations(turns, channel.mode)
        raw = np.empty((len(self.times), channel.size))
        if len(keyed) < channel.size:
            raw[:] = animated.unkeyed(self.armature, channel, self._played)
        for n, curve in keyed.items():
            raw[:, n] = self.values.of(curve)
        return raw

    def _keyed(self, channel: Channel) -> dict[int, Any]:
        """The F-curves that play of a channel, by the place of their number in it."""
        places = range(channel.size)
        curves = {n: self.by_place.get((channel.path, n if channel.index < 0 else channel.index)) for n in places}
        return {n: curve for n, curve in curves.items() if curve is not None and actions.plays(curve)}

    def _in_other_mode(self, channel: Channel) -> Channel | None:
        """The keyed channel of the same rotation in another mode; None if there is none."""
        if channel.kind != "rotation":
            return None
        others = (animated.in_mode(channel, mode) for mode in ("QUATERNION", "AXIS_ANGLE", self._order(channel)))
        return next((other for other in others if other.path != channel.path and self._keyed(other)), None)

    def _order(self, channel: Channel) -> str:
        """The order of Euler angles in which a rotation is keyed: that which is keyed with it, else Blender's own."""
        path = f"{channel.path.rpartition('.')[0]}.rotation_mode".removeprefix(".")
        curve = self.by_place.get((path, 0))
        modes = bpy.types.PoseBone.bl_rna.properties["rotation_mode"].enum_items
        orders = {item.value: item.identifier for item in modes}
        order = "" if curve is None or not self.times else orders.get(round(curve.evaluate(self.times[0])), "")
        return order if channels.family(order) == "EULER" and order else "XYZ"


def to_values(channel: Channel, raw: Array) -> Array:
    """Stored numbers (F, size) as values for blending: rotations become unit quaternions."""
    return channels.to_quaternion(raw, channel.mode) if channel.kind == "rotation" else raw


def writing(action: bpy.types.Action, slot: bpy.types.ActionSlot, clip: Clip) -> Generator[float, None, None]:
    """Add a generated key at each frame for each channel to an action without F-curves: linear, or constant. Yields
    the completed fraction."""
    bag: Any = actions.channelbag(action, slot, ensure=True)
    groups: dict[str, Any] = {}
    co = np.empty((len(clip.frames), 2), dtype=np.float32)
    co[:, 0] = clip.frames
    generated = np.full(len(co), keys.GENERATED, dtype=np.int32)
    for number, (channel, values) in enumerate(clip.raw.items()):
        name = channel.bone or "Object Transforms"
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
            if not channel.is_setting:
                points.foreach_set("type", generated)
            curve.update()
        yield (number + 1) / len(clip.raw)


write = drained("write", writing)


def replace(action: bpy.types.Action, slot: bpy.types.ActionSlot, frames: Array, raw: Mapping[Channel, Array]) -> None:
    """Replace the keys of existing F-curves at each of `frames`; other frames do not change."""
    bag: Any = actions.channelbag(action, slot)
    for channel, values in raw.items():
        for n in range(channel.size):
            curve = bag.fcurves.find(channel.path, index=n if channel.index < 0 else channel.index)
            if curve is not None:
                keys.replace(keys.Keys.read(curve), frames, values[:, n], curve.evaluate).write(curve)
