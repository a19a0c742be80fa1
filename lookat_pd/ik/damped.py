"""Damped least squares: the smallest joint rotations that reduce several residuals at once.

The step d of all degrees of freedom is W Jw^T (Jw Jw^T + m^2)^-1 e with Jw = J W: residuals e, Jacobian J, weights W (1
minus the stiffness), damping m. A step without improvement is rejected and increases the damping; an improvement
decreases it (Levenberg and Marquardt), so that the chain does not shake if a target is out of reach. Source: Wampler
1986; Nakamura and Hanafusa 1986; the clamp of the residuals, Buss 2005.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from . import arithmetic
from .arithmetic import BATCH
from .batches import batch_back, batch_front, packed, unpacked
from .joint_limits import JointLimits

_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 0.3, 1e-4, 30.0
"""In lengths of a mean bone."""
_EASIER, _HARDER = 0.4, 3.0
_BLOCKED = 0.05
"""A degree of freedom that limits reduce by more than this fraction is fixed and the others take its part."""


@dataclass(frozen=True)
class PositionResidual:
    """How far the point at `offset` (m, 3) in the frame of a joint is from `target` (m, 3), times a weight."""

    joint: int
    offset: Array
    target: Array
    weight: float = 1.0

    def value(self, orientations: Array, positions: Array) -> Array:
        """The residual (m, 3)."""
        return self.weight * (self.target - self._point(orientations, positions))

    def rows(self, orientations: Array, positions: Array, axes: Array, support: Array) -> Array:
        """The derivatives (m, n, 3, 3) for rotations of the joints about `axes`. support: (n,), 1 for the joint and its
        ancestors."""
        point = self._point(orientations, positions)
        arm = self.weight * support[:, None] * (point[:, None] - positions)
        return rotation.cross(np.swapaxes(axes, -1, -2), arm[:, :, None])

    def largest_step(self, bone: Array) -> Array:
        """The largest step (m,) of one iteration: the length of a bone."""
        return self.weight * bone

    def _point(self, orientations: Array, positions: Array) -> Array:
        return positions[:, self.joint] + rotation.rotate(orientations[:, self.joint], self.offset)


@dataclass(frozen=True)
class OrientationResidual:
    """The difference of a joint from its `orientation` (m, 4) as a length: a radian counts as `radian` (m,)."""

    joint: int
    orientation: Array
    radian: Array

    def value(self, orientations: Array, positions: Array) -> Array:
        """The residual (m, 3)."""
        remaining = rotation.multiply(self.orientation, rotation.inverse(orientations[:, self.joint]))
        return self.radian[:, None] * rotation.log(remaining)

    def rows(self, orientations: Array, positions: Array, axes: Array, support: Array) -> Array:
        """As for PositionResidual."""
        return self.radian[:, None, None, None] * support[:, None, None] * np.swapaxes(axes, -1, -2)

    def largest_step(self, bone: Array) -> Array:
        """A radian."""
        return self.radian


Residual = PositionResidual | OrientationResidual


@dataclass(frozen=True)
class DampedTree:
    """Joints with parents (n,), -1 for a root, and heads (m, n, 3) in the parent's frame."""

    parents: Sequence[int]
    heads: Array
    limits: Sequence[JointLimits | None]

    def above(self, joint: int) -> list[int]:
        """The joint and its ancestors."""
        line = [joint]
        while (joint := self.parents[joint]) >= 0:
            line.append(joint)
        return line

    def forward(self, pose: Array) -> tuple[Array, Array]:
        """Orientations (m, n, 4) and positions (m, n, 3) of joints with local rotations (m, n, 4)."""
        count = len(pose)
        joints = unpacked(batch_back(pose), count == 1)
        heads = unpacked(batch_back(self.heads), count == 1)
        orientations, positions = arithmetic.forward(self.parents, heads, joints)
        return batch_front(packed(orientations, count)), batch_front(packed(positions, count))


def values(residuals: Sequence[Residual], orientations: Array, positions: Array) -> Array:
    """All residuals (m, k), three numbers for each."""
    return np.concatenate([residual.value(orientations, positions) for residual in residuals], axis=-1)


