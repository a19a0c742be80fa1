"""A bake in progress: keys are written to a working action first, and to their destination only on success."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import actions, changed_curves, data_paths, keys
from .actions import rotation_path
from .changed_curves import metre
from .channels import channel
from .key_writer import ChannelMotion, KeyWriter

SOURCE = "lookat_pd_source"
"""Custom property of a baked action: the name of the action that it was baked from, "" for a layer."""


def source_of(action: bpy.types.Action | None) -> bpy.types.Action | None:
    """The action that another one was baked from; None where it was not baked, or the source is gone."""
    name = action.get(SOURCE) if action is not None else None
    # A linked one has the name of its library in its own.
    return next((item for item in bpy.data.actions if item.name_full == name), None) if name else None


def is_layer(action: bpy.types.Action | None) -> bool:
    """Whether an action holds only what a bake adds, as an NLA layer."""
    return action is not None and action.get(SOURCE) == ""


class BakeTransaction:
    """A bake in progress on one armature: keys are written to a working action that temporarily replaces the animator's
    own.

    No data of the animator changes until `commit`; `rollback`, before, during or after it, restores everything. As a
    context manager it is rolled back by an exception.
    """

    def __init__(self, armature: bpy.types.ID, *, beside: "BakeTransaction | None" = None) -> None:
        """armature: or its data. beside: another bake of the same animation, which continues where that one does."""
        self.armature = armature
        self._undo = ExitStack()
        self._values: dict[tuple[str, str], tuple[Array, Array, Array]] = {}
        self._types: dict[tuple[str, str], NDArray | None] = {}
        data = armature.animation_data
        self._source = data.action if data else None
        self._source_slot = data.action_slot if data else None
        # A new action that is baked over its whole length keeps that length.
        self._reach = (np.inf, -np.inf) if self._source is None else tuple(self._source.curve_frame_range)
        if beside is not None:
            self._reach = min(self._reach[0], beside._reach[0]), max(self._reach[1], beside._reach[1])
        data = self._data()
        if self._source is not None:
            self.action = self._source.copy()
            self._slot = self.action.slots[self._source_slot.identifier]
        else:
            self.action, self._slot = actions.new_action(armature.name, armature)
        self._undo.callback(bpy.data.actions.remove, self.action)
        self._assign_again_on_undo(data)
        data.action = self.action
        data.action_slot = self._slot

    def __enter__(self) -> "BakeTransaction":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.rollback()

    def _data(self) -> bpy.types.AnimData:
        """The animation data of the armature, created if there is none."""
        data = self.armature.animation_data
        if data is None:
            data = self.armature.animation_data_create()
            self._undo.callback(self.armature.animation_data_clear)
        return data

    def _assign_again_on_undo(self, data: bpy.types.AnimData) -> None:
        if self._source is not None:
            self._undo.callback(setattr, data, "action_slot", self._source_slot)
        self._undo.callback(setattr, data, "action", self._source)

    def write(
        self, bone: str, mode: str, frames: Array, values: Array, base: Array, types: NDArray | None = None
    ) -> None:
        """Key the channels (F, 3 or 4) of a bone at each frame; `base` is their value without the bake.

        mode: the rotation mode, or `LOCATION` for the channels of its location. types: of the keys (F,), as Blender
        numbers them; None for *Generated*.
        """
        if (bone, mode) in self._values:
            base = self._values[bone, mode][2]
        else:
            self._stand_again_on_undo(bone, mode)
        self._values[bone, mode] = (frames, values, base)
        self._types[bone, mode] = types
        self._put(self.action, self._slot, bone, mode, KeyWriter())
        self.action.update_tag()

    def _stand_again_on_undo(self, bone: str, mode: str) -> None:
        """Channels without keys keep the values that the bake's keys last gave them, which a drawn window shows."""
        path, size = rotation_path(bone, mode), channel(mode)[1]
        curves = actions.curves_at(self._source, self._source_slot, path, size)
        if not all(curve is not None and actions.plays(curve) for curve in curves):
            value = self.armature.path_resolve(path)
            value = tuple(value) if hasattr(value, "__len__") else value
            self._undo.callback(data_paths.put, self.armature, path, value)

    @property
    def has_keys(self) -> bool:
        """Whether anything was written."""
        return bool(self._values)

    def edges(self, frames: Array) -> tuple[bool, bool]:
        """Whether the animation continues to the left and right of the frames, where it must not change."""
        return self._reach[0] < frames[0], self._reach[1] > frames[-1]

    def _put(self, action, slot, bone: str, mode: str, writer: KeyWriter) -> None:
        """Key channels; the animation to the left and right of the frames does not change."""
        frames, values, base = self._values[bone, mode]
        path, size = rotation_path(bone, mode), channel(mode)[1]
        sources = actions.curves_at(self._source, self._source_slot, path, size)
        bag = actions.channelbag(action, slot, ensure=True)
        changed = [s is not None and actions.plays(s) and any(not m.mute for m in s.modifiers) for s in sources]
        plain = [s is not None and actions.plays(s) and not more for s, more in zip(sources, changed, strict=True)]
        # A key at every frame leaves none of a curve that has nothing beyond them.
        is_read = writer.is_sparse or any(self.edges(frames))
        made = writer.keys(
            ChannelMotion(
                mode,
                frames,
                values,
                [keys.Keys.read(s if own and is_read else None) for s, own in zip(sources, plain, strict=True)],
                [
                    s.evaluate if own else _constant(float(base[0, n]))
                    for n, (s, own) in enumerate(zip(sources, plain, strict=True))
                ],
                [(False, False) if more else self.edges(frames) for more in changed],
                self._types[bone, mode],
                is_replaced=any(changed),
                metre=metre(self.armature, bone),
            )
        )
        for n, new in enumerate(made):
            curve = bag.fcurves.find(path, index=n) or actions.new_curve(bag, path, n, bone)
            curve.mute = False
            if not actions.plays(curve):
                curve.group = None
            if not plain[n]:
                for modifier in list(curve.modifiers):
                    curve.modifiers.remove(modifier)
            new.write(curve)

    def commit(self, into: str, name: str, writer: KeyWriter | None = None) -> bpy.types.Action:
        """Write the result to its destination and return the action that contains it. writer: which keys, by default
        one at every frame."""
        writer = writer or KeyWriter()
        if into == "NEW":
            if writer.is_sparse:
                for bone, mode in self._values:
                    self._put(self.action, self._slot, bone, mode, writer)
            self.action.name = name
            if self._source is not None and source_of(self.action) is None:
                # Its name: a pointer would keep the source from being deleted.
                self.action[SOURCE] = self._source.name_full
            if actions.keep(self._source):
                self._undo.callback(setattr, self._source, "use_fake_user", False)
            return self.action
        self.rollback()
        return self._write_current(writer) if into == "CURRENT" else self._add_layer(name, writer)

    def commit_all(self, into: str, name: str, writer: KeyWriter | None = None) -> bpy.types.Action:
        """Write the working action, which other bakes have changed meanwhile, to a new action or the current one.
        writer: as for `commit`."""
        if writer is not None:
            bag = actions.channelbag(self._source, self._source_slot)
            changed_curves.thin(self.armature, actions.channelbag(self.action, self._slot), bag, writer)
        if into == "NEW":
            return self.commit(into, name)
        made = curve_keys(actions.curves(self.action, self._slot))
        self.rollback()
        action = self._source
        bag = actions.channelbag(action, self._source_slot, ensure=True)
        write_changed(made, bag, self._undo)
        action.update_tag()
        return action

    def rollback(self) -> None:
        self._undo.close()

    def _write_current(self, writer: KeyWriter) -> bpy.types.Action:
        action, slot = self._source, self._source_slot
        bag = actions.channelbag(action, slot, ensure=True)
        for bone, mode in self._values:
            path, size = rotation_path(bone, mode), channel(mode)[1]
            for n, curve in enumerate(actions.curves_at(action, slot, path, size)):
                old = None if curve is None else keys.Keys.read(curve)
                self._undo.callback(put_back, bag, path, n, old)
            self._put(action, slot, bone, mode, writer)
        action.update_tag()
        return action

    def _add_layer(self, name: str, writer: KeyWriter) -> bpy.types.Action:
        data = self._data()
        self._undo.callback(setattr, data, "use_nla", data.use_nla)
        self._assign_again_on_undo(data)
        self._undo.callback(_remove_tracks, data, len(data.nla_tracks))
        if self._source is not None:
            _push_down(data, self._values)
        data.use_nla = True
        self._hold_pose(data)
        action, slot = actions.new_action(name, self.armature)
        action[SOURCE] = ""
        self._undo.callback(bpy.data.actions.remove, action)
        bag = actions.channelbag(action, slot, ensure=True)
        for (bone, mode), (frames, values, base) in self._values.items():
            path, added = rotation_path(bone, mode), layer_channels(mode, values, base)
            nothing = [_constant(value) for value in _START.get(mode, np.zeros(added.shape[1])).tolist()]
            motion = ChannelMotion(
                mode,
                frames,
                added,
                [keys.Keys.read(None)] * len(nothing),
                nothing,
                [(False, False)] * len(nothing),
                self._types[bone, mode],
                metre=metre(self.armature, bone),
            )
            for n, new in enumerate(writer.keys(motion)):
                new.write(actions.new_curve(bag, path, n, bone))
        frames = next(iter(self._values.values()))[0]
        track = data.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, int(frames[0]), action)
        strip.action_slot = slot
        _set_extent(strip, float(frames[0]), float(frames[-1]))
        strip.blend_type, strip.extrapolation = "COMBINE", "NOTHING"
        return action

    def _hold_pose(self, data: bpy.types.AnimData) -> None:
        """Key poses without keys in a layer below: Blender discards them once a layer animates them.

        The layer adds them: a strip that replaces one channel of a quaternion replaces all four.
        """
        animated = animated_by_nla(data)
        posed = []
        for (bone, mode), (_, _, base) in self._values.items():
            path, start = rotation_path(bone, mode), _START.get(mode, np.zeros(len(base[0])))
            added = [0.0 if (path, n) in animated else value - start[n] for n, value in enumerate(base[0])]
            if any(added):
                posed += [(bone, path, n, value) for n, value in enumerate(added) if value or mode == "QUATERNION"]
        if not posed:
            return
        name = f"{self.armature.name} pose"
        action, slot = actions.new_action(name, self.armature)
        action[SOURCE] = ""
        self._undo.callback(bpy.data.actions.remove, action)
        bag = actions.channelbag(action, slot, ensure=True)
        frame = next(iter(self._values.values()))[0][:1]
        for bone, path, n, value in posed:
            keys.Keys.dense(frame, np.array([value])).write(actions.new_curve(bag, path, n, bone))
        track = data.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, int(frame[0]), action)
        strip.action_slot = slot
        strip.blend_type, strip.extrapolation = "ADD", "HOLD"


