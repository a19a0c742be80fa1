"""The evaluated pose of a chain, as arrays."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation.channels import channel
from ..detection.joint_chain import JointChain

_HUGE = 1e12


@dataclass(frozen=True)
class Seen:
    """A chain over F frames as Blender evaluates it, in armature space."""

    parent: Array
    """(F, 4) orientation of the bone above the chain."""
    rotations: Array
    """(F, n, 4) orientations of the joints."""
    positions: Array
    """(F, n, 3) positions of the joints."""
    end: Array
    """(F, 3) the effector's point."""
    effector_rotation: Array
    """(F, 4) the effector's rotation."""
    raw: dict[str, tuple[str, Array]]
    """(F, 3 or 4) channels of each bone that rotates."""

    @property
    def local(self) -> Array:
        """(F, n, 4), each joint relative to the one before, the base relative to its parent."""
        above = np.concatenate((self.parent[:, None], self.rotations[:, :-1]), axis=1)
        return rotation.multiply(rotation.inverse(above), self.rotations)

    @property
    def offsets(self) -> Array:
        """(F, n, 3), the next joint or the effector's point in each joint's frame."""
        after = np.concatenate((self.positions[:, 1:], self.end[:, None]), axis=1)
        return rotation.rotate(rotation.inverse(self.rotations), after - self.positions)

    @property
    def reachable_distance(self) -> Array:
        """(F,), lengths of all bones together."""
        return np.linalg.norm(self.offsets, axis=-1).sum(axis=-1)

    def take(self, chosen: Array) -> "Seen":
        """Some of the frames."""
        raw = {name: (mode, values[chosen]) for name, (mode, values) in self.raw.items()}
        parent, rotations, positions, end, effector_rotation = (
            part[chosen] for part in (self.parent, self.rotations, self.positions, self.end, self.effector_rotation)
        )
        return Seen(parent, rotations, positions, end, effector_rotation, raw)


def evaluated(chain: JointChain, pose: "bpy.types.bpy_prop_collection") -> Seen:
    """The chain of these evaluated pose bones, as one frame. Raises RigError."""
    matrices = {name: np.array(pose[name].matrix) for name in chain.seen}
    # Root first: an invalid bone affects its children.
    for name in reversed(chain.seen):
        matrix = matrices[name]
        sizes = np.linalg.norm(matrix[:3, :3], axis=0)
        if not np.abs(matrix).max() < _HUGE:
            raise RigError("Bone '{name}' has a pose that is not a number; fix its F-curves or constraints.", name=name)
        if sizes.min() < 1e-9:
            raise RigError("Bone '{name}' has a scale of 0; set a scale above 0.", name=name)
    orientations = rotation.from_matrix(np.array([matrices[name][:3, :3] for name in chain.seen]))
    orientations = dict(zip(chain.seen, orientations, strict=True))
    end = pose[chain.effector].tail if chain.at_tip else pose[chain.effector].head
    return Seen(
        orientations[chain.parent][None] if chain.parent else rotation.identity(1),
        np.array([orientations[name] for name in chain.joints])[None],
        np.array([matrices[name][:3, 3] for name in chain.joints])[None],
        np.array(end, dtype=float)[None],
        orientations[chain.effector][None],
        {name: raw_channel(chain.armature, name) for name in chain.bones},
    )


def raw_channel(armature: bpy.types.Object, bone: str) -> tuple[str, Array]:
    """The rotation mode of a bone and its current channel values (1, 3 or 4)."""
    mode = armature.pose.bones[bone].rotation_mode
    return mode, np.array(getattr(armature.pose.bones[bone], channel(mode)[0]), dtype=float)[None]
