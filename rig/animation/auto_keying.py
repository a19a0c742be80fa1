"""Keys for a pose made in the viewport, as Blender's auto keying would insert them."""

from collections.abc import Iterable

import bpy

from .actions import OBJECT_GROUP
from .channels import channel


def is_on(scene: bpy.types.Scene) -> bool:
    return scene.tool_settings.use_keyframe_insert_auto


def linked_action(scene: bpy.types.Scene, armature: bpy.types.Object) -> bpy.types.Action | None:
    """The action that auto keying cannot write to because it is linked from a library."""
    data = armature.animation_data
    action = data.action if data else None
    return action if is_on(scene) and action is not None and not action.is_editable else None


def key(scene: bpy.types.Scene, item: bpy.types.Object, bones: Iterable[str], moved: Iterable[str] = ()) -> set[str]:
    """Key the rotation of bones of an object, and the location of those `moved`, at the current frame, with the options
    of the animator, if auto keying is enabled. "" is the object itself. Returns those that got keys: by *Only Insert
    Available* what has none gets none."""
    if not is_on(scene):
        return set()
    options, frame = _options(scene), scene.frame_current_final

    def insert(name: str, path: str) -> bool:
        owner, group = (item.pose.bones[name], name) if name else (item, OBJECT_GROUP)
        return owner.keyframe_insert(path, frame=frame, group=group, options=options)

    modes = {name: (item.pose.bones[name] if name else item).rotation_mode for name in bones}
    wanted = [*((name, channel(mode)[0]) for name, mode in modes.items()), *((name, "location") for name in moved)]
    return {name for name, path in wanted if insert(name, path)}


def key_shapes(scene: bpy.types.Scene, blocks: Iterable[bpy.types.ShapeKey]) -> None:
    """The same for the values of shape keys."""
    if is_on(scene):
        for block in blocks:
            block.keyframe_insert("value", frame=scene.frame_current_final, options=_options(scene))


def _options(scene: bpy.types.Scene) -> set[str]:
    edit = bpy.context.preferences.edit
    choices = (
        ("INSERTKEY_AVAILABLE", edit.use_keyframe_insert_available),
        ("INSERTKEY_NEEDED", edit.use_auto_keyframe_insert_needed),
        ("INSERTKEY_CYCLE_AWARE", scene.tool_settings.use_keyframe_cycle_aware),
    )
    return {name for name, chosen in choices if chosen}
