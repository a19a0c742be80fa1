"""What plays on an armature, and another action on it for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from . import actions
from .bake_transaction import animated_by_nla


def animated_paths(armature: bpy.types.Object) -> set[str]:
    """Data paths of the properties that the current action and the NLA animate."""
    data = armature.animation_data
    if data is None:
        return set()
    paths = {path for path, _ in animated_by_nla(data)} if data.use_nla else set()
    return paths | {curve.data_path for curve in actions.curves(data.action, data.action_slot) if actions.plays(curve)}


def play(item: bpy.types.Object, action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> None:
    """Assign an action to an armature, or to a copy of one; None for none, so that only its NLA plays."""
    data = item.animation_data or item.animation_data_create()
    data.action = action
    if action is not None:
        data.action_slot = slot


@contextmanager
def playing(
    armature: bpy.types.Object, action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None
) -> Iterator[None]:
    """Assign an action to an armature temporarily; None for none, so that only its NLA plays."""
    had_data = armature.animation_data is not None
    data = armature.animation_data or armature.animation_data_create()
    was, was_slot, faked = data.action, data.action_slot, {}
    for item in (was, action):
        if item is not None:
            faked[item] = item.use_fake_user
    try:
        play(armature, action, slot)
        yield
    finally:
        play(armature, was, was_slot)
        for item, fake in faked.items():
            item.use_fake_user = fake
        if not had_data:
            armature.animation_data_clear()
