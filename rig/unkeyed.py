"""Bones of a chain that the animation leaves alone.

A bake keys them too. Put its action aside again, and Blender leaves them as they were last shown, turned: what they
were before the bake is remembered with the look-at, and brought back before it is baked once more, or removed.
"""

from collections.abc import Callable

import bpy

from ..lookat_pd.rotation import Array
from . import actions
from .sample import channel
from .working import animated_by_nla


def is_keyed(armature: bpy.types.Object, bone: str) -> bool:
    """Whether the current action or the NLA animates the bone's rotation."""
    data = armature.animation_data
    if data is None:
        return False
    path, size = actions.rotation_path(bone, mode := armature.pose.bones[bone].rotation_mode), channel(mode)[1]
    if any(curve is not None for curve in actions.curves_at(data.action, data.action_slot, path, size)):
        return True
    return data.use_nla and any(found == path for found, _ in animated_by_nla(data))


def remember(armature: bpy.types.Object, bone: str, unkeyed: dict[str, Array]) -> None:
    """Keep with the look-at on `bone` how the bones of its chain that had no keys stood: name to channel values."""
    for item in armature.pose.bones[bone].lookat_pd.chain:
        item.was_still = item.bone in unkeyed
        if item.was_still:
            values = unkeyed[item.bone].tolist()
            item.still = (*values, *[0.0] * (4 - len(values)))


def bring_back(armature: bpy.types.Object, bone: str) -> Callable[[], None]:
    """Give the bones without keys the pose that was remembered; returns what undoes that."""
    before = []
    for item in armature.pose.bones[bone].lookat_pd.chain:
        place = armature.pose.bones.get(item.bone)
        if item.was_still and place is not None and not is_keyed(armature, item.bone):
            name, size = channel(place.rotation_mode)
            before.append((place, name, tuple(getattr(place, name))))
            setattr(place, name, item.still[:size])

    def undo() -> None:
        for place, name, values in before:
            setattr(place, name, values)

    return undo
