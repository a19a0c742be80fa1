"""The rotations that the own channels of a bone would have in a pose that a constraint gives it."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from .sampler import Samples


def own_rotation(armature: bpy.types.Object, bone: str, above: Array, orientation: Array) -> Array:
    """The own rotation (F, 4) of a bone with an orientation (F, 4) in armature space, below a parent with the
    orientation `above` (F, 4)."""
    data = armature.data.bones[bone]
    rest, frames = _rest(data), above
    if data.parent is None or not data.use_inherit_rotation:
        frames = rotation.identity(len(orientation))
    else:
        rest = rotation.multiply(rotation.inverse(_rest(data.parent)), rest)
    return rotation.multiply(rotation.inverse(rotation.multiply(frames, rest)), orientation)


def parent_orientation(armature: bpy.types.Object, samples: Samples, bone: str) -> Array:
    """The orientation (F, 4) of the parent of a bone in armature space."""
    parent = armature.data.bones[bone].parent
    if parent is None:
        return rotation.identity(len(samples.frames))
    return samples.rotations[:, samples.bones.index(parent.name)]


def _rest(bone: bpy.types.Bone) -> Array:
    return rotation.from_matrix(np.array(bone.matrix_local.to_3x3()))
