"""Channels of a look-at's bones without keys.

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


def without_keys(armature: bpy.types.Object, bone: str, mode: str) -> list[int]:
    """The indices of the bone's channels of this rotation mode, or of its location, that neither the current action nor
    the NLA animates."""
    data, (path, size) = armature.animation_data, (actions.rotation_path(bone, mode), channel(mode)[1])
    if data is None:
        return list(range(size))
    curves = actions.curves_at(data.action, data.action_slot, path, size)
    layers = animated_by_nla(data) if data.use_nla else set()
    return [n for n in range(size) if (path, n) not in layers and not (curves[n] and actions.plays(curves[n]))]


def standing(armature: bpy.types.Object, turned: Sequence[str], moved: Sequence[str]) -> dict[Channels, Array]:
    """The values of the bones' channels that a look-at writes, of those bones of which some have no keys."""
    bones = armature.pose.bones
    kinds = [(name, bones[name].rotation_mode) for name in turned] + [(name, LOCATION) for name in moved]
    free = [(name, mode) for name, mode in kinds if without_keys(armature, name, mode)]
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
        if place is not None and (free := without_keys(armature, item.bone, item.mode)):
            name = channel(item.mode)[0]
            values = list(getattr(place, name))
            before.append((place, name, tuple(values)))
            for n in free:
                values[n] = item.values[n]
            setattr(place, name, values)

    def undo() -> None:
        for place, name, values in before:
            setattr(place, name, values)

    return undo
