"""The pose that reaches the target with the smallest weighted rotations from the initial pose.

Gauss-Newton steps minimize d^T C^-1 d, subject to the residuals e = 0: d are the rotation vectors of all joints from
their initial pose, C is the compliance of the joints, see `Posture`. A step is C J^T (J C J^T)^-1 (e + a J d) - a d:
Liegeois' projection of the gradient into the null space of the Jacobian J, with a step size a. The result is the
solution of an equation in initial pose and target, not of a path, and so as smooth in time as these are.

If the chain has a hinge, the first iteration sets its bend by the law of cosines and turns the base by the shortest
rotation, so that all iterations start near the result. Where limits or poles contradict, or the target is out of reach,
plain damped least squares finish the chain. Source: Liegeois 1977; Nakamura and Hanafusa 1986.
"""

import numpy as np

from .. import rotation
from ..rotation import Array
from . import bend, damped, iteration, jacobian
from .batches import batch_back, batch_front, packed, unpacked
from .damped import DampedTree
from .posture import Posture
from .task import Pose, Task

_GAIN = 0.6
"""The step size a; 1 would overshoot where rotations are large."""
_FULL, _SMALLER, _LEAST_GAIN = 10, 0.9, 0.1
"""Iterations with this step size, its factor in each later one, and the smallest: a limb with a hinge that is folded
far from its initial pose swings around the result without end if all steps are of full size."""
_MOMENTUM = 0.6
"""The part of a step that is added to the next one, if there is no hinge: bent from almost straight, a chain may turn
about the line to the target at nearly the same cost, which takes many small steps."""
_LARGEST_STEP = 0.4
"""[rad], of one joint in one iteration: the Jacobian holds for small rotations only."""
_DAMPING = 1e-3
"""In lengths of a mean bone."""
_ASTRAY = 1e-2
"""The error, as a fraction of the chain's length, of chains that these start with their first pose."""
_IN_REACH = 1.0 - 5e-6
"""Targets beyond this fraction of the chain's length are moved back to it: beyond, no rotation reduces the residual."""


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    if task.iteration > iteration.PATIENCE:
        return jacobian.step(task, _restarted(task, pose), euler=False)
    count = task.count
    here = batch_front(packed(pose, count))
    start = batch_front(task.data["start"])
    offsets = batch_front(packed(task.offsets, count))
    if "first" not in task.data:
        task.data["first"] = batch_back(here)
        if task.posture is not None and task.posture.is_hinge[1:].any():
            here = _clamped(task, _predicted(task, task.posture, start, offsets), start)
        elif any(objective.is_bend for objective in task.objectives):
            # A pole decides about the base, the others keep near to their pose in the frame of the base.
            task.data["start"][0] = task.data["first"][0]
            start = batch_front(task.data["start"])
        here = _stretched(task, here)
    bone = np.maximum(np.mean(np.linalg.norm(offsets, axis=-1), axis=-1), 1e-300)
    heads = np.concatenate((np.zeros((count, 1, 3)), offsets[:, :-1]), axis=1)
    body = DampedTree(range(-1, len(pose) - 1), heads, task.limits)
    residuals = [r for objective in task.objectives for r in objective.residuals(task, offsets, bone)]
    residuals[0] = _in_reach(residuals[0], offsets)
    orientations, positions = body.forward(here)
    wanted = damped.values(residuals, orientations, positions)
    wanted = damped.at_most(wanted, [residual.largest_step(bone) for residual in residuals])
    matrix = damped.jacobian(body, residuals, orientations, positions, rotation.to_matrix(orientations))
    away = rotation.log(rotation.multiply(rotation.inverse(start), here)).reshape(count, -1)
    hinged = task.posture is not None and bool(task.posture.is_hinge[1:].any())
    back = (_gain(task.iteration) if hinged else _GAIN) * away - (0.0 if hinged else _momentum(task, away.shape))
    back = np.where(_outside(task)[:, None], 0.0, back)
    compliance = _compliance(task, here)
    turns = _turns(matrix, compliance, wanted, back, _DAMPING * bone)
    moved = rotation.normalize(rotation.multiply(here, rotation.exp(turns)))
    if task.posture is not None and hinged:
        excess = _excess(task.posture, offsets, start, moved)
        if np.any(excess):
            # A hinge turns to the end of its range; the other joints take what it leaves.
            blocked = (excess != 0.0)[..., None, None] * task.posture.along
            axes = np.asarray(task.posture.hinges)
            held = ((blocked @ turns[..., None])[..., 0] - excess[..., None] * axes).reshape(count, -1)
            back = back - (blocked @ back.reshape(turns.shape)[..., None]).reshape(count, -1)
            rest = wanted - (matrix @ held[..., None])[..., 0]
            turns = _turns(matrix, compliance - blocked @ compliance, rest, back, _DAMPING * bone)
            turns = turns + held.reshape(turns.shape)
            moved = rotation.normalize(rotation.multiply(here, rotation.exp(turns)))
            excess = _excess(task.posture, offsets, start, moved)
            moved = rotation.multiply(moved, rotation.exp(-excess[..., None] * axes))
    _remember(task, turns.reshape(count, -1))
    return unpacked(batch_back(_clamped(task, moved, here)), task.single)


def _restarted(task: Task, pose: Pose) -> Pose:
    """At the end of the patience: the first pose of those chains that are far from their target, else the pose."""
    if "damping" in task.data:
        return pose
    far = np.atleast_1d(task.cost(pose)) > _ASTRAY * np.broadcast_to(sum(task.lengths), (task.count,))
    return unpacked(np.where(far, task.data["first"], packed(pose, task.count)), task.single)


def _gain(iteration: int) -> float:
    """The step size of a chain with a hinge."""
    return max(_GAIN * _SMALLER ** max(iteration - _FULL, 0), _LEAST_GAIN)


