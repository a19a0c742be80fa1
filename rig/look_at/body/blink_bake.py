"""Baking shape keys that close or turn the eyes: keys only where they do, plus one frame on either side.

Blinks keep the existing value or keys of a shape key as the minimum.
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import bpy
import numpy as np

from ....lookat_pd.rotation import Array
from ...animation import actions, keys
from ...animation.bake_transaction import SOURCE, put_back, source_of
from ...animation.channels import AMOUNT
from ...animation.key_writer import ChannelMotion, KeyWriter
from . import blink
from .blink import Lid

_OF = "lookat_pd_of"
"""Custom property of an action of shape keys that a bake made: the name of the action of the armature's bake."""


def check(lids: Iterable[Lid], into: str) -> None:
    """Raise RigError if the animation of shape keys does not allow a bake of that kind."""
    for lid in lids:
        if blink.state(lid) != "HELD":
            actions.check(lid.keys, _place(lid.keys, into))


def _place(item: bpy.types.Key, into: str) -> str:
    """The destination of keys of shape keys: an NLA layer cannot use the maximum of two values."""
    data = item.animation_data
    return "CURRENT" if into == "CURRENT" and data is not None and data.action is not None else "NEW"


class BlinkBake:
    """A bake of blinks in progress on one armature's shape keys; `rollback` restores everything."""

    def __init__(self, armature: bpy.types.Object, ending: str) -> None:
        self._armature, self._ending = armature, ending
        self._undo = ExitStack()
        data = armature.animation_data
        self._source = data.action if data else None
        self._free: list[Lid] = []

    def write(
        self,
        frames: Array,
        amounts: Mapping[Lid, Array],
        into: str,
        action: bpy.types.Action,
        writer: KeyWriter | None = None,
    ) -> None:
        """Key shape keys that look-ats change by amounts (F,) at whole frames (F,).

        action: that of the bake of the armature; shape keys without an action get a slot in it. writer: which
        keys, by default one at every frame that changes.
        """
        wanted: dict[bpy.types.Key, dict[Lid, Array]] = {}
        for lid, values in amounts.items():
            if np.any(values != 0.0) and blink.state(lid) != "HELD":
                wanted.setdefault(lid.keys, {})[lid] = values
        for item, lids in wanted.items():
            self._free += [lid for lid in lids if blink.state(lid) == "FREE"]
            self._write(item, frames, lids, into, action, writer or KeyWriter())

    def _write(
        self, item: bpy.types.Key, frames: Array, lids: Mapping[Lid, Array], into: str, action: Any, writer: KeyWriter
    ) -> None:
        data = item.animation_data
        source, slot = (data.action, data.action_slot) if data is not None else (None, None)
        keys_by_lid = {lid: _changing(lid, source, slot, frames, amounts, writer) for lid, amounts in lids.items()}
        if _place(item, into) != "CURRENT":
            source, slot = self._new_home(item, into, action)
        bag = actions.channelbag(source, slot, ensure=True)
        for lid, new in keys_by_lid.items():
            curve = bag.fcurves.find(lid.path, index=0)
            self._undo.callback(put_back, bag, lid.path, 0, None if curve is None else keys.Keys.read(curve))
            new.write(curve or bag.fcurves.new(lid.path, index=0))
        source.update_tag()

    def _new_home(
        self, item: bpy.types.Key, into: str, action: bpy.types.Action
    ) -> tuple[bpy.types.Action, bpy.types.ActionSlot]:
        """Give shape keys an action for the bake: that of the armature if possible."""
        data = item.animation_data
        if data is None:
            data = item.animation_data_create()
            self._undo.callback(item.animation_data_clear)
        source, slot = data.action, data.action_slot
        name = actions.baked_name(item, into, self._ending)
        if source is None and into == "LAYER":
            home, place = actions.new_action(name, item)
            home[_OF] = action.name_full
            self._undo.callback(bpy.data.actions.remove, home)
        elif source is None:
            home, place = action, action.slots.new(id_type=item.id_type, name=item.name)
            self._undo.callback(home.slots.remove, place)
        elif source == self._source and into == "NEW":
            home, place = action, action.slots[slot.identifier]
        else:
            home = source.copy()
            home.name, place = name, home.slots[slot.identifier]
            home[_OF] = action.name_full
            if source_of(home) is None:
                home[SOURCE] = source.name_full
            self._undo.callback(bpy.data.actions.remove, home)
        if source is not None:
            self._undo.callback(setattr, data, "action_slot", slot)
        self._undo.callback(setattr, data, "action", source)
        data.action = home
        data.action_slot = place
        if actions.keep(source):
            self._undo.callback(setattr, source, "use_fake_user", False)
        return home, place

    def finish(self) -> None:
        """Commit: the values of shape keys without keys are restored once their new action is unassigned."""
        for lid in self._free:
            blink.remember(lid, self._armature.name_full)

    def rollback(self) -> None:
        self._undo.close()


def play_source(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Let the shape keys of an armature play what they did before a bake, of which the armature's action is given."""
    for item in blink.keys_of(armature):
        data = item.animation_data
        home = None if data is None else data.action
        if home is None or not (home == action or home.get(_OF) == action.name_full):
            continue
        source, slot = source_of(home), data.action_slot
        place = source.slots.get(slot.identifier) if source is not None and slot is not None else None
        # Without a slot there, they had none before.
        data.action = source if place is not None else None
        if place is not None:
            data.action_slot = place
        actions.keep(home)


def _changing(lid: Lid, source: Any, slot: Any, frames: Array, amounts: Array, writer: KeyWriter) -> keys.Keys:
    """The keys of a shape key including what look-ats add."""
    curve = actions.curves_at(source, slot, lid.path, 1)[0]
    value = blink.base(lid)
    before = curve.evaluate if curve is not None else lambda frame: value
    result, at = keys.Keys.read(curve), np.flatnonzero(amounts != 0.0)
    for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
        values = blink.changed(lid, np.array([before(frame) for frame in frames[run]]), amounts[run])
        motion = ChannelMotion(AMOUNT, frames[run], values[:, None], [result], [before], [(True, True)])
        (result,) = writer.keys(motion)
    return result
