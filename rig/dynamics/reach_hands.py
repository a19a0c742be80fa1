"""The hands of a reach: the chain and the goal of each, in the frame from which its arm hangs."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.rotation import Array
from ..animation import editable
from ..detection import joint_chain, limbs, other_ik, palms, rest
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..detection.joint_chain import JointChain
from ..detection.names import read_names
from ..detection.palms import Palm
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from . import body_obstacles, goal_limbs
from .articulation import Articulation
from .body_obstacles import Ball
from .goal_limbs import GoalLimb

_SQUARE = 0.3
"""Sine of the angle between the arm and the normal of a face below which the fingers point upwards."""
_AT_END = 0.1
"""Distance from the end of a limb, as a fraction of the length of its last bone, at which a hand begins."""
_STILL = 1e-4
"""Speed [m/s] below which a goal is at rest."""


@dataclass(frozen=True)
class ReachingHand:
    """A hand of a reach.

    The frame from which its arm hangs is the base of the body; where the arms hang on bones of their own, such as
    collarbones that are animated, it moves with these, and is that of the base at the first frame.
    """

    chain: JointChain
    goal: Target
    slot: int
    """Index of its goal among the sampled targets."""
    palm: Palm | None = None
    """The palm that comes to the goal and may turn to its face."""
    end: tuple[str, Array] | None = None
    """A bone and a point (3,) in its frame, in units of the armature, that comes to the goal; None for the palm, if
    there is one, or else the head or the tip of the effector."""

    @property
    def _end(self) -> tuple[str, Array]:
        """The bone and the point in its frame, in units of the armature, that comes to the goal."""
        if self.end is not None:
            return self.end
        if self.palm is not None:
            return self.chain.effector, self.palm.middle
        length = self.chain.armature.data.bones[self.chain.effector].length if self.chain.at_tip else 0.0
        return self.chain.effector, np.array((0.0, length, 0.0))

    @property
    def seen(self) -> tuple[str, ...]:
        """The bones that show where it is."""
        return tuple(dict.fromkeys((self.chain.effector, self._end[0])))

    def _places(self, samples: Samples) -> Array:
        """Where it is (F, 3), in the armature's space."""
        bone, point = self._end
        row = samples.bones.index(bone)
        positions = samples.positions[:, row]
        return positions + rotation.rotate(samples.rotations[:, row], np.broadcast_to(point, positions.shape))

    def _joint(self, body: Articulation) -> int:
        return body.bones.index(self.chain.bones[-1])

    def effector(self, body: Articulation, samples: Samples, arrival: int) -> tuple[int, Array]:
        """The joint, and the point in its frame [m]; as the hand is on arrival, where that turns it."""
        last, k = samples.bones.index(self.chain.bones[-1]), 0 if self.end is None else arrival
        arm = self._places(samples)[k] - samples.positions[k, last]
        return self._joint(body), body.unit * rotation.rotate(rotation.inverse(samples.rotations[k, last]), arm)

    def base_pose(self, body: Articulation, samples: Samples) -> tuple[Array, Array]:
        """Rotations (F, 4) and positions (F, 3) of the frame from which the arm hangs, in the armature's space."""
        parents = np.asarray(body.body.parents)
        if np.sum(parents < 0) == 1:
            return body.base_pose(samples)
        root = self._joint(body)
        while parents[root] >= 0:
            root = int(parents[root])
        row = samples.bones.index(body.bones[root])
        turned = body.hangs_from(samples)[:, root]
        offset = np.asarray(body.body.offsets)[root] / body.unit
        return turned, samples.positions[:, row] - rotation.rotate(turned, offset)

    def in_base(self, body: Articulation, samples: Samples, points: Array) -> Array:
        """Places (F, 3) of the armature's space in the frame from which the arm hangs [m]."""
        orientations, places = self.base_pose(body, samples)
        return body.unit * rotation.rotate(rotation.inverse(orientations), points - places)

    def goals(self, body: Articulation, samples: Samples) -> Array:
        """The places (F, 3) [m] of its goal."""
        return self.in_base(body, samples, samples.targets[self.slot])

    def faced(self, samples: Samples, k: int, axes: Array, normal: Array) -> Array:
        """The matrix (3, 3) that turns the axes (3, 3) of its goal in the world at a frame into those of the effector
        with its palm on a face with this normal (3,), in the axes of the goal. The fingers point on from the
        shoulder."""
        assert self.palm is not None
        world = samples.worlds[k, :3, :3]
        outward = axes @ (np.asarray(normal) / np.linalg.norm(normal))
        shoulder = samples.positions[k, samples.bones.index(self.chain.joints[max(len(self.chain.joints) - 2, 0)])]
        ahead = world @ (samples.targets[self.slot, k] - shoulder)
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
        if np.linalg.norm(np.cross(ahead, outward)) < _SQUARE:
            ahead = np.array((0.0, 0.0, 1.0))
        return axes.T @ palms.framed(ahead, -outward) @ self.palm.frame.T

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
        return self._places(samples) - samples.targets[self.slot]


