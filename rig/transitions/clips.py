"""Clips: everything that an action animates on an armature, as arrays, and back to keys.

A clip is read from the F-curves, not from the evaluated rig: what is cut, blended and written again are the animator's
own channels, whatever constraints make of them later.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, channels, keys
from . import animated
from .animated import Channel
from .animated import channels_of as channels_of  # read together with the clip, so looked for here


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
    otherwise = otherwise or animated.current
    bag = actions.channelbag(action, slot)
    clip = Clip(armature, np.asarray(frames, dtype=float))
    times = clip.frames.tolist()
    for channel in animated.channels_of(armature, action, slot) if wanted is None else wanted:
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
                "Action '{action}' has a value that is not a number in {path} at frame {frame:g}; fix "
                "or delete that key.",
                action=action.name,
                path=channel.path,
                frame=frame,
            )
        clip.raw[channel] = raw
    return clip


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
