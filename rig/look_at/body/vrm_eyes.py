"""Taking over what turns the eyes, and how far, from the data of a VRM file."""

import bpy

from ....lookat_pd.errors import RigError
from ...detection.vrm import VrmEyes
from . import shape_eyes, shape_table
from .body_eyes import check_eye


def take_over(armature: bpy.types.Object, bone: str, vrm: VrmEyes) -> None:
    """Let the look-at on a bone turn the eyes as the file says. Raises RigError, and then changes nothing."""
    _check(armature, vrm)
    eyes = armature.pose.bones[bone].lookat_pd.eyes
    if vrm.bones is not None:
        eyes.left, eyes.right = vrm.bones
        eyes.turned_by = "BONES"
    else:
        shape_table.write(eyes, [shape_table.ShapeRow(name, "BOTH", way, angle) for name, way, angle in vrm.shapes])
        eyes.turned_by = "SHAPE_KEYS"
    eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit = vrm.limits


def _check(armature: bpy.types.Object, vrm: VrmEyes) -> None:
    """Raise RigError where the character has not what the file names."""
    for name in vrm.bones or ():
        check_eye(armature, name)
    if vrm.bones is None and not vrm.shapes:
        raise RigError("The look expressions of the VRM file move no shape key; choose shape keys in the Eyes panel.")
    known = shape_eyes.names(armature)
    for name, *_ in vrm.shapes:
        if name not in known:
            raise shape_eyes.no_shape(armature, name)
