"""The public function for one chain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..checks import check_method
from ..errors import InvalidArgument
from ..rotation import Array
from . import arithmetic, bend, iteration, joint_checks, unfolding
from .batches import batch_back, batch_front, batch_last, unpacked
from .limits import Limits
from .methods import METHODS, Method
from .objectives import Objective, Position, in_base
from .posture import Posture
from .task import Task


@dataclass(frozen=True)
class IKSolution:
    """The result of a solver for each chain of the batch."""

    rotations: Array
    """(..., n, 4) local rotations."""
    error: Array
    """(...), distance of the effector from its target for these rotations."""
    iterations: Array
    """(...) numbers of iterations."""
    orientation_error: Array | None = None
    """(...) error [rad] of the orientation, or None without a target orientation."""
    history: Array | None = None
    """(1 + iterations, ...), error at the start and after each iteration, or None if not requested; it includes the
    orientation error as a length."""


def solve(
    offsets: ArrayLike,
    rotations: ArrayLike,
    target: ArrayLike,
    *,
    method: str,
    iterations: int = 100,
    tolerance: float = 1e-4,
    limits: Limits | None = None,
    base: ArrayLike | None = None,
    objectives: Sequence[Objective] = (),
    posture: Posture | None = None,
    history: bool = False,
    published: bool = False,
) -> IKSolution:
    """Local rotations that bring the end of a chain to a target, starting from those given.

    offsets: (n, 3), or a set for each chain (..., n, 3): joint i + 1, the last: the effector, in joint i's frame.
    rotations: (..., n, 4), each relative to the joint before. target: (..., 3). Leading axes are a batch: frames,
    targets, characters. method: one of METHODS. A chain is finished when its error is below `tolerance`, or that close
    to the smallest value possible for its lengths. The result is never worse than the start; with limits the start is
    first clamped to them. A single joint aims at the target. Bones keep their lengths.

    limits: see Limits; a chain with all axes locked does not change. base: the frame of the rotation of the first
    joint: (..., 3) its position, (..., 4) its rotation, or (..., 7) position and rotation.

    objectives: further ones: an Orientation, a Pole, a JointGoal for any joint. posture: preferences of the joints, for
    methods that settle; others ignore it. history: whether to return the errors of all iterations. published: the plain
    iterations of the publications, to compare: no overshoot beyond the target, no bending of straight chains, one sweep
    of the particles, and steps of one bone for least squares.

    Raises InvalidArgument.
    """
    check_method(method, METHODS)
    row = METHODS[method]
    iterations, tolerance = joint_checks.bounds(iterations, tolerance)
    offsets = checks.array("offsets", offsets, None, 3)
    n = offsets.shape[-2]
    if n == 0:
        raise InvalidArgument("A chain needs at least one joint; give one offset and one rotation for each.")
    rotations = checks.quaternions("rotations", rotations, n)
    position, frame = joint_checks.base(base)
    joint_checks.same_joints(limits, n)
    joint_checks.same_joints(posture, n)
    given = _by_name((Position(target), *objectives))
    batch = joint_checks.leading(
        offsets=offsets.shape[:-2],
        rotations=rotations.shape[:-2],
        base=() if base is None else np.broadcast_shapes(position.shape[:-1], frame.shape[:-1]),
        **{name: objective.values.shape[:-1] for name, objective in given.items()},
    )
    wanted = [objective for objective in given.values() if objective.weight > 0.0]
    _check(wanted, n, method)
    values, orientation = {objective.name: objective.values for objective in wanted}, given.get("orientation")
    if orientation in wanted and orientation.weight < 1.0:
        free = solve(
            offsets,
            rotations,
            target,
            method=method,
            iterations=iterations,
            tolerance=tolerance,
            limits=limits,
            base=base,
            objectives=[objective for objective in wanted[1:] if objective is not orientation],
            posture=posture,
            published=published,
        )
        unasked, _ = _end(offsets, free.rotations, position, frame)
        values["orientation"] = rotation.slerp(unasked, orientation.values, orientation.weight)
    if base is not None:
        values = {name: in_base(value, position, frame) for name, value in values.items()}
    data = {name: batch_last(value, batch, 1) for name, value in values.items()}
    start = rotations if limits is None else limits.clamp(rotations)
    only_position = wanted == [given["target"]]
    if row.free is not None and only_position and not published and (limits is None or limits.are_none):
        outcome = row.free(
            _shared(offsets, batch),
            _shared(start, batch),
            data["target"],
            iterations=iterations,
            tolerance=tolerance,
            history=history,
        )
        solved = batch_front(outcome.poses)
    else:
        start = batch_last(start, batch, 2)
        outcome = iteration.run(
            _task(row, batch, offsets, start, data, wanted, limits, posture),
            start,
            _step(row, published=published, oriented="orientation" in values),
            iterations=0 if limits is not None and limits.all_locked else iterations,
            tolerance=tolerance,
            overshoots=not row.least_squares and not published,
            settles=row.settles,
            unfolded=_as_it_is if published else unfolding.unfolded,
        )
        solved = rotation.normalize(batch_front(outcome.poses))
    solved = solved.reshape(*batch, n, 4)
    if only_position and orientation is None:
        error = outcome.cost.reshape(batch)
        angle = None
    else:
        reached, effector = _end(offsets, solved, position, frame)
        error = np.linalg.norm(effector - given["target"].values, axis=-1)
        angle = None if orientation is None else rotation.distance(reached, orientation.values)
    return IKSolution(
        rotations=solved,
        error=error,
        iterations=outcome.iterations.reshape(batch),
        orientation_error=angle,
        history=np.array(outcome.history).reshape(-1, *batch) if history else None,
    )


def _check(wanted: Sequence[Objective], joints: int, method: str) -> None:
    """Raise InvalidArgument if a method cannot solve a chain for some objectives."""
    for objective in wanted:
        objective.check(joints)
        if objective.is_soft and not METHODS[method].draws_joints:
            others = ", ".join(other.id for other in METHODS.values() if other.draws_joints)
            raise InvalidArgument(
                "Method {method!r} does not support joint goals; use one of {methods}.", method=method, methods=others
            )


def _task(
    row: Method,
    batch: tuple[int, ...],
    offsets: Array,
    start: Array,
    data: dict[str, Array],
    wanted: list[Objective],
    limits: Limits | None,
    posture: Posture | None,
) -> Task:
    """What a method iterates from poses (n, 4, m). data: values of the objectives by name, to which others are
    added."""
    n, bend_joint = len(start), 0
    if row.settles:
        data["start"] = start
    if offsets.ndim > 2:
        data["offsets"] = batch_last(offsets, batch, 2)
    if limits is not None and np.any(np.asarray(limits.locks)):
        data["locked"] = limits.parameters(start)
    if any(objective.is_bend for objective in wanted):
        whole = np.broadcast_to(offsets, (*batch, n, 3)).reshape(-1, n, 3)
        axis = bend.bend_axis(posture if row.settles else None, batch_front(start), whole)
        data["bend axis"], bend_joint = batch_back(axis.axis), axis.joint
    return Task(
        single=start.shape[-1] == 1,
        data=data,
        limits=[None] * n if limits is None else limits.joints,
        shared_offsets=[tuple(offset) for offset in offsets.tolist()] if offsets.ndim == 2 else None,
        objectives=wanted,
        posture=posture,
        bend_joint=bend_joint,
        all_limits=limits,
    )


def _step(row: Method, *, published: bool, oriented: bool) -> iteration.Step:
    """An iteration of a method."""
    step = row.published if published and row.published is not None else row.step
    return iteration.wristed(step) if oriented and not row.least_squares else step


def _shared(values: Array, batch: tuple[int, ...]) -> Array:
    """Values (..., n, k) of a batch with the batch as the last axis, (n, k, m); (n, k, 1) if all chains share them."""
    return values[..., None] if values.ndim == 2 else batch_last(values, batch, 2)


def _as_it_is(task: Task, pose: Array) -> Array:
    """Straight chains stay straight."""
    return pose


def _by_name(objectives: Sequence[Objective]) -> dict[str, Objective]:
    """The objectives of a chain; raises InvalidArgument if two are of the same kind."""
    found = {objective.name: objective for objective in objectives}
    if len(found) < len(objectives):
        raise InvalidArgument("Two objectives of a chain are of one kind; give one of each.")
    return found


def _end(offsets: Array, rotations: Array, position: Array, frame: Array) -> tuple[Array, Array]:
    """Orientation (..., 4) of the last joint, and position (..., 3) of the effector."""
    batch = np.broadcast_shapes(offsets.shape[:-2], rotations.shape[:-2])
    count = int(np.prod(batch, dtype=int))
    if not count:
        return np.zeros((*batch, 4)), np.zeros((*batch, 3))
    turn, place = arithmetic.NO_TURN, arithmetic.ORIGIN
    parts = (unpacked(batch_last(part, batch, 2), count == 1) for part in (rotations, offsets))
    for q, offset in zip(*parts, strict=True):
        turn = arithmetic.multiply(turn, q)
        place = arithmetic.add(place, arithmetic.rotate(turn, offset))
    orientation, away = (np.stack(part, axis=-1).reshape(*batch, -1) for part in (turn, place))
    return rotation.multiply(frame, orientation), position + rotation.rotate(frame, away)
