"""Which bones are in sight. Those that are not stay selected where they were, as Rigify leaves them."""

import bpy


def is_shown(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is in sight: not hidden by itself, and in a bone collection that is shown, or in none."""
    collections = bone.bone.collections
    shown = not collections or any(item.is_visible_effectively for item in collections)
    return shown and not owner_of_hide(bone).hide


def owner_of_hide(bone: bpy.types.PoseBone) -> "bpy.types.PoseBone | bpy.types.Bone":
    """What stores whether a bone is hidden by itself: the pose bone in Blender 5, in 4.5 the bone."""
    return bone if hasattr(bone, "hide") else bone.bone