_START = {"QUATERNION": np.array([1.0, 0.0, 0.0, 0.0]), "AXIS_ANGLE": np.zeros(4)}
"""The default rotation in Blender's NLA before the first strip; angles are 0."""


CurveKeys = tuple[str, int, str, keys.Keys]
"""Data path, array index, name of the group and keys of an F-curve."""


def curve_keys(curves: Iterable[Any]) -> list[CurveKeys]:
    """The keys of F-curves, which stay when the curves are removed."""
    return [
        (curve.data_path, curve.array_index, curve.group.name if curve.group else "", keys.Keys.read(curve))
        for curve in curves
    ]


def write_changed(made: Iterable[CurveKeys], bag: Any, undo: ExitStack | None = None) -> None:
    """Write the keys that differ from those in a channelbag. undo: receives what restores them."""
    for path, index, group, new in made:
        curve = bag.fcurves.find(path, index=index)
        old = None if curve is None else keys.Keys.read(curve)
        if old is None or old.attributes.tobytes() != new.attributes.tobytes():
            if undo is not None:
                undo.callback(put_back, bag, path, index, old)
            new.write(curve or actions.new_curve(bag, path, index, group))


def put_back(bag: Any, path: str, index: int, old: keys.Keys | None) -> None:
    """Undo the writing of one F-curve: restore its keys, or remove it."""
    curve = bag.fcurves.find(path, index=index)
    if curve is None:
        return
    if old is not None:
        old.write(curve)
        return
    # Blender removes a group with the last of its curves.
    bag.fcurves.remove(curve)


