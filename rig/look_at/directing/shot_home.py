"""Where a setting of a look-at has keys: on itself, in the character's clip, or on an item of the shot."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy

from ...animation import actions
from ..setting_paths import setting_path

ITEMS = "lookat_pd_shot"


@dataclass(frozen=True)
class Home:
    """Where the keys of one setting are: an armature object or its data, and the data path from there."""

    owner: bpy.types.ID
    path: str

    @property
    def settings(self) -> Any:
        """The group of properties that has the setting."""
        return self.owner.path_resolve(self.path.rpartition(".")[0])

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def value(self) -> Any:
        return getattr(self.settings, self.name)

    def set(self, value: Any) -> None:
        setattr(self.settings, self.name, value)

    @property
    def curve(self) -> Any:
        """Its F-curve in the current action, None without one."""
        data = self.owner.animation_data
        return actions.curves_at(data.action, data.action_slot, self.path, 1)[0] if data else None

    def remove_curve(self) -> None:
        data, curve = self.owner.animation_data, self.curve
        if curve is not None:
            actions.channelbag(data.action, data.action_slot).fcurves.remove(curve)


def in_object(armature: bpy.types.Object, bone: str, setting: str) -> Home:
    """The setting itself, whose keys are in the clip."""
    return Home(armature, setting_path(bone, setting))


def playing(item: bpy.types.ID) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot, Any]]:
    """The current action of an item, and those of its NLA with their strips, muted ones included."""
    animation = item.animation_data
    if animation is None:
        return
    if animation.action is not None and animation.action_slot is not None:
        yield animation.action, animation.action_slot, None
    for strip in (strip for track in animation.nla_tracks for strip in track.strips):
        if strip.action is not None and strip.action_slot is not None:
            yield strip.action, strip.action_slot, strip


def keyed(data: bpy.types.Armature) -> set[str]:
    """Data paths of all that has keys in the action of an armature's data or in its NLA."""
    return {curve.data_path for action, slot, _ in playing(data) for curve in actions.curves(action, slot)}


def is_keyed(item: bpy.types.ID, path: str) -> bool:
    """Whether a property has keys in the action of an item or in its NLA."""
    return any(actions.curves_at(action, slot, path, 1)[0] is not None for action, slot, _ in playing(item))
