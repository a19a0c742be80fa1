"""The bones of whose motion chains do not feel all: their centers, over the frames."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from . import along_chain
from .chains import SpringChain

_POINTS = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def of(chains: Sequence[SpringChain]) -> list[str]:
    """The bones that are centers, each once."""
    named = (chain for chain in chains if chain.settings.center)
    return sorted({c.settings.center for c in named if any(own.inertia < 1.0 for own in along_chain.of(c))})


def targets(armature: bpy.types.Object, bones: Sequence[str]) -> list[Target]:
    """Points of each bone, to be sampled. Raises RigError."""
    for bone in bones:
        if bone not in armature.pose.bones:
            raise RigError(
                "The center '{bone}' of the springs is no bone of '{armature}'; choose another center.",
                bone=bone,
                armature=armature.name,
            )
    return [Target(armature, bone, point) for bone in bones for point in _POINTS]


def placed(points: Array, s: Samples, bones: Sequence[str]) -> dict[str, tuple[Array, Array]]:
    """Places (F, 3) and orientations (F, 4) in the world of each center, "" for the armature object.

    points: (3 b, F, 3) samples of their `targets` in the armature's space.
    """
    axes = s.worlds[:, :3, :3]
    result = {"": (s.worlds[:, :3, 3], orientations(axes))}
    seen = np.einsum("fij,nfj->nfi", axes, points) + s.worlds[:, :3, 3]
    for n, bone in enumerate(bones):
        origin, first, second = seen[3 * n : 3 * n + 3]
        x = rotation.normalize(first - origin)
        z = rotation.normalize(rotation.cross(x, second - origin))
        frame = np.stack((x, rotation.cross(z, x), z), axis=-1)
        result[bone] = origin, rotation.from_matrix(frame)
    return result


def orientations(axes: Array) -> Array:
    """(F, 4) of an object with these axes (F, 3, 3) in the world; of one that is mirrored, of its opposite."""
    is_mirrored = np.linalg.det(axes)[:, None, None] < 0.0
    return rotation.from_matrix(np.where(is_mirrored, -axes, axes))