def jacobian(
    body: DampedTree, residuals: Sequence[Residual], orientations: Array, positions: Array, axes: Array
) -> Array:
    """The Jacobian (m, k, 3 n) of points and orientations for rotations about axes (m, n, 3, 3), whose last index
    counts the axes."""
    count, n = positions.shape[:2]
    rows = []
    for residual in residuals:
        support = np.zeros(n)
        support[body.above(residual.joint)] = 1.0
        rows.append(residual.rows(orientations, positions, axes, support).reshape(count, 3 * n, 3))
    return np.swapaxes(np.concatenate(rows, axis=-1), -1, -2)


def freedom(limits: Sequence[JointLimits | None]) -> Array:
    """The weight (n, 3) of each joint axis: 1 minus the stiffness, 0 if locked."""
    free = np.ones((len(limits), 3))
    for n, joint in enumerate(limits):
        if joint is not None:
            free[n] = joint.weights or 1.0
            free[n, np.array(joint.locks)] = 0.0
    return free


def free_axes(limits: Sequence[JointLimits | None], pose: Array) -> Array | None:
    """The axes (m, n, 3, 3), as columns in the frames of the joints, to which `freedom` applies: see
    `JointLimits.free_basis`. None if no angle is locked, so that they are the joints' own axes."""
    if not any(joint is not None and any(joint.locks) for joint in limits):
        return None
    result = np.broadcast_to(np.eye(3), (*pose.shape[:2], 3, 3)).copy()
    for n, joint in enumerate(limits):
        if joint is not None and any(joint.locks):
            result[:, n] = joint.free_basis(pose[:, n])
    return result


def solved(matrix: Array, free: Array, wanted: Array, damping: Array) -> Array:
    """Rotations (m, d) for residuals (m, k), a Jacobian (m, k, d), weights (m, d) and damping (m,)."""
    weighted = matrix * free[:, None, :]
    square = weighted @ np.swapaxes(weighted, -1, -2)
    diagonal = np.arange(square.shape[-1])
    square[:, diagonal, diagonal] += (damping * damping)[:, None]
    try:
        force = np.linalg.solve(square, wanted[..., None])
    except np.linalg.LinAlgError:
        # Where all bones have no length, or none to speak of, nothing pulls at some of what is wanted.
        force = np.linalg.pinv(square, hermitian=True) @ wanted[..., None]
    return free * (np.swapaxes(weighted, -1, -2) @ force)[..., 0]


def around_limits(matrix: Array, free: Array, wanted: Array, damping: Array, turns: Array, made: Array) -> Array:
    """Rotations (m, d) if limits allow `made` instead of `turns`: the free joints compensate the difference.

    matrix, free, wanted, damping: as for `solved`. Without a difference, `turns` itself.
    """
    blocked = (np.abs(made - turns) > _BLOCKED * np.abs(turns) + 1e-12) & (free > 0.0)
    if not np.any(blocked):
        return turns
    held = np.where(blocked, made, 0.0)
    rest = wanted - (matrix @ held[..., None])[..., 0]
    return held + solved(matrix, np.where(blocked, 0.0, free), rest, damping)


def at_most(values: Array, sizes: Sequence[Array]) -> Array:
    """Residuals (m, k), each triple clamped to its size (m,): the response to large steps is not linear."""
    result = values.copy()
    for n, size in enumerate(sizes):
        part = result[:, 3 * n : 3 * n + 3]
        length = np.linalg.norm(part, axis=-1, keepdims=True)
        part *= np.minimum(1.0, size[:, None] / np.maximum(length, 1e-300))
    return result


def next_damping(damping: Array, gained: Array, bone: Array) -> Array:
    """The damping (m,) after a step with or without improvement."""
    changed = np.where(gained, _EASIER * damping, _HARDER * damping)
    return np.clip(changed, _LEAST_DAMPING * bone, _MOST_DAMPING * bone)


def first_damping(bone: Array) -> Array:
    return _FIRST_DAMPING * bone


