"""Adding PD Follow to an object or a bone, and removing it."""

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ..animation import actions
from . import owners
from .follow_layer import FollowLayer
from .owners import Owner


def add(owner: Owner, target: bpy.types.Object | None, subtarget: str = "") -> None:
    """Let an object or a bone follow a target, as far from it as it is now. Raises RigError, and then changes nothing.

    target: None to lag behind its own animation. What the object is decides how it turns.
    """
    owners.check_owner(owner)
    if owner.follows:
        raise RigError("'{name}' already has PD Follow; change its settings, or remove it first.", name=owner.label)
    if target is not None:
        owners.check_target(owner, target, subtarget)
    s = owner.settings
    s.target, s.subtarget = target, subtarget
    s.use_location = not owners.is_connected(owner)
    if target is None or not s.use_location:
        s.turn = "FOLLOW"
    elif not owner.bone and owner.object.type in ("CAMERA", "LIGHT"):
        s.turn = "AIM"
    set_offset(owner)
    s.exists = True
    layer = FollowLayer(owner)
    layer.install(layer.places)


def remove(owner: Owner) -> None:
    """Take PD Follow away with its settings and their keys, as if it had never been there."""
    FollowLayer(owner).remove()
    actions.remove_curves(owner.object, owner.settings_path)
    for name in owner.settings.bl_rna.properties.keys():
        if name not in ("rna_type", "name"):
            owner.settings.property_unset(name)


def set_offset(owner: Owner) -> None:
    """Keep the distance to the target that there is at this moment."""
    s = owner.settings
    if s.target is None:
        return
    matrix = s.target.matrix_world
    if s.subtarget:
        matrix = matrix @ s.target.pose.bones[s.subtarget].matrix
    if not np.all(np.isfinite(matrix)):
        raise RigError(
            "The target '{target}' has a position that is not finite; fix its animation.", target=s.target.name
        )
    s.target_location, s.target_rotation = matrix.to_translation(), matrix.to_quaternion()
