"""Bones of a look-at without keys.

A bake keys them as well. If its action is then unassigned, Blender leaves them in their last, rotated pose. Their pose
before the bake is therefore stored with the look-at and restored before it is baked again or removed.
"""

from collections.abc import Callable, Sequence

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from . import actions
from .bake_transaction import animated_by_nla
from .channels import LOCATION, channel

Channels = tuple[str, str]
"""A bone, and the rotation mode of its channels or `LOCATION`."""


def is_keyed(armature: bpy.types.Object, bone: str, mode: str) -> bool:
    """Whether the current action or the NLA animates the bone's channels of this rotation mode, or its location."""
    data = armature.animation_data
    if data is None:
        return False
    path, size = actions.rotation_path(bone, mode), channel(mode)[1]
    if any(curve is not None for curve in actions.curves_at(data.action, data.action_slot, path, size)):
        return True
    return data.use_nla and any(animated == path for animated, _ in animated_by_nla(data))


def standing(armature: bpy.types.Object, turned: Sequence[str], moved: Sequence[str]) -> dict[Channels, Array]:
    """The values of the channels without keys that a look-at writes."""
    bones = armature.pose.bones
    kinds = [(name, bones[name].rotation_mode) for name in turned] + [(name, LOCATION) for name in moved]
    free = [(name, mode) for name, mode in kinds if not is_keyed(armature, name, mode)]
    return {(name, mode): np.array(getattr(bones[name], channel(mode)[0]), float) for name, mode in free}


def remember(armature: bpy.types.Object, bone: str, unkeyed: dict[Channels, Array]) -> None:
    """Store the values of channels without keys with the look-at on `bone`."""
    items = armature.pose.bones[bone].lookat_pd.unkeyed
    items.clear()
    for (name, mode), values in unkeyed.items():
        item = items.add()
        item.bone, item.mode = name, mode
        item.values = (*values.tolist(), *[0.0] * (4 - len(values)))


def bring_back(armature: bpy.types.Object, bone: str) -> Callable[[], None]:
    """Restore the stored pose of channels without keys; returns a function that undoes that."""
    before = []
    for item in armature.pose.bones[bone].lookat_pd.unkeyed:
        place = armature.pose.bones.get(item.bone)
        if place is not None and not is_keyed(armature, item.bone, item.mode):
            name, size = channel(item.mode)
            before.append((place, name, tuple(getattr(place, name))))
            setattr(place, name, item.values[:size])

    def undo() -> None:
        for place, name, values in before:
            setattr(place, name, values)

    return undo
