"""The target that adding a look-at makes: an empty in front of the face, which goes again while nobody touches it."""

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...lookat_pd import rotation
from ..detection import stance
from . import eye_origin

_MADE = "lookat_pd_made"
"""Custom property: the name, location and size with which the empty was made."""


def make(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> bpy.types.Object:
    """An empty in front of the face, a character's height away."""
    skeleton = stance.skeleton(armature)
    forward = stance.of(armature).axes.forward
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0))) or 1.0
    local = skeleton.rotations[skeleton.index(bone)]
    pose = armature.pose.bones[bone].matrix
    here = rotation.from_matrix(np.array(pose)[:3, :3])
    ahead = rotation.rotate(rotation.multiply(here, rotation.inverse(local)), forward)
    eye = eye_origin.place(armature, bone, armature.pose.bones[bone].lookat_pd)
    place = np.array(pose.translation) + rotation.rotate(here, eye) + size * ahead
    empty = bpy.data.objects.new(f"{armature.name} Target", None)
    empty.empty_display_type = "SPHERE"
    scale = float(np.mean(np.abs(armature.matrix_world.to_scale())))
    empty.empty_display_size = 0.04 * size * scale
    empty.location = armature.matrix_world @ Vector(place)
    empty[_MADE] = _state(empty)
    scene.collection.objects.link(empty)
    return empty


def remove_unused(item: bpy.types.Object | None) -> None:
    """Take an empty that was made as a target out of the file, if it is as it was made and nothing refers to it."""
    if item is None or item.library is not None or item.get(_MADE) != _state(item) or any(_changes(item)):
        return
    users = bpy.data.user_map(subset=[item])[item]
    if all(isinstance(user, bpy.types.Scene | bpy.types.Collection) for user in users):
        bpy.data.objects.remove(item)


def _state(item: bpy.types.Object) -> str:
    return repr((item.name, item.location[:], item.empty_display_type, item.empty_display_size))


def _changes(item: bpy.types.Object) -> Iterator[bool]:
    """What somebody may have done with it besides."""
    yield item.type != "EMPTY" or item.animation_data is not None or item.parent is not None
    yield len(item.constraints) > 0 or item.use_fake_user or item.asset_data is not None
    yield item.matrix_basis != Matrix.Translation(item.location) or len(item.users_collection) != 1
    yield any(name != _MADE for name in item.keys())
