"""To which side a chain bends, also where it is straight.

A straight chain has no bend to measure. The side to which it would bend follows from the axis of its hinge, or from the
initial pose if there is none. Between both the direction changes with the size of the bend, so that it is continuous
where a target leaves the reach of the chain.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation, skeleton
from ..rotation import Array
from . import arithmetic, unfolding
from .arithmetic import BATCH, Arithmetic, Number, Vector
from .posture import STEADY, Posture

NEARLY_STRAIGHT = 0.3
"""Sine of the angle between two equal bones and their line, below which the axis counts."""

_DIGITS = 4


@dataclass(frozen=True)
class BendAxis:
    """The axis about which a chain bends if it has one."""

    joint: int
    """Index of the joint that bends."""
    axis: Array
    """(m, 3), in the frame of that joint."""


def forward(pose: Array, offsets: Array) -> tuple[Array, Array]:
    """Orientations (m, n, 4) of the joints, and positions (m, n + 1, 3) of the joints and the effector."""
    count, n = pose.shape[:2]
    heads = np.concatenate((np.zeros((count, 1, 3)), offsets[:, :-1]), axis=1)
    orientations, positions = skeleton.forward(range(-1, n - 1), heads, pose)
    end = positions[:, -1] + rotation.rotate(orientations[:, -1], offsets[:, -1])
    return orientations, np.concatenate((positions, end[:, None]), axis=1)


def hinge_axis(posture: Posture, orientations: Array, places: Array) -> tuple[int, Array]:
    """The hinge that bends a chain in the pose with these orientations (m, n, 4) and places (m, n + 1, 3): its index,
    and the axis (m, 3), that of its bend as far as it is bent."""
    hinge = _widest(posture, places)
    before, after = places[:, hinge], places[:, -1] - places[:, hinge]
    lengths = np.linalg.norm(before, axis=-1) * np.linalg.norm(after, axis=-1)
    crossed = rotation.cross(before, after) / np.maximum(lengths, 1e-300)[:, None]
    given = rotation.rotate(orientations[:, hinge], np.broadcast_to(np.asarray(posture.hinges)[hinge], before.shape))
    # A slight bend to the wrong side counts as one to the right side.
    wrong = np.minimum(np.sum(crossed * given, axis=-1, keepdims=True), 0.0)
    return hinge, rotation.normalize(crossed + (STEADY - 2.0 * wrong) * given)


def reaching(posture: Posture, pose: Array, offsets: Array, target: Array) -> Array:
    """The poses (m, n, 4) of chains with their effector at targets (m, 3), or straight towards those out of reach: one
    hinge bends, about its axis, and aside as far as that does not suffice, and the base makes the shortest rotation."""
    pose, far = pose.copy(), np.sum(target * target, axis=-1)
    orientations, places = forward(pose, offsets)
    hinge, _ = hinge_axis(posture, orientations, places)
    own = np.broadcast_to(np.asarray(posture.hinges)[hinge], target.shape)
    for aside in (False, True):
        turn, before, after = orientations[:, hinge], places[:, hinge], places[:, -1] - places[:, hinge]
        axis = rotation.normalize(rotation.cross(before, after)) if aside else rotation.rotate(turn, own)
        along = np.sum(before * axis, axis=-1) * np.sum(after * axis, axis=-1)
        cosine = np.sum(before * after, axis=-1) - along
        sine = np.sum(before * rotation.cross(axis, after), axis=-1)
        wanted = 0.5 * (far - np.sum(before**2, axis=-1) - np.sum(after**2, axis=-1)) - along
        straight = np.arctan2(sine, cosine)
        angle = np.arccos(np.clip(wanted / np.maximum(np.hypot(sine, cosine), 1e-300), -1.0, 1.0))
        change = (straight - np.copysign(angle, straight))[:, None] * rotation.rotate(rotation.inverse(turn), axis)
        pose[:, hinge] = rotation.multiply(pose[:, hinge], rotation.exp(change))
        orientations, places = forward(pose, offsets)
    pose[:, 0] = rotation.multiply(rotation.shortest_arc(places[:, -1], target), pose[:, 0])
    return pose


def bend_axis(posture: Posture | None, pose: Array, offsets: Array) -> BendAxis:
    """The axis of a chain with this initial pose (m, n, 4) and offsets (m, n, 3).

    Without a hinge it is that of the bend of the initial pose; of a straight one, the X axis of the first joint, about
    which straight chains are bent, or its Z axis if the chain is along X.
    """
    orientations, places = forward(pose, offsets)
    if posture is not None and posture.is_hinge[1:].any():
        joint, axis = hinge_axis(posture, orientations, places)
    else:
        joint, line, aside = 0, rotation.normalize(places[:, -1]), places[:, 1:-1].sum(axis=1)
        first = rotation.to_matrix(orientations[:, 0])
        across, along = first[..., 0], first[..., 2]
        cosine = np.sum(across * line, axis=-1, keepdims=True)
        given = np.where(np.abs(cosine) < 0.9, across, along)
        size = np.linalg.norm(offsets, axis=-1).sum(axis=-1) * max(pose.shape[1] - 1, 1)
        crossed = rotation.cross(aside, line) / np.maximum(size, 1e-300)[:, None]
        axis = rotation.normalize(crossed + unfolding.STRAIGHT * given)
    return BendAxis(joint, rotation.rotate(rotation.inverse(orientations[:, joint]), axis))


def sides(posture: Posture | None, pose: Array, offsets: Array) -> Array:
    """The unit directions (m, 3), perpendicular to the lines from root to effector, to which chains with the poses
    (m, n, 4) and offsets (m, n, 3) bend, as a pole measures them; 0 if there is none."""
    bent = bend_axis(posture, pose, offsets)
    orientations, places = forward(pose, offsets)
    axis = rotation.rotate(orientations[:, bent.joint], bent.axis)
    lengths = np.linalg.norm(offsets, axis=-1).sum(axis=-1)
    stretch = np.linalg.norm(places[:, -1], axis=-1) / np.maximum(lengths, 1e-300)
    line, *joints = (tuple(part) for part in (rotation.normalize(places[:, -1]).T, *places[:, 1:].transpose(1, 2, 0)))
    side = bend(BATCH, line, stretch, joints, tuple(axis.T))
    return rotation.normalize(np.stack(np.broadcast_arrays(*beside(line, side), stretch)[:3], axis=-1))


def bend(xp: Arithmetic, line: Vector, stretch: Number, places: list[Vector], axis: Vector) -> Vector:
    """The direction to which a chain bends, from the places of joints 1 to n, in lengths of these.

    line: unit direction from root to effector. stretch: distance of these, as a fraction of the length of the chain.
    axis: about which it bends.
    """
    if len(places) < 2:
        return arithmetic.ORIGIN
    total = arithmetic.ORIGIN
    for place in places[:-1]:
        total = arithmetic.add(total, beside(line, place))
    slack = xp.sqrt(xp.maximum(1.0 - stretch * stretch, 0.0))
    missing = xp.maximum(NEARLY_STRAIGHT - slack, 0.0) * 0.5 * arithmetic.length(xp, places[-1])
    side = arithmetic.cross(line, axis)
    size = arithmetic.length(xp, side)
    return arithmetic.add(total, arithmetic.scaled(side, missing / (size + (size == 0.0))))


def beside(axis: Vector, v: Vector) -> Vector:
    """The component of v perpendicular to a unit axis."""
    return arithmetic.subtract(v, arithmetic.scaled(axis, arithmetic.dot(axis, v)))


def _widest(posture: Posture, places: Array) -> int:
    """The hinge with the longest parts of the chain on both sides, when it is straight: the same in all poses."""
    ends = np.cumsum(np.linalg.norm(np.diff(places[0], axis=0), axis=-1))
    shorter = np.minimum(ends, ends[-1] - ends)[:-1] / max(ends[-1], 1e-300)
    # Of parts that are as long, rounding decides nothing.
    return 1 + int(np.argmax(np.where(posture.is_hinge[1:], np.round(shorter, _DIGITS), -1.0)))
