"""Displacements in armature space as the location channels of a bone."""

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from .sampler import Samples


def own_displacement(samples: Samples, bone: str, orientation: Array, displacement: Array) -> Array:
    """A displacement (F, 3) in armature space as the location of the bone. orientation: (F, 4) of the bone."""
    n = samples.bones.index(bone)
    mode = samples.modes[n]
    turned = channels.to_quaternion(samples.raw[mode if mode in samples.raw else "EULER"][:, n], mode)
    frame = rotation.multiply(orientation, rotation.inverse(turned))
    if bone in samples.rests:
        frame = rotation.multiply(frame, rotation.inverse(samples.rests[bone]))
    return rotation.rotate(rotation.inverse(frame), displacement) / samples.sizes[:, n : n + 1]
