"""The axes along which the location of a control moves it."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
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
