"""Where the eyes of a character are in its head: between its eye bones, or where eyes usually are.

Without eye bones that is ahead of a point between the origin of the head and its crown. The crown is the highest point
of the meshes above the head's origin or, without meshes, the end of the bone as far as that is likely: importers of
files without bones make bones as long as they please.
"""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...lookat_pd import rotation
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import detect, limbs, rest, stance

_OF_CROWN, _OF_BONE = 0.45, 0.55
"""How high eyes are between the origin of the head and its crown, and along its bone, which ends below the hair."""
_AHEAD = 0.9
"""How far ahead of the origin they are, as a part of their height above it."""
_LIKELY = 0.03, 0.08
"""Heights of eyes above the origin of the head, as parts of the height of the skeleton, without a mesh to go by."""
_BESIDE = 0.1
"""Of the height of the skeleton: how far beside the origin of the head what is above it belongs to it."""
_FARTHEST = 0.5
"""Of the height of the skeleton: eye bones farther from the head's origin are not in this head."""
_MOST_KEPT = 64
_kept: dict[tuple[object, ...], Array] = {}


def between_eyes(armature: bpy.types.Object, bone: str, chosen: Sequence[str] = ()) -> Array | None:
    """The place between the eyes (3,) in the frame of the bone, in armature units; None where this is no head.

    chosen: eye bones that the animator has chosen.
    """
    named = tuple(name for name in chosen if name in armature.data.bones)
    meshes = tuple((item.data.session_uid, len(item.data.vertices)) for item in _attached(armature))
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    up = stance.of(armature).axes.up
    key = armature.session_uid, bone, tuple(bones.keys()), matrices.tobytes(), named, meshes, up.tobytes()
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
    above = _height(armature, skeleton, head, rotation.rotate(turn, up), height)
    return above * (up + _AHEAD * forward)


def _height(armature: bpy.types.Object, skeleton: Skeleton, head: int, up: Array, height: float) -> float:
    """How high eyes usually are above the origin of the head. up: (3,) at rest. height: of the skeleton."""
    origin = skeleton.heads[head]
    away = np.concatenate([np.zeros((1, 3)), *(points - origin for points in _points(armature, skeleton.names[head]))])
    above = away @ up
    beside = np.linalg.norm(away - above[:, None] * up, axis=1)
    crown = float(above[beside < _BESIDE * height].max())
    if crown > 0.0:
        return _OF_CROWN * crown
    bone = float((skeleton.tails[head] - origin) @ up)
    return float(np.clip(_OF_BONE * bone, _LIKELY[0] * height, _LIKELY[1] * height))


def _attached(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that are children of an armature: where these are at rest does not depend on the frame."""
    return [item for item in armature.children if item.type == "MESH" and item.data is not None]


def _points(armature: bpy.types.Object, head: str) -> Iterator[Array]:
    """Vertices (n, 3) at rest, in the armature's space, of the meshes that it deforms or that hang on the head."""
    for item in _attached(armature):
        local = item.matrix_parent_inverse @ item.matrix_basis
        if item.parent_type == "BONE":
            bone = armature.data.bones.get(item.parent_bone)
            if bone is None or head not in (bone.name, *(above.name for above in bone.parent_recursive)):
                continue
            local = bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0)) @ local
        vertices = np.empty(3 * len(item.data.vertices), dtype=np.float32)
        item.data.vertices.foreach_get("co", vertices)
        matrix = np.array(local)
        yield vertices.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