def _momentum(task: Task, shape: tuple[int, ...]) -> Array:
    """What is kept (m, 3 n) of the last step."""
    return _MOMENTUM * task.data["steps"].T if "steps" in task.data else np.zeros(shape)


def _remember(task: Task, turns: Array) -> None:
    """Keep a step (m, 3 n), unless it turns back."""
    last = task.data.get("steps", np.zeros(turns.shape[::-1])).T
    task.data["steps"] = np.where(np.sum(turns * last, axis=-1, keepdims=True) < 0.0, 0.0, turns).T


def _excess(posture: Posture, offsets: Array, start: Array, pose: Array) -> Array:
    """The bend (m, n) [rad] of hinges beyond their range, which includes the bend of the initial pose."""
    before = np.concatenate((offsets[:, :1], offsets[:, :-1]), axis=1)
    excess = posture.excess(before, offsets, start, pose)
    excess[:, 0] = 0.0
    return excess


def _turns(matrix: Array, compliance: Array, wanted: Array, back: Array, damping: Array) -> Array:
    """Rotation vectors (m, n, 3) of a step."""
    count, rows, freedoms = matrix.shape
    spread = compliance @ matrix.reshape(count, rows, freedoms // 3, 3).transpose(0, 2, 3, 1)
    spread = spread.reshape(count, freedoms, rows)
    square = matrix @ spread
    diagonal = np.arange(rows)
    square[:, diagonal, diagonal] += (damping * damping)[:, None]
    force = np.linalg.solve(square, (wanted + (matrix @ back[..., None])[..., 0])[..., None])
    turns = ((spread @ force)[..., 0] - back).reshape(count, -1, 3)
    largest = np.max(np.linalg.norm(turns, axis=-1), axis=-1)
    return turns * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300))[:, None, None]


def _compliance(task: Task, pose: Array) -> Array:
    """(m, n, 3, 3), with the stiffness and the locks of the limits, in poses (m, n, 4)."""
    free, axes = damped.freedom(task.limits), damped.free_axes(task.limits, pose)
    found = np.eye(3) if task.posture is None else task.posture.compliance
    if task.posture is not None and task.bend_joint:
        # Bent about another axis, a hinge would become straight sideways, and a pole turn the base.
        found = np.broadcast_to(found, (*pose.shape[:2], 3, 3)).copy()
        axis, joint = task.data["bend axis"].T, task.bend_joint
        found[:, joint] = task.posture.hinged(joint, axis[:, :, None] * axis[:, None, :])
    if axes is None:
        return np.broadcast_to(free[:, :, None] * found * free[:, None, :], (*pose.shape[:2], 3, 3))
    weights = (axes * free[:, None, :]) @ np.swapaxes(axes, -1, -2)
    return weights @ found @ weights


def _clamped(task: Task, pose: Array, before: Array) -> Array:
    """The allowed pose (m, n, 4) near this one."""
    if not task.limited:
        return pose
    return damped.clamped(task.limits, pose, before, task.data.get("locked"))


def _in_reach(residual: damped.Residual, offsets: Array) -> damped.Residual:
    """The residual of the position with its target in reach."""
    assert isinstance(residual, damped.PositionResidual)
    reach = _IN_REACH * np.linalg.norm(offsets, axis=-1).sum(axis=-1)
    far = np.linalg.norm(residual.target, axis=-1)
    part = np.minimum(1.0, reach / np.maximum(far, 1e-300))
    return damped.PositionResidual(residual.joint, residual.offset, part[:, None] * residual.target, residual.weight)


def _predicted(task: Task, posture: Posture, start: Array, offsets: Array) -> Array:
    """Poses (m, n, 4) with the effector at the target: one hinge bent, and the base turned."""
    pose = start.copy()
    orientations, places = bend.forward(pose, offsets)
    target = batch_front(task.data["target"])
    hinge, axis = bend.hinge_axis(posture, orientations, places)
    before, after = places[:, hinge], places[:, -1] - places[:, hinge]
    lengths = np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1)
    sine = np.sum(axis * rotation.cross(before, after), axis=-1) / np.maximum(lengths[0] * lengths[1], 1e-300)
    bent = np.arctan2(sine, _cosine(before, after))
    wanted = (np.sum(target * target, axis=-1) - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1])
    turned = np.arccos(np.clip(wanted, -1.0, 1.0)) - bent
    above = orientations[:, hinge - 1]
    local = rotation.rotate(rotation.inverse(above), axis)
    pose[:, hinge] = rotation.multiply(rotation.exp(turned[:, None] * local), pose[:, hinge])
    _, places = bend.forward(pose, offsets)
    pose[:, 0] = rotation.multiply(rotation.shortest_arc(places[:, -1], target), pose[:, 0])
    return pose


def _outside(task: Task) -> Array:
    """Whether the target is farther than the chain is long (m,)."""
    return np.linalg.norm(task.data["target"], axis=0) > sum(task.lengths)


def _stretched(task: Task, pose: Array) -> Array:
    """Poses (m, n, 4) with the chains straight whose target is out of reach."""
    outside, target = _outside(task), task.data["target"]
    if not outside.any():
        return pose
    lengths = np.stack([np.broadcast_to(length, (task.count,)) for length in task.lengths])
    places = np.cumsum(lengths, axis=0)[:, None] * (target / np.maximum(np.linalg.norm(target, axis=0), 1e-300))
    straight = task.fit(unpacked(batch_back(pose), task.single), unpacked(places, task.single))
    return np.where(outside[:, None, None], batch_front(packed(straight, task.count)), pose)


def _cosine(a: Array, b: Array) -> Array:
    size = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.sum(a * b, axis=-1) / np.maximum(size, 1e-300)
