"""Where a look starts and ends: between the eyes, of who looks and of the character that is looked at."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import gaze
from ...lookat_pd.rotation import Array
from ..detection import eye_place, stance
from ..sampling import targets
from ..sampling.targets import Target
from . import facing
from .body.body_rig import BodyRig

_FRONT = np.cos(np.radians(45.0))
_ROOM = 2.0
"""A target nearer than so many times the height of the eyes is too close to be looked at."""


def is_between_eyes(armature: bpy.types.Object, settings: Any, looked_at: Sequence[Target] | None = None) -> bool:
    """Whether a look-at starts between the eyes, of a bone that has some: one decision for all its targets, so that a
    switch between them moves only what is looked at. looked_at: instead of what its settings list."""
    if settings.aim_from != "AUTO":
        return settings.aim_from == "EYES"
    looked_at = targets.listed(settings) if looked_at is None else looked_at
    return settings.eyes.use or any(_is_partner(target.object, armature) for target in looked_at)


def _is_partner(item: bpy.types.Object | None, armature: bpy.types.Object) -> bool:
    """Whether an object is or moves with another character, and not with this one."""
    if item is None:
        return False
    found = targets.moves_with(item)
    return armature not in found and any(len(other.data.bones) > 1 for other in found)


def place(
    armature: bpy.types.Object,
    bone: str,
    settings: Any,
    body: BodyRig | None = None,
    looked_at: Sequence[Target] | None = None,
) -> Array:
    """Where a look-at starts (3,) in the frame of its bone: between the eyes, or 0 where its settings say so or the
    bone does not look as a head does. looked_at: as for `is_between_eyes`. Raises RigError."""
    nowhere = np.zeros(3)
    if not is_between_eyes(armature, settings, looked_at):
        return nowhere
    skeleton = stance.skeleton(armature)
    (aim, _), (front, _) = facing.aim(armature, bone, skeleton), facing.character(armature, bone, skeleton)
    if aim @ front < _FRONT:
        return nowhere
    if body is not None and body.looks:
        return np.mean([eye.center for eye in body.looks], axis=0)
    chosen = [name for name in (settings.eyes.left, settings.eyes.right) if name]
    found = eye_place.between_eyes(armature, bone, chosen)
    return nowhere if found is None else found


def aiming_from(chain: gaze.Chain, eye: Array) -> gaze.Chain:
    """A chain that aims from a place (3,) in the frame of the head."""
    if not np.any(eye) and not (chain.eye_height or chain.eye_ahead):
        return chain
    # Eyes are in the plane of symmetry.
    height, ahead = float(eye @ chain.up[0]), float(eye @ chain.forward[0])
    return replace(chain, eye_height=height, eye_ahead=ahead, near=max(chain.near, _ROOM * abs(height)))


def met(target: Target, armature: bpy.types.Object, settings: Any) -> Target:
    """A target as the settings of a look-at of the armature mean it: between the eyes, if it is a character's head."""
    item = target.object
    if settings.aim_from == "BONE" or target.point is not None or not target.bone or item in (None, armature):
        return target
    place = eye_place.between_eyes(item, target.bone) if item.type == "ARMATURE" else None
    return target if place is None else replace(target, point=tuple(place.tolist()))


def all_met(looked_at: Sequence[Target], armature: bpy.types.Object, settings: Any) -> tuple[Target, ...]:
    """The same of several."""
    return tuple(met(target, armature, settings) for target in looked_at)
