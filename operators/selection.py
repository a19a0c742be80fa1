"""The data that operators and panels work on: what is active and selected."""

import bpy

from ..lookat_pd.errors import RigError
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import resolve as look_at
from ..rig.sampling import targets


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The current armature: the active object, the pinned one, or the one that deforms the active object."""
    item = getattr(context, "object", None) or context.view_layer.objects.active
    if item is None or item.type == "ARMATURE":
        return item
    deformer = item.find_armature()
    return deformer or (item.parent if item.parent and item.parent.type == "ARMATURE" else None)


def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The active pose bone of that armature."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.data.bones.active is None:
        return None
    return item.pose.bones.get(item.data.bones.active.name)


def look_at_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone whose look-at is displayed: the active one, else one whose chain contains it, else the first of the
    armature."""
    item = armature(context)
    if item is None or item.type != "ARMATURE":
        return None
    with_look_at = [item.pose.bones[name] for name in look_at.bones_with_look_at(item)]
    active = bone(context)
    if active in with_look_at:
        return active
    for candidate in with_look_at:
        if active is not None and any(link.bone == active.name for link in candidate.lookat_pd.chain):
            return candidate
    return with_look_at[0] if with_look_at else None


def other_selected_bones(context: bpy.types.Context) -> list[str]:
    """Names of the selected bones except the one whose look-at is displayed; none outside pose mode."""
    item, shown = armature(context), look_at_bone(context)
    if item is None or item.mode != "POSE":
        return []
    return [bone.name for bone in item.pose.bones if bone != shown and look_at_edit.is_selected(bone)]


def other_selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects that do not belong to the character."""
    item = armature(context)
    return [other for other in context.selected_objects if not targets.belongs_to(other, item)]


def named_object(context: bpy.types.Context, name: str) -> bpy.types.Object:
    """The object of the scene that an operator's option names. Raises RigError."""
    item = context.scene.objects.get(name)
    if item is None:
        raise RigError("There is no object '{target}' in the scene; choose one that exists.", target=name)
    return item


def selected_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures of all selected characters, by name."""
    armatures = {item if item.type == "ARMATURE" else item.find_armature() for item in context.selected_objects}
    return sorted(armatures - {None}, key=lambda item: item.name_full)


def selected_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The selected bones of that armature; none outside pose mode."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.mode != "POSE":
        return []
    return [bone for bone in item.pose.bones if look_at_edit.is_selected(bone)]


def posed_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The selected bones of all armatures in pose mode."""
    posed = [item for item in context.view_layer.objects if item.type == "ARMATURE" and item.mode == "POSE"]
    return [bone for item in posed for bone in item.pose.bones if look_at_edit.is_selected(bone)]
