"""Actions, slots and NLA: where an armature's keys are and how baked ones get there."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import bpy
import numpy as np

from ..lookat_pd import rotation
from ..lookat_pd.errors import RigError
from ..lookat_pd.rotation import Array
from . import keys
from .sample import channel

INTO = ("NEW", "CURRENT", "LAYER")


def rotation_path(bone: str, mode: str) -> str:
    """Data path of the channels that hold a bone's rotation."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel(mode)[0]}'


def channelbag(action: bpy.types.Action, slot: bpy.types.ActionSlot, *, ensure: bool = False):
    """The F-curves that `action` has for `slot`; None where there are none, unless `ensure` makes room for them."""
    for layer in action.layers:
        for strip in layer.strips:
            if strip.type == "KEYFRAME":
                return strip.channelbag(slot, ensure=ensure)
    if not ensure:
        return None
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    return layer.strips.new(type="KEYFRAME").channelbag(slot, ensure=True)


def new_action(name: str, armature: bpy.types.Object) -> tuple[bpy.types.Action, bpy.types.ActionSlot]:
    action = bpy.data.actions.new(name)
    return action, action.slots.new(id_type="OBJECT", name=armature.name)


def check(armature: bpy.types.Object, into: str) -> None:
    """Raise RigError where this armature's animation cannot take a bake of that kind."""
    if into not in INTO:
        raise RigError(f"Cannot bake into {into!r}; choose NEW, CURRENT or LAYER.")
    data = armature.animation_data
    action = data.action if data else None
    name = armature.name
    if data and data.use_tweak_mode:
        raise RigError(f"'{name}' is in NLA tweak mode; leave it (Tab in the NLA editor) and bake again.")
    if action is not None and data.action_slot is None:
        raise RigError(
            f"Action '{action.name}' has no slot chosen for '{name}', so it moves nothing; choose one in the Action "
            "editor."
        )
    if action is not None and into != "LAYER" and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        raise RigError(
            f"Action '{action.name}' is blended onto the NLA of '{name}'; set its blending to Replace with influence "
            "1, or bake into a layer."
        )
    if into == "CURRENT":
        if action is None:
            raise RigError(f"'{name}' has no current action; bake into a new one.")
        if action.library is not None or not action.is_editable:
            raise RigError(f"Action '{action.name}' is linked from a library; bake into a new action or a layer.")
        others = [user.name for user in data.action_slot.users() if user != armature]
        if others:
            raise RigError(f"Action '{action.name}' also moves '{others[0]}'; bake into a new action or a layer.")
    if into == "LAYER" and data:
        if action is not None and data.action_influence < 1.0:
            raise RigError(f"Action '{action.name}' plays with an influence below 1; set it to 1 and bake again.")
        if data.nla_tracks and not data.use_nla:
            raise RigError(f"The NLA of '{name}' is switched off; switch it on, or bake into a new action.")
        if any(track.is_solo for track in data.nla_tracks):
            raise RigError(f"An NLA track of '{name}' plays solo; end the solo, or bake into a new action.")


def check_curves(armature: bpy.types.Object, bones: Mapping[str, str], into: str) -> None:
    """Raise RigError where the rotation of one of `bones` (name to rotation mode) cannot be keyed."""
    data = armature.animation_data
    if data is None:
        return
    for bone, mode in bones.items():
        path = rotation_path(bone, mode)
        if any(driver.data_path == path for driver in data.drivers):
            raise RigError(
                f"The rotation of bone '{bone}' is driven; delete the driver or take the bone out of the chain."
            )
        if into != "CURRENT":
            continue
        for curve in _curves(data.action, data.action_slot, path, channel(mode)[1]):
            if curve is not None and (not _plays(curve) or any(not m.mute for m in curve.modifiers)):
                raise RigError(
                    f"An F-curve of bone '{bone}' is muted or has a modifier; bake into a new action or a layer."
                )


def _curves(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None, path: str, size: int) -> list:
    bag = channelbag(action, slot) if action is not None and slot is not None else None
    return [bag.fcurves.find(path, index=n) if bag is not None else None for n in range(size)]


def key_frames(armature: bpy.types.Object, path: str) -> list[float] | None:
    """Frames at which the current action has keys for a property; None where it has no F-curve."""
    data = armature.animation_data
    if data is None:
        return None
    curve = _curves(data.action, data.action_slot, path, 1)[0]
    return None if curve is None else [point.co.x for point in curve.keyframe_points]


def remove_curves(armature: bpy.types.Object, path: str) -> None:
    """Delete the F-curves of the current action, and the drivers, whose data path begins with `path`."""
    data = armature.animation_data
    if data is None:
        return
    for driver in [driver for driver in data.drivers if driver.data_path.startswith(path)]:
        data.drivers.remove(driver)
    action = data.action
    if action is None or data.action_slot is None or not action.is_editable:
        return
    bag = channelbag(action, data.action_slot)
    if bag is not None:
        for curve in [curve for curve in bag.fcurves if curve.data_path.startswith(path)]:
            bag.fcurves.remove(curve)


