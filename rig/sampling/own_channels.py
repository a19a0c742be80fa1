"""Which values the own channels of a bone have for a place or an orientation in armature space."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from .sampler import Samples
from .targets import world_matrix


def location_axes(armature: bpy.types.Object, samples: Samples, bone: str, basis: Array) -> Array:
    """(F, 3, 3), by columns the displacements in armature space for a location of 1 along each axis of a control.

    basis: (F, 4), the rotation of its channels with which it was sampled.
    """
    if bone in samples.axes:
        return samples.axes[bone]
    row, data = samples.bones.index(bone), armature.data.bones[bone]
    frame = rotation.multiply(samples.rotations[:, row], rotation.inverse(basis))
    if not data.use_local_location:
        # The axes of the location are those of the armature, turned with the parent.
        rest = rotation.from_matrix(np.array(data.matrix_local)[:3, :3])
        frame = rotation.multiply(frame, rotation.inverse(rest))
    return rotation.to_matrix(frame) * samples.sizes[:, row, None, None]


def world_axes(seen: bpy.types.Object, bone: str) -> Array:
    """The same (3, 3) in the world for an evaluated object, "", or a bone of it."""
    item = seen.pose.bones[bone] if bone else seen
    axes = np.array(world_matrix(seen, bone))[:3, :3] @ np.linalg.inv(np.array(item.matrix_basis)[:3, :3])
    if bone and not item.bone.use_local_location:
        axes = axes @ np.linalg.inv(np.array(item.bone.matrix_local)[:3, :3])
    return axes


def along(axes: Array, displacement: Array) -> Array:
    """A displacement (F, 3) in armature space as a location (F, 3)."""
    return np.linalg.solve(axes, displacement[..., None])[..., 0]


def own_displacement(samples: Samples, bone: str, orientation: Array, displacement: Array) -> Array:
    """A displacement (F, 3) in armature space as the location of the bone. orientation: (F, 4) of the bone."""
    n = samples.bones.index(bone)
    mode = samples.modes[n]
    turned = channels.to_quaternion(samples.raw[mode if mode in samples.raw else "EULER"][:, n], mode)
    frame = rotation.multiply(orientation, rotation.inverse(turned))
    if bone in samples.rests:
        frame = rotation.multiply(frame, rotation.inverse(samples.rests[bone]))
    return rotation.rotate(rotation.inverse(frame), displacement) / samples.sizes[:, n : n + 1]


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
