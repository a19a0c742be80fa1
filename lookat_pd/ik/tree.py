"""The public function for several effectors on one body, such as both hands and the head."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation, skeleton
from ..errors import InvalidArgument
from ..rotation import Array
from . import checks, damped, iteration
from .batches import batch_back, batch_front, batch_last, packed, unpacked
from .damped import DampedTree, OrientationResidual, PositionResidual, Residual
from .limits import Limits
from .objectives import Effector, in_base
from .task import Pose, Task

_LEVEL = 1e-6
"""Smallest gradient relative to the residuals; below it the pose is singular."""
_NUDGE = 0.05
"""Angle [rad] by which each joint is then bent."""


@dataclass(frozen=True)
class TreeSolution:
    """rotations: (..., n, 4) local. errors: (..., k), distance of each effector from its target, 0 where it has none.
    orientation_errors: (..., k) [rad]. iterations: (...). history: (1 + iterations, ...), norm of the weighted
    residuals, or None."""

    rotations: Array
    errors: Array
    orientation_errors: Array
    iterations: Array
    history: Array | None = None


class _TreeTask(Task):
    """Effectors of a batch of bodies: "target 0", "orientation 0" and so on in the data."""

    parents: Sequence[int]
    heads: Array
    effectors: Sequence[Effector]
    bone: float

    @property
    def count(self) -> int:
        return self.data["damping"].shape[-1]

    def body(self) -> DampedTree:
        heads = np.broadcast_to(self.heads, (self.count, *self.heads.shape))
        return DampedTree(self.parents, heads, self.limits)

    def residuals(self) -> list[Residual]:
        found: list[Residual] = []
        for k, effector in enumerate(self.effectors):
            if f"target {k}" in self.data:
                offset = np.broadcast_to(effector.offset, (self.count, 3))
                target = self.data[f"target {k}"].T
                found.append(PositionResidual(effector.joint, offset, target, effector.weight))
            if f"orientation {k}" in self.data:
                radian = np.full(self.count, effector.orientation_weight * self.bone)
                found.append(OrientationResidual(effector.joint, self.data[f"orientation {k}"].T, radian))
        return found

    def array(self, pose: Pose) -> Array:
        """A pose as one array (m, n, 4)."""
        return batch_front(packed(pose, self.count))

    def cost(self, pose: Pose) -> Array:
        return damped.cost(self.body(), self.residuals(), self.array(pose))

    def least_cost(self) -> Array:
        return np.zeros(self.count)


def solve_tree(
    parents: Sequence[int],
    offsets: ArrayLike,
    rotations: ArrayLike,
    effectors: Sequence[Effector],
    *,
    iterations: int = 100,
    tolerance: float = 1e-4,
    limits: Limits | None = None,
    base: ArrayLike | None = None,
    history: bool = False,
) -> TreeSolution:
    """Local rotations that bring several points of one body to their targets at once, by damped least squares.

    parents: (n,), -1 for a root; parents are listed before their children. offsets: (n, 3), each joint in its parent's
    frame, a root in the base's. rotations: (..., n, 4), each relative to its parent. Leading axes are a batch. All
    targets are reached together if possible. Otherwise the sum of the squares of the weighted errors is minimized:
    effectors with a larger weight have a smaller error. A body is finished when the root of that sum is below
    `tolerance`; it is never larger than at the start. limits, base, history: as for `solve`. Raises InvalidArgument.
    """
    iterations, tolerance = checks.bounds(iterations, tolerance)
    n = len(checks.array("offsets", offsets, None, 3))
    heads = checks.exactly("offsets", offsets, n, 3)
    if not n:
        raise InvalidArgument("A body needs at least one joint; give one offset and one rotation for each.")
    rotations = checks.quaternions("rotations", rotations, n)
    parents = checks.parents(parents, n)
    checks.effectors(effectors, n)
    checks.same_joints(limits, n)
    position, frame = checks.base(base)
    given: dict[str, Array] = {}
    for k, effector in enumerate(effectors):
        if effector.target is not None:
            given[f"target {k}"] = np.asarray(effector.target)
        if effector.orientation is not None:
            given[f"orientation {k}"] = np.asarray(effector.orientation)
    batch = checks.leading(
        rotations=rotations.shape[:-2],
        base=np.broadcast_shapes(position.shape[:-1], frame.shape[:-1]),
        **{name: values.shape[:-1] for name, values in given.items()},
    )
    start = batch_last(rotations if limits is None else limits.clamp(rotations), batch, 2)
    bone = _mean_length([*heads, *(np.asarray(effector.offset) for effector in effectors)])
    data = {name: batch_last(in_base(values, position, frame), batch, 1) for name, values in given.items()}
    data["damping"] = damped.first_damping(np.full(start.shape[-1], bone))
    if limits is not None and np.any(np.asarray(limits.locks)):
        data["locked"] = limits.parameters(start)
    task = _TreeTask(
        single=False,
        data=data,
        limits=[None] * n if limits is None else limits.joints,
        shared_offsets=None,
    )
    task.parents, task.heads, task.effectors, task.bone = parents, heads, effectors, bone
    frozen = limits is not None and limits.all_locked
    outcome = iteration.run(
        task,
        start,
        _step,
        iterations=0 if frozen else iterations,
        tolerance=tolerance,
        unfolded=_unfolded,
    )
    solved = rotation.normalize(batch_front(outcome.poses)).reshape(*batch, n, 4)
    errors, turns = _errors(effectors, *skeleton.forward(parents, heads, solved, (position, frame)))
    return TreeSolution(
        rotations=solved,
        errors=errors,
        orientation_errors=turns,
        iterations=outcome.iterations.reshape(batch),
        history=np.array(outcome.history).reshape(-1, *batch) if history else None,
    )


def _mean_length(offsets: Sequence[Array]) -> float:
    """The mean length of the offsets that are not zero."""
    lengths = [float(np.linalg.norm(offset)) for offset in offsets if np.any(offset)]
    return sum(lengths) / len(lengths) if lengths else 1.0


def _step(task: Task, pose: Pose) -> Pose:
    assert isinstance(task, _TreeTask)
    moved, task.data["damping"] = damped.step(
        task.body(),
        task.residuals(),
        task.array(pose),
        task.data["damping"],
        locked=task.data.get("locked"),
        bone=np.full(task.count, task.bone),
    )
    return unpacked(batch_back(moved), False)


def _unfolded(task: Task, poses: Array) -> Array:
    """Poses (n, 4, m) with the singular, straight ones bent."""
    assert isinstance(task, _TreeTask)
    pose, body, residuals = batch_front(poses), task.body(), task.residuals()
    orientations, positions = body.forward(pose)
    values = damped.values(residuals, orientations, positions)
    matrix = damped.jacobian(body, residuals, orientations, positions, rotation.to_matrix(orientations))
    torque = np.linalg.norm((values[:, None] @ matrix)[:, 0], axis=-1)
    level = torque < _LEVEL * np.linalg.norm(values, axis=-1) * task.bone
    if not np.any(level):
        return poses
    bent = rotation.multiply(pose, rotation.exp([_NUDGE, 0.0, 0.5 * _NUDGE]))
    bent = damped.clamped(task.limits, bent, pose, task.data.get("locked"))
    return batch_back(np.where(level[:, None, None], bent, pose))


def _errors(effectors: Sequence[Effector], orientations: Array, positions: Array) -> tuple[Array, Array]:
    """Remaining distances and angles (..., k)."""
    shape = (*positions.shape[:-2], len(effectors))
    errors, turns = np.zeros(shape), np.zeros(shape)
    for k, effector in enumerate(effectors):
        orientation = orientations[..., effector.joint, :]
        if effector.target is not None:
            point = positions[..., effector.joint, :] + rotation.rotate(orientation, effector.offset)
            errors[..., k] = np.linalg.norm(point - effector.target, axis=-1)
        if effector.orientation is not None:
            turns[..., k] = rotation.distance(orientation, effector.orientation)
    return errors, turns