class Working:
    """A bake in progress on one armature: keys go into a working action that stands in for the animator's own.

    Nothing the animator has changes until `commit`; `rollback`, before or after it or out of the middle of it, leaves
    everything as it was.
    """

    def __init__(self, armature: bpy.types.Object) -> None:
        self.armature = armature
        self._undo = ExitStack()
        self._values: dict[str, tuple[str, Array, Array, Array]] = {}
        data = armature.animation_data
        self._source = data.action if data else None
        self._source_slot = data.action_slot if data else None
        # A new action that is baked over its whole length keeps that length.
        self._reach = (np.inf, -np.inf) if self._source is None else tuple(self._source.curve_frame_range)
        data = self._data()
        if self._source is not None:
            self.action = self._source.copy()
            self._slot = self.action.slots[self._source_slot.identifier]
        else:
            self.action, self._slot = new_action(armature.name, armature)
        self._undo.callback(bpy.data.actions.remove, self.action)
        self._assign_again_on_undo(data)
        data.action = self.action
        data.action_slot = self._slot

    def _data(self) -> bpy.types.AnimData:
        """The armature's animation data, made where there is none."""
        data = self.armature.animation_data
        if data is None:
            data = self.armature.animation_data_create()
            self._undo.callback(self.armature.animation_data_clear)
        return data

    def _assign_again_on_undo(self, data: bpy.types.AnimData) -> None:
        if self._source is not None:
            self._undo.callback(setattr, data, "action_slot", self._source_slot)
        self._undo.callback(setattr, data, "action", self._source)

    def write(self, bone: str, mode: str, frames: Array, values: Array, base: Array) -> None:
        """Give a bone's rotation channels (F, 3 or 4) a key a frame; `base` is what they were without the bake."""
        if bone in self._values:
            base = self._values[bone][3]
        self._values[bone] = (mode, frames, values, base)
        self._put(self.action, self._slot, bone, mode, frames, values, base, self._edges(frames))
        self.action.update_tag()

    def _edges(self, frames: Array) -> tuple[bool, bool]:
        """Whether the animation goes on to the left and right of the frames, where it must stay as it is."""
        return self._reach[0] < frames[0], self._reach[1] > frames[-1]

    def try_out(self, bone: str, mode: str, frames: Array, values: Array) -> None:
        """Key a bone's rotation in the working action only: `commit` does not know of it."""
        self._put(self.action, self._slot, bone, mode, frames, values, values, (False, False))
        self.action.update_tag()

    def _put(
        self, action, slot, bone: str, mode: str, frames: Array, values: Array, base: Array, edges: tuple[bool, bool]
    ) -> None:
        """Key a rotation. edges: whether to the left and right of the frames what was there must stay as it was."""
        path, size = rotation_path(bone, mode), channel(mode)[1]
        sources = _curves(self._source, self._source_slot, path, size)
        bag = channelbag(action, slot, ensure=True)
        for n, source in enumerate(sources):
            changed = source is not None and _plays(source) and any(not m.mute for m in source.modifiers)
            plain = source is not None and _plays(source) and not changed
            old = keys.Keys.read(source) if plain else keys.Keys.read(None)
            before = source.evaluate if plain else _constant(float(base[0, n]))
            new = keys.replace(old, frames, values[:, n], before, (False, False) if changed else edges)
            curve = bag.fcurves.find(path, index=n) or new_curve(bag, path, n, bone)
            curve.mute = False
            if not _plays(curve):
                curve.group = None
            if not plain:
                for modifier in list(curve.modifiers):
                    curve.modifiers.remove(modifier)
            new.write(curve)

    def commit(self, into: str, name: str) -> bpy.types.Action:
        """Put the result where it was wanted and return the action that holds it."""
        if into == "NEW":
            self.action.name = name
            source = self._source
            if source is not None and source.users == 0 and source.library is None:
                self._undo.callback(setattr, source, "use_fake_user", False)
                source.use_fake_user = True
            return self.action
        self.rollback()
        return self._write_current() if into == "CURRENT" else self._add_layer(name)

    def rollback(self) -> None:
        self._undo.close()

    def _write_current(self) -> bpy.types.Action:
        action, slot = self._source, self._source_slot
        bag = channelbag(action, slot, ensure=True)
        for bone, (mode, frames, values, base) in self._values.items():
            path, size = rotation_path(bone, mode), channel(mode)[1]
            for n, curve in enumerate(_curves(action, slot, path, size)):
                old = None if curve is None else keys.Keys.read(curve)
                self._undo.callback(_put_back, bag, path, n, old)
            self._put(action, slot, bone, mode, frames, values, base, self._edges(frames))
        action.update_tag()
        return action

    def _add_layer(self, name: str) -> bpy.types.Action:
        data = self._data()
        self._undo.callback(setattr, data, "use_nla", data.use_nla)
        self._assign_again_on_undo(data)
        self._undo.callback(_remove_tracks, data, len(data.nla_tracks))
        if self._source is not None:
            _push_down(data, self._values)
        data.use_nla = True
        self._hold_pose(data)
        action, slot = new_action(name, self.armature)
        self._undo.callback(bpy.data.actions.remove, action)
        bag = channelbag(action, slot, ensure=True)
        for bone, (mode, frames, values, base) in self._values.items():
            path = rotation_path(bone, mode)
            for n, column in enumerate(layer_channels(mode, values, base).T):
                keys.Keys.dense(frames, column).write(new_curve(bag, path, n, bone))
        frames = next(iter(self._values.values()))[1]
        track = data.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, int(frames[0]), action)
        strip.action_slot = slot
        _set_extent(strip, float(frames[0]), float(frames[-1]))
        strip.blend_type, strip.extrapolation = "COMBINE", "NOTHING"
        return action

    def _hold_pose(self, data: bpy.types.AnimData) -> None:
        """Key, in a layer below, what is posed without keys: once a layer animates it, Blender forgets such a pose."""
        animated = _animated(data)
        posed = []
        for bone, (mode, _, _, base) in self._values.items():
            path, start = rotation_path(bone, mode), _START.get(mode, (0.0, 0.0, 0.0))
            for n, value in enumerate(base[0]):
                if value != start[n] and (path, n) not in animated:
                    posed.append((bone, path, n, value))
        if not posed:
            return
        name = f"{self.armature.name} pose"
        action, slot = new_action(name, self.armature)
        self._undo.callback(bpy.data.actions.remove, action)
        bag = channelbag(action, slot, ensure=True)
        frame = next(iter(self._values.values()))[1][:1]
        for bone, path, n, value in posed:
            keys.Keys.dense(frame, np.array([value])).write(new_curve(bag, path, n, bone))
        track = data.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, int(frame[0]), action)
        strip.action_slot = slot
        strip.blend_type, strip.extrapolation = "REPLACE", "HOLD"


