"""The soft reach of the limbs of a body, whose bases move as well.

A limb leaves the rest of the way to the body first: its hinge does not become straighter than where the soft part of
its length begins, or than it was. So feet on the ground do not slip, and targets in reach of the body are reached. What
the body cannot do, the limb does alone, as `soft_goal` has it, from where the body has brought its base.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from . import bend, solver
from .batches import batch_front
from .body_objectives import BodyAim, BodyOrientation, BodyPosition, BodyState
from .body_problem import Problem
from .limits import Limits
from .posture import Posture
from .soft_reach import soft_goal, soft_start

_TOLERANCE = 1e-6
"""Largest error of a limb, in its length."""
_PLAIN = 2
"""The number of joints of a limb whose pose is a closed form where no limits act: its base and its hinge."""
_BEGUN = 1e-9
"""How far beyond the start of its soft part a goal is at least, likewise."""


@dataclass(frozen=True)
class SoftLimb:
    """A limb of a problem that becomes straight softly."""

    objective: int
    """The index of its objective."""
    joints: Array
    """Indices of its joints in the problem, its base first; the last one is moved."""
    hinge: int
    """The index of its hinge among those of the problem."""
    length: Array
    """(m,), with the least bend of its hinge."""
    start: Array
    """(m,), the distance of its end from its base at which the soft part begins."""
    stays: Array
    """(m,), how much its end is to stay where it is, from 0 to 1."""
    parts: tuple[Array, Array]
    """(m,) lengths before and after the hinge."""

    @property
    def least_bend(self) -> Array:
        """The bend (m,) [rad] at the start of the soft part."""
        upper, lower = self.parts
        cosine = (self.start**2 - upper**2 - lower**2) / np.maximum(2.0 * upper * lower, 1e-300)
        return np.arccos(np.clip(cosine, -1.0, 1.0))


def soft_limbs(problem: Problem) -> list[SoftLimb]:
    """The limbs of a problem that become straight softly."""
    found = []
    wanted = [(k, item) for k, item in enumerate(problem.objectives) if isinstance(item, BodyPosition)]
    wanted = [(k, item) for k, item in wanted if item.bones and item.softness > 0.0]
    if not wanted or not len(problem.hinges):
        return []
    start = problem.state(problem.data["start"], np.zeros((3, problem.count)), problem.data)
    for k, item in wanted:
        joints = problem.lines[problem.place[k]][: item.bones + 1][::-1]
        hinges = np.flatnonzero(np.isin(problem.hinges, joints[1:-1]))
        if len(hinges) != 1:
            continue
        base, middle, end = (start.positions[:, joint] for joint in (joints[0], problem.hinges[hinges[0]], joints[-1]))
        target, offset = problem.goal(k)
        away = target - rotation.rotate(start.orientations[:, joints[-1]].T, offset.T).T - base
        upper, lower = np.linalg.norm(middle - base, axis=0), np.linalg.norm(end - middle, axis=0)
        bend = problem.data["least"][hinges[0]]
        length = np.sqrt(upper**2 + lower**2 + 2.0 * upper * lower * np.cos(bend))
        begin, stays = soft_start(away.T, length, item.softness, (end - base).T)
        if not problem.root:
            # A body whose root stays has no other way to keep its feet in place than to stretch its legs.
            begin = begin + stays * (length - begin)
        found.append(
            SoftLimb(
                k,
                joints,
                int(hinges[0]),
                length,
                begin,
                stays,
                (upper, lower),
            )
        )
    return found


def hold_back(problem: Problem, limbs: list[SoftLimb]) -> None:
    """Have the hinges of limbs bend at least as much as where their soft parts begin."""
    if not limbs:
        return
    bend = problem.bend(problem.data["start"], problem.data)
    for limb in limbs:
        least = np.minimum(limb.least_bend, problem.data["most"][limb.hinge])
        # Where the end stays, the range includes the bend of the initial pose.
        least = least - limb.stays * np.maximum(least - bend[limb.hinge], 0.0)
        problem.data["least"][limb.hinge] = np.maximum(problem.data["least"][limb.hinge], least)


def soften(
    problem: Problem,
    limbs: list[SoftLimb],
    pose: Array,
    displacement: Array,
    posture: Posture | None,
    limits: Limits | None,
) -> tuple[Array, Array, Array]:
    """Poses (4, n, m) in which limbs are as near their goals as they softly reach; how far (m, k) the limb of each
    objective stays behind that, 0 for goals that are not beyond the start of its soft part; and how much of that a
    straight limb would not (m, k).

    posture, limits: of all joints of the body.
    """
    behind, softened = np.zeros((2, problem.count, len(problem.objectives)))
    state, moved = None, np.zeros(len(problem.used))
    for limb in limbs:
        if state is None or np.any(problem.is_above[limb.joints[-1]] * moved):
            state, moved = problem.state(pose, displacement, problem.data), np.zeros(len(problem.used))
        reached, behind[:, limb.objective], softened[:, limb.objective] = _softened(
            problem, limb, pose, state, posture, limits
        )
        if reached is not pose:
            pose, moved[limb.joints] = reached, 1.0
    return pose, behind, softened


def _softened(
    problem: Problem, limb: SoftLimb, pose: Array, state: BodyState, posture: Posture | None, limits: Limits | None
) -> tuple[Array, Array, Array]:
    """Of one limb, as `soften`. state: of poses in which nothing that it hangs on is elsewhere."""
    base, end = state.positions[:, limb.joints[0]].T, state.positions[:, limb.joints[-1]].T
    turn = state.orientations[:, limb.joints[-1]].T
    target, offset = (part.T for part in problem.goal(limb.objective))
    wanted = target - rotation.rotate(turn, offset)
    far = np.linalg.norm(wanted - base, axis=-1)
    weight = problem.data["weights"][problem.rows_of[limb.objective].start]
    beyond = np.flatnonzero((far > limb.start + _BEGUN * limb.length) & (weight > 0.0))
    behind, softened = np.zeros((2, problem.count))
    if not len(beyond):
        return pose, behind, softened
    some = (part[beyond] for part in (wanted, base, end, limb.length, limb.start, far, weight))
    wanted, base, end, length, start, far, weight = some
    soft = soft_goal(wanted, base, length, softness=np.clip(1.0 - start / length, 0.0, 1.0))
    reached = np.linalg.norm(soft - base, axis=-1)
    behind[beyond], softened[beyond] = far - reached, np.minimum(far, length) - reached
    held = base + (start / far)[:, None] * (wanted - base)
    # With its whole weight it goes there however well the body has brought it to its target.
    goal = np.where(weight[:, None] >= 1.0, soft, end + weight[:, None] * (soft - held))
    pose = pose.copy()
    pose[:, :, beyond] = _reached(problem, limb, pose[:, :, beyond], state, beyond, goal, posture, limits)
    return pose, behind, softened


def _reached(
    problem: Problem,
    limb: SoftLimb,
    pose: Array,
    state: BodyState,
    which: Array,
    goal: Array,
    posture: Posture | None,
    limits: Limits | None,
) -> Array:
    """Some poses (4, n, a) with the end of a limb at goals (a, 3)."""
    moved, last = limb.joints[:-1], int(limb.joints[-1])
    above = problem.parents[int(moved[0])]
    frame = rotation.identity(len(which)) if above < 0 else state.orientations[:, above, which].T
    base = state.positions[:, int(moved[0]), which].T
    offsets = problem.data["heads"][:, limb.joints[1:]][..., which].transpose(2, 1, 0)
    start = batch_front(pose[:, moved].transpose(1, 0, 2))
    own = None if posture is None else posture.take(problem.used[moved])
    if own is not None and len(moved) == _PLAIN and all(problem.limits[joint] is None for joint in moved.tolist()):
        local = rotation.rotate(rotation.inverse(frame), goal - base)
        rotations = bend.reaching(own, start, offsets, local)
    else:
        rotations = solver.solve(
            offsets,
            start,
            goal,
            method="nearest_pose",
            tolerance=_TOLERANCE * float(limb.length.max()),
            posture=own,
            limits=None if limits is None else limits.take(problem.used[moved].tolist()),
            base=np.concatenate((base, frame), axis=-1),
        ).rotations
    result = pose.copy()
    result[:, moved] = rotations.T
    if _turns(problem, last):
        # What has an orientation keeps it.
        turn = frame
        for n in range(len(moved)):
            turn = rotation.multiply(turn, rotations[:, n])
        result[:, last] = rotation.multiply(rotation.inverse(turn), state.orientations[:, last, which].T).T
    return result


def _turns(problem: Problem, joint: int) -> bool:
    """Whether a joint is to have an orientation or a direction."""
    turned = (BodyOrientation, BodyAim)
    places = zip(problem.place.tolist(), problem.objectives, strict=True)
    return any(place == joint and isinstance(item, turned) for place, item in places)
