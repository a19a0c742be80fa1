"""Damped least squares for a chain: the smallest joint rotations that reduce several residuals at once.

The step d of all degrees of freedom is W Jw^T (Jw Jw^T + m^2)^-1 e with Jw = J W: residuals e, Jacobian J, weights W (1
minus the stiffness), damping m. A step without improvement is rejected and increases the damping; an improvement
decreases it (Levenberg and Marquardt), so that the chain does not shake if a target is out of reach. Source: Wampler
1986; Nakamura and Hanafusa 1986; the clamp of the residuals, Buss 2005.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ... import rotation, skeleton
from ...rotation import Array
from ..batches import batch_back, batch_front, packed, unpacked
from ..joint_limits import JointLimits, clamped, freedom
from ..task import Pose, Task

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

    def rows(self, orientations: Array, positions: Array, axes: Array) -> Array:
        """The derivatives (m, j, 3, 3) for rotations of the joints up to its own about `axes` (m, n, 3, 3)."""
        last = self.joint + 1
        arm = self.weight * (self._point(orientations, positions)[:, None] - positions[:, :last])
        return rotation.cross(np.swapaxes(axes[:, :last], -1, -2), arm[:, :, None])

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

    def rows(self, orientations: Array, positions: Array, axes: Array) -> Array:
        """As for PositionResidual."""
        return self.radian[:, None, None, None] * np.swapaxes(axes[:, : self.joint + 1], -1, -2)

    def largest_step(self, bone: Array) -> Array:
        """A radian."""
        return self.radian


Residual = PositionResidual | OrientationResidual


def step(task: Task, pose: Pose, *, euler: bool) -> Pose:
    """One iteration. euler: the degrees of freedom are each joint's Euler angles in the order XYZ, else rotation
    vectors. A chain without improvement keeps its pose."""
    count = task.count
    here, offsets = (batch_front(packed(part, count)) for part in (pose, task.offsets))
    bone = np.maximum(np.mean(np.linalg.norm(offsets, axis=-1), axis=-1), 1e-300)
    heads = np.concatenate((np.zeros((count, 1, 3)), offsets[:, :-1]), axis=1)
    residuals = [residual for objective in task.objectives for residual in objective.residuals(task, offsets, bone)]

    def values(pose: Array) -> tuple[Array, Array, Array]:
        """The residuals (m, k), orientations and positions."""
        state = skeleton.forward(range(-1, len(task) - 1), heads, pose)
        return np.concatenate([residual.value(*state) for residual in residuals], axis=-1), *state

    damping = task.data.get("damping", _FIRST_DAMPING * bone)
    before, orientations, positions = values(here)
    basis = None if euler else free_axes(task.limits, here)
    axes = _euler_axes(here, orientations) if euler else rotation.to_matrix(orientations)
    matrix = _jacobian(residuals, orientations, positions, axes if basis is None else axes @ basis)
    free = np.broadcast_to(freedom(task.limits).reshape(-1), (count, matrix.shape[-1]))
    wanted = _at_most(before, [residual.largest_step(bone) for residual in residuals])
    turns = solved(matrix, free, wanted, damping)
    moved = _moved(here, turns, euler, basis)
    left = np.linalg.norm(before, axis=-1)
    if task.limited:
        locked = task.data.get("locked")
        moved = clamped(task.limits, moved, here, locked)
        made = _turns_to(here, moved, euler, basis).reshape(turns.shape)
        around = around_limits(matrix, free, wanted, damping, turns, made)
        if around is not turns:
            again = clamped(task.limits, _moved(here, around, euler, basis), here, locked)
            better = np.linalg.norm(values(again)[0], axis=-1) < np.linalg.norm(values(moved)[0], axis=-1)
            moved = np.where(better[:, None, None], again, moved)
    gained = np.linalg.norm(values(moved)[0], axis=-1) < left
    damping = np.where(gained, _EASIER * damping, _HARDER * damping)
    task.data["damping"] = np.clip(damping, _LEAST_DAMPING * bone, _MOST_DAMPING * bone)
    return unpacked(batch_back(np.where(gained[:, None, None], moved, here)), task.single)


def _jacobian(residuals: Sequence[Residual], orientations: Array, positions: Array, axes: Array) -> Array:
    """The Jacobian (m, k, 3 n) of points and orientations for rotations about axes (m, n, 3, 3), whose last index
    counts the axes."""
    count, n = positions.shape[:2]
    result = np.zeros((count, len(residuals), 3, n, 3))
    for k, residual in enumerate(residuals):
        rows = residual.rows(orientations, positions, axes)
        result[:, k, :, : rows.shape[1]] = rows.transpose(0, 3, 1, 2)
    return result.reshape(count, 3 * len(residuals), 3 * n)


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


def _at_most(values: Array, sizes: Sequence[Array]) -> Array:
    """Residuals (m, k), each triple clamped to its size (m,): the response to large steps is not linear."""
    result = values.copy()
    for n, size in enumerate(sizes):
        part = result[:, 3 * n : 3 * n + 3]
        length = np.linalg.norm(part, axis=-1, keepdims=True)
        part *= np.minimum(1.0, size[:, None] / np.maximum(length, 1e-300))
    return result


def _euler_axes(pose: Array, orientations: Array) -> Array:
    """The axes (m, n, 3, 3) of each joint's Euler angles: its own X, Y rotated by z, its parent's Z."""
    own = rotation.to_matrix(orientations)
    above = np.concatenate((np.broadcast_to(np.eye(3), own[:, :1].shape), own[:, :-1]), axis=1)
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
