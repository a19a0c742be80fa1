"""Adding PD Follow to an object or a bone, and removing it."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ..animation import actions
from . import follow_chains, owners
from .follow_layer import FollowLayer
from .owners import Owner
from .settings import COPIED


def add(
    followers: Sequence[Owner],
    target: bpy.types.Object | None,
    subtarget: str = "",
    *,
    chain: Sequence[Owner] = (),
) -> None:
    """Let objects or bones follow a target, as far from it as they are now. Raises RigError, and then changes nothing.

    Of bones that hang on each other only the first of each chain follows the target: the others follow their own
    animation on the result of their parents. target: None to lag behind their own animation. What each is decides
    whether it follows in location, and how it turns. chain: further ones that they may hang on.
    """
    for owner in followers:
        owners.check_owner(owner)
        if owner.follows:
            raise RigError("'{name}' already has PD Follow; change its settings, or remove it first.", name=owner.label)
    carriers = {owner: follow_chains.parent_in([*followers, *chain], owner) for owner in followers}
    hanging = {owner for owner, carrier in carriers.items() if carrier is not None}
    if target is not None:
        for owner in followers:
            if owner not in hanging:
                owners.check_target(owner, target, subtarget)
    for owner in followers:
        if owner in hanging:
            _add(owner, None, "", turns_only=True)
        else:
            # A chain stays where it is, too, unless it goes to a target.
            is_base = target is None and owner in carriers.values() and owner.item.parent is not None
            _add(owner, target, subtarget, turns_only=is_base or owners.is_joint(owner))


def _add(owner: Owner, target: bpy.types.Object | None, subtarget: str, *, turns_only: bool) -> None:
    s = owner.settings
    s.target, s.subtarget = target, subtarget
    s.use_location = not turns_only
    if target is None or turns_only:
        s.turn = "FOLLOW"
    elif not owner.bone and owner.object.type in ("CAMERA", "LIGHT"):
        s.turn = "AIM"
    set_offset(owner)
    s.exists = True


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


def copy(source: Owner, owner: Owner) -> None:
    """Give what follows the controller and the limits of another: how it follows, not what."""
    for name in COPIED:
        setattr(owner.settings, name, getattr(source.settings, name))