def clamped(limits: Sequence[JointLimits | None], pose: Array, before: Array, locked: Array | None) -> Array:
    """The allowed rotations (m, n, 4) near a pose, joint by joint."""
    result = pose.copy()
    for n, joint in enumerate(limits):
        if joint is not None:
            here, back = (tuple(batch_front(q[:, n])) for q in (pose, before))
            kept = None if locked is None else tuple(locked[n])
            result[:, n] = np.stack(joint.clamp(BATCH, here, kept, back), axis=-1)
    return result


def step(
    body: DampedTree,
    residuals: Sequence[Residual],
    pose: Array,
    damping: Array,
    *,
    locked: Array | None = None,
    euler: bool = False,
    bone: Array,
) -> tuple[Array, Array]:
    """One iteration: local rotations (m, n, 4) and damping (m,) to those after the step.

    euler: the degrees of freedom are each joint's Euler angles in the order XYZ, else rotation vectors. locked: (n, 3,
    m), the angles that locked axes keep. bone: (m,), the mean length of the bones. A chain without improvement keeps
    its pose.
    """
    orientations, positions = body.forward(pose)
    before = values(residuals, orientations, positions)
    limited = any(joint is not None for joint in body.limits)
    basis = None if euler else free_axes(body.limits, pose)
    axes = _euler_axes(body, pose, orientations) if euler else rotation.to_matrix(orientations)
    axes = axes if basis is None else axes @ basis
    matrix = jacobian(body, residuals, orientations, positions, axes)
    free = np.broadcast_to(freedom(body.limits).reshape(-1), (len(pose), 3 * pose.shape[1]))
    wanted = at_most(before, [residual.largest_step(bone) for residual in residuals])
    turns = solved(matrix, free, wanted, damping)
    moved = _moved(pose, turns, euler, basis)
    if limited:
        allowed = clamped(body.limits, moved, pose, locked)
        around = around_limits(
            matrix, free, wanted, damping, turns, _turns_to(pose, allowed, euler, basis).reshape(turns.shape)
        )
        if around is not turns:
            again = clamped(body.limits, _moved(pose, around, euler, basis), pose, locked)
            better = cost(body, residuals, again) < cost(body, residuals, allowed)
            allowed = np.where(better[:, None, None], again, allowed)
        moved = allowed
    gained = cost(body, residuals, moved) < np.linalg.norm(before, axis=-1)
    return np.where(gained[:, None, None], moved, pose), next_damping(damping, gained, bone)


def cost(body: DampedTree, residuals: Sequence[Residual], pose: Array) -> Array:
    """The norm of all residuals (m,) in poses (m, n, 4)."""
    return np.linalg.norm(values(residuals, *body.forward(pose)), axis=-1)


def _euler_axes(body: DampedTree, pose: Array, orientations: Array) -> Array:
    """The axes (m, n, 3, 3) of each joint's Euler angles: its own X, Y rotated by z, its parent's Z."""
    own = rotation.to_matrix(orientations)
    above = np.empty(own.shape)
    for n, parent in enumerate(body.parents):
        above[:, n] = np.eye(3) if parent < 0 else own[:, parent]
    z = rotation.to_euler(pose)[..., 2]
    result = np.empty(own.shape)
    result[..., 0] = own[..., 0]
    result[..., 1] = np.cos(z)[..., None] * above[..., 1] - np.sin(z)[..., None] * above[..., 0]
    result[..., 2] = above[..., 2]
    return result


def _moved(pose: Array, turns: Array, euler: bool, basis: Array | None) -> Array:
    turns = turns.reshape(*pose.shape[:-1], 3)
    if euler:
        return rotation.from_euler(rotation.to_euler(pose) + turns)
    if basis is not None:
        turns = (basis @ turns[..., None])[..., 0]
    return rotation.normalize(rotation.multiply(pose, rotation.exp(turns)))


def _turns_to(pose: Array, moved: Array, euler: bool, basis: Array | None) -> Array:
    """The inverse of `_moved`."""
    if euler:
        return (rotation.to_euler(moved) - rotation.to_euler(pose) + np.pi) % (2.0 * np.pi) - np.pi
    turns = rotation.log(rotation.multiply(rotation.inverse(pose), moved))
    return turns if basis is None else (turns[..., None, :] @ basis)[..., 0, :]