def _remove_tracks(data: bpy.types.AnimData, count: int) -> None:
    for track in list(data.nla_tracks)[count:]:
        data.nla_tracks.remove(track)


def _constant(value: float) -> Callable[[float], float]:
    return lambda frame: value


def animated_by_nla(data: bpy.types.AnimData) -> set[tuple[str, int]]:
    """Data paths and indices that the NLA animates."""
    channels: set[tuple[str, int]] = set()
    waiting = [strip for track in data.nla_tracks if not track.mute for strip in track.strips]
    while waiting:
        strip = waiting.pop()
        waiting.extend(strip.strips)
        if strip.mute or strip.action is None or strip.action_slot is None:
            continue
        for curve in actions.curves(strip.action, strip.action_slot):
            if actions.plays(curve):
                channels.add((curve.data_path, curve.array_index))
    return channels


def layer_channels(mode: str, values: Array, base: Array) -> Array:
    """Channel values (F, 3 or 4) of a COMBINE strip that change the rotation `base` below it to `values`."""
    if mode == "QUATERNION":
        offset = rotation.multiply(rotation.inverse(rotation.normalize(base)), rotation.normalize(values))
        same = np.all(values == base, axis=-1, keepdims=True) | np.all(values == -base, axis=-1, keepdims=True)
        offset = np.where(offset[:, :1] < 0, -offset, offset)
        return rotation.align_hemisphere(np.where(same, rotation.IDENTITY, offset))
    return values - base


def _push_down(data: bpy.types.AnimData, values: Mapping) -> None:
    """Move the current action into a strip that plays exactly the same."""
    action, slot = data.action, data.action_slot
    blend, extrapolation = data.action_blend_type, data.action_extrapolation
    frames = next(iter(values.values()))[0]
    first, last = action.frame_range
    # The strip must extend beyond all visible frames: an action with cycles would stop at its end.
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
