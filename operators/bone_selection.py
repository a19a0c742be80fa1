"""The selection of bones, to restore it after clicks in the viewport."""

from contextlib import suppress

import bpy

from . import selection

Selection = tuple[dict[str, bool], str]


def selected(armature: bpy.types.Object) -> Selection:
    """The selected bones and the active one."""
    active = armature.data.bones.active
    return {bone.name: selection.is_selected(bone) for bone in armature.pose.bones}, active.name if active else ""


def select(armature: bpy.types.Object, before: Selection) -> None:
    with suppress(ReferenceError):
        bones, active = before
        for name, chosen in bones.items():
            bone = armature.pose.bones[name]
            if selection.is_selected(bone) != chosen:
                selection.select(bone, chosen=chosen)
        armature.data.bones.active = armature.data.bones.get(active)


def under_click(armature: bpy.types.Object, before: Selection) -> bpy.types.PoseBone | None:
    """The bone that a click has just selected; None if it is not of this armature."""
    active = armature.data.bones.active
    if active is None or not selection.is_selected(armature.pose.bones[active.name]):
        return None
    chosen = selected(armature)
    alone = sum(chosen[0].values()) == 1
    return armature.pose.bones[active.name] if alone or chosen != before else None
