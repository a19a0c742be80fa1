"""The selection of bones, to restore it after clicks in the viewport."""

from contextlib import suppress

import bpy

from ..rig.look_at import edit as look_at_edit

Selection = tuple[dict[str, bool], str]


def selected(armature: bpy.types.Object) -> Selection:
    """The selected bones and the active one."""
    active = armature.data.bones.active
    return {bone.name: look_at_edit.is_selected(bone) for bone in armature.pose.bones}, active.name if active else ""


def select(armature: bpy.types.Object, selection: Selection) -> None:
    with suppress(ReferenceError):
        bones, active = selection
        for name, chosen in bones.items():
            bone = armature.pose.bones[name]
            # Blender 5 stores it in the pose bone, 4.5 in the bone.
            place = bone if hasattr(bone, "select") else bone.bone
            if place.select != chosen:
                place.select = chosen
        armature.data.bones.active = armature.data.bones.get(active)


def under_click(armature: bpy.types.Object, before: Selection) -> bpy.types.PoseBone | None:
    """The bone that a click has just selected; None if it is not of this armature."""
    active = armature.data.bones.active
    if active is None or not look_at_edit.is_selected(armature.pose.bones[active.name]):
        return None
    chosen = selected(armature)
    alone = sum(chosen[0].values()) == 1
    return armature.pose.bones[active.name] if alone or chosen != before else None
