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
    search = _Search(METHODS[method], *joint_checks.bounds(iterations, tolerance), published)
    chains = _Chains.checked(offsets, rotations, target, base, objectives, limits, posture)
    _check(chains.wanted, len(chains), method)
    outcome, solved = chains.solved(search, history=history)
    error, angle = chains.errors(outcome, solved)
    return IKSolution(
        rotations=solved,
        error=error,
        iterations=outcome.iterations.reshape(chains.batch),
        orientation_error=angle,
        history=np.array(outcome.history).reshape(-1, *chains.batch) if history else None,
    )


@dataclass(frozen=True)
class _Search:
    """How chains are solved."""

    row: Method
    iterations: int
    """The largest number of them."""
    tolerance: float
    published: bool

    def step(self, *, oriented: bool) -> iteration.Step:
        """An iteration."""
        row = self.row
        step = row.published if self.published and row.published is not None else row.step
        return iteration.wristed(step) if oriented and not row.least_squares else step


@dataclass(frozen=True)
class _Chains:
    """The chains that `solve` is given, and what they are to reach."""

    offsets: Array
    """(..., n, 3)"""
    rotations: Array
    """(..., n, 4)"""
    base: ArrayLike | None
    """As it is given."""
    frame: tuple[Array, Array]
    """Position (..., 3) and rotation (..., 4) of the base."""
    limits: Limits | None
    posture: Posture | None
    given: dict[str, Objective]
    """Objectives by their names, the target first, those without weight included."""
    batch: tuple[int, ...]
    """Of all of these, broadcast."""

    @classmethod
    def checked(
        cls,
        offsets: ArrayLike,
        rotations: ArrayLike,
        target: ArrayLike,
        base: ArrayLike | None,
        objectives: Sequence[Objective],
        limits: Limits | None,
        posture: Posture | None,
    ) -> "_Chains":
        """Of the arguments of `solve`. Raises InvalidArgument."""
        offsets = checks.array("offsets", offsets, None, 3)
        n = offsets.shape[-2]
        if n == 0:
            raise InvalidArgument("A chain needs at least one joint; give one offset and one rotation for each.")
        rotations = checks.quaternions("rotations", rotations, n)
        frame = joint_checks.base(base)
        joint_checks.same_joints(limits, n)
        joint_checks.same_joints(posture, n)
        given = _by_name((Position(target), *objectives))
        batch = joint_checks.leading(
            offsets=offsets.shape[:-2],
            rotations=rotations.shape[:-2],
            base=() if base is None else np.broadcast_shapes(*(part.shape[:-1] for part in frame)),
            **{name: objective.values.shape[:-1] for name, objective in given.items()},
        )
        return cls(offsets, rotations, base, frame, limits, posture, given, batch)

    def __len__(self) -> int:
        """The number of joints."""
        return self.offsets.shape[-2]

    @property
    def wanted(self) -> list[Objective]:
        """The objectives that have a weight."""
        return [objective for objective in self.given.values() if objective.weight > 0.0]

    @property
    def only_position(self) -> bool:
        """Whether nothing but the target is wanted."""
        return len(self.wanted) == 1

    def without(self, unasked: Objective) -> "_Chains":
        """The same chains without an objective, and without those that have no weight."""
        target, *others = self.wanted
        others = [objective for objective in others if objective is not unasked]
        return _Chains.checked(
            self.offsets, self.rotations, target.values, self.base, others, self.limits, self.posture
        )

    def solved(self, search: _Search, *, history: bool = False) -> tuple[iteration.Outcome, Array]:
        """What the iterations come to, and the rotations (..., n, 4)."""
        row, limits, values = search.row, self.limits, self._values(search)
        data = {name: batch_last(value, self.batch, 1) for name, value in values.items()}
        start = self.rotations if limits is None else limits.clamp(self.rotations)
        is_free = self.only_position and (limits is None or limits.are_none)
        if row.free is not None and is_free and not search.published:
            outcome = row.free(
                _shared(self.offsets, self.batch),
                _shared(start, self.batch),
                data["target"],
                iterations=search.iterations,
                tolerance=search.tolerance,
                history=history,
            )
            return outcome, self._shaped(batch_front(outcome.poses))
        start = batch_last(start, self.batch, 2)
        outcome = iteration.run(
            self._task(row, start, data),
            start,
            search.step(oriented="orientation" in values),
            iterations=0 if limits is not None and limits.all_locked else search.iterations,
            tolerance=search.tolerance,
            overshoots=not row.least_squares and not search.published,
            settles=row.settles,
            unfolded=_as_it_is if search.published else unfolding.unfolded,
        )
        return outcome, self._shaped(rotation.normalize(batch_front(outcome.poses)))

    def _shaped(self, rotations: Array) -> Array:
        """Rotations of the chains one after the other as (..., n, 4)."""
        return rotations.reshape(*self.batch, len(self), 4)

    def _values(self, search: _Search) -> dict[str, Array]:
        """What is wanted, by name, in the space of the base. An orientation with less than its whole weight is between
        that which chains have without it and its own."""
        values = {objective.name: objective.values for objective in self.wanted}
        orientation = self.given.get("orientation")
        if orientation is not None and 0.0 < orientation.weight < 1.0:
            unasked, _ = self.end(self.without(orientation).solved(search)[1])
            values["orientation"] = rotation.slerp(unasked, orientation.values, orientation.weight)
        if self.base is None:
            return values
        return {name: in_base(value, *self.frame) for name, value in values.items()}

    def _task(self, row: Method, start: Array, data: dict[str, Array]) -> Task:
        """What a method iterates from poses (n, 4, m). data: values of the objectives by name, to which others are
        added."""
        n, bend_joint = len(start), 0
        if row.settles:
            data["start"] = start
        if self.offsets.ndim > 2:
            data["offsets"] = batch_last(self.offsets, self.batch, 2)
        if self.limits is not None and np.any(np.asarray(self.limits.locks)):
            data["locked"] = self.limits.parameters(start)
        if any(objective.is_bend for objective in self.wanted):
            whole = np.broadcast_to(self.offsets, (*self.batch, n, 3)).reshape(-1, n, 3)
            axis = bend.bend_axis(self.posture if row.settles else None, batch_front(start), whole)
            data["bend axis"], bend_joint = batch_back(axis.axis), axis.joint
        return Task(
            single=start.shape[-1] == 1,
            data=data,
            limits=[None] * n if self.limits is None else self.limits.joints,
            shared_offsets=[tuple(offset) for offset in self.offsets.tolist()] if self.offsets.ndim == 2 else None,
            objectives=self.wanted,
            posture=self.posture,
            bend_joint=bend_joint,
            all_limits=self.limits,
        )

    def errors(self, outcome: iteration.Outcome, solved: Array) -> tuple[Array, Array | None]:
        """The distances (...) from the targets, and the errors (...) [rad] of an orientation, None without one."""
        orientation = self.given.get("orientation")
        if self.only_position and orientation is None:
            return outcome.cost.reshape(self.batch), None
        reached, effector = self.end(solved)
        error = np.linalg.norm(effector - self.given["target"].values, axis=-1)
        return error, None if orientation is None else rotation.distance(reached, orientation.values)

    def end(self, rotations: Array) -> tuple[Array, Array]:
        """Orientation (..., 4) of the last joint, and position (..., 3) of the effector, for rotations (..., n, 4)."""
        batch = np.broadcast_shapes(self.offsets.shape[:-2], rotations.shape[:-2])
        count = int(np.prod(batch, dtype=int))
        if not count:
            return np.zeros((*batch, 4)), np.zeros((*batch, 3))
        turn, place = arithmetic.NO_TURN, arithmetic.ORIGIN
        parts = (unpacked(batch_last(part, batch, 2), count == 1) for part in (rotations, self.offsets))
        for q, offset in zip(*parts, strict=True):
            turn = arithmetic.multiply(turn, q)
            place = arithmetic.add(place, arithmetic.rotate(turn, offset))
        orientation, away = (np.stack(part, axis=-1).reshape(*batch, -1) for part in (turn, place))
        position, frame = self.frame
        return rotation.multiply(frame, orientation), position + rotation.rotate(frame, away)


def _check(wanted: Sequence[Objective], joints: int, method: str) -> None:
    """Raise InvalidArgument if a method cannot solve a chain for some objectives."""
    for objective in wanted:
        objective.check(joints)
        if objective.is_soft and not METHODS[method].draws_joints:
            others = ", ".join(other.id for other in METHODS.values() if other.draws_joints)
            raise InvalidArgument(
                "Method {method!r} does not support joint goals; use one of {methods}.", method=method, methods=others
            )


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
