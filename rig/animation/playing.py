"""Another action on an armature for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy


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
        data.action = action
        if action is not None:
            data.action_slot = slot
        yield
    finally:
        data.action = was
        if was is not None:
            data.action_slot = was_slot
        for item, fake in faked.items():
            item.use_fake_user = fake
        if not had_data:
            armature.animation_data_clear()
