"""The pose that reaches the target with the smallest weighted rotations from the initial pose.

A chain is a body with one effector: the iterations are those of `full_body`. As the length of a chain is known, they
start near the result: if the chain has a hinge, its bend is that of the law of cosines and the base makes the shortest
rotation, and a chain whose target is out of reach is straight. Where it is almost straight, what dampens the equations
would hold it from its target: there each iteration ends with that bend. Where limits or poles contradict, plain damped
least squares finish the chain.
"""

import numpy as np

from .. import rotation
from ..rotation import Array
from . import bend, iteration
from .batches import batch_back, batch_front, packed, unpacked
from .body_iteration import BodyStep
from .body_objectives import BodyObjective, BodyOrientation, BodyPosition
from .body_problem import Problem
from .body_system import Relaxation
from .joint_limits import clamped
from .posture import Posture
from .published import least_squares
from .task import Pose, Task

_ASTRAY = 1e-2
"""The error, as a fraction of the chain's length, of chains that these start with their first pose."""
_IN_REACH = 1.0 - 5e-6
"""Targets beyond this fraction of the chain's length are moved back to it: beyond, no rotation reduces the residual."""
_USUAL = 4
"""The number of iterations that most chains need."""
_ALMOST_STRAIGHT = 0.995
"""Beyond this fraction of its length a chain is so near its singular pose that what dampens the iterations there keeps
it from its target."""
_RELAXATION = "gain", "back", "fixed"
"""The names of the parts of a `Relaxation` in the data of a task."""


def step(task: Task, pose: Pose) -> Pose:
    """One iteration."""
    if task.iteration > iteration.PATIENCE or any(objective.is_soft for objective in task.objectives):
        # Goals that fade are no part of the nearest pose.
        return least_squares.step(task, _restarted(task, pose), euler=False)
    count = task.count
    here = packed(pose, count)
    if task.body is None:
        task.data["first"] = here
        here = _first(task, here)
        task.body = _body(task)
        task.data["number"], task.data["held"] = np.arange(count), np.zeros((len(task.body.hinges), count), dtype=bool)
        task.data.update(_saved(Relaxation.of(count, len(here))))
    problem, data = task.body, task.body.some(task.data["number"])
    # Chains out of reach have no way back to the initial pose, which would bend them.
    at = here.transpose(1, 0, 2)
    data = {**data, "start": np.where(_outside(task), at, data["start"])}
    relaxation = Relaxation(*(task.data[name].T for name in _RELAXATION))
    body_step = BodyStep(
        problem, at, np.zeros((3, count)), data, problem.space(count), 0.0, relaxation,
        task.data["held"], near=True,
    )  # fmt: skip
    task.data["held"] = body_step.held
    task.data.update(_saved(relaxation))
    return unpacked(_closed(task, body_step.pose.transpose(1, 0, 2)), task.single)


def _saved(relaxation: Relaxation) -> dict[str, Array]:
    """A relaxation as data of a task."""
    return dict(zip(_RELAXATION, (relaxation.gain.T, relaxation.back.T, relaxation.held.T), strict=True))


def _body(task: Task) -> Problem:
    """The chains as bodies."""
    offsets = batch_front(packed(task.offsets, task.count))
    heads = np.concatenate((np.zeros((len(offsets), 1, 3)), offsets[:, :-1]), axis=1)
    last = len(task) - 1
    reach = _IN_REACH * np.linalg.norm(offsets, axis=-1).sum(axis=-1, keepdims=True)
    target = task.data["target"].T
    far = np.linalg.norm(target, axis=-1, keepdims=True)
    target = np.minimum(1.0, reach / np.maximum(far, 1e-300)) * target
    objectives: list[BodyObjective] = [BodyPosition(last, target, offsets[:, -1])]
    if "orientation" in task.data:
        objectives.append(BodyOrientation(last, task.data["orientation"].T))
    start = batch_front(task.data["start"])
    body = Problem(
        range(-1, last), heads, start, objectives, None, task.posture, task.all_limits, None, False, least_bend=0.0
    )
    if task.bend_joint:
        # Bent about another axis, a hinge would become straight sideways, and a pole turn the base.
        body.bend_about(task.bend_joint, task.data["bend axis"])
    return body


def _first(task: Task, here: Array) -> Array:
    """Poses (n, 4, m) near the result."""
    start, offsets = batch_front(task.data["start"]), batch_front(packed(task.offsets, task.count))
    if task.posture is not None and task.posture.is_hinge[1:].any():
        predicted = _predicted(task.posture, start, offsets, batch_front(task.data["target"]))
        here = batch_back(clamped(task.limits, predicted, start, task.data.get("locked")))
    elif any(objective.is_bend for objective in task.objectives):
        # A pole decides about the base, the others keep near to their pose in the frame of the base.
        task.data["start"] = np.concatenate((here[:1], task.data["start"][1:]))
    return _stretched(task, here)


def _restarted(task: Task, pose: Pose) -> Pose:
    """At the end of the patience: the first pose of those chains that are far from their target, else the pose."""
    if "damping" in task.data or "first" not in task.data:
        return pose
    far = np.atleast_1d(task.cost(pose)) > _ASTRAY * np.broadcast_to(sum(task.lengths), (task.count,))
    return unpacked(np.where(far, task.data["first"], packed(pose, task.count)), task.single)


def _closed(task: Task, here: Array) -> Array:
    """Poses (n, 4, m), those of almost straight chains with the hinge bent so that they end at their targets."""
    if task.iteration <= _USUAL or task.posture is None or not task.posture.is_hinge[1:].any():
        return here
    far, reach = np.linalg.norm(task.data["target"], axis=0), sum(task.lengths)
    almost = (far > _ALMOST_STRAIGHT * reach) & (far <= reach)
    if not almost.any():
        return here
    poses, offsets = batch_front(here), batch_front(packed(task.offsets, task.count))
    turned = bend.reaching(task.posture, poses, offsets, batch_front(task.data["target"]))
    bent = batch_back(clamped(task.limits, turned, poses, task.data.get("locked")))
    bent = packed(task.finished(unpacked(bent, task.single), unpacked(here, task.single)), task.count)
    cost = (np.atleast_1d(task.cost(unpacked(pose, task.single))) for pose in (bent, here))
    return np.where(almost & np.less(*cost), bent, here)


def _predicted(posture: Posture, start: Array, offsets: Array, target: Array) -> Array:
    """Poses (m, n, 4) with the effector at the target: one hinge bent, and the base turned."""
    pose = start.copy()
    orientations, places = bend.forward(pose, offsets)
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
    """Poses (n, 4, m) with the chains straight whose target is out of reach."""
    target = task.data["target"]
    outside = _outside(task)
    if not outside.any():
        return pose
    lengths = np.stack([np.broadcast_to(length, (task.count,)) for length in task.lengths])
    places = np.cumsum(lengths, axis=0)[:, None] * (target / np.maximum(np.linalg.norm(target, axis=0), 1e-300))
    straight = task.fit(unpacked(pose, task.single), unpacked(places, task.single))
    return np.where(outside, packed(straight, task.count), pose)


def _cosine(a: Array, b: Array) -> Array:
    size = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.sum(a * b, axis=-1) / np.maximum(size, 1e-300)
