"""The hands of a reach: the chain and the goal of each, in the frame from which its arm hangs."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import channels, editable
from ..detection import rest
from ..detection.anatomy import Anatomy
from ..detection.joint_chain import JointChain
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from .articulation import Articulation

_STILL = 1e-4
"""Speed [m/s] below which a goal is at rest."""


@dataclass(frozen=True)
class ReachingHand:
    """A hand of a reach. slot: of its goal among the targets that are sampled.

    The frame from which its arm hangs is the base of the body; where the arms hang on bones of their own, such as
    collarbones that are animated, it moves with these, and is that of the base at the first frame.
    """

    chain: JointChain
    goal: Target
    slot: int

    @property
    def tip(self) -> Array:
        """The point of the effector in its own frame, in units of the armature."""
        length = self.chain.armature.data.bones[self.chain.effector].length if self.chain.at_tip else 0.0
        return np.array((0.0, length, 0.0))

    def _joint(self, body: Articulation) -> int:
        return body.bones.index(self.chain.bones[-1])

    def effector(self, body: Articulation, samples: Samples) -> tuple[int, Array]:
        """The joint, and the point in its frame [m]."""
        last, row = (samples.bones.index(name) for name in (self.chain.bones[-1], self.chain.effector))
        point = samples.positions[0, row] + rotation.rotate(samples.rotations[0, row], self.tip)
        arm = rotation.rotate(rotation.inverse(samples.rotations[0, last]), point - samples.positions[0, last])
        return self._joint(body), body.unit * arm

    def base_pose(self, body: Articulation, samples: Samples) -> tuple[Array, Array]:
        """Rotations (F, 4) and positions (F, 3) of the frame from which the arm hangs, in the armature's space."""
        parents = np.asarray(body.body.parents)
        if np.sum(parents < 0) == 1:
            return body.base_pose(samples)
        root = self._joint(body)
        while parents[root] >= 0:
            root = int(parents[root])
        row = samples.bones.index(body.bones[root])
        mode, raw = samples.channel(body.bones[root])
        own = rotation.multiply(body.fixed[root], channels.to_quaternion(raw, mode))
        turned = rotation.multiply(samples.rotations[:, row], rotation.inverse(own))
        offset = np.asarray(body.body.offsets)[root] / body.unit
        return turned, samples.positions[:, row] - rotation.rotate(turned, offset)

    def in_base(self, body: Articulation, samples: Samples, slot: int) -> Array:
        """The places (F, 3) [m] of a target of the samples in the frame from which the arm hangs."""
        orientations, places = self.base_pose(body, samples)
        return body.unit * rotation.rotate(rotation.inverse(orientations), samples.targets[slot] - places)

    def goals(self, body: Articulation, samples: Samples) -> Array:
        """The places (F, 3) [m] of its goal."""
        return self.in_base(body, samples, self.slot)

    def goal_velocity(self, body: Articulation, samples: Samples, seconds: float) -> Array | None:
        """The velocity (3,) [m/s] of its goal between the last two of the samples, so many seconds apart; None where it
        is at rest."""
        before, after = self.goals(body, samples)[-2:]
        speed = (after - before) / seconds
        return speed if np.linalg.norm(speed) > _STILL else None

    def orientations(self, body: Articulation, samples: Samples, axes: Array) -> Array:
        """Orientations (F, 4) from axes (F, 3, 3) in the world."""
        worlds = rotation.from_matrix(samples.worlds[:, :3, :3])
        base = rotation.multiply(worlds, self.base_pose(body, samples)[0])
        return rotation.multiply(rotation.inverse(base), rotation.from_matrix(axes))

    def approach(self, body: Articulation, samples: Samples, k: int, line: Array) -> Array:
        """A vector (3,) of the world at frame `k` [m]."""
        local = np.linalg.solve(samples.worlds[k, :3, :3], line)
        return body.unit * rotation.rotate(rotation.inverse(self.base_pose(body, samples)[0][k]), local)

    def in_world(self, body: Articulation, samples: Samples, path: Array) -> Array:
        """Points (F, 3) [m] of its path at the first F frames, in world space."""
        orientations, at = (part[: len(path)] for part in self.base_pose(body, samples))
        local = at + rotation.rotate(orientations, path / body.unit)
        worlds = samples.worlds[: len(path)]
        return (worlds[:, :3, :3] @ local[..., None])[..., 0] + worlds[:, :3, 3]

    def missed(self, samples: Samples) -> Array:
        """Where it is relative to its goal (F, 3), in the armature's space."""
        row = samples.bones.index(self.chain.effector)
        tip = np.broadcast_to(self.tip, samples.positions[:, row].shape)
        return samples.positions[:, row] + rotation.rotate(samples.rotations[:, row], tip) - samples.targets[self.slot]


def counterpart(armature: bpy.types.Object, bone: str) -> str:
    """The same bone of the other side, by name or by symmetry; "" if there is none."""
    flipped = bpy.utils.flip_name(bone)
    if flipped != bone and flipped in armature.pose.bones:
        return flipped
    skeleton = rest.skeleton(armature)
    anatomy = Anatomy(skeleton)
    images = {one: other for pair in anatomy.pairs for one, other in (pair, pair[::-1])} or anatomy.mirror[1]
    row = skeleton.names.index(bone) if bone in skeleton.names else -1
    return skeleton.names[images[row]] if row in images else ""


def goals(armature: bpy.types.Object, bones: tuple[str, str], goal: Target, other: Target) -> tuple[Target, Target]:
    """The goals of two hands. Without another goal than that of the first, or with the same object for both, each hand
    reaches for its own side of it: an end of its bounding box. Raises RigError.

    These are the ends along the axis of the object that is nearest to the line between the hands as they are now.
    """
    item = goal.object
    is_other = other.object is not None and (other.object != item or goal.bone != other.bone)
    if is_other or other.point is not None:
        return goal, other
    corners = np.zeros((1, 3)) if item is None or goal.bone else np.array(item.bound_box, dtype=float)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if item is None or not np.any(high - low > 0.0):
        raise RigError(
            "Both hands have the same goal; choose a goal for the other hand, or a mesh as the goal of both."
        )
    editable.check_bones(armature, bones)
    matrix = np.array(item.matrix_world)[:3, :3]
    first, second = (np.array(armature.matrix_world @ armature.pose.bones[name].head) for name in bones)
    lengths = np.maximum(np.linalg.norm(matrix, axis=0), 1e-12)
    along = (first - second) @ matrix / lengths * (high > low)
    axis = int(np.argmax(np.abs(along)))
    found = []
    for end in (high, low) if along[axis] >= 0.0 else (low, high):
        x, y, z = (float(value) for value in np.where(np.arange(3) == axis, end, 0.5 * (low + high)))
        found.append(replace(goal, point=(x, y, z)))
    return found[0], found[1]
