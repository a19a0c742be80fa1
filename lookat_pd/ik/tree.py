"""The public call for several effectors on one body: both hands and the head, say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..rotation import Array
from . import checks, damped, solving
from .arithmetic import Vector
from .batches import batch_back, batch_front, batch_last, packed, unpacked
from .damped import Body, Want
from .limits import Limits
from .task import Pose, Task

_LEVEL = 1e-6
"""Part of what is left that must show in the joints' torques; below it no joint knows where to turn."""
_NUDGE = 0.05
"""By how much [rad] each joint is then bent."""


@dataclass(frozen=True)
class Effector:
    """A point of the body and what is wanted of it.

    joint: its index. offset: (3,), the point in the joint's frame. target: (..., 3), or None where only the orientation
    counts. orientation: (..., 4) of the joint, or None. weight: 0 or more, how much the target counts against other
    effectors'. orientation_weight: 0 or more, how much a radian counts against the length of a mean bone.
    """

    joint: int
    target: ArrayLike | None = None
    offset: ArrayLike = (0.0, 0.0, 0.0)
    weight: float = 1.0
    orientation: ArrayLike | None = None
    orientation_weight: float = 1.0


@dataclass(frozen=True)
class TreeSolution:
    """rotations: (..., n, 4) local. errors: (..., k), distance of each effector from its target, 0 where it has none.
    orientation_errors: (..., k) [rad]. iterations: (...). base: (..., 3), where the body's frame is. history:
    (1 + iterations, ...), what is left of everything, weighted, or None."""

    rotations: Array
    errors: Array
    orientation_errors: Array
    iterations: Array
    base: Array
    history: Array | None = None


class _TreeTask(Task):
    """The wants of a batch of bodies: "target0", "orientation0" and so on in the data."""

    parents: Sequence[int]
    heads: Array
    effectors: Sequence[Effector]
    bone: float

    def read(self) -> None:
        self.target: Vector = (0.0, 0.0, 0.0)
        self.pole = self.goals = self.orientation = None

    @property
    def count(self) -> int:
        return self.data["damping"].shape[-1]

    def body(self) -> Body:
        heads = np.broadcast_to(self.heads, (self.count, *self.heads.shape))
        return Body(self.parents, heads, self.limits)

    def wants(self) -> list[Want]:
        found = []
        for k, effector in enumerate(self.effectors):
            place, wanted = self.data.get(f"target{k}"), self.data.get(f"orientation{k}")
            found.append(
                Want(
                    effector.joint,
                    np.broadcast_to(np.asarray(effector.offset, dtype=float), (self.count, 3)),
                    None if place is None else place.T,
                    effector.weight,
                    None if wanted is None else wanted.T,
                    np.full(self.count, effector.orientation_weight * self.bone),
                )
            )
        return found

    def array(self, pose: Pose) -> Array:
        """A pose as one array (m, n, 4)."""
        return batch_front(packed(pose, self.count))

    def residual(self, pose: Array) -> Array:
        body = self.body()
        return damped.residuals(body, self.wants(), *body.forward(pose))

    def cost(self, pose: Pose) -> Array:
        return np.linalg.norm(self.residual(self.array(pose)), axis=-1)

    def least_cost(self) -> Array:
        return np.zeros(self.count)

    def left(self, pose: Pose) -> Vector:
        """The mean of the ways to the targets, by their weights."""
        body, total, weights = self.body(), np.zeros((self.count, 3)), 0.0
        orientations, places = body.forward(self.array(pose))
        for want in self.wants():
            if want.place is not None:
                point = places[:, want.joint] + rotation.rotate(orientations[:, want.joint], want.offset)
                total, weights = total + want.weight * (want.place - point), weights + want.weight
        return tuple((total / max(weights, 1e-300)).T)

    def shift(self, way: Vector) -> None:
        for k in range(len(self.effectors)):
            if f"target{k}" in self.data:
                self.data[f"target{k}"] = self.data[f"target{k}"] - packed(way, self.count)


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
    mobility: float = 0.0,
    history: bool = False,
) -> TreeSolution:
    """Local rotations that bring several points of one body to their targets at once, by damped least squares.

    parents: (n,), the joint that carries each joint, -1 for a root; parents stand before their children. offsets:
    (n, 3), each joint in its parent's frame, a root in the base's. rotations: (..., n, 4), each relative to its parent.
    Leading axes are a batch. What all effectors want is reached together where that is possible. Where it is not, the
    sum of the squares of what is left is made small, each multiplied by its weight first: what weighs more is left
    less. A body is finished when the root of that sum is below `tolerance`; it is never larger than at the start.
    limits, base, mobility, history: as for `solve`. Raises InvalidArgument.
    """
    iterations, tolerance = checks.bounds(iterations, tolerance)
    mobility = checks.fraction("mobility of the base", mobility)
    offsets = checks.array("offsets", offsets, None, 3)
    n = offsets.shape[-2]
    rotations = checks.quaternions("rotations", rotations, n)
    parents = checks.parents(parents, n)
    checks.effectors(effectors, n)
    checks.same_joints(limits, n)
    position, frame = checks.base(base)
    given: dict[str, Array] = {}
    for k, effector in enumerate(effectors):
        if effector.target is not None:
            given[f"target{k}"] = checks.array("target", effector.target, 3)
        if effector.orientation is not None:
            given[f"orientation{k}"] = checks.quaternions("orientation", effector.orientation)
    batch = checks.leading(
        rotations=rotations.shape[:-2],
        base=np.broadcast_shapes(position.shape[:-1], frame.shape[:-1]),
        **{name: values.shape[:-1] for name, values in given.items()},
    )
    start = batch_last(rotations if limits is None else limits.clamp(rotations), batch, 2)
    bone = _mean_length([*offsets, *(np.asarray(effector.offset, dtype=float) for effector in effectors)])
    back = rotation.inverse(frame)
    data = {
        name: batch_last(
            rotation.multiply(back, values) if values.shape[-1] == 4 else rotation.rotate(back, values - position),
            batch,
            1,
        )
        for name, values in given.items()
    }
    data["damping"] = damped.first_damping(np.full(start.shape[-1], bone))
    if limits is not None and np.any(np.asarray(limits.locks)):
        data["locked"] = limits.parameters(start)
    task = _TreeTask(
        single=False,
        data=data,
        limits=[None] * n if limits is None else limits.joints,
        shared_offsets=None,
        movable=mobility > 0.0,
    )
    task.parents, task.heads, task.effectors, task.bone = parents, offsets, effectors, bone
    frozen = limits is not None and limits.all_locked and not mobility
    outcome = solving.run(
        task,
        start,
        _step,
        iterations=0 if frozen else iterations,
        tolerance=tolerance,
        mobility=mobility,
        unfolded=_unfolded,
    )
    solved = rotation.normalize(batch_front(outcome.poses)).reshape(*batch, n, 4)
    moved = rotation.rotate(frame, batch_front(outcome.moved).reshape(*batch, 3))
    root = np.broadcast_to(position + moved, (*batch, 3)).copy()
    errors, turns = _errors(parents, offsets, solved, root, frame, effectors)
    return TreeSolution(
        rotations=solved,
        errors=errors,
        orientation_errors=turns,
        iterations=outcome.iterations.reshape(batch),
        base=root,
        history=np.array(outcome.history).reshape(-1, *batch) if history else None,
    )


