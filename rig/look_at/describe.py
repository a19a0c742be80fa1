"""What is in the present Blender file, as plain data: rigs, what is detected in them, look-ats, actions, targets."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import editable
from ..detection import detect, limbs, rest, stance
from ..detection.axis_votes import Vote
from . import engine_settings
from . import resolve as look_at

DETECTED = (
    "forward",
    "up",
    "confidence",
    "read_from",
    "votes",
    "up_votes",
    "legs",
    "unplanted",
    "arms",
    "eyes",
    "hips",
)
"""What of a rig's detection is reported beside the head and its chain."""
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
    unknown = {"head": None, "aim_axis": None, "chain": [], "problem": None} | dict.fromkeys(DETECTED)
    try:
        editable.check_armature(armature)
        head = look_at.find_head(armature)
        skeleton, hints = stance.skeleton(armature), rest.hints(armature)
        links = detect.find_chain(skeleton, head, hints)
        stands = stance.of(armature)
        back = rotation.inverse(skeleton.rotations[skeleton.index(head)])
        forward = rotation.rotate(back, stands.axes.forward)
    except RigError as error:
        return {**unknown, "problem": str(error)}
    bones = [link.bone for link in links]
    detected = {
        "forward": _rounded(stands.axes.forward),
        "up": _rounded(stands.axes.up),
        "confidence": round(stands.axes.confidence, 3),
        "read_from": "rest pose" if stands.at_rest else "animation",
        "votes": _votes(stands.axes.forward_votes, stands.axes.forward),
        "up_votes": _votes(stands.axes.up_votes, stands.axes.up),
        "legs": [_leg(leg) for leg in limbs.find_legs(armature)],
        "unplanted": limbs.find_unplanted(armature, bones),
        "arms": [[bone for bone in (arm.clavicle, arm.upper, arm.hand) if bone] for arm in limbs.find_arms(armature)],
        "eyes": [eye.bone for eye in limbs.find_eyes(armature)],
        "hips": limbs.find_hips_control(armature, bones),
    }
    return {**unknown, "head": head, "aim_axis": forward.tolist(), "chain": _chain(links), **detected}


def _rounded(v: Array) -> list[float]:
    return [round(float(part), 4) + 0.0 for part in v]


def _votes(votes: Sequence[Vote], chosen: Array) -> list[dict[str, Any]]:
    """For each vote its source, its weight, and by how many degrees it differs from the chosen direction."""
    return [
        {
            "source": vote.source,
            "weight": round(vote.weight, 3),
            "degrees_off": round(float(np.degrees(rotation.angle_between(vote.direction, chosen))), 1),
        }
        for vote in votes
    ]


def _leg(leg: limbs.LegBones) -> dict[str, Any]:
    """The bones of a leg, and those that hold its foot by the rig's own inverse kinematics."""
    return {"bones": [b for b in (leg.upper, leg.lower, leg.foot, leg.toe) if b], "held_by": list(leg.goals)}


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
        "settings": _for_engine(armature, bone),
    }


def _for_engine(armature: bpy.types.Object, bone: str) -> dict[str, Any] | None:
    """All settings of a look-at as plain data; None where something keeps it from moving the rig."""
    try:
        return engine_settings.read(armature, bone)
    except RigError:
        return None


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
    armatures = (item for item in scene.objects if item.type == "ARMATURE")
    shapes = {bone.custom_shape for armature in armatures for bone in armature.pose.bones}
    return [item.name for item in scene.objects if item.type in _TARGET_TYPES and item not in shapes]
