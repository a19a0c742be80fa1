"""What is in the present Blender file, as plain data: rigs, what is detected in them, look-ats, actions, targets."""

from collections.abc import Sequence
from typing import Any

import bpy

from ..lookat_pd.errors import RigError
from ..rig.animation import editable
from ..rig.detection import detect, rest
from ..rig.look_at import resolve as look_at
from . import rigs

_TARGET_TYPES = {"EMPTY", "MESH", "CAMERA", "CURVE", "LIGHT", "FONT", "LATTICE"}


def rig(armature: bpy.types.Object) -> dict[str, Any]:
    """One armature: name, bones, what Rigify made of it, the detected head with its chain, action, look-ats."""
    data = armature.animation_data
    return {
        "name": armature.name,
        "rigify": _rigify(armature.data),
        "linked": armature.library is not None,
        "bones": armature.pose.bones.keys() if armature.pose else [],
        **_detected(armature),
        "action": data.action.name if data and data.action else None,
        "slot": data.action_slot.name_display if data and data.action_slot else None,
        "look_ats": [_look_at(armature, bone) for bone in look_at.bones_with_look_at(armature)]
        if armature.pose
        else [],
    }


def _rigify(data: bpy.types.Armature) -> str | None:
    """Whether Rigify generated the rig or would generate one from it: it leaves these properties."""
    if "rig_id" in data:
        return "generated"
    # Blender 5 keeps what add-ons registered apart from custom properties.
    kept = data.bl_system_properties_get() if hasattr(data, "bl_system_properties_get") else data
    return "metarig" if any(name.startswith("rigify_") for name in (kept.keys() if kept else ())) else None


def _detected(armature: bpy.types.Object) -> dict[str, Any]:
    unknown = {"head": None, "aim_axis": None, "chain": [], "problem": None}
    try:
        editable.check_armature(armature)
        head = look_at.find_head(armature)
        skeleton, hints = rest.skeleton(armature), rest.hints(armature)
        links = detect.find_chain(skeleton, head, hints)
        forward, _ = detect.find_aim(skeleton, head, hints)
    except RigError as error:
        return {**unknown, "problem": str(error)}
    return {**unknown, "head": head, "aim_axis": forward.tolist(), "chain": _chain(links)}


def _chain(links: Sequence[Any]) -> list[dict[str, Any]]:
    """Of detected links, or of those in a look-at's settings, which have the same names."""
    return [
        {"bone": link.bone, "share": round(link.share, 4), "settle_factor": round(link.settle_factor, 4)}
        for link in links
    ]


def _look_at(armature: bpy.types.Object, bone: str) -> dict[str, Any]:
    settings = armature.pose.bones[bone].lookat_pd
    controller = look_at.tuning(settings)
    return {
        "bone": bone,
        "target": settings.target.name if settings.target else None,
        "subtarget": settings.subtarget or None,
        "mute": settings.mute,
        "settle_time": round(controller.settle_time, 4),
        "damping": settings.damping,
        "damping_ratio": round(controller.damping_ratio, 4),
        "integrator": settings.integrator,
        "method": settings.method,
        "aim_axis": settings.aim_axis,
        "chain": _chain(settings.chain),
    }


def actions() -> list[dict[str, Any]]:
    """Every action with its frames and slots."""
    return [
        {
            "name": action.name,
            "frames": [round(frame, 3) for frame in action.frame_range],
            "slots": [{"name": slot.name_display, "type": slot.target_id_type} for slot in action.slots],
        }
        for action in bpy.data.actions
    ]


def targets(scene: bpy.types.Scene) -> list[str]:
    """Objects that could be looked at; bones of armatures could as well."""
    shapes = {bone.custom_shape for armature in rigs.armatures(scene) for bone in armature.pose.bones}
    return [item.name for item in scene.objects if item.type in _TARGET_TYPES and item not in shapes]
