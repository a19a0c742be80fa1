"""What following in real time may change, as it was before, and putting it back."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import bpy
import numpy as np

from ...animation import actions, keys
from ...animation.channels import TRANSFORM_SIZES
from ...sampling.targets import Target
from ..look_at_layer import LookAtLayer


class LiveFollowSnapshot:
    """The offsets on the rig, the target's channels and their keys, the selection and the frame, as they were."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
        armature: bpy.types.Object,
        number: int,
        target: Target,
    ) -> None:
        """number: of the look-at that follows. target: the one it looks at, which may be dragged meanwhile."""
        self.scene, self.view_layer, self.armature = scene, view_layer, armature
        self._layer = LookAtLayer(armature, number)
        self.written = self._layer.written()
        item = target.object
        assert item is not None
        self.target = item
        self.target_bone = target.bone
        owner = self._owner()
        self.values = {name: tuple(getattr(owner, name)) for name in TRANSFORM_SIZES}
        self.paths = {name if owner == item else owner.path_from_id(name) for name in TRANSFORM_SIZES}
        self.action, self.keys = self._keys()
        self.selected = [item for item in view_layer.objects if item.select_get(view_layer=view_layer)]
        self.active = view_layer.objects.active
        self.frame = scene.frame_current, scene.frame_subframe

    def _owner(self) -> Any:
        return self.target.pose.bones[self.target_bone] if self.target_bone else self.target

    def _curves(self) -> Iterator[tuple[tuple[str, int], Any]]:
        data = self.target.animation_data
        if data is not None and data.action is not None and data.action_slot is not None:
            bag = actions.channelbag(data.action, data.action_slot)
            for curve in list(bag.fcurves) if bag is not None else ():
                if curve.data_path in self.paths:
                    yield (curve.data_path, curve.array_index), curve

    def _keys(self) -> tuple[bpy.types.Action | None, dict[tuple[str, int], keys.Keys]]:
        """The target's action, and the keys of its channels: auto keying may add to them while it is dragged."""
        data = self.target.animation_data
        self.had_data = data is not None
        return data.action if data else None, {place: keys.Keys.read(curve) for place, curve in self._curves()}

    def restore(self) -> None:
        """Put back all that still exists."""
        with suppress(ReferenceError, KeyError):
            self._restore_keys()
            owner = self._owner()
            for name, values in self.values.items():
                if tuple(getattr(owner, name)) != values:
                    setattr(owner, name, values)
        with suppress(ReferenceError):
            if (self.scene.frame_current, self.scene.frame_subframe) != self.frame:
                self.scene.frame_set(self.frame[0], subframe=self.frame[1])
        with suppress(ReferenceError):
            self._restore_selection()
        with suppress(ReferenceError):
            self._layer.write_back(self.written)

    def _restore_keys(self) -> None:
        data = self.target.animation_data
        if data is None or data.action is None:
            return
        if self.action is None:
            made, data.action = data.action, None
            if not made.users:
                bpy.data.actions.remove(made)
            if not self.had_data:
                self.target.animation_data_clear()
            return
        for place, curve in self._curves():
            if place not in self.keys:
                actions.channelbag(data.action, data.action_slot).fcurves.remove(curve)
            elif not np.array_equal(self.keys[place].attributes, keys.Keys.read(curve).attributes):
                self.keys[place].write(curve)

    def _restore_selection(self) -> None:
        layer = self.view_layer
        if layer.objects.active != self.active:
            layer.objects.active = self.active
        for item in layer.objects:
            if item.select_get(view_layer=layer) != (item in self.selected):
                item.select_set(item in self.selected, view_layer=layer)