_START = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 0.0, 0.0)}
"""What a rotation is, to Blender's NLA, before the first strip; angles are 0."""


def _put_back(bag: Any, path: str, index: int, old: keys.Keys | None) -> None:
    """Undo the writing of one F-curve: its keys as they were, or no curve at all."""
    curve = bag.fcurves.find(path, index=index)
    if curve is None:
        return
    if old is not None:
        old.write(curve)
        return
    group = curve.group
    bag.fcurves.remove(curve)
    if group is not None and not len(group.channels):
        bag.groups.remove(group)


def _remove_tracks(data: bpy.types.AnimData, count: int) -> None:
    for track in list(data.nla_tracks)[count:]:
        data.nla_tracks.remove(track)


def _plays(curve: Any) -> bool:
    return not curve.mute and not (curve.group is not None and curve.group.mute)


def _constant(value: float) -> Callable[[float], float]:
    return lambda frame: value


def _animated(data: bpy.types.AnimData) -> set[tuple[str, int]]:
    """Data paths and indices that the NLA animates."""
    found: set[tuple[str, int]] = set()
    waiting = [strip for track in data.nla_tracks if not track.mute for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        waiting.extend(strip.strips)
        if strip.mute or strip.action is None or strip.action_slot is None:
            continue
        bag = channelbag(strip.action, strip.action_slot)
        for curve in bag.fcurves if bag is not None else ():
            if _plays(curve):
                found.add((curve.data_path, curve.array_index))
    return found


def new_curve(bag, path: str, index: int, group: str):
    """A new F-curve in a channelbag, in the group of that name."""
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def layer_channels(mode: str, values: Array, base: Array) -> Array:
    """Channel values (F, 3 or 4) that a COMBINE strip must have to turn the rotation `base` below it into `values`."""
    if mode == "QUATERNION":
        offset = rotation.multiply(rotation.inverse(rotation.normalize(base)), rotation.normalize(values))
        same = np.all(values == base, axis=-1, keepdims=True) | np.all(values == -base, axis=-1, keepdims=True)
        offset = np.where(offset[:, :1] < 0, -offset, offset)
        return rotation.align_hemisphere(np.where(same, rotation.IDENTITY, offset))
    return values - base


def _push_down(data: bpy.types.AnimData, values: Mapping) -> None:
    """Move the current action into a strip of its own that plays exactly as it did."""
    action, slot = data.action, data.action_slot
    blend, extrapolation = data.action_blend_type, data.action_extrapolation
    frames = next(iter(values.values()))[1]
    first, last = action.frame_range
    # The strip must reach past everything that is seen: beyond its end an action with cycles would stand still.
    scene_first = min((scene.frame_start for scene in bpy.data.scenes), default=first)
    scene_last = max((scene.frame_end for scene in bpy.data.scenes), default=last)
    track = data.nla_tracks.new()
    track.name = action.name
    data.action = None
    strip = track.strips.new(action.name, int(first), action)
    strip.action_slot = slot
    _set_extent(strip, min(first, frames[0], scene_first), max(last, frames[-1], scene_last))
    strip.blend_type, strip.extrapolation = blend, extrapolation


def _set_extent(strip: bpy.types.NlaStrip, first: float, last: float) -> None:
    """Make a strip play its action unscaled from `first` to `last`, frame for frame."""
    last = max(last, first + 1.0)
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start_raw, strip.frame_end_raw = first, last
    strip.scale = 1.0
    strip.frame_start_raw, strip.frame_end_raw = first, last