def _mean_length(offsets: Sequence[Array]) -> float:
    """Of those that have a length."""
    lengths = [float(np.linalg.norm(offset)) for offset in offsets if np.any(offset)]
    return sum(lengths) / len(lengths) if lengths else 1.0


def _step(task: Task, pose: Pose) -> Pose:
    assert isinstance(task, _TreeTask)
    moved, task.data["damping"] = damped.step(
        task.body(),
        task.wants(),
        task.array(pose),
        task.data["damping"],
        locked=task.data.get("locked"),
        bone=np.full(task.count, task.bone),
    )
    return unpacked(batch_back(moved), False)


def _unfolded(task: Task, poses: Array) -> Array:
    """Poses (n, 4, m) of which none is so straight that no joint knows where to turn: those are bent."""
    assert isinstance(task, _TreeTask)
    pose, body, wants = batch_front(poses), task.body(), task.wants()
    orientations, places = body.forward(pose)
    residual = damped.residuals(body, wants, orientations, places)
    matrix = damped.jacobian(body, wants, orientations, places, rotation.to_matrix(orientations))
    torque = np.linalg.norm((residual[:, None] @ matrix)[:, 0], axis=-1)
    level = torque < _LEVEL * np.linalg.norm(residual, axis=-1) * task.bone
    if not np.any(level):
        return poses
    bent = rotation.multiply(pose, rotation.exp([_NUDGE, 0.0, 0.5 * _NUDGE]))
    bent = damped.clamped(task.limits, bent, pose, task.data.get("locked"))
    return batch_back(np.where(level[:, None, None], bent, pose))


def _errors(
    parents: Sequence[int],
    offsets: Array,
    rotations: Array,
    root: Array,
    frame: Array,
    effectors: Sequence[Effector],
) -> tuple[Array, Array]:
    """Distances and angles (..., k) that are left."""
    batch = rotations.shape[:-2]
    lies: list[Array] = []
    stands: list[Array] = []
    for n, parent in enumerate(parents):
        above, origin = (frame, root) if parent < 0 else (lies[parent], stands[parent])
        lies.append(rotation.multiply(above, rotations[..., n, :]))
        stands.append(origin + rotation.rotate(above, offsets[n]))
    errors, turns = np.zeros((*batch, len(effectors))), np.zeros((*batch, len(effectors)))
    for k, effector in enumerate(effectors):
        if effector.target is not None:
            point = stands[effector.joint] + rotation.rotate(lies[effector.joint], effector.offset)
            errors[..., k] = np.linalg.norm(point - effector.target, axis=-1)
        if effector.orientation is not None:
            wanted = rotation.normalize(effector.orientation)
            turns[..., k] = rotation.angle(rotation.multiply(rotation.inverse(lies[effector.joint]), wanted))
    return errors, turns