def chain(
    armature: bpy.types.Object | None,
    bone: str,
    *,
    length: int,
    base: str = "",
    at_tip: bool,
    turn_effector: bool,
    skipped: Collection[str] = (),
) -> JointChain:
    """The chain that reaches with `bone`, or with the hand, or else the end of the limb, if that is the target of the
    inverse kinematics of a limb. skipped: bones that do not turn. Raises LookAtError."""
    armature = editable.check_bones(armature, (bone,))
    hand = hand_of(armature, bone)
    effector = goal_limbs.moved_bone(armature, hand)
    return joint_chain.resolve(
        armature,
        effector,
        length=length,
        base=base,
        at_tip=at_tip or effector != hand,
        turn_effector=turn_effector,
        skipped=skipped,
        check=lambda bones: _check_free(armature, bones),
    )


def hand_of(armature: bpy.types.Object, bone: str) -> str:
    """The hand of the limb of which `bone` is the target of the inverse kinematics; `bone` itself if it is none, or if
    there is no hand."""
    moved = goal_limbs.moved_bone(armature, bone)
    last = armature.pose.bones[moved]
    if moved == bone or not any(constraint.type == "IK" for constraint in last.constraints):
        return moved
    end = last.bone
    below = [child for child in last.children if (child.bone.head_local - end.tail_local).length < _AT_END * end.length]
    return max(below, key=lambda child: len(child.children_recursive)).name if below else bone


def limbs_of(armature: bpy.types.Object, bones: Sequence[str]) -> list[GoalLimb]:
    """The limbs of these joints that turn by the target of their inverse kinematics. Raises RigError if one has no
    target that can be keyed."""
    return goal_limbs.find(armature, bones, _refusal, but=lambda: goal_limbs.switches(armature))


def end_of(armature: bpy.types.Object, bone: str, point: str) -> tuple[str, Array] | None:
    """What comes to the goal of `bone` by the `point` of a request: a bone, and a point of it; None for the head."""
    if point == "HEAD" or not are_hands(armature, [bone]):
        return None
    if point == "FINGERTIPS":
        return palms.fingertip(armature, bone)
    return bone, palms.find(armature, bone, counterpart(armature, bone)).middle


def _check_free(armature: bpy.types.Object, bones: Sequence[str]) -> None:
    """Raise RigError where the bones of a chain can turn neither by their channels nor by the target of their limb."""
    found = limbs_of(armature, bones)
    joint_chain.check_free(armature, bones, but=[(limb.owner, limb.constraint) for limb in found])
    for limb in found:
        _check(armature, limb, bones)


