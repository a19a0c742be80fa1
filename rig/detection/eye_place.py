"""Where the eyes of a character are in its head: between its eye bones, or where eyes usually are.

Without eye bones that is a part of the height of the head's bone, as far as that is likely: importers of files without
bones make bones as long as they please. Meshes are not asked: baking onto a .glb does not read them.
"""

from collections.abc import Sequence

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from . import detect, limbs, rest, stance

_OF_BONE = 0.55
"""How high eyes are along the bone of the head, which ends below the hair."""
_AHEAD = 0.9
"""How far ahead of the origin they are, as a part of their height above it."""
_LIKELY = 0.03, 0.08
"""Heights of eyes above the origin of the head, as parts of the height of the skeleton."""
_FARTHEST = 0.5
"""Of the height of the skeleton: eye bones farther from the head's origin are not in this head."""
_MOST_KEPT = 64
_kept: dict[tuple[object, ...], Array] = {}


def between_eyes(armature: bpy.types.Object, bone: str, chosen: Sequence[str] = ()) -> Array | None:
    """The place between the eyes (3,) in the frame of the bone, in armature units; None where this is no head.

    chosen: eye bones that the animator has chosen.
    """
    named = tuple(name for name in chosen if name in armature.data.bones)
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    up = stance.of(armature).axes.up
    key = armature.session_uid, bone, tuple(bones.keys()), matrices.tobytes(), named, up.tobytes()
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        found = _find(armature, bone, named)
        _kept[key] = np.full(3, np.nan) if found is None else found
    place = _kept[key]
    return place if np.all(np.isfinite(place)) else None


def forget() -> None:
    """Throw away what is kept."""
    _kept.clear()


def is_head(armature: bpy.types.Object, bone: str) -> bool:
    """Whether a bone is the head of a character."""
    try:
        return detect.find_head(stance.skeleton(armature), rest.hints(armature)) == bone
    except LookAtError:
        return False


def _find(armature: bpy.types.Object, bone: str, chosen: Sequence[str]) -> Array | None:
    if not chosen and not is_head(armature, bone):
        return None
    skeleton = rest.skeleton(armature)
    head = skeleton.index(bone)
    origin, turn = skeleton.heads[head], skeleton.rotations[head]
    height = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    eyes = [skeleton.index(name) for name in chosen or [eye.bone for eye in limbs.find_eyes(armature)]]
    if eyes:
        away = skeleton.heads[eyes].mean(axis=0) - origin
        if chosen or np.linalg.norm(away) < _FARTHEST * height:
            return rotation.rotate(rotation.inverse(turn), away)
    standing, axes = stance.skeleton(armature), stance.of(armature).axes
    # In the frame of the bone, since the rest pose need not be the stance.
    back = rotation.inverse(standing.rotations[standing.index(bone)])
    up, forward = rotation.rotate(back, axes.up), rotation.rotate(back, axes.forward)
    bone_height = _OF_BONE * float((skeleton.tails[head] - origin) @ rotation.rotate(turn, up))
    above = float(np.clip(bone_height, _LIKELY[0] * height, _LIKELY[1] * height))
    return above * (up + _AHEAD * forward)
