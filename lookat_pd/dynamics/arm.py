"""The joints above a hand: its position, its Jacobian, and poses that bring it to a place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import rotation
from ..ik import BodyObjective, BodyOrientation, BodyPosition, Limits, Orientation, solve
from ..ik.published import least_squares
from ..rotation import Array
from .body import Body, matrices

_CLOSE = 1e-6
"""Distances below this fraction of the arm's length count as zero."""
_DAMPING = 1e-4
POSED = 1e-7
"""Tolerance [m] of inverse kinematics, for a pose with the hand at a place."""
_STEP = 0.3
"""Largest correction in one iteration, as a fraction of the arm's length."""


@dataclass(frozen=True)
class Arm:
    """A body in a pose `start` (n, 4) of which the joints above a point move, and the others are fixed. Motions are
    (..., N + 1, a, 4), the local rotations of the a moving joints at intervals of h seconds."""

    body: Body
    start: Array
    effector: int
    """The joint in whose frame the point (3,) is."""
    point: Array
    gravity: Array
    damping: Array
    """(n,) [N m s/rad], friction that the torques overcome."""
    weights: Array
    """(n,) weights of the torque of each joint."""
    limits: Limits | None = None
    """Limits of all joints."""
    before: Array | None = None
    """(a, 3) [rad/s], the constant velocity before the first sample; None for rest."""
    after: Array | None = None
    """(a, 3) [rad/s], the constant velocity after the last sample; None for rest."""
    orientation: Array | None = None
    """(4,) of the effector's joint on arrival, in the frame of the roots, which it then moves for; None if any will
    do."""

    @cached_property
    def joints(self) -> list[int]:
        """The moving joints: a joint does not move its own origin."""
        chain = self.body.chain(self.effector)
        return chain if np.any(self.point) or self.orientation is not None else chain[:-1]

    @cached_property
    def _arms(self) -> list[Array]:
        """The position (3,) of the next joint in the frame of each moving joint; for the last, that of the point."""
        offsets = np.asarray(self.body.offsets)
        after = self.body.chain(self.effector)[1:]
        arms = [offsets[joint] for joint in after]
        return [*arms, self.point] if len(self.joints) > len(after) else arms

    @cached_property
    def length(self) -> float:
        """The largest distance of the point from the first of the joints."""
        return float(sum(np.linalg.norm(arm) for arm in self._arms))

    @cached_property
    def directions(self) -> Array:
        """The directions (a, 3) of the bones of the moving joints, each in its own frame; 0 for those of no length."""
        arms = np.stack(self._arms)
        return arms / np.maximum(rotation.length(arms), 1e-12)[:, None]

    @cached_property
    def _locked(self) -> Array:
        """How many axes (a,) of each moving joint are locked."""
        if self.limits is None:
            return np.zeros(len(self.joints), dtype=int)
        return np.asarray(self.limits.locks)[self.joints].sum(axis=1)

    @cached_property
    def are_balls(self) -> Array:
        """Which (a,) of the moving joints have no locked axis."""
        return self._locked == 0

    @property
    def swings(self) -> bool:
        """Whether ball joints turn about two axes, as in an arm with a hinge; see `joint_axes`."""
        return bool(np.any(self._locked == 2))

    @cached_property
    def are_only_locked(self) -> bool:
        """Whether the limits of the moving joints are locks alone."""
        if self.limits is None:
            return False
        ranges = (self.limits.minimum, self.limits.maximum, self.limits.euler_minimum, self.limits.euler_maximum)
        return not any(np.isfinite(np.asarray(values)[self.joints]).any() for values in ranges)

    @property
    def near(self) -> float:
        """Tolerance [m] of the distance from the path."""
        return 1e-5 * self.length

    @cached_property
    def shoulder(self) -> Array:
        """The position of the first joint."""
        return np.asarray(self.body.offsets)[self.body.chain(self.effector)[0]]

    @cached_property
    def rest(self) -> Array:
        """The moving joints' pose at the start (a, 4)."""
        return self.start[self.joints]

    def whole(self, motion: Array) -> Array:
        """The body's poses (..., n, 4) in a motion (..., a, 4)."""
        result = np.broadcast_to(self.start, (*motion.shape[:-2], *self.start.shape)).copy()
        result[..., self.joints, :] = motion
        return result

    def points(self, motion: Array) -> Array:
        """The positions (..., 3) of the point."""
        local = matrices(motion)
        point = np.broadcast_to(self._arms[-1], (*motion.shape[:-2], 3))
        for number in range(len(self.joints) - 1, -1, -1):
            before = self._arms[number - 1] if number else self.shoulder
            point = before + (local[..., number, :, :] @ point[..., None])[..., 0]
        return point

    def places(self, motion: Array) -> Array:
        """The positions (..., a + 1, 3) of the moving joints and of the point."""
        local = matrices(motion)
        places = [np.broadcast_to(self.shoulder, (*motion.shape[:-2], 3))]
        turn = None
        for number, arm in enumerate(self._arms):
            own = local[..., number, :, :]
            turn = own if turn is None else turn @ own
            places.append(places[-1] + turn @ arm)
        return np.stack(places, axis=-2)

    def bones(self, motion: Array) -> tuple[Array, Array]:
        """Begins and ends (..., b, 3) of the bones between the joints, the last of which ends at the point."""
        places = self.places(motion)
        return places[..., :-1, :], places[..., 1:, :]

    @property
    def tips(self) -> list[int]:
        """The bones that end at a point, by number."""
        return [len(self.joints) - 1]

    @property
    def count(self) -> int:
        """How many points there are."""
        return 1

    @property
    def arms(self) -> "tuple[Arm, ...]":
        """The arm of each point."""
        return (self,)

    @property
    def hand_of_bone(self) -> list[int]:
        """The point behind each of the bones, by number."""
        return [0] * len(self.joints)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Bones, by number, each of which moves one point only, and another one than the other."""
        return []

    def beyond(self, place: Array) -> Array:
        """How far (k,) places (3 k,) are out of reach [m], negative within reach."""
        return np.array([float(np.linalg.norm(place - self.shoulder)) - self.length])

    @property
    def is_oriented(self) -> bool:
        """Whether a point has an orientation on arrival."""
        return self.orientation is not None

    def oriented(self, orientation: Array | None) -> "Arm":
        """The same arm with another orientation (4,) on arrival; (k, 4) for several hands."""
        return replace(self, orientation=orientation)

    def misaligned(self, pose: Array) -> float:
        """The largest angle [rad] between a pose (a, 4) and the orientation on arrival; 0 if any will do."""
        if self.orientation is None:
            return 0.0
        return float(rotation.distance(self.orientations(pose), self.orientation))

    def posed(self, pose: Array, place: Array, limits: Limits, *, oriented: bool) -> Array:
        """A pose (n, 4) of the body by inverse kinematics from that of the moving joints (a, 4), for `effectors`."""
        whole, chain = self.whole(pose), self.body.chain(self.effector)
        offsets = np.asarray(self.body.offsets)[chain]
        whole[chain] = solve(
            np.concatenate((offsets[1:], np.reshape(self.point, (1, 3)))),
            whole[chain],
            place,
            method="jacobian_quaternion",
            tolerance=POSED,
            limits=limits.take(chain),
            base=offsets[0],
            objectives=[Orientation(self.orientation)] if oriented and self.orientation is not None else [],
        ).rotations
        return whole

    def effectors(self, place: Array, *, oriented: bool) -> list[BodyObjective]:
        """What inverse kinematics brings to a place (3,), and to the orientation on arrival if it is `oriented`."""
        there = BodyPosition(self.effector, place, self.point)
        if not oriented or self.orientation is None:
            return [there]
        return [there, BodyOrientation(self.effector, self.orientation)]

    def orientations(self, motion: Array) -> Array:
        """The orientations (..., 4) of the last moving joint."""
        orientation = motion[..., 0, :]
        for number in range(1, motion.shape[-2]):
            orientation = rotation.multiply(orientation, motion[..., number, :])
        return orientation

    def held(self, pose: Array, place: Array, iterations: int = 12) -> Array:
        """The nearest pose (a, 4) with the point at a place (3,) and the orientation, if there is one."""
        if self.orientation is None:
            return self.follow(pose[None], place[None], iterations)[0][0]
        # The origin of the last joint comes to where the point then is in its place.
        wrist = replace(self, point=np.zeros(3))
        there = place - rotation.rotate(self.orientation, self.point)
        pose = wrist.follow(pose[None], there[None], iterations)[0][0].copy()
        pose[-1] = self.aligned(pose)
        return self.clamped(pose)

    def aligned(self, pose: Array) -> Array:
        """The rotation (4,) of the last joint of a pose (a, 4) that gives it the orientation on arrival."""
        above = self.orientations(pose[:-1]) if len(pose) > 1 else rotation.IDENTITY
        return rotation.multiply(rotation.inverse(above), self.orientation)

    def swivelled(self, pose: Array, place: Array, angles: Sequence[float]) -> Array:
        """A pose (a, 4) with the arm of each point rotated about the line from its shoulder to its place (3 k,)."""
        return self._rotated(pose, place, angles[0], 0)

    def _rotated(self, pose: Array, place: Array, angle: float, number: int) -> Array:
        """A pose (a, 4) with one of the joints, by number, rotated about the line from it to a place (3,)."""
        line = place - self.places(pose)[number]
        if number:
            line = rotation.rotate(rotation.inverse(self.orientations(pose[:number])), line)
        turned = pose.copy()
        axis = line / max(float(np.linalg.norm(line)), 1e-12)
        turned[number] = rotation.multiply(rotation.about(axis, np.array(angle)), pose[number])
        return turned

    def place(self, motion: Array) -> tuple[Array, Array]:
        """The positions (..., 3) of the point, and its Jacobian (..., 3, 3 a) for rotations of each joint in its own
        frame."""
        count, local = len(self.joints), matrices(motion)
        axes, places = np.empty(local.shape), np.empty((*motion.shape[:-1], 3))
        place, turn = np.broadcast_to(self.shoulder, (*motion.shape[:-2], 3)), None
        for number in range(count):
            places[..., number, :] = place
            own = local[..., number, :, :]
            turn = own if turn is None else turn @ own
            axes[..., number, :, :] = turn
            place = place + turn @ self._arms[number]
        jacobian = rotation.cross(np.swapaxes(axes, -1, -2), (place[..., None, :] - places)[..., None, :])
        return place, np.swapaxes(jacobian.reshape(*place.shape[:-1], 3 * count, 3), -1, -2)

    def follow(self, motion: Array, path: Array, iterations: int = 12) -> tuple[Array, float]:
        """The nearest motion (m, a, 4) whose point is on a path (m, 3), and its largest error."""
        motion = self.clamped(motion)
        nearest, least = motion, np.inf
        for _ in range(iterations + 1):
            point, jacobian = self.place(motion)
            error = path - point
            size = np.sqrt(rotation.dot(error, error))
            if size.max() < least:
                nearest, least = motion, float(size.max())
            if least < _CLOSE * self.length:
                break
            error = error * np.minimum(1.0, _STEP * self.length / np.maximum(size, 1e-300))[:, None]
            free, damping = np.ones(jacobian[:, 0].shape), np.full(len(jacobian), _DAMPING * self.length)
            turns = least_squares.solved(jacobian, free, error, damping)
            moved = self._moved(motion, turns)
            if self.limits is not None:
                made = rotation.log(rotation.multiply(rotation.inverse(motion), moved)).reshape(turns.shape)
                moved = self._moved(motion, least_squares.around_limits(jacobian, free, error, damping, turns, made))
            motion = moved
        return nearest, least

    def _moved(self, motion: Array, turns: Array) -> Array:
        turns = rotation.exp(turns.reshape(*motion.shape[:-1], 3))
        return self.clamped(rotation.normalize(rotation.multiply(motion, turns)))

    def clamped(self, motion: Array) -> Array:
        """The motion within the joints' limits; locked angles are those of the start."""
        if self.limits is None:
            return motion
        whole = self.whole(motion)
        return self.limits.clamp(whole, np.broadcast_to(self.start, whole.shape))[..., self.joints, :]

    def between(self, begin: Array, end: Array, part: Array) -> Array:
        """Poses (m, a, 4) at fractions (m, 1) between two poses (a, 4), each joint separately.

        Rotation vectors from rest are interpolated for a joint with limits: the shortest arc from one limit to the
        other may leave the allowed range.
        """
        turned = rotation.slerp(begin, end, part)
        if self.limits is None:
            return turned
        rest = np.asarray(self.limits.rest)[self.joints]
        first, last = (rotation.log(rotation.multiply(rotation.inverse(rest), pose)) for pose in (begin, end))
        bound = rotation.multiply(rest, rotation.exp(first + part[..., None] * (last - first)))
        is_bound = np.array([self.limits.joints[joint] is not None for joint in self.joints])
        return np.where(is_bound[:, None], bound, turned)

    @cached_property
    def outside(self) -> Array:
        """The velocities (2, a, 3) before and after a motion."""
        still = np.zeros((len(self.joints), 3))
        return np.stack([still if velocity is None else velocity for velocity in (self.before, self.after)])

    @property
    def is_moving(self) -> bool:
        """Whether it moves before or after a motion."""
        return bool(np.any(self.outside))

    def speeds(self, motion: Array, h: float) -> Array:
        """Mean velocities (..., N + 2, a, 3) in each step, and in the steps before and after."""
        moved = rotation.log(rotation.multiply(rotation.inverse(motion[..., :-1, :, :]), motion[..., 1:, :, :]))
        result = np.zeros((*motion.shape[:-3], motion.shape[-3] + 1, *motion.shape[-2:-1], 3))
        result[..., 1:-1, :, :] = moved / h
        result[..., [0, -1], :, :] = self.outside
        return result