def _refusal(bone: str, owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> RigError:
    return other_ik.refusal(owner.id_data, other_ik.read(owner, constraint), bone)


def _check(armature: bpy.types.Object, limb: GoalLimb, bones: Sequence[str]) -> None:
    """Raise RigError if a limb cannot turn by its goal with these joints."""
    missing = next((name for name in limb.bones if name not in bones), None)
    if missing is not None:
        raise RigError(
            "The constraint '{constraint}' also poses bone '{bone}', which is not in the chain of the reach; increase "
            "Chain Length.",
            constraint=limb.constraint,
            bone=missing,
        )
    if limb.pole_elsewhere:
        raise RigError(
            "The pole of the constraint '{constraint}' on '{owner}' is no bone of '{armature}', so that the elbow "
            "cannot follow the reach; choose a bone of '{armature}' as the pole, or none.",
            constraint=limb.constraint,
            owner=limb.owner,
            armature=armature.name,
        )
    for name in limb.moved:
        if any(bone.name in bones for bone in armature.pose.bones[name].parent_recursive):
            raise RigError(
                "'{target}', to which the constraint '{constraint}' reaches or bends, moves with the chain of the "
                "reach; give it another parent.",
                target=name,
                constraint=limb.constraint,
            )


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


class Face(NamedTuple):
    """A goal for a hand."""

    goal: Target
    normal: tuple[float, float, float] | None = None
    """Outward from the face of the goal in which it is, in the axes of the goal; None without a face."""


def faces(
    armature: bpy.types.Object, bones: Sequence[str], goals: Sequence[Target], gap: float | None = None
) -> list[Face]:
    """The goals of hands, each with its face. Raises RigError.

    Two hands of which the second has no goal, or the object of the first, take that object on two sides: at the ends of
    its bounding box along the axis of the object that is nearest to the line between the hands as they are now. gap:
    distance in units of the scene from their faces at which they are; then hands with other goals also come to faces,
    those towards them. None for no such distance, and no faces of other goals.
    """
    editable.check_bones(armature, bones)
    hands = [np.array(armature.matrix_world @ armature.pose.bones[name].head) for name in bones]
    if len(goals) == 2 and _are_sides(*goals):
        extent = _extent(goals[0])
        if extent is None:
            raise RigError(
                "Both hands have the same goal; choose a goal for the other hand, or a mesh as the goal of both."
            )
        along = _in_axes(goals[0], hands[0] - hands[1])
        axis = int(np.argmax(np.abs(along) * (extent[1] > extent[0])))
        sign = 1.0 if along[axis] >= 0.0 else -1.0
        return [_face(goals[0], extent, axis, end, gap or 0.0) for end in (sign, -sign)]
    if gap is None:
        return [Face(goal) for goal in goals]
    goals_with_faces = []
    for goal, hand in zip(goals, hands, strict=True):
        extent = _extent(goal)
        if extent is None:
            goals_with_faces.append(Face(goal))
            continue
        # The face through which the line from the middle of the box to the hand goes.
        matrix, half = np.array(goal.object.matrix_world), 0.5 * (extent[1] - extent[0])
        middle = matrix[:3, :3] @ (0.5 * (extent[0] + extent[1])) + matrix[:3, 3]
        along = _in_axes(goal, hand - middle) / np.maximum(np.linalg.norm(matrix[:3, :3], axis=0) * half, 1e-12)
        axis = int(np.argmax(np.abs(along)))
        goals_with_faces.append(_face(goal, extent, axis, 1.0 if along[axis] >= 0.0 else -1.0, gap))
    return goals_with_faces


def have_palms(armature: bpy.types.Object, bones: Sequence[str], goals: Sequence[Target]) -> bool:
    """Whether these bones are two hands that take one goal with sides."""
    if len(goals) != 2 or not _are_sides(*goals) or _extent(goals[0]) is None:
        return False
    return are_hands(armature, bones)


def are_hands(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether these bones are hands."""
    known = {name for name, read in zip(bones, read_names(bones), strict=True) if read.has(words.PALM)}
    with suppress(LookAtError):
        known |= {line[2] for line in limbs.limb_lines(armature)[0] if len(line) > 2}
    return known.issuperset(bones)


def taken(goals: Sequence[Target]) -> tuple[Ball, ...]:
    """The box of the object of which several hands take the sides, as an obstacle to their arms; nothing otherwise."""
    objects = {goal.object for goal in goals}
    if len(goals) < 2 or len(objects) > 1 or any(goal.bone or goal.point is None for goal in goals):
        return ()
    item = goals[0].object
    extent = None if item is None else _extent(Target(item))
    return () if item is None or extent is None else body_obstacles.of_box(item, *extent)


def _are_sides(goal: Target, other: Target) -> bool:
    """Whether two hands have one goal, each on its side."""
    is_other = other.object is not None and (other.object != goal.object or goal.bone != other.bone)
    return not is_other and other.point is None


def _extent(goal: Target) -> tuple[Array, Array] | None:
    """The lowest and highest corner of the bounding box of a goal in its own space; None if it has none."""
    if goal.object is None or goal.bone or goal.point is not None:
        return None
    corners = np.array(goal.object.bound_box, dtype=float)
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (low, high) if np.any(high - low > 0.0) else None


def _in_axes(goal: Target, vector: Array) -> Array:
    """A vector (3,) of the world along the unit vectors of the axes of a goal."""
    matrix = np.array(goal.object.matrix_world)[:3, :3]
    return vector @ matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-12)


def _face(goal: Target, extent: tuple[Array, Array], axis: int, sign: float, gap: float) -> Face:
    """The face at one end of an axis of a goal, with the goal so far in front of its middle."""
    point = 0.5 * (extent[0] + extent[1])
    size = float(np.linalg.norm(np.array(goal.object.matrix_world)[:3, axis]))
    point[axis] = extent[1 if sign > 0.0 else 0][axis] + sign * gap / max(size, 1e-12)
    x, y, z = (sign * np.eye(3)[axis]).tolist()
    return Face(replace(goal, point=tuple(point.tolist())), (x, y, z))
